//! Fences. What the pair is for is said at the real machine's.

use crate::engine::{Access, Op, current};
use std::cell::Cell;
use std::fmt;

thread_local! {
    static REFUSED: Cell<bool> = const { Cell::new(false) };
}

/// Whether [`Pair::heavy`] of the asymmetric pair is refused from now on, in what this thread simulates: to see what a structure does
/// then.
pub fn refuse_heavy(refused: bool) {
    REFUSED.set(refused);
}

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

/// The operating system refused the heavy fence. The simulated one does when it is [told to](refuse_heavy).
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
    /// [`HeavyFailed`] where that was [asked for](refuse_heavy).
    pub fn heavy(self) -> Result<(), HeavyFailed> {
        if self.asymmetric {
            if REFUSED.get() {
                return Err(HeavyFailed);
            }
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
