//! A run can be stopped from outside.

use cantina_sim::atomic::{AtomicU64, Ordering};
use cantina_sim::engine::{Failure, Simulation};
use std::sync::atomic::AtomicUsize;

/// A program of very many steps.
fn count() {
    let word = AtomicU64::new(0);
    for _ in 0..1_000_000 {
        word.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn whoever_is_asked_can_stop_a_run() {
    static ASKED: AtomicUsize = AtomicUsize::new(0);
    let third_time = || ASKED.fetch_add(1, Ordering::Relaxed) % 3 == 2;
    let simulation = Simulation::new().steps(u64::MAX).halt_when(third_time);
    for outcome in [simulation.run(count).map(drop), simulation.run_timed(count).map(drop)] {
        let Err(Failure::Halted(report)) = outcome else { panic!("{outcome:?}") };
        assert!((3 * 4_095..=3 * 4_096).contains(&report.steps), "{report}");
    }
    assert_eq!(ASKED.load(Ordering::Relaxed), 6);
}

#[test]
fn a_run_that_nobody_stops_comes_to_its_end() {
    let simulation = Simulation::new().steps(u64::MAX).halt_when(|| false);
    assert!(simulation.run_timed(count).is_ok());
}
