//! What the scheduler offers beyond operations and units: room, cancelling, urgency, scopes, places, numbers.

mod running;

use cantina::scheduler::{Eventual, Refused, Runtime, Unit, WaitError};
use machine::Topology;
use machine::lock::Mutex;
use running::{LONG, blocked, fails, runtime};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

#[test]
fn a_full_unit_gives_the_operation_back() {
    let runtime = runtime(1);
    let lets_go = blocked(&runtime);
    let unit = runtime.unit_builder().capacity(2).build(0);
    let first = unit.try_send(|state| *state += 1).unwrap();
    assert!(unit.try_tell(|state| *state += 10).is_ok());
    let full = unit.try_send(|state| *state + 100).unwrap_err();
    let refused = unit.try_tell(|_| ()).unwrap_err();
    assert!(matches!(refused, Refused::Full(_)), "{refused:?}");
    assert_eq!(refused.to_string(), "the unit is full");
    assert_eq!(unit.metrics().queued, Some(2));
    lets_go.unpark();
    assert_eq!(first.wait(), Ok(()));
    assert_eq!(unit.send(full.into_inner()).wait(), Ok(111));
    assert!(runtime.shutdown(LONG).is_nothing());
    assert_eq!(unit.metrics().queued, Some(0));
}

#[test]
fn a_sender_from_outside_waits_for_room() {
    let runtime = runtime(1);
    let lets_go = blocked(&runtime);
    let unit = runtime.unit_builder().capacity(1).build(Vec::new());
    unit.tell(|seen| seen.push(0));
    let sent = Arc::new(AtomicUsize::new(0));
    let senders: Vec<_> = (1..=3)
        .map(|number| {
            let (unit, sent) = (unit.clone(), sent.clone());
            std::thread::spawn(move || {
                unit.tell(move |seen: &mut Vec<usize>| seen.push(number));
                sent.fetch_add(1, Relaxed);
            })
        })
        .collect();
    std::thread::sleep(Duration::from_millis(20));
    assert_eq!(sent.load(Relaxed), 0);
    lets_go.unpark();
    senders.into_iter().for_each(|sender| sender.join().unwrap());
    let mut seen = unit.send(|seen| seen.clone()).wait().unwrap();
    seen.sort_unstable();
    assert_eq!(seen, [0, 1, 2, 3]);
}

#[test]
fn inside_an_operation_nothing_waits_for_room() {
    let runtime = runtime(1);
    let unit: Unit<usize> = runtime.unit_builder().capacity(1).build(0);
    let this = unit.clone();
    let sent = unit.send(move |_| {
        (0..10).for_each(|_| this.tell(|state| *state += 1));
        this.try_tell(|_| ()).is_err()
    });
    assert_eq!(sent.wait(), Ok(true));
    assert_eq!(unit.send(|state| *state).wait(), Ok(10));
    // Nor does what waits for an argument, when that comes.
    let (promise, argument) = runtime.promise();
    let lets_go = blocked(&runtime);
    let after = unit.send_after(argument, |state, more: usize| *state + more);
    unit.tell(|_| ());
    promise.keep(5);
    lets_go.unpark();
    assert_eq!(after.wait(), Ok(15));
}

#[test]
fn who_waits_for_room_is_not_left_behind_by_the_end() {
    let runtime = runtime(1);
    let lets_go = blocked(&runtime);
    let unit = runtime.unit_builder().capacity(1).build(());
    unit.tell(|()| ());
    let theirs = unit.clone();
    let sender = std::thread::spawn(move || theirs.send(|()| ()).wait());
    std::thread::sleep(Duration::from_millis(5));
    let ends = std::thread::spawn(move || drop(runtime));
    let ended = sender.join().unwrap();
    assert!(matches!(ended, Err(WaitError::Cancelled | WaitError::Closed)), "{ended:?}");
    lets_go.unpark();
    ends.join().unwrap();
}

