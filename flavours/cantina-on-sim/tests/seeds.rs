//! The scenarios on a thousand schedules, each of which its seed replays.

extern crate cantina_on_sim as cantina;

#[path = "../../../crates/cantina/tests/scenarios/mod.rs"]
mod scenarios;

#[test]
fn the_scenarios_come_out_right_on_a_thousand_schedules() {
    for (name, scenario) in scenarios::ALL {
        println!("{name}");
        for seed in 0..1_000 {
            machine::engine::run(seed, scenario);
        }
    }
}
