//! The group of slots that a consumer claims one by one, spread out for its path.

use super::Pools;
use super::chunk::{Chunk, take};
use super::fencing::announce_claimed;
use super::hand::Spot;
use super::plan::WORD;
use super::take::Held;
use super::word::Word;
use machine::atomic::{AtomicU32, AtomicU64};
use std::ptr;

/// What is to be claimed next, where each task is won by a claim; nothing in other modes.
pub(super) struct Claims<T> {
    /// The next slot's number: `next[me]` of the chunk.
    pub(super) k: u32,
    /// The chunk's last slot, which is not for this path: to take it is to retire the chunk. 0: there is nothing to be claimed.
    last: u32,
    /// The first slot that is not known to be published.
    pub(super) ready: u32,
    /// Claims that somebody else had won.
    pub(super) missed: u32,
    spot: Spot<T>,
    /// The bitmap.
    taken: *const AtomicU64,
    next: *const AtomicU32,
    pub(super) owner: *const AtomicU64,
    mine: Word,
}

/// What came of a claim.
pub(super) enum Claimed<T> {
    /// A task, and the chunk still is ours.
    Task(T),
    /// There is nothing to be claimed now.
    Nothing,
    /// The slot was somebody else's, or the chunk is gone.
    Otherwise(Option<T>, bool),
}

impl<T> Claims<T> {
    pub(super) fn none(pools: &Pools<T>) -> Self {
        Self {
            k: 0,
            last: 0,
            ready: 0,
            missed: 0,
            spot: Spot::nowhere(&raw const pools.blank),
            taken: ptr::null(),
            next: ptr::null(),
            owner: ptr::null(),
            mine: Word::UNUSED,
        }
    }

    /// From where `held` has come to.
    pub(super) fn holding(held: &Held<T>, pools: &Pools<T>, me: usize) -> Self {
        let (chunk, k) = (held.chunk, held.k);
        let plan = &pools.settings.plan;
        let spot = Spot::of(chunk, plan, k, held.lap);
        Self {
            k,
            last: plan.slots - 1,
            // A batch may have seen more; each group is turned over.
            ready: held.seen.min(spot.end).max(k),
            missed: 0,
            spot,
            taken: chunk.taken(plan),
            next: chunk.next(plan, me),
            owner: chunk.owner(),
            mine: held.mine,
        }
    }

    /// Claims the next slot, if it is published and not the chunk's last.
    #[inline(always)]
    pub(super) fn next(&mut self) -> Claimed<T> {
        let k = self.k;
        if k >= self.last || k == self.ready && !self.look(k) {
            return Claimed::Nothing;
        }
        // SAFETY: `last` is not 0: a chunk that we hold (I2), `k` is our index in it, less than its slots.
        let (won, stays) = unsafe {
            // I5: the claim comes before the announcement: whoever reads that takes the slot for taken.
            let won = Chunk::<T>::claim_in(&*self.taken.add((k / WORD) as usize), k);
            (won, announce_claimed(&*self.next, k + 1, &*self.owner, self.mine))
        };
        self.k = k + 1;
        // The line is not sent back: the next claim would wait for it.
        if !won {
            self.missed += 1;
            return Claimed::Otherwise(None, stays);
        }
        // SAFETY: `k` only grows, so it is in the group of `spot`; published, and won (I4).
        let task = unsafe { take(self.spot.slot(k)) };
        if stays { Claimed::Task(task) } else { Claimed::Otherwise(Some(task), false) }
    }

    /// Looks whether slot `k` has been published, in the next group if this one is at its end.
    #[inline(always)]
    fn look(&mut self, k: u32) -> bool {
        if k == self.spot.end {
            self.spot.turn_over();
        }
        // SAFETY: a header of the chunk that we hold (I2): `k` is one of its slots.
        let published = unsafe { self.spot.published() };
        if published <= i64::from(k) {
            return false;
        }
        self.ready = published as u32;
        true
    }
}
