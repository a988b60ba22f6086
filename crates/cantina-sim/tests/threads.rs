//! Virtual threads: starting, joining, panicking, waiting, and what a run says about it.

use cantina_sim::atomic::{AtomicUsize, Ordering::Relaxed};
use cantina_sim::engine::{Doing, Failure, Simulation, ThreadId, Watchdog, run};
use cantina_sim::lock::Mutex;
use cantina_sim::park::Parker;
use cantina_sim::time::{Duration, Instant};
use cantina_sim::{Arc, random, thread};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Two threads that add one, badly.
fn lost_update() -> usize {
    let count = Arc::new(AtomicUsize::new(0));
    let add = |count: &AtomicUsize| count.store(count.load(Relaxed) + 1, Relaxed);
    let theirs = count.clone();
    let other = thread::spawn(move || add(&theirs));
    add(&count);
    other.join().unwrap();
    count.load(Relaxed)
}

#[test]
fn a_lost_update_is_found() {
    let counts: Vec<usize> = (0..100).map(|seed| run(seed, lost_update)).collect();
    assert!(counts.contains(&1) && counts.contains(&2));
}

#[test]
fn a_seed_replays() {
    for seed in 0..100 {
        let outcome = || Simulation::new().seed(seed).run(|| (lost_update(), random::seed()));
        let (one, two) = (outcome().unwrap(), outcome().unwrap());
        assert_eq!(one.value, two.value);
        assert_eq!(one.trace, two.trace);
        assert_eq!((one.steps, one.nanos), (two.steps, two.nanos));
    }
}

#[test]
fn atomic_updates_are_never_lost() {
    for seed in 0..200 {
        let count = Arc::new(AtomicUsize::new(0));
        let threads = 4;
        run(seed, || {
            let add =
                |count: Arc<AtomicUsize>| (0..5).for_each(|_| _ = count.fetch_add(1, Relaxed));
            let handles: Vec<_> = (0..threads)
                .map(|_| count.clone())
                .map(|count| thread::spawn(move || add(count)))
                .collect();
            handles.into_iter().for_each(|handle| handle.join().unwrap());
        });
        assert_eq!(count.load(Relaxed), threads * 5);
    }
}

#[test]
fn a_lock_lets_one_in() {
    for seed in 0..100 {
        let total = run(seed, || {
            let total = Arc::new(Mutex::new(0));
            let theirs = total.clone();
            let other = thread::spawn(move || {
                for _ in 0..3 {
                    let mut total = theirs.lock();
                    let seen = *total;
                    thread::yield_now();
                    *total = seen + 1;
                }
            });
            (0..3).for_each(|_| *total.lock() += 1);
            other.join().unwrap();
            *total.lock()
        });
        assert_eq!(total, 6);
    }
}

#[test]
fn a_held_lock_is_not_taken() {
    let lock = Mutex::new(1);
    let check = || {
        let guard = lock.lock();
        assert!(lock.try_lock().is_none());
        drop(guard);
        assert!(lock.try_lock().is_some());
    };
    check();
    run(0, check);
    assert_eq!(lock.into_inner(), 1);
}

#[test]
fn a_deadlock_is_reported_with_names() {
    let crossed = || {
        let (left, right) = (Arc::new(Mutex::new(())), Arc::new(Mutex::new(())));
        let (theirs_left, theirs_right) = (left.clone(), right.clone());
        let other = thread::Builder::new().name("crosser".to_owned()).spawn(move || {
            let _right = theirs_right.lock();
            let _left = theirs_left.lock();
        });
        let _left = left.lock();
        drop(right.lock());
        drop(_left);
        other.unwrap().join().unwrap();
    };
    let failures: Vec<Failure> =
        (0..200).filter_map(|seed| Simulation::new().seed(seed).run(crossed).err()).collect();
    assert!(!failures.is_empty() && failures.len() < 200);
    for failure in failures {
        let text = failure.to_string();
        let Failure::Deadlock(report) = failure else { panic!("{failure}") };
        assert_eq!(report.blocked_by(ThreadId(0)), Some(ThreadId(1)));
        assert_eq!(report.blocked_by(ThreadId(1)), Some(ThreadId(0)));
        assert!(
            text.contains("thread 0 'main' waits for a lock held by thread 1 'crosser'"),
            "{text}"
        );
        assert!(text.contains(&format!("seed {}", report.seed)), "{text}");
    }
}

