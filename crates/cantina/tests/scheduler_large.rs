//! The scheduler with much of one thing: a little of it in the gate, a million in the deep run.

use cantina::scheduler::{Eventual, Runtime, Unit, WaitError};
use cantina_effort::rounds;
use machine::park::{Parker, Unparker};
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

const LONG: Duration = Duration::from_secs(60);

fn runtime(workers: usize) -> Runtime {
    Runtime::builder().workers(workers).build().unwrap()
}

/// Keeps the only worker busy, until it is let go.
fn blocked(runtime: &Runtime) -> Unparker {
    let (waits, begins) = (Parker::new(), Parker::new());
    let (lets_go, begun) = (waits.unparker(), begins.unparker());
    drop(runtime.spawn(move || {
        begun.unpark();
        waits.park();
    }));
    begins.park();
    lets_go
}

/// How long chains are.
fn length() -> usize {
    rounds(5_000, 1_000_000) as usize
}

/// Values that come from each other: each is the inner value of what an operation returns.
fn thens(runtime: &Runtime, first: Eventual<usize>) -> Eventual<usize> {
    let step = |last: Eventual<usize>| {
        let handle = runtime.handle();
        last.then(move |count| handle.spawn(move || count + 1))
    };
    (0..length()).fold(first, |last, _| step(last))
}

#[test]
fn a_chain_of_thens_runs_without_a_deep_stack() {
    let runtime = runtime(2);
    let (promise, first) = runtime.promise();
    let last = thens(&runtime, first);
    promise.keep(0);
    assert_eq!(last.wait(), Ok(length()));
}

#[test]
fn a_chain_of_thens_fails_without_a_deep_stack() {
    let runtime = runtime(2);
    let (promise, first) = runtime.promise();
    let last = thens(&runtime, first);
    drop(promise);
    assert_eq!(last.wait(), Err(WaitError::Broken));
}

/// The values of those that panic go unread, each on its way to the next one.
#[test]
fn a_chain_of_thens_panics_without_a_deep_stack() {
    let runtime = runtime(2);
    let first = runtime.spawn(|| resume_unwind(Box::new("first")));
    let last = thens(&runtime, first);
    assert_eq!(last.wait(), Err(WaitError::Panicked("first".to_owned())));
    assert_eq!(runtime.metrics().unheard_panics, 0);
}

#[test]
fn a_chain_of_thens_is_cancelled_without_a_deep_stack() {
    let runtime = runtime(2);
    let (promise, first) = runtime.promise();
    let last = thens(&runtime, first);
    let left = runtime.shutdown(LONG);
    assert!(left.waiting > 0, "{left:?}");
    assert_eq!(last.wait(), Err(WaitError::Cancelled));
    drop(promise);
}

#[test]
fn a_chain_of_thens_that_nobody_looks_at_goes_without_a_deep_stack() {
    let runtime = runtime(2);
    let (promise, first) = runtime.promise();
    drop(thens(&runtime, first));
    promise.keep(0);
    assert!(runtime.shutdown(LONG).is_nothing());
    let runtime = self::runtime(2);
    let (promise, first) = runtime.promise();
    drop(thens(&runtime, first));
    drop(runtime);
    drop(promise);
}

/// Each value has the one before it in it, and is the argument of an operation of a unit.
#[test]
fn a_chain_through_a_unit_runs_without_a_deep_stack() {
    let runtime = runtime(2);
    let unit = runtime.unit(0);
    let (promise, first) = runtime.promise();
    let last = (0..length()).fold(first, |last, _| {
        unit.send_after(last, |runs, count: usize| {
            *runs += 1;
            count + 1
        })
    });
    promise.keep(0);
    assert_eq!(last.wait(), Ok(length()));
    assert_eq!(unit.send(|runs| *runs).wait(), Ok(length()));
}

