//! Operations that end with another one.

mod running;

use cantina::scheduler::{Eventual, Handle, Runtime, Tail, WaitError};
use running::{LONG, blocked, fails, runtime};
use std::sync::Arc;
use std::time::Duration;

#[test]
fn an_operation_can_end_with_another_one() {
    fn sum(handle: &Handle, numbers: std::ops::Range<u64>) -> Tail<u64> {
        let (low, high) = (numbers.start, numbers.end);
        if high - low == 1 {
            return low.into();
        }
        let part = |numbers| {
            let inner = handle.clone();
            handle.spawn_tail(move || sum(&inner, numbers))
        };
        let middle = low + (high - low) / 2;
        handle.tail((part(low..middle), part(middle..high)), |(one, two)| one + two)
    }
    let runtime = runtime(2);
    let inner = runtime.handle();
    assert_eq!(runtime.spawn_tail(move || sum(&inner, 0..10_000)).wait(), Ok(49_995_000));
    // Each of these is the end of the one before it.
    let inner = runtime.handle();
    let chain = (0..1_000).fold(runtime.spawn(|| 0), |before, _| {
        let handle = inner.clone();
        inner.after_tail(before, move |number| handle.tail((), move |()| number + 1))
    });
    assert_eq!(chain.wait(), Ok(1_000));
    // What is counted is counted when an operation is over.
    assert!(runtime.shutdown(LONG).is_nothing());
    assert_eq!(inner.metrics().operations(), 10_000 + 2 * 9_999 + 1 + 2 * 1_000);
}

#[test]
fn an_end_that_fails_fails_the_operation() {
    let runtime = runtime(1);
    let inner = runtime.handle();
    let panics = runtime.spawn_tail(move || inner.tail((), |()| fails::<u8>("no end")));
    assert_eq!(panics.wait(), Err(WaitError::Panicked("no end".into())));
    let inner = runtime.handle();
    let depends = runtime.spawn_tail(move || {
        let argument = inner.spawn(|| fails::<u8>("no argument"));
        inner.tail(argument, |number| number)
    });
    assert_eq!(depends.wait(), Err(WaitError::Panicked("no argument".into())));
    // One that nobody returns does not begin, and drops what it has.
    let (inner, held) = (runtime.handle(), Arc::new(()));
    let theirs = held.clone();
    let value = runtime.spawn_tail(move || {
        drop(inner.tail((), move |()| drop(theirs)));
        7.into()
    });
    assert_eq!(value.wait(), Ok(7));
    assert_eq!(Arc::strong_count(&held), 1);
}

#[test]
fn an_end_that_waits_is_cancelled_with_its_runtime() {
    let runtime = runtime(1);
    let (inner, (promise, never)) = (runtime.handle(), runtime.promise::<u8>());
    let value = runtime.spawn_tail(move || inner.tail(never, |number| number));
    let left = runtime.shutdown(Duration::from_millis(50));
    assert_eq!((left.waiting, value.wait()), (1, Err(WaitError::Cancelled)));
    drop(promise);
}

/// The value that an operation is to bring is older than what it ends with, and may be what that waits for.
#[test]
fn an_end_that_waits_for_its_own_value_is_cancelled_with_its_runtime() {
    let held = Arc::new(());
    for ends in [
        |runtime: Runtime| runtime.shutdown(LONG).waiting,
        |runtime| {
            drop(runtime);
            1
        },
    ] {
        let runtime = runtime(1);
        let (handle, theirs) = (runtime.handle(), held.clone());
        let (promise, own) = runtime.promise::<Eventual<u8>>();
        let value = runtime.after_tail(own, move |own| {
            handle.tail(own, move |value| {
                drop(theirs);
                value
            })
        });
        promise.keep(value.clone());
        assert_eq!(value.wait_timeout(Duration::from_millis(20)), None);
        assert_eq!(runtime.spawn(|| 1).wait(), Ok(1), "nothing else is held up");
        assert_eq!(ends(runtime), 1);
        assert_eq!(value.wait(), Err(WaitError::Cancelled));
        assert_eq!(Arc::strong_count(&held), 1);
    }
}

/// The same of two, each of which waits for the other one's value.
#[test]
fn ends_that_wait_for_each_other_are_cancelled_with_their_runtime() {
    let runtime = runtime(1);
    let (handle, other) = (runtime.handle(), runtime.handle());
    let (promise, theirs) = runtime.promise::<Eventual<u8>>();
    let one = runtime.after_tail(theirs, move |theirs| handle.tail((theirs,), |(value,)| value));
    let two = runtime.spawn_tail({
        let one = one.clone();
        move || other.tail(vec![one], |value| value[0])
    });
    promise.keep(two.clone());
    let chain = two.clone().map(|value| value);
    assert_eq!(chain.wait_timeout(Duration::from_millis(20)), None);
    drop(runtime);
    for value in [one, two, chain] {
        assert_eq!(value.wait(), Err(WaitError::Cancelled));
    }
}

/// Whose value it is decides when it is resolved at the latest, not whose operation it ends with.
#[test]
fn an_end_of_another_runtime_is_cancelled_with_the_one_whose_value_it_brings() {
    let there = runtime(1);
    let (handle, (promise, never)) = (there.handle(), there.promise::<u8>());
    let here = runtime(1);
    let value = here.spawn_tail(move || handle.tail(never, |number| number));
    let left = here.shutdown(LONG);
    assert_eq!((left.waiting, value.wait()), (1, Err(WaitError::Cancelled)));
    drop(promise);
    assert!(there.shutdown(LONG).is_nothing());
}

/// Also where it waits for nothing but its turn.
#[test]
fn an_end_whose_turn_on_another_runtime_never_comes_is_cancelled_with_its_own() {
    let (here, there) = (runtime(1), runtime(1));
    let (lets_go, handle) = (blocked(&there), there.handle());
    let (begins, begun) = std::sync::mpsc::channel();
    let value = here.spawn_tail(move || {
        begins.send(()).unwrap();
        handle.tail((), |()| 7)
    });
    begun.recv().unwrap();
    assert_eq!(here.spawn(|| 1).wait(), Ok(1), "it has ended, with the other one");
    drop(here);
    assert_eq!(value.wait(), Err(WaitError::Cancelled));
    lets_go.unpark();
    assert!(there.shutdown(LONG).is_nothing());
}

#[test]
fn an_end_of_another_runtime_runs_there_and_brings_its_value() {
    let (here, there) = (Runtime::builder().name("here"), Runtime::builder().name("there"));
    let (here, there) = (here.workers(1).build().unwrap(), there.workers(1).build().unwrap());
    let (handle, number) = (there.handle(), there.spawn(|| 6));
    let value = here.spawn_tail(move || {
        handle.tail((number,), |(number,)| {
            let name = std::thread::current().name().map(str::to_owned);
            (number + 1, name)
        })
    });
    assert_eq!(value.wait(), Ok((7, Some("there-0".to_owned()))));
    let handle = there.handle();
    let panics = here.spawn_tail(move || handle.tail((), |()| fails::<u8>("there")));
    assert_eq!(panics.wait(), Err(WaitError::Panicked("there".into())));
    // One that has stopped runs nothing more.
    let handle = there.handle();
    drop(there);
    let late = here.spawn_tail(move || handle.tail((), |()| 7));
    assert_eq!(late.wait(), Err(WaitError::Cancelled));
}
