//! Crashes, stalls and progress.

use cantina_sim::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use cantina_sim::engine::{Doing, Failure, Op, Simulation, ThreadId};
use cantina_sim::lock::Mutex;
use cantina_sim::progress::operation;
use cantina_sim::thread::Crashed;
use cantina_sim::{Arc, thread};

const FIRST: ThreadId = ThreadId(1);

/// Two threads that add one three times each with `add`; what each came to.
fn two(add: impl Fn() + Send + Clone + 'static) -> Vec<std::thread::Result<()>> {
    let adds = || {
        let add = add.clone();
        move || (0..3).for_each(|_| operation("add", &add))
    };
    let handles = [thread::spawn(adds()), thread::spawn(adds())];
    handles.map(thread::JoinHandle::join).into()
}

#[test]
fn a_crash_leaves_the_others_running() {
    for seed in 0..50 {
        let count = Arc::new(AtomicUsize::new(0));
        let theirs = count.clone();
        let add = move || _ = theirs.fetch_add(1, Relaxed);
        let outcome = Simulation::new().seed(seed).crash(FIRST, 1).run(|| two(add)).unwrap();
        let payload = outcome.value[0].as_ref().unwrap_err();
        assert!(payload.is::<Crashed>());
        assert!(outcome.value[1].is_ok());
        assert_eq!(outcome.crashed, [(FIRST, 1)]);
        assert_eq!(outcome.abandoned[0].doing, Doing::Crashed(Op::Rmw));
        assert_eq!(outcome.abandoned[0].operation.as_deref(), Some("add"));
        assert_eq!(count.load(Relaxed), 4);
    }
}

#[test]
fn a_crash_happens_at_every_step() {
    let step = |steps| {
        let count = Arc::new(AtomicUsize::new(0));
        let theirs = count.clone();
        let simulation = Simulation::new().crash(FIRST, steps);
        let add = move || _ = theirs.fetch_add(1, Relaxed);
        simulation.run(|| two(add)).unwrap();
        count.load(Relaxed)
    };
    assert_eq!([0, 1, 2, 3, 4].map(step), [3, 4, 5, 6, 6]);
}

#[test]
fn who_waits_for_a_crashed_holder_is_reported_with_it() {
    let lock = Arc::new(Mutex::new(0));
    let add = move || *lock.lock() += 1;
    // Its first step locks, its second unlocks.
    let failure = Simulation::new().crash(FIRST, 1).run(|| two(add)).unwrap_err();
    let text = failure.to_string();
    let Failure::Deadlock(report) = failure else { panic!("{text}") };
    assert_eq!(report.blocked_by(ThreadId(2)), Some(FIRST));
    assert!(text.contains("thread 1, in add, crashed, about to do: unlock"), "{text}");
    assert!(
        text.contains("thread 2, in add, waits for a lock held by thread 1, which has crashed"),
        "{text}"
    );
}

#[test]
fn random_crashes_are_the_seeds() {
    let crashed = |seed| {
        let count = Arc::new(AtomicUsize::new(0));
        let add = move || _ = count.fetch_add(1, Relaxed);
        let simulation = Simulation::new().seed(seed).random_crashes(1, 4);
        simulation.run(|| two(add)).unwrap().crashed
    };
    let all: Vec<_> = (0..100).map(crashed).collect();
    assert_eq!(all, (0..100).map(crashed).collect::<Vec<_>>());
    assert!(all.iter().all(|crashed| crashed.len() <= 1));
    assert!(all.iter().any(Vec::is_empty));
    for steps in 0..3 {
        assert!(all.iter().any(|crashed| crashed.contains(&(ThreadId(2), steps))));
    }
}

#[test]
fn what_a_crashed_thread_wrote_becomes_visible() {
    for seed in 0..100 {
        let simulation = Simulation::new().seed(seed).crash(FIRST, 1).steps(10_000);
        let scenario = || {
            let flag = Arc::new(AtomicBool::new(false));
            let theirs = flag.clone();
            drop(thread::spawn(move || {
                theirs.store(true, Relaxed);
                theirs.load(Relaxed);
            }));
            while !flag.load(Relaxed) {
                thread::spin_loop();
            }
        };
        simulation.run(scenario).unwrap();
    }
}

