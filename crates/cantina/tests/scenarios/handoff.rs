//! One task, once.

use cantina::handoff::handoff;
use cantina_effort::scenario::Scenario;
use machine::atomic::{AtomicUsize, Ordering::Relaxed};
use machine::{Arc, thread};

/// All of them.
pub(crate) const ALL: [Scenario; 2] = [
    ("exactly one taker gets the task", exactly_one_taker_gets_the_task),
    ("a task that nobody took is dropped once", a_task_that_nobody_took_is_dropped_once),
];

/// A giver and two takers at once.
pub(crate) fn exactly_one_taker_gets_the_task() {
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
pub(crate) fn a_task_that_nobody_took_is_dropped_once() {
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
