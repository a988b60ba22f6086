//! The virtual clock. It stands still outside a run.

pub use std::time::Duration;

use crate::engine::current;
use cantina_machine::modelled;

/// The clock of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Clock;

/// A point in virtual time.
pub type Instant = modelled::Instant<Clock>;

impl modelled::Clock for Clock {
    fn now() -> Duration {
        Duration::from_nanos(nanos())
    }
}

/// Virtual nanoseconds since the run began: the same clock on every thread.
pub fn nanos() -> u64 {
    current::clock()
}
