//! Schedules: who goes on.

use crate::engine::threads::Slots;
use cantina_machine::random::Random;

/// How the next thread is chosen.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum Schedule {
    /// At each step, everybody who can go on is equally likely to.
    #[default]
    Random,
}

/// A schedule at work.
pub(crate) struct Chooser {
    random: Random,
}

impl Chooser {
    pub(crate) fn new(schedule: &Schedule, seed: u64) -> Self {
        match schedule {
            Schedule::Random => Self { random: Random::seeded(seed) },
        }
    }

    /// One of `candidates`, of which there are several.
    pub(crate) fn pick(&mut self, candidates: &Slots) -> usize {
        let rank = self.random.below(candidates.len());
        candidates.nth(rank).expect("a rank below the length")
    }
}
