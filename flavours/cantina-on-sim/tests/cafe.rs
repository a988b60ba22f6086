//! The scenarios of CAFÉ on schedules that turn around often, each of which its seed replays. Who reaches into memory that was freed
//! is found out.

extern crate cantina_on_sim as cantina;

#[path = "../../../crates/cantina/tests/scenarios/cafe.rs"]
mod scenarios;
mod turning;

use machine::SimAllocator;
use machine::engine::Simulation;

#[global_allocator]
static ALLOCATOR: SimAllocator = SimAllocator;

/// Schedules of each scenario.
const SCHEDULES: u64 = 1_200;
/// Steps of a part of a scenario.
const STRETCH: u64 = 25;
/// The same where what matters comes late.
const LONG_STRETCH: u64 = 60;

#[test]
fn the_scenarios_come_out_right_on_many_schedules() {
    let simulation = Simulation::new().watch_freed(true);
    for (name, scenario) in scenarios::ALL.into_iter().chain(scenarios::FRAYS) {
        turning::comes_out_right(name, scenario, &simulation, SCHEDULES, STRETCH);
    }
}

#[test]
fn trees_are_not_freed_that_the_head_has_moved_back_to() {
    let simulation = Simulation::new().watch_freed(true);
    let scenario = scenarios::the_head_moves_back_while_trees_are_freed;
    turning::comes_out_right("back", scenario, &simulation, 4 * SCHEDULES, LONG_STRETCH);
}
