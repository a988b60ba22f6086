//! The scenarios of the contenders on many schedules, each of which its seed replays.
//!
//! `CANTINA_MEMORY=sequential` runs them without store buffers: what is found only with them is a
//! matter of fences.

extern crate lab_on_sim as cantina_lab;

#[path = "../../../crates/cantina-lab/tests/scenarios/mod.rs"]
mod scenarios;

#[path = "../../../crates/cantina-lab/tests/scenarios/salsa_paper.rs"]
mod salsa_paper;

use cantina_effort::scenario::Scenario;
use cantina_effort::{rounds, store_buffers};
use machine::engine::{Memory, Simulation, ThreadId};
use machine::schedule::{Adversary, Schedule, delay_rmw};
use machine::trace::Choice;

/// Schedules of each scenario.
const SCHEDULES: u64 = 100;
/// Steps of a get that looks everywhere, and more.
const AWHILE: u64 = 150;
/// Steps in which the others are done, or wait.
const LONG: u64 = 10_000;
/// The threads that the scenario starts.
const FIRST: ThreadId = ThreadId(1);
const SECOND: ThreadId = ThreadId(2);

#[test]
fn the_scenarios_come_out_right_on_some_hundred_schedules() {
    for part in scenarios::PARTS {
        run(part.scenarios, SCHEDULES);
    }
}

#[test]
fn the_papers_salsa_comes_out_right_on_some_thousand_schedules() {
    run(&salsa_paper::ALL, 10 * SCHEDULES);
}

/// The first stops, then the second. When the scenario waits, the first takes one step and stops again, the
/// second goes on, and at last the first.
#[test]
fn the_papers_salsa_takes_each_task_once_wherever_two_stop() {
    for (one, two) in (0..AWHILE).flat_map(|one| (0..AWHILE).map(move |two| (one, two))) {
        let stopped = in_order().stall(FIRST, one, LONG).stall(FIRST, one + 1, 3 * LONG);
        if let Err(failure) = stopped.stall(SECOND, two, 2 * LONG).run(salsa_paper::robbed_thief) {
            panic!("stopped after {one} and {two} steps: {failure}");
        }
    }
}

/// The first stops twice: first the scenario goes on until it waits, then the second thread.
#[test]
fn the_papers_salsa_is_not_called_empty_wherever_one_stops_twice() {
    for (one, two) in (0..AWHILE).flat_map(|one| (one + 1..AWHILE).map(move |two| (one, two))) {
        let stopped = in_order().stall(FIRST, one, LONG).stall(FIRST, two, 3 * LONG);
        let scenario = salsa_paper::moves_there_and_back;
        if let Err(failure) = stopped.stall(SECOND, 0, 2 * LONG).run(scenario) {
            panic!("stopped after {one} and {two} steps: {failure}");
        }
    }
}

/// The first thread that can goes on, before the scenario itself.
fn in_order() -> Simulation {
    let schedule = Adversary::new(|view, _| {
        let ready = || view.ready().map(|(slot, _)| slot);
        ready().filter(|slot| *slot > 0).min().or_else(|| ready().next()).map(Choice::Run)
    });
    Simulation::new().memory(Memory::Sequential).schedule(Schedule::Adversary(schedule))
}

fn run(scenarios: &[Scenario], schedules: u64) {
    let memory = memory();
    for &(name, scenario) in scenarios {
        for seed in 0..rounds(schedules, 20 * schedules) {
            let schedule = if seed.is_multiple_of(4) { delay_rmw() } else { Schedule::Random };
            let simulation = Simulation::new().seed(seed).schedule(schedule).memory(memory);
            if let Err(failure) = simulation.run(scenario) {
                panic!("{name}: {failure}");
            }
        }
    }
}

fn memory() -> Memory {
    if store_buffers().unwrap_or(true) { Memory::Tso } else { Memory::Sequential }
}
