//! The scenarios on real threads, many times over.

mod scenarios;

use cantina_effort::{rounds, scenario};

fn main() {
    scenario::test_each(&scenarios::PARTS, |_, (_, scenario)| {
        (0..rounds(1_000, 10_000)).for_each(|_| scenario());
    });
}
