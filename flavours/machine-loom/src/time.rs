//! A clock that goes on when somebody has waited for it in vain: it is that much later whenever a timed park gives up, or a sleep ends.
//!
//! So a deadline comes for whoever waits for it, on every schedule at the same time, and a model can be replayed. Who turns in a
//! circle until it is late enough turns for ever, and loom says so.

pub use std::time::Duration;

use std::cell::Cell;
use std::ops::{Add, AddAssign, Sub, SubAssign};

/// A point in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(Duration);

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

impl Instant {
    /// Now.
    pub fn now() -> Self {
        Self(NOW.get())
    }

    /// The time since then.
    pub fn elapsed(&self) -> Duration {
        Self::now().saturating_duration_since(*self)
    }

    /// The time from `earlier` to it; nothing if that is later.
    pub fn duration_since(&self, earlier: Self) -> Duration {
        self.saturating_duration_since(earlier)
    }

    /// The time from `earlier` to it; nothing if that is later.
    pub fn saturating_duration_since(&self, earlier: Self) -> Duration {
        self.0.saturating_sub(earlier.0)
    }

    /// The time from `earlier` to it, if that is not later.
    pub fn checked_duration_since(&self, earlier: Self) -> Option<Duration> {
        self.0.checked_sub(earlier.0)
    }

    /// That much later, if there is such a time.
    pub fn checked_add(&self, duration: Duration) -> Option<Self> {
        self.0.checked_add(duration).map(Self)
    }

    /// That much earlier, if there is such a time.
    pub fn checked_sub(&self, duration: Duration) -> Option<Self> {
        self.0.checked_sub(duration).map(Self)
    }
}

impl Add<Duration> for Instant {
    type Output = Self;
    fn add(self, duration: Duration) -> Self {
        Self(self.0 + duration)
    }
}

impl AddAssign<Duration> for Instant {
    fn add_assign(&mut self, duration: Duration) {
        self.0 += duration;
    }
}

impl Sub<Duration> for Instant {
    type Output = Self;
    fn sub(self, duration: Duration) -> Self {
        Self(self.0 - duration)
    }
}

impl SubAssign<Duration> for Instant {
    fn sub_assign(&mut self, duration: Duration) {
        self.0 -= duration;
    }
}

impl Sub for Instant {
    type Output = Duration;
    fn sub(self, earlier: Self) -> Duration {
        self.saturating_duration_since(earlier)
    }
}
