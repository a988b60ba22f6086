//! The longer scenarios of SALSA, on schedules that turn around often, each of which its seed replays.
//! Who reaches into memory that was freed is found out.

extern crate cantina_on_sim as cantina;

#[path = "../../../crates/cantina/tests/scenarios/mod.rs"]
#[allow(dead_code, reason = "the others are run by other tests")]
mod scenarios;

mod turning;

use machine::SimAllocator;
use machine::engine::Simulation;

#[global_allocator]
static ALLOCATOR: SimAllocator = SimAllocator;

/// Schedules of each scenario.
const SCHEDULES: u64 = 2_000;
/// Steps of a part of a scenario.
const STRETCH: u64 = 50;

fn comes_out_right(wanted: &str) {
    let found = scenarios::FRAYS.into_iter().find(|(name, _)| *name == wanted);
    let (name, scenario) = found.expect("there is such a scenario");
    let simulation = Simulation::new().watch_freed(true);
    turning::comes_out_right(name, scenario, &simulation, SCHEDULES, STRETCH);
}

#[test]
fn two_fight_over_a_chunk() {
    comes_out_right("two fight over a chunk");
}

#[test]
fn two_fight_over_a_full_chunk() {
    comes_out_right("two fight over a full chunk");
}

#[test]
fn three_fight_over_a_chunk() {
    comes_out_right("three fight over a chunk");
}

#[test]
fn three_fight_over_more() {
    comes_out_right("three fight over more");
}

#[test]
fn runs_meet() {
    comes_out_right("runs meet");
}

#[test]
fn a_chunk_is_used_again() {
    comes_out_right("a chunk is used again");
}

#[test]
fn a_task_moves_to_a_chunk_that_was_looked_at() {
    comes_out_right("a task moves to a chunk that was looked at");
}

#[test]
fn a_task_moves_to_a_new_chunk() {
    comes_out_right("a task moves to a new chunk");
}

#[test]
fn a_task_moves_to_a_new_home() {
    comes_out_right("a task moves to a new home");
}

#[test]
fn a_chunk_goes_between_two_looks() {
    comes_out_right("a chunk goes between two looks");
}
