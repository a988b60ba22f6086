//! A clock that goes on when somebody has waited for it in vain: it is that much later whenever a timed park gives up, or a sleep ends.
//!
//! So a deadline comes for whoever waits for it, on every schedule at the same time, and a model can be replayed. Who turns in a
//! circle until it is late enough turns for ever, and loom says so.

pub use std::time::Duration;

use cantina_machine::modelled;
use std::cell::Cell;

/// The clock of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Clock;

/// A point in time.
pub type Instant = modelled::Instant<Clock>;

impl modelled::Clock for Clock {
    fn now() -> Duration {
        NOW.get()
    }
}

thread_local! {
    // Of the operating system's thread, on which all threads of a model run: loom does not see it, and no order comes of it.
    static NOW: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

/// Sets the clock to 0: a schedule begins.
pub(crate) fn begin() {
    NOW.set(Duration::ZERO);
}

/// It is that much later.
pub(crate) fn pass(time: Duration) {
    NOW.set(NOW.get().saturating_add(time));
}

/// Nanoseconds since the schedule began: the same clock on every thread.
pub fn nanos() -> u64 {
    u64::try_from(NOW.get().as_nanos()).unwrap_or(u64::MAX)
}
