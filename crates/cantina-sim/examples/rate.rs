//! How fast the simulator is: schedules of a program of about a hundred steps, and accesses on a
//! timed machine, per second of real time.

use cantina_sim::atomic::AtomicUsize;
use cantina_sim::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use cantina_sim::engine::{Memory, Simulation};
use cantina_sim::schedule::{Schedule, delay_rmw};
use cantina_sim::{Arc, CachePadded, thread};
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

fn schedules(name: &str, simulation: &Simulation) {
    let runs = 50_000;
    let start = Instant::now();
    let mut steps = 0;
    for seed in 0..runs {
        steps += simulation.clone().seed(seed).run(program).expect("it ends").steps;
    }
    let rate = runs as f64 / start.elapsed().as_secs_f64();
    let steps = steps as f64 / runs as f64;
    println!("{name:>20}: {rate:.0} schedules of {steps:.0} steps per second");
}

/// `threads` threads that use words of their own, and now and then one they share.
fn accesses(threads: usize, shared: bool) {
    let turns = 4_000_000 / threads;
    let simulation = Simulation::new().steps(u64::MAX);
    let start = Instant::now();
    let outcome = simulation.run_timed(|| {
        let words: Vec<_> = (0..=threads).map(|_| CachePadded::new(AtomicUsize::new(0))).collect();
        let words = Arc::new(words);
        let workers: Vec<_> = (0..threads)
            .map(|number| (number, words.clone()))
            .map(|(number, words)| {
                thread::spawn(move || {
                    for turn in 0..turns {
                        words[number].load(Relaxed);
                        words[number].store(turn, Relaxed);
                        if shared && turn % 8 == 0 {
                            words[threads].fetch_add(1, Relaxed);
                        }
                    }
                })
            })
            .collect();
        workers.into_iter().for_each(|worker| worker.join().unwrap());
    });
    let rate = outcome.expect("it ends").steps as f64 / start.elapsed().as_secs_f64() / 1e6;
    let kind = if shared { "shared" } else { "own" };
    println!("{threads:>3} threads, {kind:>6} words: {rate:.1} M accesses per second");
}

fn main() {
    let pct = Schedule::Pct { depth: 3, length: 100 };
    schedules("in sequence", &Simulation::new().memory(Memory::Sequential));
    schedules("store buffers", &Simulation::new());
    schedules("priorities", &Simulation::new().schedule(pct));
    schedules("delayed exchanges", &Simulation::new().schedule(delay_rmw()));
    for threads in [1, 2, 32, 256] {
        accesses(threads, false);
        accesses(threads, true);
    }
}
