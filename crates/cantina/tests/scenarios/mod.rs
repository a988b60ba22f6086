//! Small programs that must come out right on every schedule. Each flavour runs them its own way.

use cantina::handoff::handoff;
use cantina::locked::Locked;
use machine::atomic::{AtomicUsize, Ordering::Relaxed};
use machine::{Arc, thread};

/// A scenario and its name.
pub(crate) type Scenario = (&'static str, fn());

/// All of them.
pub(crate) const ALL: [Scenario; 4] = [
    ("exactly one taker gets the task", exactly_one_taker_gets_the_task),
    ("a task that nobody took is dropped once", a_task_that_nobody_took_is_dropped_once),
    ("a lock hands every task over once", a_lock_hands_every_task_over_once),
    ("a locked pool that is never empty never says so", a_locked_pool_never_empty_never_says_so),
];

/// A giver and two takers at once.
fn exactly_one_taker_gets_the_task() {
    let (giver, taker) = handoff();
    let other = taker.clone();
    let gives = thread::spawn(move || giver.give(Box::new(7)));
    let takes = thread::spawn(move || other.take());
    let here = taker.take();
    let there = takes.join().unwrap();
    gives.join().unwrap();
    let after = taker.take();
    let got: Vec<i32> = [here, there, after].into_iter().flatten().map(|task| *task).collect();
    assert_eq!(got, [7]);
}

/// The giver and the only taker, who may come too early, go at the same time.
fn a_task_that_nobody_took_is_dropped_once() {
    struct Counted(Arc<AtomicUsize>);
    impl Drop for Counted {
        fn drop(&mut self) {
            self.0.fetch_add(1, Relaxed);
        }
    }
    let drops = Arc::new(AtomicUsize::new(0));
    let (giver, taker) = handoff();
    let task = Counted(drops.clone());
    let gives = thread::spawn(move || giver.give(task));
    drop(taker.take());
    drop(taker);
    gives.join().unwrap();
    assert_eq!(drops.load(Relaxed), 1);
}

/// Two workers that each put one task and get one.
fn a_lock_hands_every_task_over_once() {
    let pool = Locked::new();
    let mut here = pool.worker();
    let mut there = pool.worker();
    let other = thread::spawn(move || {
        there.put(1);
        there.get()
    });
    here.put(2);
    let mine = here.get();
    let theirs = other.join().unwrap();
    let mut got: Vec<i32> = [mine, theirs, here.get()].into_iter().flatten().collect();
    got.sort_unstable();
    assert_eq!(got, [1, 2]);
}

/// One task inside, and everybody puts before they get.
fn a_locked_pool_never_empty_never_says_so() {
    let pool = Locked::new();
    pool.producer().put(0);
    let mut there = pool.worker();
    let other = thread::spawn(move || {
        there.put(1);
        assert!(there.get().is_some());
    });
    let mut here = pool.worker();
    here.extend([2, 3]);
    let mut got = Vec::new();
    assert_eq!(here.get_many(2, &mut got), 2);
    other.join().unwrap();
    assert_eq!(pool.len_hint(), 1);
}
