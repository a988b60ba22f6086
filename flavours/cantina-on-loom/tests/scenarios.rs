//! The scenarios on every schedule that there is time for.

extern crate cantina_on_loom as cantina;

#[path = "../../../crates/cantina/tests/scenarios/mod.rs"]
mod scenarios;

use cantina_effort::scenario;
use machine::model::{PREEMPTIONS, search};

fn main() {
    scenario::test_each(&scenarios::PARTS, |part, (name, scenario)| {
        println!("{part}: {name}: {}", search(preemptions(part), scenario));
    });
}

/// As few preemptions as show each weakened ordering of the part.
fn preemptions(part: &str) -> usize {
    match part {
        "handoff" | "reclaim" => 4,
        _ => PREEMPTIONS,
    }
}