#[test]
fn an_operation_is_cancelled_until_it_begins() {
    let runtime = runtime(1);
    let lets_go = blocked(&runtime);
    let unit = runtime.unit(0);
    let held = Arc::new(());
    let theirs = held.clone();
    let (value, canceller) = unit.send_cancellable(move |state| {
        *state += 1;
        drop(theirs);
    });
    let depends = value.map(|()| 1);
    let (free, cancels_free) = runtime.spawn_cancellable(|| 1);
    let (runs, _) = unit.send_cancellable(|state| *state + 5);
    assert!(canceller.cancel());
    assert!(cancels_free.cancel());
    assert_eq!(free.wait(), Err(WaitError::Cancelled));
    lets_go.unpark();
    assert_eq!(depends.wait(), Err(WaitError::Cancelled));
    assert_eq!(runs.wait(), Ok(5));
    assert_eq!(Arc::strong_count(&held), 1, "what it held is dropped in its turn");

    let (begun, canceller) = runtime.spawn_cancellable(|| 2);
    assert_eq!(begun.wait(), Ok(2));
    assert!(!canceller.cancel());
    let (failed, _) = unit.send_cancellable(|_| fails::<u8>("no"));
    assert_eq!(failed.wait(), Err(WaitError::Panicked("no".to_owned())));
    let (poisoned, canceller) = unit.send_cancellable(|_| ());
    assert_eq!(poisoned.wait(), Err(WaitError::Poisoned));
    assert!(!canceller.cancel());
    let handle = runtime.handle();
    drop(runtime);
    assert_eq!(handle.spawn_cancellable(|| ()).0.wait(), Err(WaitError::Closed));
    assert_eq!(unit.send_cancellable(|_| ()).0.wait(), Err(WaitError::Closed));
}

#[test]
fn what_can_be_cancelled_is_cancelled_by_the_end() {
    let runtime = runtime(1);
    let lets_go = blocked(&runtime);
    let (free, _keeps) = runtime.spawn_cancellable(|| 1);
    let (sent, canceller) = runtime.unit(0).send_cancellable(|state| *state);
    let ends = std::thread::spawn(move || drop(runtime));
    assert_eq!(free.wait(), Err(WaitError::Cancelled));
    assert_eq!(sent.wait(), Err(WaitError::Cancelled));
    assert!(!canceller.cancel());
    lets_go.unpark();
    ends.join().unwrap();
}

#[test]
fn what_is_urgent_goes_first_and_starves_nobody() {
    let runtime = runtime(1);
    let lets_go = blocked(&runtime);
    let order: Arc<Mutex<Vec<usize>>> = Arc::default();
    let push = |number| {
        let order = order.clone();
        move || order.lock().push(number)
    };
    let mut all: Vec<_> = (0..4).map(|number| runtime.spawn(push(number))).collect();
    all.extend((4..36).map(|number| runtime.spawn_urgent(push(number))));
    lets_go.unpark();
    all.into_iter().for_each(|value| assert_eq!(value.wait(), Ok(())));
    let order = std::mem::take(&mut *order.lock());
    let urgent: Vec<_> = order.iter().copied().filter(|number| *number >= 4).collect();
    assert_eq!(urgent, (4..36).collect::<Vec<_>>(), "in the order they came");
    let place = |number: usize| order.iter().position(|other| *other == number).unwrap();
    assert!((0..4).all(|number| place(number) < 35), "{order:?}");
    let first = order.iter().position(|number| *number < 4).unwrap();
    assert!(place(4) < first || first < 1 && place(4) == 1, "{order:?}");
    let two = runtime.after_urgent(runtime.spawn(|| 1), |one| one + 1);
    assert_eq!(two.wait(), Ok(2));
}

#[test]
fn a_scope_waits_for_what_borrows() {
    let runtime = runtime(2);
    let mut numbers = vec![0; 100];
    let sum = AtomicUsize::new(0);
    let result = runtime.scope(|scope| {
        for (index, number) in numbers.iter_mut().enumerate() {
            let sum = &sum;
            scope.spawn(move || {
                *number = index;
                scope.spawn(move || {
                    sum.fetch_add(index, Relaxed);
                });
            });
        }
        "done"
    });
    assert_eq!(result, Ok("done"));
    assert_eq!(numbers.iter().sum::<usize>(), sum.load(Relaxed));
    assert_eq!(sum.load(Relaxed), 4_950);
}

