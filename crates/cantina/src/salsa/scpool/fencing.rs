//! The fences between an owner and a thief.

use super::word::Word;
use crate::salsa::mode::Mode;
use machine::atomic::Ordering::{Relaxed, Release};
use machine::atomic::{AtomicU32, AtomicU64};
use machine::fence::{HeavyFailed, Pair};

/// A [`Mode`] with its fences.
#[derive(Clone, Copy, Debug)]
pub(in crate::salsa) struct Fencing {
    mode: Mode,
    pair: Pair,
}

impl Fencing {
    /// The fastest that this machine has.
    pub(in crate::salsa) fn best() -> Self {
        let pair = Pair::best();
        Self { mode: if pair.is_asymmetric() { Mode::Asymmetric } else { Mode::Claim }, pair }
    }

    /// The fences of `mode`, if this machine has them.
    pub(in crate::salsa) fn of(mode: Mode) -> Option<Self> {
        let pair = match mode {
            Mode::Asymmetric => Pair::asymmetric()?,
            Mode::Claim | Mode::Fence => Pair::symmetric(),
        };
        Some(Self { mode, pair })
    }

    /// The fences themselves, for one that does not claim.
    pub(super) fn pair(self) -> Pair {
        self.pair
    }

    /// Whether each task is won by a claim.
    pub(super) fn always_claims(self) -> bool {
        self.mode == Mode::Claim
    }

    /// As [`announce`], with the fence of this mode.
    pub(super) fn announce(self, next: &AtomicU32, to: u32, owner: &AtomicU64, mine: Word) -> bool {
        if self.mode == Mode::Claim {
            announce_claimed(next, to, owner, mine)
        } else {
            announce(next, to, self.pair, owner, mine)
        }
    }

    /// The thief's fence, between its change of the owner word and its look at the index.
    pub(super) fn claimed(self) -> Result<(), HeavyFailed> {
        if self.mode == Mode::Claim {
            return Ok(());
        }
        // steal: the owner word is changed, then the index is read.
        let fenced = self.pair.heavy();
        // steal: the same. The kernel may want for memory, so it is asked twice.
        fenced.or_else(|HeavyFailed| self.pair.heavy())
    }
}

/// Announces that the slots before `to` are taken, and then looks whether we still are the owner.
#[inline(always)]
pub(super) fn announce(
    next: &AtomicU32,
    to: u32,
    pair: Pair,
    owner: &AtomicU64,
    mine: Word,
) -> bool {
    // index: the slots before are taken, and what else we know to be.
    next.store(to, Release);
    // steal: announced, then the look.
    pair.light();
    // steal: a thief that we do not see here sees the announcement. It carries nothing else.
    owner.load(Relaxed) == mine.bits()
}

/// As [`announce`], of slots that all have been won by a claim.
#[inline(always)]
pub(super) fn announce_claimed(next: &AtomicU32, to: u32, owner: &AtomicU64, mine: Word) -> bool {
    // index: the slots before are won, and what else we know to be taken.
    next.store(to, Release);
    // hint: to see that the chunk is stolen saves work.
    owner.load(Relaxed) == mine.bits()
}
