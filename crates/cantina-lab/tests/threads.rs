//! The scenarios of the contenders on real threads, many times over.

#[path = "scenarios/salsa_paper.rs"]
mod salsa_paper;
mod scenarios;

use cantina_effort::rounds;
use cantina_effort::scenario::{self, Part};

fn main() {
    let parts = [scenarios::PARTS, &[Part::new("salsa_paper", &salsa_paper::ALL)]].concat();
    scenario::test_each(&parts, |_, (_, scenario)| {
        (0..rounds(200, 10_000)).for_each(|_| scenario());
    });
}
