//! The scenarios on many schedules, each of which its seed replays.
//!
//! `CANTINA_MEMORY=sequential` runs them without store buffers: what is found only with them is a
//! matter of fences.

extern crate cantina_on_sim as cantina;

#[path = "../../../crates/cantina/tests/scenarios/mod.rs"]
mod scenarios;

use cantina_effort::{rounds, scenario};
use machine::engine::{Memory, Simulation};
use machine::schedule::Schedule;

fn main() {
    scenario::test_each(&scenarios::PARTS, |_, (_, scenario)| {
        let memory = memory();
        for seed in 0..rounds(300, 30_000) {
            let simulation = Simulation::new().seed(seed).schedule(schedule(seed)).memory(memory);
            if let Err(failure) = simulation.run(scenario) {
                panic!("{failure}");
            }
        }
    });
}

/// Half of them random walks, half by priorities: one thread far ahead of the others, or a store far
/// behind.
fn schedule(seed: u64) -> Schedule {
    match seed % 2 {
        0 => Schedule::Random,
        // Programs of 50 steps and of some thousand.
        _ => Schedule::Pct { depth: 3, length: 50 << (seed / 2 % 7) },
    }
}

fn memory() -> Memory {
    match std::env::var("CANTINA_MEMORY").as_deref() {
        Ok("sequential") => Memory::Sequential,
        Ok("tso") | Err(_) => Memory::Tso,
        Ok(other) => panic!("CANTINA_MEMORY is sequential or tso, not {other}"),
    }
}
