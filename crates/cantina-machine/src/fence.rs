//! Fences.
//!
//! # The pair
//! For store-then-load order between a hot and a rare side: each side stores, fences, then loads
//! what the other stored, and at least one of them sees the other's store. [`Pair::light`] is for
//! the hot side and [`Pair::heavy`] for the rare one. Where the operating system can fence all
//! threads of the process at once (Linux `membarrier`, Windows `FlushProcessWriteBuffers`) the light
//! side is a compiler fence and the heavy one pays for both: microseconds. Elsewhere both are full
//! fences.
//!
//! A pair is a value: a structure chooses one when it is built and keeps it, because a thread that
//! has passed a light fence of one kind is not protected by a heavy one of the other.
//!
//! Setting the environment variable `CANTINA_FENCE` to `symmetric` before the first pair is chosen
//! makes every [`Pair::best`] symmetric. That is for the thread sanitizer, which sees the processor's
//! fences and not the kernel's, and for measuring what the asymmetric pair gains.
//!
//! Light sides are not ordered among each other: where the pair is asymmetric that is what they save. loom, which has full fences on
//! both sides, orders them all the same, and does not find who relies on it. The simulated machine's store buffers do.
//!
//! # fork and seccomp
//! A child of `fork` inherits the registration with the kernel. A filter that forbids `membarrier`
//! before the first pair is chosen gives symmetric pairs; one that is installed later makes
//! [`Pair::heavy`] fail, which is an answer and not an abort.

use crate::os;
use std::ffi::OsStr;
use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{compiler_fence, fence};

/// A full fence: every store before it is visible before any load after it.
#[inline(always)]
pub fn full() {
    fence(SeqCst);
}

/// A full fence that is not part of the hot side's code where that needs none.
#[cold]
#[inline(never)]
fn full_out_of_line() {
    full();
}

/// Stands between a SeqCst read-modify-write and later SeqCst loads that must not be seen before it.
///
/// On real machines the accesses carry that order, and this only keeps the compiler from moving
/// anything. loom takes SeqCst accesses for AcqRel: there it is a full fence, and so would not notice a weaker access.
/// `crates/cantina/tests/tidy.rs` does: where a story calls it, all accesses that go by an edge are SeqCst, but for edges that
/// the story names as weaker.
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
        *BEST.get_or_init(|| Self::chosen_by(std::env::var_os("CANTINA_FENCE").as_deref()))
    }

    fn chosen_by(setting: Option<&OsStr>) -> Self {
        match Self::asymmetric() {
            Some(pair) if setting.is_none_or(|setting| setting != "symmetric") => pair,
            _ => Self::symmetric(),
        }
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
            full_out_of_line();
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
    use crate::pad::CachePadded;
    use crate::random::Random;
    use std::sync::atomic::AtomicUsize;
    use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

    #[derive(Default)]
    struct Side {
        /// The round this side is ready for.
        ready: CachePadded<AtomicUsize>,
        /// The round this side has stored.
        word: CachePadded<AtomicUsize>,
    }

    /// Store, fence, load, on both sides at once. In which rounds it saw the other's store.
    fn store_then_load(mine: &Side, theirs: &Side, fence: impl Fn(), seed: u64) -> Vec<bool> {
        let mut random = Random::seeded(seed);
        let round = |round| {
            let (delay, mut waited) = (random.below(4), 0);
            mine.ready.store(round, Release);
            while theirs.ready.load(Acquire) < round {
                waited += 1;
                if waited % 10_000 == 0 {
                    std::thread::yield_now();
                }
            }
            (0..delay).for_each(|_| std::hint::spin_loop());
            mine.word.store(round, Relaxed);
            fence();
            theirs.word.load(Relaxed) >= round
        };
        (1..=ROUNDS).map(round).collect()
    }

    const ROUNDS: usize = 20_000;

    /// In how many rounds neither side saw the other.
    fn both_missed(light: impl Fn() + Sync, heavy: impl Fn() + Sync) -> usize {
        let (hot, rare) = (Side::default(), Side::default());
        std::thread::scope(|scope| {
            let seen = scope.spawn(|| store_then_load(&hot, &rare, &light, 1));
            let there = store_then_load(&rare, &hot, &heavy, 2);
            let here = seen.join().unwrap();
            here.iter().zip(&there).filter(|(here, there)| !**here && !**there).count()
        })
    }

    #[test]
    fn one_side_of_a_symmetric_pair_sees_the_other() {
        let pair = Pair::symmetric();
        assert!(!pair.is_asymmetric());
        assert_eq!(both_missed(|| pair.light(), || pair.heavy().unwrap()), 0);
    }

    #[test]
    fn one_side_of_an_asymmetric_pair_sees_the_other() {
        if let Some(pair) = Pair::asymmetric() {
            assert!(pair.is_asymmetric());
            assert_eq!(both_missed(|| pair.light(), || pair.heavy().unwrap()), 0);
        }
    }

    #[test]
    fn the_best_pair_is_chosen_once() {
        assert_eq!(Pair::best(), Pair::best());
        assert_eq!(Pair::default(), Pair::best());
    }

    #[test]
    fn the_environment_can_ask_for_a_symmetric_pair() {
        assert_eq!(Pair::chosen_by(Some("symmetric".as_ref())), Pair::symmetric());
        let best = Pair::asymmetric().unwrap_or(Pair::symmetric());
        assert_eq!(Pair::chosen_by(None), best);
        assert_eq!(Pair::chosen_by(Some("".as_ref())), best);
    }
}
