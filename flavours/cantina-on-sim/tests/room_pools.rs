//! The scenarios of the structures in rooms on schedules that turn around often, each of which its seed replays.

extern crate cantina_on_sim as cantina;

#[path = "../../../crates/cantina/tests/scenarios/room_pools.rs"]
mod scenarios;
mod turning;
#[path = "../../../crates/cantina/tests/scenarios/work.rs"]
mod work;

use machine::SimAllocator;
use machine::engine::Simulation;

#[global_allocator]
static ALLOCATOR: SimAllocator = SimAllocator;

/// Schedules of each scenario.
const SCHEDULES: u64 = 750;
/// Steps of a part of a scenario.
const STRETCH: u64 = 15;

#[test]
fn the_scenarios_come_out_right_on_many_schedules() {
    for (name, scenario) in scenarios::QUEUE.into_iter().chain(scenarios::STACK) {
        let simulation = Simulation::new().watch_freed(true);
        turning::comes_out_right(name, scenario, &simulation, SCHEDULES, STRETCH);
    }
}

#[test]
fn workers_come_out_right_on_many_schedules() {
    for (name, scenario) in work::ALL.into_iter().chain(work::CROWDS) {
        let simulation = Simulation::new().watch_freed(true);
        turning::comes_out_right(name, scenario, &simulation, SCHEDULES, STRETCH);
    }
}
