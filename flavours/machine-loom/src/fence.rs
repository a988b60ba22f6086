//! Fences. loom honours SeqCst on fences and takes it for AcqRel on accesses.

use loom::sync::atomic::{Ordering::SeqCst, fence};

pub use cantina_machine::fence::HeavyFailed;

/// A full fence.
pub fn full() {
    fence(SeqCst);
}

/// Gives a SeqCst read-modify-write the order that loom does not see in it.
pub fn fence_after_rmw() {
    fence(SeqCst);
}

/// The light/heavy pair, in either kind: what structures do is theirs, and both sides are full fences. loom cannot fence another thread,
/// but it need not: a heavy fence on one side orders no more than full fences on both. What it cannot show is who relies on the order of two
/// light sides: here they have one, on the real machine they have none, and so it is in simulated store buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    asymmetric: bool,
}

impl Pair {
    /// The asymmetric one, as where it matters.
    pub fn best() -> Self {
        Self { asymmetric: true }
    }

    /// The symmetric one.
    pub fn symmetric() -> Self {
        Self { asymmetric: false }
    }

    /// The asymmetric one.
    pub fn asymmetric() -> Option<Self> {
        Some(Self::best())
    }

    /// Whether it is the asymmetric one.
    pub fn is_asymmetric(self) -> bool {
        self.asymmetric
    }

    /// The hot side.
    pub fn light(self) {
        fence(SeqCst);
    }

    /// The rare side.
    ///
    /// # Errors
    /// Never.
    pub fn heavy(self) -> Result<(), HeavyFailed> {
        fence(SeqCst);
        Ok(())
    }
}

impl Default for Pair {
    fn default() -> Self {
        Self::best()
    }
}
