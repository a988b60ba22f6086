//! The scenarios of the contenders, on every schedule that there is time for.

extern crate lab_on_loom as cantina_lab;

#[path = "../../../crates/cantina-lab/tests/scenarios/mod.rs"]
mod scenarios;

use cantina_effort::scenario;
use machine::model::{PREEMPTIONS, search};

/// How many scenarios share the time of a part.
const MANY: usize = 12;

fn main() {
    scenario::test_each(scenarios::PARTS, |part, (name, scenario)| {
        println!("{}: {name}: {}", part.name, search(PREEMPTIONS, MANY, scenario));
    });
}
