//! Tasks that somebody holds, in pools with one or two places whose leases can be recovered.

use cantina::todo_tree::{ClonedLease, Consumer, Shape, TodoTree, WorkerId};
use cantina_effort::scenario::Scenario;
use machine::thread;

/// All of them.
pub(crate) const ALL: [Scenario; 7] = [
    ("a place with an owner is used again at once", a_place_is_used_again),
    ("a copy is reclaimed while it is completed", a_copy_is_reclaimed_while_it_is_completed),
    ("a copy is reclaimed when it is made", a_copy_is_reclaimed_when_it_is_made),
    ("a copy is reclaimed while it is dropped", a_copy_is_reclaimed_while_it_is_dropped),
    ("two recover a task", two_recover_a_task),
    ("a task is recovered while somebody looks for it", a_task_is_looked_for),
    ("a task is recovered while its place is wanted", its_place_is_wanted),
];

/// Places of blocks of one.
fn owned(capacity: usize) -> TodoTree<u64> {
    let builder = TodoTree::builder().capacity(capacity).shape(Shape::Binary);
    builder.leases(true).seed(0).build().unwrap()
}

fn put(pool: &TodoTree<u64>, task: u64) {
    pool.producer().try_put(task).expect("there is room");
}

/// The task 1, and 2 if it was put, each once.
fn each_once(got: [Option<u64>; 3], has_put: bool) {
    let mut got: Vec<u64> = got.into_iter().flatten().collect();
    got.sort_unstable();
    assert!(got.iter().copied().eq(1..=1 + u64::from(has_put)), "{got:?}");
}

/// The other thread gets the only task and puts one in its place, if it has it: this one gets either, or nothing.
fn a_place_is_used_again() {
    let pool = owned(1);
    put(&pool, 1);
    let mut theirs = pool.worker();
    let other = thread::spawn(move || {
        let got = theirs.get();
        (got, theirs.try_put(2).is_ok())
    });
    let mut here = pool.consumer();
    let mine = here.get();
    let (theirs, has_put) = other.join().unwrap();
    let last = here.get();
    each_once([mine, theirs, last], has_put);
}

/// A pool, and one who has a copy of its only task.
fn one_has_a_copy() -> (TodoTree<u64>, Consumer<u64>, ClonedLease<u64>) {
    let pool = owned(1);
    put(&pool, 1);
    let mut slow = pool.consumer();
    let copy = slow.take_cloned().expect("it is there");
    (pool, slow, copy)
}

/// One has a copy of the only task; another thread takes the task from it. One of them completes it.
fn a_copy_is_reclaimed_while_it_is_completed() {
    let (pool, slow, copy) = one_has_a_copy();
    let (name, mut theirs) = (slow.id(), pool.consumer());
    let other = thread::spawn(move || {
        let reclaimed = theirs.reclaim(name);
        (reclaimed, theirs.get())
    });
    let mine = copy.complete().ok();
    let (reclaimed, theirs) = other.join().unwrap();
    assert_eq!(reclaimed, usize::from(theirs.is_some()));
    assert_eq!(mine.into_iter().chain(theirs).collect::<Vec<_>>(), [1]);
    put(&pool, 2);
}

/// The same, and it is dropped: it goes back once.
fn a_copy_is_reclaimed_while_it_is_dropped() {
    let (pool, mut slow, copy) = one_has_a_copy();
    let (name, mut theirs) = (slow.id(), pool.consumer());
    let other = thread::spawn(move || {
        theirs.reclaim(name);
        theirs.get()
    });
    drop(copy);
    let theirs = other.join().unwrap();
    assert_eq!(theirs.into_iter().chain(slow.get()).collect::<Vec<_>>(), [1]);
    assert_eq!(slow.get(), None);
}

/// The same when it is just made: the place is filled again after the task was read.
fn a_copy_is_reclaimed_when_it_is_made() {
    let pool = owned(1);
    put(&pool, 1);
    let mut slow = pool.consumer();
    let name = slow.id();
    let other = thread::spawn(move || slow.take_cloned().and_then(|copy| copy.complete().ok()));
    let mut here = pool.worker();
    here.reclaim(name);
    let mine = here.get();
    let has_put = here.try_put(2).is_ok();
    let theirs = other.join().unwrap();
    let last = here.get();
    each_once([mine, theirs, last], has_put);
}

/// A pool with one task, which a dead consumer holds.
fn one_is_dead(capacity: usize) -> (TodoTree<u64>, WorkerId) {
    let pool = owned(capacity);
    put(&pool, 1);
    let mut dead = pool.consumer();
    dead.take_leased().expect("it is there").abandon();
    (pool, dead.id())
}

/// One of them puts it back, and one of them gets it.
fn two_recover_a_task() {
    let (pool, dead) = one_is_dead(1);
    let mut theirs = pool.consumer();
    // SAFETY: it is never used again, nor is its lease.
    let other = thread::spawn(move || unsafe { (theirs.recover(dead), theirs.get()) });
    let mut here = pool.consumer();
    // SAFETY: as above.
    let recovered = unsafe { here.recover(dead) };
    let mine = here.get();
    let (by_them, theirs) = other.join().unwrap();
    let last = here.get();
    assert_eq!(recovered + by_them, 1, "recovered by one");
    assert_eq!(mine.into_iter().chain(theirs).chain(last).collect::<Vec<_>>(), [1], "got once");
    assert_eq!(here.get(), None);
}

/// Who looks for it has it, or whoever has recovered it.
fn a_task_is_looked_for() {
    let (pool, dead) = one_is_dead(2);
    let mut theirs = pool.consumer();
    let other = thread::spawn(move || theirs.get());
    let mut here = pool.consumer();
    // SAFETY: as above.
    assert_eq!(unsafe { here.recover(dead) }, 1);
    let mine = here.get();
    let theirs = other.join().unwrap();
    assert!(mine.is_some() != theirs.is_some(), "got once, and it was there");
    assert_eq!(here.get(), None);
}

/// A put finds no room before it is got.
fn its_place_is_wanted() {
    let (pool, dead) = one_is_dead(1);
    let mut theirs = pool.producer();
    let other = thread::spawn(move || theirs.try_put(2).is_ok());
    let mut here = pool.consumer();
    // SAFETY: as above.
    assert_eq!(unsafe { here.recover(dead) }, 1);
    let mine = here.get();
    let has_put = other.join().unwrap();
    let last = here.get();
    assert_eq!((mine, last), (Some(1), has_put.then_some(2)));
}
