//! Waiting: a model has no time to lose, so each step lets the others go on.

use loom::thread::yield_now;
use std::cell::Cell;

/// Waits a little longer each time.
#[derive(Debug, Default)]
pub struct Backoff {
    snoozed: Cell<bool>,
}

impl Backoff {
    /// One that has not waited.
    pub fn new() -> Self {
        Self::default()
    }

    /// Forgets how long it has waited.
    pub fn reset(&self) {
        self.snoozed.set(false);
    }

    /// Waits after somebody else has won.
    pub fn spin(&self) {
        yield_now();
    }

    /// Waits for somebody else to get on.
    pub fn snooze(&self) {
        self.snoozed.set(true);
        yield_now();
    }

    /// Whether it is time to sleep.
    pub fn is_completed(&self) -> bool {
        self.snoozed.get()
    }
}
