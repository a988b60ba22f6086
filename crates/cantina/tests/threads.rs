//! The scenarios on real threads, many times over.

mod scenarios;

use cantina_effort::{rounds, scenario};

fn main() {
    let parts = scenarios::PARTS.iter().filter(|part| part.is_for_others());
    scenario::test_each(parts, |part, (_, scenario)| {
        // Those of the scheduler start one.
        let gate = if part.name.starts_with("scheduler") { 100 } else { 1_000 };
        (0..rounds(gate, 20 * gate)).for_each(|_| scenario());
    });
}
