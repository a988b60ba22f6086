//! Atomic read-modify-writes, counted by whoever makes them.

/// How many were made, and how many in vain.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Exchanges {
    made: u64,
    failed: u64,
}

impl Exchanges {
    /// Counts one, which may have come too late. Whether it did not.
    #[inline]
    pub(crate) fn note(&mut self, succeeded: bool) -> bool {
        self.made += 1;
        self.failed += u64::from(!succeeded);
        succeeded
    }

    /// Counts some that cannot come too late.
    #[inline]
    pub(crate) fn add(&mut self, made: u64) {
        self.made += made;
    }

    pub(crate) fn made(&self) -> u64 {
        self.made
    }

    /// Those that came too late.
    pub(crate) fn failed(&self) -> u64 {
        self.failed
    }
}