#[test]
fn a_scope_says_what_failed_and_waits_when_it_panics() {
    let runtime = runtime(2);
    let ran = AtomicUsize::new(0);
    let count = || {
        ran.fetch_add(1, Relaxed);
    };
    let failed = runtime.scope(|scope| {
        scope.spawn(count);
        scope.spawn(|| fails("inside"));
        scope.spawn(count);
    });
    assert_eq!(failed, Err(WaitError::Panicked("inside".to_owned())));
    assert_eq!(ran.load(Relaxed), 2);
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        runtime.scope(|scope| {
            scope.spawn(count);
            fails::<()>("outside")
        })
    }));
    assert!(panicked.is_err());
    assert_eq!(ran.load(Relaxed), 3);

    let handle = runtime.handle();
    let inside = runtime.spawn(move || handle.scope(|_| ()));
    assert_eq!(inside.wait(), Ok(Err(WaitError::OnWorker)));
    let handle = runtime.handle();
    drop(runtime);
    assert_eq!(handle.scope(|scope| scope.spawn(count)), Err(WaitError::Cancelled));
    assert_eq!(ran.load(Relaxed), 3);
}

#[test]
fn a_unit_tells_how_long_it_was_busy_and_how_much_there_is_to_do() {
    let runtime = runtime(1);
    let lets_go = blocked(&runtime);
    let unit = runtime.unit_builder().timed().capacity(usize::MAX).build(());
    (0..3).for_each(|_| unit.tell(|()| std::thread::sleep(Duration::from_millis(5))));
    assert_eq!(unit.metrics().queued, Some(3));
    assert_eq!(unit.metrics().busy, Some(Duration::ZERO));
    lets_go.unpark();
    assert!(runtime.shutdown(LONG).is_nothing());
    let metrics = unit.metrics();
    assert_eq!(metrics.queued, Some(0));
    assert!(metrics.busy.unwrap() >= Duration::from_millis(15), "{metrics:?}");
}

#[test]
fn a_turn_ends_when_its_time_is_over() {
    let turns = |time| {
        let runtime = Runtime::builder().workers(1).turn_time(time).build().unwrap();
        let lets_go = blocked(&runtime);
        let unit = runtime.unit(0);
        (0..10).for_each(|_| unit.tell(|state| *state += 1));
        lets_go.unpark();
        assert!(runtime.shutdown(LONG).is_nothing());
        assert_eq!(unit.metrics().messages, 10);
        unit.metrics().turns
    };
    // There is time for one message at least, and for as many as there are.
    assert_eq!(turns(Duration::ZERO), 11, "the last turn finds nothing");
    assert_eq!(turns(Duration::from_secs(3_600)), 1);
    assert_eq!(turns(Duration::MAX), 1);
}

#[test]
fn workers_have_places_and_names_and_numbers() {
    let topology = Topology::detect();
    let builder = Runtime::builder().workers(2).name("pinned").topology(topology).pin(true);
    let runtime = builder.build().unwrap();
    let unit = runtime.unit(0);
    (0..200).for_each(|_| unit.tell(|state| *state += 1));
    assert_eq!(unit.send(|state| *state).wait(), Ok(200));
    assert_eq!(unit.metrics().messages, 201);
    assert!(unit.metrics().turns >= 1);
    assert_eq!((unit.metrics().queued, unit.metrics().busy), (None, None));
    let naps = runtime.spawn(|| std::thread::sleep(Duration::from_millis(20)));
    assert_eq!(naps.wait(), Ok(()));
    let metrics = runtime.metrics();
    let names: Vec<_> = metrics.workers.iter().map(|worker| worker.name.as_str()).collect();
    assert_eq!(names, ["pinned-0", "pinned-1"]);
    let busy: Duration = metrics.workers.iter().map(|worker| worker.busy).sum();
    assert!(busy >= Duration::from_millis(20), "{metrics:?}");
    assert!(metrics.workers.iter().all(|worker| worker.queued == 0), "{metrics:?}");
}

