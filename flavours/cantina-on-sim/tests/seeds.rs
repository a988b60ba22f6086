//! The scenarios on many schedules, each of which its seed replays.

extern crate cantina_on_sim as cantina;

#[path = "../../../crates/cantina/tests/scenarios/mod.rs"]
mod scenarios;

use cantina_effort::{rounds, scenario};

fn main() {
    scenario::test_each(&scenarios::PARTS, |_, (_, scenario)| {
        for seed in 0..rounds(1_000, 20_000) {
            machine::engine::run(seed, scenario);
        }
    });
}
