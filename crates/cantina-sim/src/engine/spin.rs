//! Spin loops: how to see that a thread only waits.
//!
//! A thread that has done nothing but load a few words since it last gave way, and finds them
//! unchanged, will find the same next time: it need not run until one of them changes. It may,
//! though: its loop may have a bound.

use crate::memory::place::Place;

/// Words that a loop may look at and still be taken for a spin loop.
const WORDS: usize = 4;

/// What a thread has seen since it last gave way.
#[derive(Debug, Default)]
pub(crate) struct Spin {
    seen: Vec<(Place, u64)>,
    /// It did something else than load, or loaded too much.
    acted: bool,
}

impl Spin {
    /// It has loaded `bits` at `place`.
    pub(crate) fn load(&mut self, place: Place, bits: u64) {
        if self.acted || self.seen.contains(&(place, bits)) {
            return;
        }
        if self.seen.len() == WORDS {
            self.act();
        } else {
            self.seen.push((place, bits));
        }
    }

    /// It has done something else.
    pub(crate) fn act(&mut self) {
        self.acted = true;
        self.seen.clear();
    }

    /// Starts over.
    pub(crate) fn reset(&mut self) {
        self.acted = false;
        self.seen.clear();
    }

    /// Whether it only waits: what it saw is what `now` reads.
    pub(crate) fn only_waits(&self, now: impl Fn(Place) -> u64) -> bool {
        !self.acted
            && !self.seen.is_empty()
            && self.seen.iter().all(|&(place, bits)| now(place) == bits)
    }

    /// Whether it looked at `place`.
    pub(crate) fn looks_at(&self, place: Place) -> bool {
        self.seen.iter().any(|&(seen, _)| seen == place)
    }
}