#[test]
fn a_value_that_cannot_be_copied_fails_those_who_need_a_copy() {
    struct Loud;
    impl Clone for Loud {
        fn clone(&self) -> Self {
            fails("no copies")
        }
    }
    let runtime = runtime(1);
    for late in [false, true] {
        let (promise, inner) = runtime.promise::<Loud>();
        let (holds, mut kept) = (inner.clone(), Some(promise));
        if !late {
            kept.take().unwrap().keep(Loud);
        }
        let flat = runtime.spawn(move || inner).flatten();
        kept.into_iter().for_each(|promise| promise.keep(Loud));
        assert_eq!(flat.wait().err(), Some(WaitError::Panicked("no copies".to_owned())));
        assert!(holds.wait().is_ok(), "the last one needs none");
    }
}

/// Whoever takes it and dies of it holds it no more: the last one has the value itself, and it is dropped.
#[test]
fn a_value_that_cannot_be_copied_is_not_held_by_who_tried() {
    struct Loud(#[expect(dead_code, reason = "its drop is what counts")] Arc<()>);
    impl Clone for Loud {
        fn clone(&self) -> Self {
            fails("no copies")
        }
    }
    let runtime = runtime(1);
    let tries: [fn(Eventual<Loud>); 2] =
        [|value| drop(value.wait()), |value| drop(value.try_get())];
    for tries in tries {
        let there = Arc::new(());
        let (promise, value) = runtime.promise::<Loud>();
        let other = value.clone();
        promise.keep(Loud(there.clone()));
        assert!(catch_unwind(AssertUnwindSafe(|| tries(value))).is_err());
        assert!(other.wait().is_ok(), "the last one needs no copy");
        assert_eq!(Arc::strong_count(&there), 1);
    }
}

/// Processor time, as the kernel counts it, of the threads of this process whose names begin so.
#[cfg(target_os = "linux")]
fn processor_time(name: &str) -> u64 {
    let of = |path: std::path::PathBuf| {
        let comm = std::fs::read_to_string(path.join("comm")).unwrap_or_default();
        let times = std::fs::read_to_string(path.join("schedstat")).unwrap_or_default();
        let nanos = times.split_whitespace().next().and_then(|nanos| nanos.parse().ok());
        nanos.filter(|_| comm.starts_with(name)).unwrap_or(0)
    };
    std::fs::read_dir("/proc/self/task").unwrap().map(|entry| of(entry.unwrap().path())).sum()
}

#[test]
#[cfg(target_os = "linux")]
fn idle_workers_cost_nothing() {
    let runtime = Runtime::builder().workers(2).name("idler").build().unwrap();
    assert_eq!(runtime.spawn(|| 1).wait(), Ok(1));
    // On a busy machine it takes them a while to fall asleep. Who does not, runs in each of these times.
    let is_calm = |_| {
        let before = processor_time("idler");
        std::thread::sleep(Duration::from_millis(50));
        processor_time("idler") == before
    };
    assert!(processor_time("idler") > 0);
    assert!((0..100).any(is_calm), "idle workers work");
}

#[test]
fn more_operations_than_there_was_room_for_run_once_each() {
    let runtime = Runtime::builder().workers(2).room(1).build().unwrap();
    let handle = runtime.handle();
    let ran = Arc::new(AtomicUsize::new(0));
    let theirs = ran.clone();
    let all = runtime.spawn(move || {
        let spawn = |_| {
            let ran = theirs.clone();
            handle.spawn(move || ran.fetch_add(1, Relaxed))
        };
        handle.after((0..5_000).map(spawn).collect::<Vec<_>>(), |all| all.len())
    });
    assert_eq!(all.flatten().wait(), Ok(5_000));
    assert_eq!(ran.load(Relaxed), 5_000);
}
