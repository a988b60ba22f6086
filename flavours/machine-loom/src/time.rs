//! The clock stands still: a model that depended on it could not be replayed.
//!
//! What waits for a deadline does it with a timed park, which gives up by itself.

pub use std::time::Duration;

use std::ops::{Add, Sub};

/// A point in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(Duration);

/// Always 0.
pub fn nanos() -> u64 {
    0
}

impl Instant {
    /// Always the same.
    pub fn now() -> Self {
        Self(Duration::ZERO)
    }

    /// No time at all, unless it lies in the future.
    pub fn elapsed(&self) -> Duration {
        Self::now().duration_since(*self)
    }

    /// How much later than `earlier` it is, or nothing.
    pub fn duration_since(&self, earlier: Self) -> Duration {
        self.0.saturating_sub(earlier.0)
    }

    /// How much later than `earlier` it is, or nothing.
    pub fn saturating_duration_since(&self, earlier: Self) -> Duration {
        self.duration_since(earlier)
    }

    /// That much later.
    pub fn checked_add(&self, duration: Duration) -> Option<Self> {
        self.0.checked_add(duration).map(Self)
    }
}

impl Add<Duration> for Instant {
    type Output = Self;
    fn add(self, duration: Duration) -> Self {
        Self(self.0 + duration)
    }
}

impl Sub for Instant {
    type Output = Duration;
    fn sub(self, earlier: Self) -> Duration {
        self.duration_since(earlier)
    }
}