/// As many units as workers that never have nothing to do, and what comes from outside.
#[test]
fn hot_units_starve_nobody() {
    fn again(unit: &Unit<usize>, ends: &Arc<AtomicBool>) {
        let (this, ends) = (unit.clone(), ends.clone());
        unit.tell(move |runs| {
            *runs += 1;
            if !ends.load(Relaxed) {
                again(&this, &ends);
            }
        });
    }
    for workers in 1..=3 {
        let runtime = Runtime::builder().workers(workers).budget(8).build().unwrap();
        let ends = Arc::new(AtomicBool::new(false));
        let hot: Vec<_> = (0..workers).map(|_| runtime.unit(0)).collect();
        hot.iter().for_each(|unit| again(unit, &ends));
        let cold = runtime.unit(0);
        for number in 1..=rounds(20, 10_000) {
            let sent = cold.send(|sum| {
                *sum += 1;
                *sum
            });
            assert_eq!(sent.wait(), Ok(number));
            assert_eq!(runtime.spawn(move || number).wait(), Ok(number));
            assert_eq!(runtime.spawn_urgent(move || number).wait(), Ok(number));
        }
        // The hot ones themselves come to their next turn.
        for unit in &hot {
            let before = unit.metrics().turns;
            while unit.metrics().turns == before {
                std::thread::yield_now();
            }
        }
        ends.store(true, Relaxed);
        assert!(runtime.shutdown(LONG).is_nothing());
        assert!(hot.iter().all(|unit| unit.metrics().messages > 0));
    }
}

/// What is cancelled at the end sends when it is dropped: to units, to itself, free operations, and keeps a promise.
#[test]
fn a_message_whose_drop_sends_is_cancelled() {
    struct Sends {
        unit: Unit<usize>,
        value: Option<cantina::scheduler::Promise<usize>>,
        handle: cantina::scheduler::Handle,
        drops: Arc<AtomicUsize>,
        left: usize,
    }
    impl Drop for Sends {
        fn drop(&mut self) {
            self.drops.fetch_add(1, Relaxed);
            if let Some(left) = self.left.checked_sub(1) {
                let (unit, handle, drops) =
                    (self.unit.clone(), self.handle.clone(), self.drops.clone());
                let next = Sends { unit, value: None, handle, drops, left };
                if left.is_multiple_of(2) {
                    self.unit.tell(move |_| drop(next));
                } else {
                    drop(self.handle.spawn(move || drop(next)));
                }
            }
            self.value.take().into_iter().for_each(|value| value.keep(7));
        }
    }
    for again in [1, 2, 7] {
        let runtime = runtime(1);
        let lets_go = blocked(&runtime);
        let unit = runtime.unit(0);
        let drops = Arc::new(AtomicUsize::new(0));
        let many = rounds(100, 10_000) as usize;
        let mut kept = Vec::new();
        for _ in 0..many {
            let (promise, value) = runtime.promise();
            kept.push(value);
            let sends = Sends {
                unit: unit.clone(),
                value: Some(promise),
                handle: runtime.handle(),
                drops: drops.clone(),
                left: again,
            };
            unit.tell(move |_| drop(sends));
        }
        let ends = std::thread::spawn(move || runtime.shutdown(Duration::ZERO));
        let last = unit.send(|_| ());
        lets_go.unpark();
        drop(ends.join().unwrap());
        assert!(matches!(last.wait(), Ok(()) | Err(WaitError::Cancelled | WaitError::Closed)));
        for value in kept {
            assert_eq!(value.wait(), Ok(7), "dropped with what would have kept it");
        }
        assert!(drops.load(Relaxed) >= many);
    }
}

/// Every one is run once or cancelled, and one that is asked for too late changes nothing for what comes after it.
#[test]
fn a_cancel_is_right_or_too_late() {
    let runtime = runtime(2);
    let unit = runtime.unit(0);
    let mut runs = 0;
    let mut late = Vec::new();
    for number in 0..rounds(2_000, 200_000) {
        let (value, canceller) = unit.send_cancellable(|count| *count += 1);
        if number % 3 == 0 {
            // Its memory is used again before it is cancelled.
            late.push(canceller);
            runs += 1;
            drop(value);
        } else if canceller.cancel() {
            assert_eq!(value.wait(), Err(WaitError::Cancelled));
        } else {
            assert_eq!(value.wait(), Ok(()));
            runs += 1;
        }
    }
    assert_eq!(unit.send(|count| *count).wait(), Ok(runs));
    assert!(late.into_iter().all(|canceller| !canceller.cancel()));
}

