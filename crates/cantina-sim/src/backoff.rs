//! Waiting a little longer each time.

use crate::engine::{Op, current};
use std::cell::Cell;
use std::fmt;

/// Up to here a step doubles the wait.
const SPIN_LIMIT: u32 = 6;
/// From here on it is better to sleep.
const YIELD_LIMIT: u32 = 10;

/// Exponential backoff, with the names and the limits of crossbeam's. A wait is one step, however
/// long it is.
#[derive(Default)]
pub struct Backoff {
    step: Cell<u32>,
}

impl Backoff {
    /// A backoff that has not waited yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Starts over.
    pub fn reset(&self) {
        self.step.set(0);
    }

    /// Waits, in a loop that tries to be the first.
    pub fn spin(&self) {
        let step = self.step.get();
        current::give_way(Op::Spin, 1 << step.min(SPIN_LIMIT));
        if step <= SPIN_LIMIT {
            self.step.set(step + 1);
        }
    }

    /// Waits, in a loop that needs somebody else to go on.
    pub fn snooze(&self) {
        let step = self.step.get();
        if step <= SPIN_LIMIT {
            current::give_way(Op::Spin, 1 << step);
        } else {
            crate::thread::yield_now();
        }
        if step <= YIELD_LIMIT {
            self.step.set(step + 1);
        }
    }

    /// Whether it is better to sleep now.
    pub fn is_completed(&self) -> bool {
        self.step.get() > YIELD_LIMIT
    }
}

impl fmt::Debug for Backoff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Backoff")
            .field("step", &self.step)
            .field("is_completed", &self.is_completed())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::Backoff;
    use cantina_machine::Backoff as Real;

    #[test]
    fn it_is_completed_when_the_real_one_is() {
        for spins in 0..12 {
            let (ours, real) = (Backoff::new(), Real::new());
            (0..spins).for_each(|_| (ours.spin(), real.spin()).0);
            for _ in 0..12 {
                ours.snooze();
                real.snooze();
                assert_eq!(ours.is_completed(), real.is_completed());
            }
            ours.reset();
            assert!(!ours.is_completed());
        }
    }
}
