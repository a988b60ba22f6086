//! What the scheduler promises, and what it answers to bad use.

mod running;

use cantina::scheduler::{Builder, Eventual, Runtime, Unit, WaitError};
use machine::lock::Mutex;
use machine::park::Parker;
use running::{LONG, fails};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

fn runtime() -> Runtime {
    Runtime::builder().workers(2).budget(8).name("test").build().unwrap()
}

#[test]
fn operations_of_one_sender_run_in_order() {
    let runtime = runtime();
    let unit = runtime.unit(Vec::new());
    (0..1_000).for_each(|number| unit.tell(move |seen| seen.push(number)));
    assert_eq!(unit.send(|seen| seen.clone()).wait(), Ok((0..1_000).collect::<Vec<_>>()));
}

#[test]
fn a_panic_reaches_those_that_depend_on_it_and_poisons_its_unit() {
    let runtime = runtime();
    let unit = runtime.unit(0);
    let failed = unit.send(|_| fails::<u8>("no"));
    let depends = failed.map(|value| value + 1);
    assert_eq!(depends.wait(), Err(WaitError::Panicked("no".to_owned())));
    assert_eq!(unit.send(|state| *state).wait(), Err(WaitError::Poisoned));
    assert_eq!(
        runtime.spawn(|| fails::<u8>("free")).wait(),
        Err(WaitError::Panicked("free".to_owned()))
    );

    let told = runtime.unit(0);
    told.tell(|_| fails("told"));
    assert_eq!(told.send(|state| *state).wait(), Err(WaitError::Poisoned));
}

#[test]
fn a_unit_survives_a_panic_as_its_builder_says() {
    let runtime = runtime();
    let kept = runtime.unit_builder().keep_on_panic().build(1);
    kept.tell(|state| {
        *state = 2;
        fails("kept")
    });
    assert_eq!(kept.send(|state| *state).wait(), Ok(2));
    let anew = runtime.unit_builder().rebuild_on_panic(|| 7).build(1);
    anew.tell(|_| fails("anew"));
    assert_eq!(anew.send(|state| *state).wait(), Ok(7));
    let never = runtime.unit_builder().rebuild_on_panic(|| fails("make")).build(1);
    never.tell(|_| fails("never"));
    assert_eq!(never.send(|state| *state).wait(), Err(WaitError::Poisoned));
}

#[test]
fn what_panics_when_it_is_dropped_harms_nobody() {
    struct Loud;
    impl Drop for Loud {
        fn drop(&mut self) {
            fails("loud")
        }
    }
    let runtime = Runtime::builder().workers(1).build().unwrap();
    drop(runtime.spawn(|| Loud));
    let unit = runtime.unit(());
    let loud = Loud;
    unit.tell(move |()| {
        let _loud = &loud;
    });
    // The last handle may be the one here; the panic is nobody's all the same.
    drop(runtime.unit(Loud).send(|_| ()));
    assert_eq!(runtime.spawn(|| 1).wait(), Ok(1));
}

#[test]
fn a_state_that_panics_when_it_is_dropped_keeps_nothing_from_being_cancelled() {
    struct Loud;
    impl Drop for Loud {
        fn drop(&mut self) {
            fails("loud")
        }
    }
    let runtime = Runtime::builder().workers(1).build().unwrap();
    let waits = Parker::new();
    let lets_go = waits.unparker();
    drop(runtime.spawn(move || waits.park()));
    let told = runtime.unit(Loud).send(|_| ());
    let others: Vec<_> = (0..3).map(|_| runtime.spawn(|| ())).collect();
    drop(told);
    let stops = std::thread::spawn(move || drop(runtime));
    // Queued, or cancelled already; the worker is let go when all are.
    for other in others {
        assert_eq!(other.wait(), Err(WaitError::Cancelled));
    }
    lets_go.unpark();
    assert!(stops.join().is_ok());
}