#[test]
fn a_stalled_thread_goes_on_later() {
    for seed in 0..50 {
        let order = Arc::new(Mutex::new(Vec::new()));
        let simulation = Simulation::new().seed(seed).stall(FIRST, 0, 1_000);
        simulation
            .run(|| {
                let handles = [1, 2].map(|number| {
                    let order = order.clone();
                    thread::spawn(move || order.lock().push(number))
                });
                handles.into_iter().for_each(|handle| handle.join().unwrap());
            })
            .unwrap();
        assert_eq!(*order.lock(), [2, 1]);
    }
}

#[test]
fn random_stalls_change_the_order_and_nothing_else() {
    for seed in 0..50 {
        let count = Arc::new(AtomicUsize::new(0));
        let theirs = count.clone();
        let add = move || _ = theirs.fetch_add(1, Relaxed);
        let simulation = Simulation::new().seed(seed).random_stalls(3, 2, 20);
        simulation.run(|| two(add)).unwrap();
        assert_eq!(count.load(Relaxed), 6);
    }
}

/// Adds by exchange, again and again until it worked.
fn exchanging() -> impl Fn() + Send + Clone + 'static {
    let word = Arc::new(AtomicUsize::new(0));
    move || {
        let mut seen = word.load(Relaxed);
        while let Err(now) = word.compare_exchange(seen, seen + 1, Relaxed, Relaxed) {
            seen = now;
        }
    }
}

/// Adds under a spin lock.
fn spinning() -> impl Fn() + Send + Clone + 'static {
    let shared = Arc::new((AtomicBool::new(false), AtomicUsize::new(0)));
    move || {
        while shared.0.swap(true, Relaxed) {
            thread::spin_loop();
        }
        shared.1.fetch_add(1, Relaxed);
        shared.0.swap(false, Relaxed);
    }
}

#[test]
fn a_lock_free_program_survives_any_crash() {
    for seed in 0..500 {
        let simulation = Simulation::new().seed(seed).random_crashes(1, 4).lock_free_within(50);
        simulation.run(|| two(exchanging())).unwrap();
    }
}

#[test]
fn a_spin_lock_is_not_lock_free() {
    let fails = |seed| {
        let simulation = Simulation::new().seed(seed).random_crashes(1, 4).lock_free_within(200);
        simulation.run(|| two(spinning())).err()
    };
    let failures: Vec<Failure> = (0..500).filter_map(fails).collect();
    assert!(failures.len() > 10);
    for failure in failures {
        let text = failure.to_string();
        assert!(matches!(failure, Failure::NobodyFinishes(_)), "{text}");
        assert!(text.contains("in add, crashed"), "{text}");
    }
}

#[test]
fn an_exchange_loop_is_lock_free_and_not_wait_free() {
    let fails = |seed| {
        let simulation = Simulation::new().seed(seed).wait_free_within(3).lock_free_within(100);
        simulation.run(|| two(exchanging())).err()
    };
    let failures: Vec<Failure> = (0..500).filter_map(fails).collect();
    assert!(!failures.is_empty());
    for failure in failures {
        assert!(failure.to_string().starts_with("not wait-free: the operation of thread "));
        assert!(matches!(failure, Failure::TooSlow { thread, .. } if thread >= FIRST));
    }
}

#[test]
fn an_addition_is_wait_free() {
    for seed in 0..200 {
        let count = Arc::new(AtomicUsize::new(0));
        let add = move || _ = count.fetch_add(1, Relaxed);
        let simulation = Simulation::new().seed(seed).wait_free_within(1);
        simulation.random_crashes(1, 3).run(|| two(add)).unwrap();
    }
}

#[test]
fn an_operation_that_panics_has_ended() {
    let simulation = Simulation::new().lock_free_within(10);
    let scenario = || {
        let boo = || operation("boo", || std::panic::resume_unwind(Box::new(())));
        let other: std::thread::Result<()> = thread::spawn(boo).join();
        other.unwrap_err();
        let word = AtomicUsize::new(0);
        (0..50).for_each(|_| _ = word.load(Relaxed));
    };
    simulation.run(scenario).unwrap();
    assert_eq!(operation("outside", || 3), 3);
}
