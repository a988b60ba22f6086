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

/// The light/heavy pair: a full fence on both sides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pair;

impl Pair {
    /// The only pair there is.
    pub fn best() -> Self {
        Self
    }

    /// The only pair there is.
    pub fn symmetric() -> Self {
        Self
    }

    /// loom cannot fence another thread.
    pub fn asymmetric() -> Option<Self> {
        None
    }

    /// No.
    pub fn is_asymmetric(self) -> bool {
        false
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
