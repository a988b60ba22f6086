//! Fences. What the pair is for is said at the real machine's.

use crate::engine::{Access, Op, current};
use std::fmt;

/// A full fence: every store before it is visible before any load after it.
pub fn full() {
    current::step(Access::bare(Op::Fence));
}

/// Stands between a SeqCst read-modify-write and later SeqCst loads that must not be seen before it.
/// Here, as on the real machine, the accesses carry that order, and this is nothing.
pub fn fence_after_rmw() {}

/// The light/heavy pair for store-then-load order between a hot and a rare side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    asymmetric: bool,
}

/// The operating system refused the heavy fence. The simulated one never does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeavyFailed;

impl Pair {
    /// The cheapest pair: the asymmetric one.
    pub fn best() -> Self {
        Self { asymmetric: true }
    }

    /// A full fence on both sides.
    pub fn symmetric() -> Self {
        Self { asymmetric: false }
    }

    /// The pair whose light side costs nothing.
    pub fn asymmetric() -> Option<Self> {
        Some(Self::best())
    }

    /// Whether the light side costs nothing.
    pub fn is_asymmetric(self) -> bool {
        self.asymmetric
    }

    /// The hot side.
    pub fn light(self) {
        if self.asymmetric {
            current::step(Access::bare(Op::LightFence));
        } else {
            full();
        }
    }

    /// The rare side.
    ///
    /// # Errors
    /// None, on this machine.
    pub fn heavy(self) -> Result<(), HeavyFailed> {
        if self.asymmetric {
            current::step(Access::bare(Op::HeavyFence));
        } else {
            full();
        }
        Ok(())
    }
}

impl Default for Pair {
    fn default() -> Self {
        Self::best()
    }
}

impl fmt::Display for HeavyFailed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the operating system refused a process-wide memory barrier")
    }
}

impl std::error::Error for HeavyFailed {}
