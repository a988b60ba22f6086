//! The scenarios on many schedules, each of which its seed replays.
//!
//! `CANTINA_MEMORY=sequential` runs them without store buffers: what is found only with them is a
//! matter of fences.

extern crate cantina_on_sim as cantina;

#[path = "../../../crates/cantina/tests/scenarios/mod.rs"]
mod scenarios;

use cantina_effort::{rounds, scenario, store_buffers};
use machine::engine::{Memory, Simulation};
use machine::schedule::Schedule;
use scenarios::salsa_robbed::has_come_to_it;

/// Schedules of each scenario in the gate.
const SEEDS: u64 = 300;

fn main() {
    let parts = scenarios::PARTS.iter().filter(|part| part.is_for_others());
    scenario::test_each(parts, |part, (name, scenario)| {
        let memory = memory();
        let seeds = rounds(SEEDS, 30_000);
        for seed in 0..seeds {
            let simulation = Simulation::new().seed(seed).schedule(schedule(seed)).memory(memory);
            if let Err(failure) = simulation.run(scenario) {
                panic!("{failure}");
            }
        }
        let came_to_it = part.name != "salsa::robbed" || has_come_to_it(name);
        assert!(came_to_it || seeds < SEEDS, "no schedule comes to what it is about");
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
    if store_buffers().unwrap_or(true) { Memory::Tso } else { Memory::Sequential }
}