#[test]
fn one_value_is_the_argument_of_many_and_many_times_of_one() {
    let runtime = runtime(2);
    let (promise, value) = runtime.promise::<u64>();
    let many = rounds(1_000, 100_000);
    let each: Vec<_> = (0..many).map(|_| value.clone().map(|value| value + 1)).collect();
    let same: Vec<_> = (0..many).map(|_| value.clone()).collect();
    let same = runtime.after(same, |same| same.into_iter().sum::<u64>());
    let none = runtime.after(Vec::<Eventual<u64>>::new(), |none| none.len());
    promise.keep(2);
    assert_eq!(same.wait(), Ok(2 * many));
    assert_eq!(none.wait(), Ok(0));
    let each = runtime.after(each, |each| each.into_iter().sum::<u64>());
    assert_eq!(each.wait(), Ok(3 * many));
    assert_eq!(value.wait(), Ok(2));
}

/// Many units with a little to do each, and one with much: nothing is lost where workers steal all the time.
#[test]
fn units_that_are_stolen_lose_nothing() {
    for workers in [2, 4] {
        let runtime = Runtime::builder().workers(workers).budget(1).room(1).build().unwrap();
        let hot = runtime.unit(0_u64);
        let cold: Vec<Unit<u64>> = (0..64).map(|_| runtime.unit(0)).collect();
        let times = rounds(50, 5_000);
        for _ in 0..times {
            for unit in &cold {
                let hot = hot.clone();
                unit.tell(move |count| {
                    *count += 1;
                    hot.tell(|count| *count += 1);
                });
            }
        }
        assert!(runtime.shutdown(LONG).is_nothing());
        assert_eq!(hot.metrics().messages, 64 * times);
        assert!(cold.iter().all(|unit| unit.metrics().messages == times));
    }
}

#[test]
fn units_are_many() {
    let runtime = runtime(1);
    let many = rounds(20_000, 1_000_000) as usize;
    let units: Vec<_> = (0..many).map(|number| runtime.unit(number)).collect();
    let sent: Vec<_> = units.iter().map(|unit| unit.send(|number| *number)).collect();
    let sum = runtime.after(sent, |numbers| numbers.into_iter().sum::<usize>());
    assert_eq!(sum.wait(), Ok((0..many).sum()));
}

/// A state with the last handle of the next unit.
struct Link {
    #[expect(dead_code, reason = "it is there to be dropped")]
    next: Option<Unit<Link>>,
    #[expect(dead_code, reason = "it counts those that are there")]
    there: Arc<()>,
}

/// Whether there is a weak handle of each, or none: then they go where the first does.
#[test]
fn a_chain_of_units_goes_without_a_deep_stack() {
    for watched in [false, true] {
        let (runtime, there) = (runtime(1), Arc::new(()));
        let mut weak = Vec::new();
        let first = (0..100_000).fold(None, |next, _| {
            let unit = runtime.unit(Link { next, there: there.clone() });
            weak.extend(watched.then(|| unit.downgrade()));
            Some(unit)
        });
        drop(first);
        assert!(runtime.shutdown(LONG).is_nothing());
        assert_eq!(Arc::strong_count(&there), 1);
        assert!(weak.iter().all(|weak| weak.upgrade().is_none()));
    }
}

/// What makes the state of one anew has the last handle of the next one.
#[test]
fn a_chain_of_units_that_are_made_anew_goes_without_a_deep_stack() {
    let (runtime, there) = (runtime(1), Arc::new(()));
    let first = (0..100_000).fold(None, |next: Option<Unit<()>>, _| {
        let held = (next, there.clone());
        let make = move || assert!(held.0.as_ref().is_none_or(|next| next.name().is_empty()));
        Some(runtime.unit_builder().rebuild_on_panic(make).build(()))
    });
    drop(first);
    assert_eq!(Arc::strong_count(&there), 1);
}