#[test]
fn a_worker_that_waits_is_told_so_at_once() {
    let runtime = runtime();
    let there = runtime.spawn(|| 1);
    let handle = runtime.handle();
    let waits = runtime.spawn(move || (there.wait(), handle.spawn(|| 2).wait_timeout(LONG)));
    assert_eq!(waits.wait(), Ok((Err(WaitError::OnWorker), Some(Err(WaitError::OnWorker)))));
}

#[test]
fn what_blocks_holds_up_no_worker() {
    let runtime = Runtime::builder().workers(1).build().unwrap();
    let waits = Parker::new();
    let lets_go = waits.unparker();
    let blocks = runtime.spawn_blocking(move || {
        waits.park();
        2
    });
    assert_eq!(runtime.spawn(|| 1).wait(), Ok(1));
    lets_go.unpark();
    assert_eq!(blocks.wait(), Ok(2));
    assert_eq!(
        runtime.spawn_blocking(|| fails::<u8>("no")).wait(),
        Err(WaitError::Panicked("no".to_owned()))
    );
    let handle = runtime.handle();
    drop(runtime);
    assert_eq!(handle.spawn_blocking(|| 1).wait(), Err(WaitError::Closed));
}

#[test]
fn threads_are_called_as_their_runtime() {
    let runtime = Runtime::builder().workers(1).name("shop").build().unwrap();
    let name = || std::thread::current().name().map(str::to_owned);
    assert_eq!(runtime.spawn(name).wait(), Ok(Some("shop-0".to_owned())));
    assert_eq!(runtime.spawn_blocking(name).wait(), Ok(Some("shop-blocking".to_owned())));
}

#[test]
fn a_unit_may_send_to_itself() {
    let runtime = runtime();
    let unit: Unit<Vec<u8>> = runtime.unit(Vec::new());
    let this = unit.clone();
    let inner = unit.send(move |seen| {
        let later = this.send(|seen| {
            seen.push(2);
            seen.clone()
        });
        seen.push(1);
        later
    });
    assert_eq!(inner.flatten().wait(), Ok(vec![1, 2]));
}

#[test]
fn an_operation_that_waits_for_its_own_value_never_begins_and_is_cancelled() {
    let runtime = runtime();
    let (promise, own) = runtime.promise();
    let cell: Arc<Mutex<Option<Eventual<u8>>>> = Arc::default();
    let theirs = cell.clone();
    let value = runtime.after(own, |value: Eventual<u8>| value).flatten();
    *theirs.lock() = Some(value.clone());
    promise.keep(cell.lock().take().unwrap());
    assert_eq!(value.wait_timeout(Duration::from_millis(20)), None);
    assert_eq!(runtime.spawn(|| 1).wait(), Ok(1));
    drop(runtime);
    assert_eq!(value.wait(), Err(WaitError::Cancelled));

    let runtime = self::runtime();
    let (promise, never) = runtime.promise::<u8>();
    let waits = runtime.after(never, |value| value);
    let left = runtime.shutdown(LONG);
    assert_eq!((left.waiting, left.free, left.units.len()), (1, 0, 0));
    assert_eq!(waits.wait(), Err(WaitError::Cancelled));
    drop(promise);
}

#[test]
fn an_eventual_that_is_dropped_lets_its_operation_run() {
    let runtime = runtime();
    let ran = Arc::new(AtomicUsize::new(0));
    let theirs = ran.clone();
    drop(runtime.spawn(move || theirs.fetch_add(1, Relaxed)));
    assert!(runtime.shutdown(LONG).is_nothing());
    assert_eq!(ran.load(Relaxed), 1);
}

