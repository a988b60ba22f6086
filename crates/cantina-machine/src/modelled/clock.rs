//! Points of a time that somebody makes.

use std::fmt::Debug;
use std::hash::Hash;
use std::marker::PhantomData;
use std::ops::{Add, AddAssign, Sub, SubAssign};
use std::time::Duration;

/// Who says what time it is.
pub trait Clock: Copy + Debug + Ord + Hash {
    /// The time since it began.
    fn now() -> Duration;
}

/// A point in the time of a clock, as [`std::time::Instant`] is one of the real time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant<C>(Duration, PhantomData<C>);

impl<C: Clock> Instant<C> {
    /// Now.
    pub fn now() -> Self {
        Self::at(C::now())
    }

    fn at(time: Duration) -> Self {
        Self(time, PhantomData)
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
        self.0.checked_add(duration).map(Self::at)
    }

    /// That much earlier, if there is such a time.
    pub fn checked_sub(&self, duration: Duration) -> Option<Self> {
        self.0.checked_sub(duration).map(Self::at)
    }
}

impl<C: Clock> Add<Duration> for Instant<C> {
    type Output = Self;
    fn add(self, duration: Duration) -> Self {
        Self::at(self.0 + duration)
    }
}

impl<C: Clock> AddAssign<Duration> for Instant<C> {
    fn add_assign(&mut self, duration: Duration) {
        self.0 += duration;
    }
}

impl<C: Clock> Sub<Duration> for Instant<C> {
    type Output = Self;
    fn sub(self, duration: Duration) -> Self {
        Self::at(self.0 - duration)
    }
}

impl<C: Clock> SubAssign<Duration> for Instant<C> {
    fn sub_assign(&mut self, duration: Duration) {
        self.0 -= duration;
    }
}

impl<C: Clock> Sub for Instant<C> {
    type Output = Duration;
    fn sub(self, earlier: Self) -> Duration {
        self.saturating_duration_since(earlier)
    }
}

#[cfg(test)]
mod tests {
    use super::{Clock, Instant};
    use std::time::Duration;

    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    struct Noon;

    impl Clock for Noon {
        fn now() -> Duration {
            Duration::from_secs(12)
        }
    }

    #[test]
    fn times_are_added_and_compared_as_the_real_ones_are() {
        let (now, second) = (Instant::<Noon>::now(), Duration::from_secs(1));
        let mut later = now + second;
        assert!(later > now && later - now == second);
        later += second;
        later -= second;
        assert_eq!(later.checked_sub(second), Some(now));
        assert_eq!(later - second, now);
        assert_eq!(later.checked_duration_since(now), Some(second));
        assert_eq!(now.checked_duration_since(later), None);
        assert_eq!(now.duration_since(later), Duration::ZERO);
        assert_eq!((now - second).elapsed(), second);
        assert_eq!(now.checked_add(Duration::MAX), None);
        assert_eq!(now.checked_sub(Duration::MAX), None);
    }
}
