//! Instructions that are billed where time is simulated.

use cantina_sim::atomic::AtomicUsize;
use cantina_sim::atomic::Ordering::Relaxed;
use cantina_sim::engine::Simulation;
use cantina_sim::time::nanos;
use cantina_sim::{Arc, instructions, thread};

/// Virtual nanoseconds of so many instructions.
fn time_of(count: u64) -> u64 {
    let run = || {
        let start = nanos();
        instructions(count);
        nanos() - start
    };
    Simulation::new().run_timed(run).unwrap().value
}

#[test]
fn they_take_time_where_time_is_simulated() {
    // Half a cycle each at 2300 MHz.
    let nanos = time_of(4_600_000) - time_of(0);
    assert!((999_990..=1_000_010).contains(&nanos), "{nanos}");
}

#[test]
fn they_are_no_step() {
    let program = |count: u64| {
        let word = AtomicUsize::new(0);
        instructions(count);
        word.fetch_add(1, Relaxed);
        instructions(count);
        word.load(Relaxed)
    };
    let timed = |count| Simulation::new().run_timed(|| program(count)).unwrap().steps;
    assert_eq!(timed(0), timed(1_000_000));
    let explored = |count| Simulation::new().run(|| program(count)).unwrap();
    let (none, many) = (explored(0), explored(1_000_000));
    assert_eq!((none.steps, none.nanos), (many.steps, many.nanos));
}

#[test]
fn who_computes_comes_later() {
    // The other one begins a while after the first, and is done before it.
    let order = || {
        let word = Arc::new(AtomicUsize::new(0));
        let theirs = word.clone();
        let slow = thread::spawn(move || {
            instructions(100_000_000);
            theirs.swap(1, Relaxed)
        });
        let theirs = word.clone();
        let quick = thread::spawn(move || theirs.swap(2, Relaxed));
        (slow.join().unwrap(), quick.join().unwrap())
    };
    assert_eq!(Simulation::new().run_timed(order).unwrap().value, (2, 0));
}

#[test]
fn outside_a_run_they_are_nothing() {
    instructions(u64::MAX);
    assert_eq!(nanos(), 0);
}

#[test]
fn more_than_can_be_is_as_much_as_can_be() {
    Simulation::new().run_timed(|| instructions(u64::MAX)).unwrap();
}