#[test]
#[should_panic = "thread 0 'main' is parked"]
fn waiting_for_nobody_is_a_deadlock() {
    run(1, || Parker::new().park());
}

#[test]
#[should_panic = "held outside the run"]
fn a_lock_held_outside_is_reported() {
    let lock = Mutex::new(());
    let _guard = lock.lock();
    run(1, || drop(lock.lock()));
}

#[test]
fn what_does_not_end_is_ended_by_its_budget() {
    let forever = || loop {
        thread::spin_loop();
    };
    let failure = Simulation::new()
        .steps(1_000)
        .run(forever)
        .map(|outcome: cantina_sim::engine::Outcome<()>| outcome.value)
        .unwrap_err();
    let Failure::Budget(report) = failure else { panic!("{failure}") };
    assert_eq!(report.steps, 1_000);
    assert!(matches!(report.threads[0].doing, Doing::Ready(_)));
}

#[test]
fn no_wake_up_is_lost() {
    for seed in 0..200 {
        run(seed, || {
            let (here, there) = (Parker::new(), Parker::new());
            let (to_here, to_there) = (here.unparker(), there.unparker());
            let other = thread::spawn(move || {
                for _ in 0..5 {
                    there.park();
                    to_here.unpark();
                }
            });
            for _ in 0..5 {
                to_there.unpark();
                assert!(here.park_timeout(Duration::MAX));
            }
            other.join().unwrap();
        });
    }
}

#[test]
fn time_passes_when_everybody_sleeps() {
    let outcome = Simulation::new().run(|| {
        let start = Instant::now();
        assert!(!Parker::new().park_timeout(Duration::from_secs(3600)));
        assert!(start.elapsed() >= Duration::from_secs(3600));
        let other = thread::spawn(|| thread::sleep(Duration::from_secs(2)));
        thread::sleep(Duration::from_secs(1));
        other.join().unwrap();
        start.elapsed()
    });
    let elapsed = outcome.unwrap().value;
    assert!(elapsed >= Duration::from_secs(3602) && elapsed < Duration::from_secs(3603));
}

#[test]
fn a_loop_with_a_bound_comes_to_its_end_before_a_deadline_does() {
    let woken = run(1, || {
        let parker = Parker::new();
        let (word, other) = (AtomicUsize::new(0), parker.unparker());
        thread::spawn(move || {
            for _ in 0..100 {
                assert_eq!(word.load(Relaxed), 0);
                thread::yield_now();
            }
            other.unpark();
        });
        parker.park_timeout(Duration::from_secs(60))
    });
    assert!(woken);
}

#[test]
fn those_who_sleep_wake_in_order() {
    for seed in 0..50 {
        let order = run(seed, || {
            let order = Arc::new(Mutex::new(Vec::new()));
            let sleepers: Vec<_> = [30, 10, 20]
                .map(|millis| (millis, order.clone()))
                .map(|(millis, order)| {
                    thread::spawn(move || {
                        thread::sleep(Duration::from_millis(millis));
                        order.lock().push(millis);
                    })
                })
                .into();
            sleepers.into_iter().for_each(|sleeper| sleeper.join().unwrap());
            std::mem::take(&mut *order.lock())
        });
        assert_eq!(order, [10, 20, 30]);
    }
}

struct Adds<'a>(&'a AtomicUsize);

impl Drop for Adds<'_> {
    fn drop(&mut self) {
        assert!(thread::panicking());
        self.0.fetch_add(1, Relaxed);
    }
}

#[test]
fn a_panic_runs_drops_and_comes_out_of_join() {
    for seed in 0..50 {
        run(seed, || {
            let drops = Arc::new(AtomicUsize::new(0));
            let theirs = drops.clone();
            let other = thread::spawn(move || {
                let _adds = Adds(&theirs);
                theirs.load(Relaxed);
                std::panic::resume_unwind(Box::new("boo"));
            });
            while drops.load(Relaxed) == 0 {
                assert!(!thread::panicking());
                thread::yield_now();
            }
            let payload = other.join().unwrap_err();
            assert_eq!(payload.downcast_ref(), Some(&"boo"));
            assert!(!thread::panicking());
        });
    }
}

