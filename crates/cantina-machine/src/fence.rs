//! Fences.
//!
//! # The pair
//! For store-then-load order between a hot and a rare side: each side stores, fences, then loads
//! what the other stored, and at least one of them sees the other's store. [`Pair::light`] is for
//! the hot side and [`Pair::heavy`] for the rare one. Where the operating system can fence all
//! threads of the process at once (Linux `membarrier`, Windows `FlushProcessWriteBuffers`) the light
//! side is a compiler fence and the heavy one pays for both: microseconds. Elsewhere, and under the
//! sanitizers, both are full fences.
//!
//! A pair is a value: a structure chooses one when it is built and keeps it, because a thread that
//! has passed a light fence of one kind is not protected by a heavy one of the other.
//!
//! Setting the environment variable `CANTINA_FENCE` to `symmetric` before the first pair is chosen
//! makes every [`Pair::best`] symmetric.
//!
//! # fork and seccomp
//! A child of `fork` inherits the registration with the kernel. A filter that forbids `membarrier`
//! before the first pair is chosen gives symmetric pairs; one that is installed later makes
//! [`Pair::heavy`] fail, which is an answer and not an abort.

use crate::os;
use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{compiler_fence, fence};

/// A full fence: every store before it is visible before any load after it.
#[inline(always)]
pub fn full() {
    fence(SeqCst);
}

/// Stands between a SeqCst read-modify-write and later SeqCst loads that must not be seen before it.
///
/// On real machines the accesses carry that order, and this only keeps the compiler from moving
/// anything. loom takes SeqCst accesses for AcqRel: there it is a full fence.
#[inline(always)]
pub fn fence_after_rmw() {
    compiler_fence(SeqCst);
}

/// The light/heavy pair; see the [module](self).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    asymmetric: bool,
}

/// The operating system refused the heavy fence. Nothing was ordered: do not read what the hot side
/// may be writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeavyFailed;

impl Pair {
    /// The cheapest pair this process can have. Chosen once, for all callers.
    pub fn best() -> Self {
        static BEST: OnceLock<Pair> = OnceLock::new();
        *BEST.get_or_init(|| {
            let symmetric = std::env::var_os("CANTINA_FENCE").is_some_and(|v| v == "symmetric");
            if symmetric || os::under_sanitizer() {
                return Self::symmetric();
            }
            Self::asymmetric().unwrap_or(Self::symmetric())
        })
    }

    /// A full fence on both sides: right everywhere.
    pub fn symmetric() -> Self {
        Self { asymmetric: false }
    }

    /// The pair whose light side costs nothing, where the operating system offers it.
    pub fn asymmetric() -> Option<Self> {
        os::register_heavy_fence().then_some(Self { asymmetric: true })
    }

    /// Whether the light side costs nothing.
    #[inline(always)]
    pub fn is_asymmetric(self) -> bool {
        self.asymmetric
    }

    /// The hot side.
    #[inline(always)]
    pub fn light(self) {
        if self.asymmetric {
            compiler_fence(SeqCst);
        } else {
            fence(SeqCst);
        }
    }

    /// The rare side.
    ///
    /// # Errors
    /// [`HeavyFailed`] when the operating system refuses, which it may for want of memory.
    pub fn heavy(self) -> Result<(), HeavyFailed> {
        fence(SeqCst);
        if self.asymmetric && !os::heavy_fence() {
            return Err(HeavyFailed);
        }
        compiler_fence(SeqCst);
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

#[cfg(test)]
mod tests {
    use super::Pair;
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    /// Store, fence, load, on both sides at once: how often neither saw the other.
    fn both_missed(light: impl Fn() + Sync, heavy: impl Fn() + Sync, rounds: usize) -> usize {
        let (mine, theirs) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let start = Barrier::new(2);
        std::thread::scope(|scope| {
            let hot = scope.spawn(|| {
                (1..=rounds)
                    .map(|round| {
                        start.wait();
                        mine.store(round, Relaxed);
                        light();
                        let saw = theirs.load(Relaxed) == round;
                        start.wait();
                        saw
                    })
                    .collect::<Vec<_>>()
            });
            let rare: Vec<bool> = (1..=rounds)
                .map(|round| {
                    start.wait();
                    theirs.store(round, Relaxed);
                    heavy();
                    let saw = mine.load(Relaxed) == round;
                    start.wait();
                    saw
                })
                .collect();
            let hot = hot.join().unwrap();
            hot.iter().zip(&rare).filter(|(hot, rare)| !**hot && !**rare).count()
        })
    }

    #[test]
    fn one_side_of_a_symmetric_pair_sees_the_other() {
        let pair = Pair::symmetric();
        assert!(!pair.is_asymmetric());
        assert_eq!(both_missed(|| pair.light(), || pair.heavy().unwrap(), 2_000), 0);
    }

    #[test]
    fn one_side_of_an_asymmetric_pair_sees_the_other() {
        if let Some(pair) = Pair::asymmetric() {
            assert!(pair.is_asymmetric());
            assert_eq!(both_missed(|| pair.light(), || pair.heavy().unwrap(), 2_000), 0);
        }
    }

    #[test]
    fn the_best_pair_is_chosen_once() {
        assert_eq!(Pair::best(), Pair::best());
        assert_eq!(Pair::default(), Pair::best());
    }
}
