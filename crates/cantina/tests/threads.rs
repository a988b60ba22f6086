//! The scenarios on real threads, many times over.

mod scenarios;

use cantina_effort::{rounds, scenario};

fn main() {
    scenario::test_each(scenarios::PARTS, |part, (_, scenario)| {
        // Those of the scheduler start one.
        let gate = if part.starts_with("scheduler") { 100 } else { 1_000 };
        (0..rounds(gate, 20 * gate)).for_each(|_| scenario());
    });
}
