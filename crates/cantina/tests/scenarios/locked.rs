//! A mutex and a deque.

use cantina::locked::Locked;
use cantina_effort::scenario::Scenario;
use machine::thread;

/// All of them.
pub(crate) const ALL: [Scenario; 2] = [
    ("a lock hands every task over once", a_lock_hands_every_task_over_once),
    ("a locked pool that is never empty never says so", a_locked_pool_never_empty_never_says_so),
];

/// Two workers that each put one task and get one.
pub(crate) fn a_lock_hands_every_task_over_once() {
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
pub(crate) fn a_locked_pool_never_empty_never_says_so() {
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