#[test]
fn a_shutdown_runs_what_is_queued_and_what_that_causes() {
    let runtime = runtime();
    let unit = runtime.unit(0);
    let (handle, theirs) = (runtime.handle(), unit.clone());
    let outer = runtime.spawn(move || handle.spawn(move || theirs.send(|state| *state + 1)));
    let outer = outer.flatten().flatten();
    assert!(runtime.shutdown(LONG).is_nothing());
    assert_eq!(outer.wait(), Ok(1));
    assert_eq!(unit.send(|state| *state).wait(), Err(WaitError::Closed));
    unit.tell(|_| unreachable!("it has stopped"));
}

#[test]
fn a_shutdown_that_runs_out_of_time_says_what_was_left() {
    let runtime = Runtime::builder().workers(1).build().unwrap();
    let (waits, begins) = (Parker::new(), Parker::new());
    let (lets_go, begun) = (waits.unparker(), begins.unparker());
    let unit = runtime.unit_builder().name("busy").build(());
    let blocks = unit.send(move |()| {
        begun.unpark();
        waits.park();
    });
    begins.park();
    let queued = unit.send(|()| ());
    unit.tell(|()| unreachable!("it has stopped"));
    // Of this one nothing is left but that its last handle is gone.
    let gone = runtime.unit_builder().name("gone").build(());
    let weak = gone.downgrade();
    drop(gone);
    let free = runtime.spawn(|| ());
    let handle = runtime.handle();
    let ends = std::thread::spawn(move || runtime.shutdown(Duration::from_millis(20)));
    assert_eq!(free.wait(), Err(WaitError::Cancelled));
    lets_go.unpark();
    let left = ends.join().unwrap();
    assert_eq!((left.free, left.units), (1, vec![("busy".to_owned(), 2)]));
    assert_eq!(handle.metrics().dropped_tells, 1);
    assert!(weak.upgrade().is_none());
    assert_eq!(blocks.wait(), Ok(()));
    assert_eq!(queued.wait(), Err(WaitError::Cancelled));
}

#[test]
fn a_runtime_that_is_dropped_by_its_own_operation_stops() {
    let runtime = runtime();
    let (promise, never) = runtime.promise::<u8>();
    let waits = never.map(|value| value);
    let handle = runtime.handle();
    drop(handle.spawn(move || drop(runtime)));
    assert_eq!(waits.wait(), Err(WaitError::Cancelled));
    assert_eq!(handle.spawn(|| 1).wait(), Err(WaitError::Closed));
    drop(promise);
}

#[test]
fn long_chains_run_fail_and_are_cancelled_without_a_deep_stack() {
    const LENGTH: usize = 20_000;
    let chain =
        |first: Eventual<usize>| (0..LENGTH).fold(first, |last, _| last.map(|count| count + 1));
    let runtime = runtime();
    assert_eq!(chain(runtime.spawn(|| 0)).wait(), Ok(LENGTH));
    let fails = chain(runtime.spawn(|| fails("first")));
    assert_eq!(fails.wait(), Err(WaitError::Panicked("first".to_owned())));
    let (promise, never) = runtime.promise();
    let last = chain(never);
    drop(runtime);
    assert_eq!(last.wait(), Err(WaitError::Cancelled));
    drop(promise);
}

