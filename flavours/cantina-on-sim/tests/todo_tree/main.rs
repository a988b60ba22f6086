//! The to-do tree on schedules that turn around often, each of which its seed replays; and with threads that die.

extern crate cantina_on_sim as cantina;

mod crashes;
#[path = "../each_step/mod.rs"]
mod each_step;
mod forgotten;
#[path = "../../../../crates/cantina/tests/scenarios/leases.rs"]
mod leases;
#[path = "../../../../crates/cantina/tests/scenarios/max_array.rs"]
mod max_array;
mod recovered;
#[path = "../../../../crates/cantina/tests/scenarios/todo_tree.rs"]
mod scenarios;
#[path = "../turning/mod.rs"]
mod turning;

use machine::engine::Simulation;

/// Schedules of each scenario.
const SCHEDULES: u64 = 750;
/// Steps of a part of a scenario.
const STRETCH: u64 = 25;

#[test]
fn the_scenarios_come_out_right_on_many_schedules() {
    let all = scenarios::ALL.into_iter().chain(scenarios::THREES).chain(scenarios::FRAYS);
    for (name, scenario) in all.chain(leases::ALL) {
        turning::comes_out_right(name, scenario, &Simulation::new(), SCHEDULES, STRETCH);
    }
}

#[test]
fn the_scenarios_of_max_arrays_come_out_right_on_many_schedules() {
    for (name, scenario) in max_array::ALL {
        turning::comes_out_right(name, scenario, &Simulation::new(), 3 * SCHEDULES, STRETCH);
    }
}
