//! Who sleeps is not busy; who looks again is.

use cantina_sim::atomic::AtomicBool;
use cantina_sim::atomic::Ordering::{Acquire, Release};
use cantina_sim::engine::{Outcome, Simulation};
use cantina_sim::park::Parker;
use cantina_sim::time::Duration;
use cantina_sim::{Arc, thread, work};

/// Cycles that one of the threads computes.
const LONG: u64 = 1_000_000;

fn run(scenario: fn()) -> Outcome<()> {
    Simulation::new().run_timed(scenario).unwrap_or_else(|failure| panic!("{failure}"))
}

/// How many times as long as it took altogether its threads were busy.
fn threads_busy(scenario: fn()) -> f64 {
    let outcome = run(scenario);
    outcome.busy_nanos as f64 / outcome.nanos as f64
}

#[test]
fn threads_that_compute_are_busy_and_those_that_sleep_are_not() {
    let both = threads_busy(|| {
        let other = thread::spawn(|| work(LONG));
        thread::spawn(|| work(LONG)).join().unwrap();
        other.join().unwrap();
    });
    assert!((1.9..=2.0).contains(&both), "{both}");
    let one = threads_busy(|| {
        let parker = Parker::new();
        let unparker = parker.unparker();
        let sleeps = thread::spawn(move || parker.park());
        let naps = thread::spawn(|| thread::sleep(Duration::from_micros(300)));
        let computes = thread::spawn(move || {
            work(LONG);
            unparker.unpark();
        });
        [sleeps, naps, computes].into_iter().for_each(|each| each.join().unwrap());
    });
    assert!((0.9..=1.1).contains(&one), "{one}");
}

#[test]
fn a_thread_that_spins_is_busy() {
    let both = threads_busy(|| {
        let done = Arc::new(AtomicBool::new(false));
        let theirs = done.clone();
        let spins = thread::spawn(move || {
            while !theirs.load(Acquire) {
                thread::spin_loop();
            }
        });
        let computes = thread::spawn(move || {
            work(LONG);
            done.store(true, Release);
        });
        [spins, computes].into_iter().for_each(|each| each.join().unwrap());
    });
    assert!((1.9..=2.1).contains(&both), "{both}");
}

#[test]
fn where_steps_take_no_time_nobody_is_busy() {
    let outcome = Simulation::new().run(|| thread::spawn(|| work(LONG)).join().unwrap());
    assert_eq!(outcome.unwrap().busy_nanos, 0);
}