/// Joins in its drop; notes what its thread said.
struct Joins(Option<thread::JoinHandle<()>>, Arc<Mutex<Vec<bool>>>);

impl Drop for Joins {
    fn drop(&mut self) {
        let before = thread::panicking();
        let said = self.0.take().unwrap().join().unwrap_err();
        let said = *said.downcast_ref::<bool>().unwrap();
        self.1.lock().extend([before, said, thread::panicking()]);
    }
}

#[test]
fn a_thread_may_wait_while_it_unwinds_and_another_panic_meanwhile() {
    for seed in 0..50 {
        let notes = run(seed, || {
            let notes = Arc::new(Mutex::new(Vec::new()));
            let theirs = notes.clone();
            let outer = thread::spawn(move || {
                let inner = thread::spawn(|| {
                    // Long enough for the other to unwind and to wait.
                    thread::sleep(Duration::from_millis(1));
                    std::panic::resume_unwind(Box::new(thread::panicking()));
                });
                let _joins = Joins(Some(inner), theirs);
                std::panic::resume_unwind(Box::new(()));
            });
            let ended: std::thread::Result<()> = outer.join();
            assert!(ended.is_err() && !thread::panicking());
            notes.lock().clone()
        });
        assert_eq!(notes, [true, false, true]);
    }
}

#[test]
fn a_panic_of_the_scenario_comes_out_of_the_run() {
    let scenario = || {
        thread::spawn(|| Parker::new().park());
        std::panic::resume_unwind(Box::new("boo".to_owned()));
    };
    let failure = Simulation::new().seed(9).run::<()>(scenario).unwrap_err();
    assert!(failure.to_string().contains("the scenario panicked: boo (seed 9"), "{failure}");
    let payload = catch_unwind(AssertUnwindSafe(|| run::<()>(9, scenario))).unwrap_err();
    assert_eq!(payload.downcast_ref(), Some(&"boo".to_owned()));
}

#[test]
fn threads_that_would_wait_for_ever_are_abandoned_at_the_end() {
    let outcome = Simulation::new().run(|| {
        let sleeps = || Parker::new().park();
        drop(thread::Builder::new().name("sleeper".to_owned()).spawn(sleeps).unwrap());
    });
    let abandoned = outcome.unwrap().abandoned;
    assert_eq!(abandoned.len(), 1);
    assert_eq!(abandoned[0].name.as_deref(), Some("sleeper"));
    assert_eq!(abandoned[0].doing, Doing::Parked);
}

#[test]
fn threads_that_were_let_go_run_to_their_end() {
    let count = Arc::new(AtomicUsize::new(0));
    run(3, || {
        for _ in 0..3 {
            let count = count.clone();
            drop(thread::spawn(move || count.fetch_add(1, Relaxed)));
        }
    });
    assert_eq!(count.load(Relaxed), 3);
}

#[test]
fn two_hundred_and_fifty_six_threads_run_at_once() {
    let all = run(5, || {
        let count = Arc::new(AtomicUsize::new(0));
        let handles: Vec<_> = (0..256)
            .map(|_| count.clone())
            .map(|count| {
                thread::spawn(move || {
                    count.fetch_add(1, Relaxed);
                    while count.load(Relaxed) < 256 {
                        thread::spin_loop();
                    }
                })
            })
            .collect();
        handles.into_iter().for_each(|handle| handle.join().unwrap());
        count.load(Relaxed)
    });
    assert_eq!(all, 256);
}

#[test]
#[should_panic = "a simulation holds 256 threads besides itself"]
fn one_more_is_refused() {
    let waits = || Parker::new().park();
    run(5, || (0..257).for_each(|_| drop(thread::spawn(waits))));
}

#[test]
fn threads_that_ended_make_room() {
    let sum: usize =
        run(2, || (0..1_000).map(|number| thread::spawn(move || number).join().unwrap()).sum());
    assert_eq!(sum, 499_500);
}

