//! The scenarios on every schedule that there is time for.

extern crate cantina_on_loom as cantina;

#[path = "../../../crates/cantina/tests/scenarios/mod.rs"]
mod scenarios;

use cantina_effort::scenario;
use machine::model::{Ended, PREEMPTIONS, search};
use scenarios::salsa_robbed::has_come_to_it;

fn main() {
    let parts = scenarios::PARTS.iter().filter(|part| part.is_for_loom());
    scenario::test_each(parts, |part, (name, scenario)| {
        let preemptions = part.preemptions_of(name).unwrap_or(PREEMPTIONS);
        // They share the time of the part.
        let searched = search(preemptions, part.scenarios.len(), scenario);
        let part = part.name;
        println!("{part}: {name}: {searched}");
        let is_whole = !matches!(searched.ended, Ended::Time(_));
        let came_to_it = part != "salsa::robbed" || has_come_to_it(name);
        assert!(came_to_it || !is_whole, "no schedule comes to what it is about");
    });
}
