//! A few tasks that are all to be done.

use cantina::todo_tree::DoAll;
use cantina_effort::scenario::Scenario;
use machine::atomic::AtomicUsize;
use machine::atomic::Ordering::Relaxed;
use machine::cell::UnsafeCell;
use machine::thread;

/// All of them.
pub(crate) const ALL: [Scenario; 6] = [
    ("each task is done once", each_task_is_done_once),
    ("one of two reports is accepted", one_of_two_reports_is_accepted),
    ("a claim goes back with what was done", a_claim_goes_back_with_what_was_done),
    ("a reclaimed claim goes on with what was done", a_reclaimed_claim_is_taken_over_once),
    ("who sees the end sees the work", who_sees_the_end_sees_the_work),
    ("who sees a bit cleared sees the work", who_sees_a_bit_cleared_sees_the_work),
];

/// Work that only the holder of a claim does.
struct Cell(UnsafeCell<u32>);

// SAFETY: only whoever has the claim to it reaches into it, or whoever knows that it is done.
unsafe impl Sync for Cell {}

impl Cell {
    fn new() -> Self {
        Self(UnsafeCell::new(0))
    }

    /// Adds to it.
    ///
    /// # Safety
    /// The caller has the only claim.
    unsafe fn work(&self) {
        // SAFETY: the caller's.
        self.0.with_mut(|it| unsafe { *it += 1 });
    }

    /// How often it was worked on.
    ///
    /// # Safety
    /// The work is done, or the caller has the only claim.
    unsafe fn seen(&self) -> u32 {
        // SAFETY: the caller's.
        self.0.with(|it| unsafe { *it })
    }
}

/// Two workers and two tasks.
fn each_task_is_done_once() {
    let all = DoAll::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
    let theirs = all.worker();
    let work = |worker: cantina::todo_tree::do_all::Worker<AtomicUsize>| {
        while let Some(claim) = worker.next() {
            claim.fetch_add(1, Relaxed);
            claim.done().expect("nobody takes it over");
        }
    };
    let other = thread::spawn(move || work(theirs));
    work(all.worker());
    other.join().unwrap();
    assert!(all.is_finished());
    assert!(all.tasks().iter().all(|task| task.load(Relaxed) == 1));
}

/// A claim is taken from its worker while that reports it done.
fn one_of_two_reports_is_accepted() {
    let all = DoAll::new([()]);
    let slow = all.worker();
    let id = slow.id();
    let other = thread::spawn(move || slow.next().is_some_and(|claim| claim.done().is_ok()));
    all.reclaim(id);
    let mine = all.worker().next().is_some_and(|claim| claim.done().is_ok());
    let theirs = other.join().unwrap();
    assert!(!(mine && theirs), "accepted twice");
    assert_eq!(all.remaining(), usize::from(!mine && !theirs));
}

/// One begins and gives up, the other goes on if it comes later.
fn a_claim_goes_back_with_what_was_done() {
    let all = DoAll::new([Cell::new()]);
    let theirs = all.worker();
    let other = thread::spawn(move || {
        if let Some(claim) = theirs.next() {
            // SAFETY: we have the only claim; nobody reclaims.
            unsafe { claim.work() };
        }
    });
    if let Some(claim) = all.worker().next() {
        // SAFETY: as above.
        unsafe { claim.work() };
    }
    other.join().unwrap();
    let worker = all.worker();
    let claim = worker.next().expect("nobody has done it");
    // SAFETY: we have the only claim.
    assert!((1..=2).contains(&unsafe { claim.seen() }));
    claim.done().unwrap();
    assert!(all.is_finished());
}

/// A worker has stopped; two others want its task.
fn a_reclaimed_claim_is_taken_over_once() {
    let all = DoAll::new([()]);
    let stopped = all.worker();
    std::mem::forget(stopped.next());
    let (id, shared) = (stopped.id(), all.clone());
    let take_over = move |all: DoAll<()>| {
        all.reclaim(id);
        all.worker().next().is_some_and(|claim| claim.done().is_ok())
    };
    let other = thread::spawn(move || take_over(shared));
    let mine = take_over(all.clone());
    assert!(mine != other.join().unwrap(), "done by one of them");
    assert_eq!(all.progress().done, 1);
}

/// Does the only task.
fn do_it(all: &DoAll<Cell>) {
    let worker = all.worker();
    let claim = worker.next().expect("it is there");
    // SAFETY: we have the only claim.
    unsafe { claim.work() };
    claim.done().unwrap();
}

/// If all is done, the work is there to be seen.
fn look(all: &DoAll<Cell>) {
    if all.is_finished() {
        // SAFETY: it is done.
        assert_eq!(unsafe { all.tasks()[0].seen() }, 1);
    }
}

/// One works, the other looks whether all is done.
fn who_sees_the_end_sees_the_work() {
    let all = DoAll::new([Cell::new()]);
    let theirs = all.clone();
    let other = thread::spawn(move || look(&theirs));
    do_it(&all);
    other.join().unwrap();
}

/// One works, another clears the bit, a third sees nothing but that.
fn who_sees_a_bit_cleared_sees_the_work() {
    let all = DoAll::new([Cell::new()]);
    let (theirs, more) = (all.clone(), all.clone());
    let third = thread::spawn(move || look(&theirs));
    let other = thread::spawn(move || more.remaining());
    do_it(&all);
    other.join().unwrap();
    third.join().unwrap();
}
