//! Whose panic it is.
//!
//! `std` counts panics per OS thread. While a virtual thread unwinds it keeps its turn, so the count
//! is its own; when it has to wait, it is remembered, and until it is back nobody else's panic can be
//! told from its.

/// What is known of the panics of a run's threads.
#[derive(Debug)]
pub(crate) struct Panics {
    /// `std` already counted one when the run began: its count says nothing.
    unknown: bool,
    /// The slot of the thread that was unwinding when it was left. There is at most one.
    away: Option<usize>,
}

impl Panics {
    pub(crate) fn new() -> Self {
        Self { unknown: std::thread::panicking(), away: None }
    }

    /// Whether the thread that runs is unwinding, as far as can be known.
    pub(crate) fn is_unwinding(&self) -> bool {
        !self.unknown && self.away.is_none() && std::thread::panicking()
    }

    /// The thread in `slot` runs now.
    pub(crate) fn enter(&mut self, slot: usize) {
        if self.away == Some(slot) {
            self.away = None;
        }
    }

    /// The thread in `slot`, which runs, is about to be left.
    pub(crate) fn leave(&mut self, slot: usize) {
        if self.is_unwinding() {
            self.away = Some(slot);
        }
    }
}
