//! Every registered pool through the conformance suite, on simulated schedules.
//!
//! `CANTINA_SEED` chooses the first seed, `CANTINA_EFFORT` how many times as many schedules are
//! tried. A failure names the seed of its schedule; that seed and an effort of 1 replay it.

extern crate lab_on_sim as cantina_lab;

use cantina_lab::conformance::{Effort, Trial, trials};
use libtest_mimic::{Arguments, Failed};
use machine::engine::Simulation;

/// Schedules of each check.
const SCHEDULES: u64 = 30;
/// Steps after which a run hangs.
const STEPS: u64 = 4_000_000;

fn main() {
    let first = number("CANTINA_SEED", 1);
    let schedules = SCHEDULES.saturating_mul(number("CANTINA_EFFORT", 1));
    let trials = trials()
        .into_iter()
        .map(|trial| {
            libtest_mimic::Trial::test(trial.name(), move || {
                (first..first.saturating_add(schedules))
                    .try_for_each(|seed| simulate(&trial, seed).map_err(Failed::from))
            })
        })
        .collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

/// Runs `trial` on the schedule that `seed` draws.
fn simulate(trial: &Trial, seed: u64) -> Result<(), String> {
    let simulation = Simulation::new().seed(seed).steps(STEPS);
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

fn number(variable: &str, otherwise: u64) -> u64 {
    match std::env::var(variable) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{variable} is no number: {text}")),
        Err(_) => otherwise,
    }
}
