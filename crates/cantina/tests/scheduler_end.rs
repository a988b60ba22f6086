//! How a runtime ends, what blocks there, and what is told to one that takes no more.

mod running;

use cantina::scheduler::{Eventual, Refused, Runtime, WaitError};
use running::{LONG, blocked, fails, runtime};
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

#[test]
fn a_shutdown_waits_for_what_blocks_and_for_what_that_causes() {
    let runtime = Runtime::builder().workers(2).blocking_threads(1).build().unwrap();
    let unit = runtime.unit(0);
    let (opens, gate) = channel::<()>();
    let first = runtime.spawn_blocking(move || gate.recv().is_ok());
    // It waits for the only thread.
    let second = runtime.spawn_blocking(|| 2);
    let sum = unit.send_after((first, second), |state, (opened, two)| {
        *state += u32::from(opened) + two;
        *state
    });
    let handle = runtime.handle();
    let third = unit.send(move |_| handle.spawn_blocking(|| 4)).flatten();
    let ends = std::thread::spawn(move || runtime.shutdown(LONG));
    opens.send(()).unwrap();
    assert!(ends.join().unwrap().is_nothing());
    assert_eq!((sum.wait(), third.wait()), (Ok(3), Ok(4)));
}

/// It is no operation from outside: others are not taken meanwhile.
#[test]
fn a_shutdown_runs_what_an_operation_that_blocks_sends() {
    let runtime = runtime(1);
    let unit = runtime.unit(0);
    let (handle, theirs) = (runtime.handle(), unit.clone());
    let (opens, gate) = channel::<()>();
    let blocks = runtime.spawn_blocking(move || {
        gate.recv().unwrap();
        theirs.tell(|state| *state += 1);
        theirs.sender().tell(|state| *state += 10);
        handle.spawn(|| 5)
    });
    let outside = runtime.handle();
    let ends = std::thread::spawn(move || runtime.shutdown(LONG));
    while outside.spawn(|| ()).wait().is_ok() {}
    opens.send(()).unwrap();
    assert!(ends.join().unwrap().is_nothing());
    assert_eq!(blocks.wait().map(Eventual::wait), Ok(Ok(5)));
    assert_eq!(unit.metrics().messages, 2);
}

#[test]
fn what_is_told_to_a_runtime_that_has_stopped_comes_back() {
    let runtime = runtime(1);
    let unit = runtime.unit(0);
    let (sender, handle) = (unit.sender(), runtime.handle());
    drop(runtime);
    let told = Arc::new(());
    for _ in 0..2 {
        let theirs = told.clone();
        let back = unit.try_tell(move |_| drop(theirs)).unwrap_err();
        assert!(back.is_closed());
        let back = sender.try_tell(back.into_inner()).unwrap_err();
        assert!(matches!(back, Refused::Closed(_)), "{back:?}");
        assert_eq!(back.to_string(), WaitError::Closed.to_string());
    }
    assert_eq!(Arc::strong_count(&told), 1);
    assert_eq!(unit.try_send(|_| ()).unwrap().wait(), Err(WaitError::Closed));
    // What nobody is told of is counted.
    assert_eq!(handle.metrics().dropped_tells, 0);
    unit.tell(|_| ());
    sender.tell(|_| ());
    assert_eq!(handle.metrics().dropped_tells, 2);
}

/// A unit that has room for one, and a runtime that takes nothing more: it is not for want of room.
#[test]
fn what_is_told_to_a_full_unit_of_a_runtime_that_has_stopped_is_refused_for_good() {
    let runtime = runtime(1);
    let lets_go = blocked(&runtime);
    let unit = runtime.unit_builder().capacity(1).build(());
    assert!(unit.try_tell(|()| ()).is_ok());
    assert!(!unit.try_tell(|()| ()).unwrap_err().is_closed());
    let ends = std::thread::spawn(move || drop(runtime));
    while !unit.try_tell(|()| ()).is_err_and(|refused| refused.is_closed()) {
        std::thread::yield_now();
    }
    lets_go.unpark();
    ends.join().unwrap();
}