#[test]
fn a_chain_of_nested_values_is_flattened_and_dropped_without_a_deep_stack() {
    struct Link(#[allow(dead_code, reason = "it is there to be dropped")] Option<Eventual<Link>>);
    let runtime = runtime();
    let mut last = runtime.promise::<Link>().1;
    for _ in 0..20_000 {
        let (promise, eventual) = runtime.promise();
        promise.keep(Link(Some(last)));
        last = eventual;
    }
    drop(last);
}

#[test]
fn what_is_there_is_flattened_after_the_end() {
    let runtime = runtime();
    let handle = runtime.handle();
    let nested = runtime.spawn(move || handle.spawn(|| 7));
    let (promise, never) = runtime.promise::<Eventual<u8>>();
    assert!(runtime.shutdown(LONG).is_nothing());
    assert_eq!(nested.flatten().wait(), Ok(7));
    assert_eq!(never.flatten().wait(), Err(WaitError::Cancelled));
    drop(promise);
}

#[test]
fn a_value_is_given_once_to_each_handle() {
    let runtime = runtime();
    let value = runtime.spawn(|| String::from("once"));
    let copy = value.clone();
    assert_eq!(value.wait_timeout(LONG), Some(Ok("once".to_owned())));
    assert_eq!(value.try_get(), Some(Err(WaitError::Taken)));
    assert_eq!(value.clone().wait(), Err(WaitError::Taken));
    assert_eq!(copy.wait(), Ok("once".to_owned()));
    let (promise, broken) = runtime.promise::<u8>();
    assert_eq!((broken.try_get(), broken.wait_timeout(Duration::ZERO)), (None, None));
    drop(promise);
    assert_eq!(broken.wait(), Err(WaitError::Broken));
}

#[test]
fn all_who_wait_with_one_handle_are_woken() {
    let runtime = runtime();
    let (promise, value) = runtime.promise();
    let value = Arc::new(value);
    let wait = |_| {
        let value = value.clone();
        std::thread::spawn(move || value.wait_timeout(Duration::MAX))
    };
    let waits: Vec<_> = (0..4).map(wait).collect();
    std::thread::sleep(Duration::from_millis(5));
    promise.keep(7);
    let values: Vec<_> = waits.into_iter().map(|waits| waits.join().unwrap()).collect();
    assert_eq!(values.iter().filter(|value| **value == Some(Ok(7))).count(), 1);
    let taken = Some(Err(WaitError::Taken));
    assert_eq!(values.iter().filter(|value| **value == taken).count(), 3);
}

#[test]
fn an_eventual_is_a_future() {
    struct Count(AtomicUsize);
    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Relaxed);
        }
    }
    let runtime = runtime();
    let (promise, eventual) = runtime.promise();
    let mut eventual = pin!(eventual);
    let count = Arc::new(Count(AtomicUsize::new(0)));
    let waker = Waker::from(count.clone());
    let mut context = Context::from_waker(&waker);
    (0..3).for_each(|_| assert!(eventual.as_mut().poll(&mut context).is_pending()));
    promise.keep(7);
    assert_eq!(count.0.load(Relaxed), 1, "one waker for all looks");
    assert_eq!(eventual.as_mut().poll(&mut context), Poll::Ready(Ok(7)));
}

#[test]
fn a_weak_handle_does_not_keep_the_state() {
    let runtime = runtime();
    let state = Arc::new(());
    let unit = runtime.unit(state.clone());
    let weak = unit.downgrade();
    assert!(weak.upgrade().is_some());
    let last = unit.send(|_| 1);
    drop(unit);
    assert_eq!(last.wait(), Ok(1), "messages run first");
    assert!(weak.clone().upgrade().is_none());
    assert!(runtime.shutdown(LONG).is_nothing());
    assert_eq!(Arc::strong_count(&state), 1);
}

#[test]
fn a_weak_handle_does_not_keep_the_state_beyond_the_runtime() {
    let runtime = runtime();
    let state = Arc::new(());
    let unit = runtime.unit(state.clone());
    let weak = unit.downgrade();
    drop(runtime);
    drop(unit);
    assert_eq!(Arc::strong_count(&state), 1);
    assert!(weak.upgrade().is_none());
}

/// Whether there was ever a weak handle or not: what was accepted runs, and the state goes behind it.
#[test]
fn a_message_that_waits_for_its_arguments_keeps_the_state() {
    for watched in [false, true] {
        let runtime = runtime();
        let (state, (promise, value)) = (Arc::new(()), runtime.promise());
        let unit = runtime.unit(state.clone());
        let weak = watched.then(|| unit.downgrade());
        let sent = unit.send_after(value, |state, more: usize| Arc::strong_count(state) + more);
        drop(unit);
        assert!(weak.iter().all(|weak| weak.upgrade().is_some()));
        promise.keep(10);
        assert_eq!(sent.wait(), Ok(12));
        assert!(runtime.shutdown(LONG).is_nothing());
        assert!(weak.iter().all(|weak| weak.upgrade().is_none()));
        assert_eq!(Arc::strong_count(&state), 1);
    }
}

