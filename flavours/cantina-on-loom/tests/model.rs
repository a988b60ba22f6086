//! The scenarios on every schedule there is.

extern crate cantina_on_loom as cantina;

#[path = "../../../crates/cantina/tests/scenarios/mod.rs"]
mod scenarios;

#[test]
fn the_scenarios_come_out_right_on_every_schedule() {
    for (name, scenario) in scenarios::ALL {
        println!("{name}");
        loom::model(scenario);
    }
}