#[test]
fn what_is_told_to_a_poisoned_unit_is_counted() {
    let runtime = runtime(1);
    let unit = runtime.unit(());
    unit.tell(|()| fails("poison"));
    unit.tell(|()| ());
    assert_eq!(unit.send(|()| ()).wait(), Err(WaitError::Poisoned));
    assert_eq!(runtime.metrics().dropped_tells, 1);
}

/// It does not wait for itself, but for all others.
#[test]
fn an_operation_that_blocks_shuts_its_own_runtime_down() {
    let runtime = Runtime::builder().workers(1).blocking_threads(2).build().unwrap();
    let handle = runtime.handle();
    let (opens, gate) = channel::<()>();
    let (gives, given) = channel::<Runtime>();
    let other = runtime.spawn_blocking(move || gate.recv().is_ok());
    let ends =
        runtime.spawn_blocking(move || given.recv().unwrap().shutdown(Duration::MAX).is_nothing());
    gives.send(runtime).unwrap();
    while handle.spawn(|| ()).wait().is_ok() {}
    opens.send(()).unwrap();
    assert_eq!((other.wait(), ends.wait()), (Ok(true), Ok(true)));
}

/// A value that is no `Clone` is dropped once, whoever has a handle to it.
#[test]
fn what_is_shared_comes_to_all_or_fails_for_all() {
    struct Value(Arc<()>);
    let runtime = runtime(1);
    let counter = Arc::new(());
    let theirs = counter.clone();
    let shared = runtime.spawn(move || Value(theirs)).share();
    let other = shared.clone();
    let (here, there) = (shared.wait().unwrap(), other.wait().unwrap());
    assert!(Arc::ptr_eq(&here.0, &there.0) && Arc::strong_count(&counter) == 2);
    drop((here, there));
    assert_eq!(Arc::strong_count(&counter), 1);

    let panicked = runtime.spawn(|| fails::<Value>("no")).share();
    assert!(matches!(panicked.clone().wait(), Err(WaitError::Panicked(_))));
    assert!(matches!(panicked.wait(), Err(WaitError::Panicked(_))));

    // Sharing is an operation: what takes none more gives none, and drops the value.
    let theirs = counter.clone();
    let late = runtime.spawn(move || Value(theirs));
    assert!(runtime.shutdown(LONG).is_nothing());
    let late = late.share();
    assert!(matches!(late.clone().wait(), Err(WaitError::Closed)));
    assert!(matches!(late.wait(), Err(WaitError::Closed)));
    assert_eq!(Arc::strong_count(&counter), 1);
}

#[test]
fn blocking_operations_share_a_few_threads_and_queued_ones_are_cancelled() {
    let runtime = Runtime::builder().workers(1).blocking_threads(2).build().unwrap();
    let start = || {
        let (opens, gate) = channel::<()>();
        let thread = runtime.spawn_blocking(move || {
            let _opened = gate.recv();
            std::thread::current().id()
        });
        (opens, thread)
    };
    let (opens, threads): (Vec<_>, Vec<_>) = (0..8).map(|_| start()).unzip();
    drop(opens);
    let used: HashSet<_> = threads.into_iter().map(|thread| thread.wait().unwrap()).collect();
    assert!(used.len() <= 2, "{used:?}");
    // Two of them run, or are about to; the third one waits for a thread.
    let (opens, mut threads): (Vec<_>, Vec<_>) = (0..3).map(|_| start()).unzip();
    let handle = runtime.handle();
    let left = runtime.shutdown(Duration::ZERO);
    assert_eq!(threads.pop().unwrap().wait(), Err(WaitError::Cancelled));
    assert!(left.free > 0, "{left:?}");
    drop(opens);
    threads.into_iter().for_each(|thread| drop(thread.wait()));
    assert_eq!(handle.spawn_blocking(|| 1).wait(), Err(WaitError::Closed));
}