/// One that fails, or is cancelled, keeps it no longer.
#[test]
fn a_message_that_fails_as_it_waits_lets_the_state_go() {
    for cancelled in [false, true] {
        let runtime = runtime();
        let (state, (promise, value)) = (Arc::new(()), runtime.promise::<usize>());
        let unit = runtime.unit(state.clone());
        let weak = unit.downgrade();
        let sent = unit.send_after(value, |_, more| more);
        drop(unit);
        let kept = cancelled.then_some(promise);
        let left = runtime.shutdown(LONG);
        let error = if cancelled { WaitError::Cancelled } else { WaitError::Broken };
        assert_eq!((left.waiting, sent.wait()), (usize::from(cancelled), Err(error)));
        assert_eq!((left.free, left.units.len()), (0, 0));
        assert!(weak.upgrade().is_none());
        assert_eq!(Arc::strong_count(&state), 1);
        drop(kept);
    }
}

#[test]
fn a_unit_with_many_messages_does_not_starve_the_others() {
    let runtime = Runtime::builder().workers(1).budget(4).build().unwrap();
    let busy = runtime.unit(());
    fn again(unit: &Unit<()>) {
        let this = unit.clone();
        unit.tell(move |()| again(&this));
    }
    again(&busy);
    assert_eq!(runtime.spawn(|| 1).wait(), Ok(1));
    assert_eq!(runtime.unit(2).send(|state| *state).wait(), Ok(2));
}

#[test]
fn handles_move_between_threads_and_are_shared_by_them() {
    fn is_free<T: Send + Sync>() {}
    is_free::<Eventual<std::cell::Cell<u8>>>();
    is_free::<Unit<std::cell::Cell<u8>>>();
    is_free::<cantina::scheduler::Promise<std::cell::Cell<u8>>>();
    is_free::<cantina::scheduler::Handle>();
}

#[test]
fn bad_settings_are_refused_and_counters_count() {
    assert!(Runtime::builder().workers(0).build().is_err());
    assert!(Runtime::builder().budget(0).build().is_err());
    let runtime = runtime();
    let unit = runtime.unit_builder().name("it").build(0);
    assert_eq!(unit.name(), "it");
    (0..10).for_each(|_| unit.tell(|state| *state += 1));
    assert_eq!(unit.send(|state| *state).wait(), Ok(10));
    assert_eq!(runtime.spawn(|| 1).wait(), Ok(1));
    let handle = runtime.handle();
    assert!(runtime.shutdown(LONG).is_nothing());
    assert_eq!(handle.metrics().operations(), 12);
}

#[test]
fn nonsense_is_refused_with_what_is_allowed() {
    let refused = |builder: Builder| builder.build().unwrap_err().to_string();
    let most = usize::MAX;
    assert_eq!(refused(Runtime::builder().workers(0)), "workers cannot be 0: 1 to 4096");
    let expected = format!("workers cannot be {most}: 1 to 4096");
    assert_eq!(refused(Runtime::builder().workers(most)), expected);
    assert_eq!(refused(Runtime::builder().budget(0)), "budget cannot be 0: at least 1");
    let expected = "name cannot be \"a\\0b\": one without the character 0";
    assert_eq!(refused(Runtime::builder().name("a\0b")), expected);
    let expected = format!("room cannot be {most}: at most 1048576");
    assert_eq!(refused(Runtime::builder().room(most)), expected);
    let runtime = Runtime::builder().workers(1).room(0).build().unwrap();
    assert_eq!(
        runtime.after(vec![runtime.spawn(|| 1), runtime.spawn(|| 2)], |all| all.len()).wait(),
        Ok(2)
    );
}