#[test]
#[should_panic = "virtual threads only exist inside a simulation"]
fn outside_a_run_there_are_no_threads() {
    drop(thread::spawn(|| ()));
}

#[test]
#[should_panic = "cannot run inside a simulation"]
fn a_simulation_does_not_nest() {
    run(0, || run(1, || ()));
}

#[test]
#[should_panic = "this would wait for ever"]
fn outside_a_run_nobody_waits() {
    Parker::new().park();
}

#[test]
fn outside_a_run_the_clock_stands_still() {
    let before = Instant::now();
    thread::sleep(Duration::from_secs(1));
    assert_eq!(before.elapsed(), Duration::ZERO);
    assert_eq!(random::seed(), random::seed());
    assert!(thread::current_core().is_none());
}

#[test]
fn a_token_that_came_before_is_used_up() {
    let check = || {
        let parker = Parker::new();
        parker.unparker().unpark();
        parker.unparker().unpark();
        parker.park();
        assert!(!parker.park_timeout(Duration::ZERO));
    };
    check();
    run(0, check);
}

#[test]
fn a_loop_without_a_step_is_seen_by_the_watchdog() {
    use std::sync::atomic::AtomicBool;
    let (tell, told) = std::sync::mpsc::channel();
    let barked = std::sync::Arc::new(AtomicBool::new(false));
    let bark = barked.clone();
    let dog = Watchdog::with(std::time::Duration::from_millis(50), move |hang| {
        tell.send(hang).unwrap();
        bark.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    // Runs that take steps are let alone, and so is time between them.
    (0..20).for_each(|seed| _ = run(seed, lost_update));
    std::thread::sleep(std::time::Duration::from_millis(200));
    assert!(told.try_recv().is_err());
    run(7, || {
        let theirs = barked.clone();
        let hangs = thread::spawn(move || {
            while !theirs.load(std::sync::atomic::Ordering::Relaxed) {
                std::thread::yield_now();
            }
        });
        hangs.join().unwrap();
    });
    let hang = told.recv().unwrap();
    assert_eq!(hang.seed, 7);
    assert!(hang.to_string().contains("seed 7"), "{hang}");
    drop(dog);
}

/// Runs a simulation when it is dropped.
struct Simulates;

impl Drop for Simulates {
    fn drop(&mut self) {
        assert!(std::thread::panicking());
        // Threads still take turns, and do not take the panic around them for their own.
        let counts: Vec<usize> = (0..100).map(|seed| run(seed, lost_update)).collect();
        assert!(counts.contains(&1) && counts.contains(&2));
        assert!(!run(0, thread::panicking));
    }
}

#[test]
fn a_simulation_may_run_while_its_os_thread_unwinds() {
    let outcome = catch_unwind(|| {
        let _simulates = Simulates;
        std::panic::resume_unwind(Box::new(()));
    });
    assert!(outcome.is_err());
}

#[test]
fn two_threads_that_unwind_know_it() {
    struct Knows(Arc<AtomicUsize>);
    impl Drop for Knows {
        fn drop(&mut self) {
            for _ in 0..5 {
                if !thread::panicking() {
                    self.0.fetch_add(1, Relaxed);
                }
                self.0.load(Relaxed);
            }
        }
    }
    for seed in 0..50 {
        let wrong = run(seed, || {
            let wrong = Arc::new(AtomicUsize::new(0));
            let panics = || {
                let knows = Knows(wrong.clone());
                move || {
                    let _knows = knows;
                    std::panic::resume_unwind(Box::new(()));
                }
            };
            let handles = [thread::spawn(panics()), thread::spawn(panics())];
            for handle in handles {
                let ended: std::thread::Result<()> = handle.join();
                assert!(ended.is_err());
            }
            wrong.load(Relaxed)
        });
        assert_eq!(wrong, 0);
    }
}

#[test]
fn a_thread_may_bring_a_lot_along() {
    let luggage = [7_u64; 1_000];
    assert_eq!(run(0, move || thread::spawn(move || luggage[999]).join().unwrap()), 7);
}
