//! The scenarios of the contenders, on every schedule with few preemptions.
//!
//! `LOOM_MAX_PREEMPTIONS` allows another number of them. With hazard pointers an operation has so
//! many steps that all schedules are out of reach; four preemptions take some minutes.

extern crate lab_on_loom as cantina_lab;

#[path = "../../../crates/cantina-lab/tests/scenarios/mod.rs"]
mod scenarios;

/// Preemptions, unless told otherwise.
const PREEMPTIONS: usize = 2;

#[test]
fn the_scenarios_come_out_right_on_every_schedule() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = model.preemption_bound.or(Some(PREEMPTIONS));
    for (name, scenario) in scenarios::all() {
        println!("{name}");
        model.check(scenario);
    }
}
