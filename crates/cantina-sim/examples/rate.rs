//! How many schedules of a program of about a hundred steps are run per second.

use cantina_sim::atomic::{AtomicUsize, Ordering::AcqRel, Ordering::Acquire, Ordering::Release};
use cantina_sim::engine::{Memory, Simulation};
use cantina_sim::schedule::{Schedule, delay_rmw};
use cantina_sim::{Arc, thread};
use std::time::Instant;

/// Three threads that add and exchange, 32 accesses each.
fn program() {
    let words = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0)));
    let adders: Vec<_> = (0..3)
        .map(|_| words.clone())
        .map(|words| {
            thread::spawn(move || {
                for turn in 0..8 {
                    words.0.fetch_add(1, AcqRel);
                    let seen = words.1.load(Acquire);
                    let _ = words.1.compare_exchange(seen, seen + 1, AcqRel, Acquire);
                    words.0.store(turn, Release);
                }
            })
        })
        .collect();
    adders.into_iter().for_each(|adder| adder.join().unwrap());
}

fn main() {
    let pct = Schedule::Pct { depth: 3, length: 100 };
    let schedules = [("random", Schedule::Random), ("pct", pct), ("delay-rmw", delay_rmw())];
    for memory in [Memory::Sequential, Memory::Tso] {
        for (name, schedule) in &schedules {
            let simulation = Simulation::new().memory(memory).schedule(schedule.clone());
            let runs = 100_000;
            let start = Instant::now();
            let mut steps = 0;
            for seed in 0..runs {
                steps += simulation.clone().seed(seed).run(program).expect("it ends").steps;
            }
            let rate = runs as f64 / start.elapsed().as_secs_f64();
            let steps = steps as f64 / runs as f64;
            println!("{name:>10} {memory:?}: {rate:.0} schedules of {steps:.0} steps per second");
        }
    }
}
