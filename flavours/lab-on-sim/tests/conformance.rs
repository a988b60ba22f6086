//! Every registered pool through the conformance suite, on simulated schedules.
//!
//! A failure names the seed of its schedule, which `CANTINA_SEED` replays.

extern crate lab_on_sim as cantina_lab;

use cantina_lab::conformance::{Effort, Trial, trials};
use cantina_record::Kind;
use libtest_mimic::{Arguments, Failed};
use machine::engine::Simulation;

/// Schedules of each check: in the gate, and of a contender there, and in the deep run.
const SCHEDULES: u64 = 12;
const OF_CONTENDERS: u64 = 6;
const DEEP: u64 = 300;
/// Stalls of a run that has some, how likely each step is one, and how many steps of others it takes.
const STALLS: usize = 8;
const STALL_ONE_IN: usize = 40;
const STALL: u64 = 300;
/// Steps after which a run hangs.
const STEPS: u64 = 4_000_000;

fn main() {
    let first = cantina_effort::seed(1);
    let trials = trials()
        .into_iter()
        .map(|trial| {
            let gate = if trial.kind() == Kind::Ours { SCHEDULES } else { OF_CONTENDERS };
            let schedules = cantina_effort::rounds(gate, DEEP);
            cantina_effort::trial(trial.name(), move || {
                (first..first.saturating_add(schedules))
                    .try_for_each(|seed| simulate(&trial, seed).map_err(Failed::from))
            })
        })
        .collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

/// Runs `trial` on the schedule that `seed` draws, some with threads that stall where they are.
fn simulate(trial: &Trial, seed: u64) -> Result<(), String> {
    let mut simulation = Simulation::new().seed(seed).steps(STEPS);
    if seed.is_multiple_of(3) {
        simulation = simulation.random_stalls(STALLS, STALL_ONE_IN, STALL);
    }
    let name = trial.name();
    match simulation.run(|| trial.run(&Effort::simulated(), seed)) {
        Err(failure) => Err(format!("{name} with seed {seed}\n{failure}")),
        Ok(outcome) => {
            outcome.value.map_err(|failure| failure.to_string())?;
            match outcome.abandoned.as_slice() {
                [] => Ok(()),
                left => Err(format!("{name} with seed {seed}\nthreads that never ended: {left:?}")),
            }
        }
    }
}
