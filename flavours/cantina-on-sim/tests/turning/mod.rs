//! Schedules that turn around often, each of which its seed replays.
//!
//! Half of them with store buffers; `CANTINA_MEMORY=sequential` or `tso` runs all without or with.

use cantina_effort::store_buffers;
use machine::engine::{Memory, Simulation};
use machine::schedule::{Schedule, delay_rmw};

/// Steps after which a run hangs: many times as many as one takes.
const STEPS: u64 = 20_000;

/// Runs `scenario` on so many schedules, with the effort of the gate. Turns of priority come within two to nine times `stretch` steps.
pub(crate) fn comes_out_right(
    name: &str,
    scenario: fn(),
    simulation: &Simulation,
    schedules: u64,
    stretch: u64,
) {
    for seed in 0..cantina_effort::rounds(schedules, 20 * schedules) {
        let simulation = simulation.clone().seed(seed).schedule(schedule(seed, stretch));
        if let Err(failure) = simulation.memory(memory(seed)).steps(STEPS).run(scenario) {
            panic!("{name}: {failure}");
        }
    }
}

/// A walk, or two to five turns of priority somewhere in the run.
fn schedule(seed: u64, stretch: u64) -> Schedule {
    let turns = (seed / 4 % 4) as usize;
    let length = ((2 + seed / 16 % 8) * stretch) as usize;
    match seed % 4 {
        0 => Schedule::Random,
        1 => delay_rmw(),
        _ => Schedule::Pct { depth: 3 + turns, length },
    }
}

/// Every other one without store buffers, unless told.
fn memory(seed: u64) -> Memory {
    let usually = !(seed / 512).is_multiple_of(2);
    if store_buffers().unwrap_or(usually) { Memory::Tso } else { Memory::Sequential }
}
