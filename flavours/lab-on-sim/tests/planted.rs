//! What the suite is worth on simulated schedules: some schedule shows each of the planted bugs, and
//! none shows anything in the twin without them.

extern crate lab_on_sim as cantina_lab;

#[path = "../../../crates/cantina-lab/tests/twin/mod.rs"]
mod twin;

use cantina_effort::rounds;
use cantina_lab::conformance::{Effort, Trial, trials_of};
use cantina_lab::registry::Order;
use machine::engine::Simulation;
use machine::time::Duration;
use twin::{Bug, Plant, Setting, plants};

/// Schedules a bug may hide from, and on which a sound twin must show nothing; in the deep run, more.
const SCHEDULES: u64 = 100;
const SOUND: u64 = 5;
const DEEP: u64 = 20;

/// What is wrong on the schedule that `seed` draws.
fn simulate(trial: &Trial, effort: &Effort, seed: u64) -> Result<(), String> {
    match Simulation::new().seed(seed).run(|| trial.run(effort, seed)) {
        Err(failure) => Err(format!("{} with seed {seed}\n{failure}", trial.name())),
        Ok(outcome) => outcome.value.map_err(|failure| failure.to_string()),
    }
}

#[test]
fn every_bug_is_found_on_some_schedule() {
    // Some bugs hang: the check has to notice.
    let effort = Effort { patience: Duration::from_millis(2), ..Effort::simulated() };
    let mut hidden = Vec::new();
    for Plant { setting, found_by, says } in plants() {
        // Virtual threads share the OS thread that this bug asks for.
        if setting.bug == Some(Bug::HandleIsBoundToItsThread) {
            continue;
        }
        let trials = trials_of(&setting);
        let trial = trials.iter().find(|trial| trial.check == found_by).unwrap();
        let mut failures = (1..=rounds(SCHEDULES, DEEP * SCHEDULES))
            .filter_map(|seed| simulate(trial, &effort, seed).err());
        match failures.find(|failure| failure.contains(says)) {
            Some(failure) => println!("{failure}\n"),
            None => hidden.push(trial.name()),
        }
    }
    assert!(hidden.is_empty(), "not found, or not as what they are: {hidden:#?}");
}

#[test]
fn no_schedule_shows_anything_in_a_sound_twin() {
    let (plain, bounded) = (Setting::unbounded(), Setting::bounded());
    let slack = Setting { capacity: Some(12), full_slack: 2, order: Order::Bag, ..plain };
    let together = Setting { together: true, ..plain };
    let settings = [
        plain,
        together,
        Setting { capacity: Some(3), ..together },
        Setting { order: Order::Lifo, ..together },
        bounded,
        slack,
        Setting { capacity: Some(1), ..bounded },
        Setting { limit: Some(20), ..Setting::last_in_first_out() },
    ];
    for trial in settings.iter().flat_map(trials_of) {
        for seed in 1..=rounds(SOUND, DEEP * SOUND) {
            simulate(&trial, &Effort::simulated(), seed).unwrap_or_else(|wrong| panic!("{wrong}"));
        }
    }
}
