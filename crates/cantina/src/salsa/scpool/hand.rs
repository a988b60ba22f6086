//! The group of slots that a consumer is at, spread out for the fast path.

use super::Pools;
use super::chunk::{Chunk, Header, send_back, send_group_back, take};
use super::fencing::announce;
use super::plan::{Group, Plan, Slot};
use super::take::Held;
use super::word::Word;
use machine::atomic::{AtomicU32, AtomicU64};
use machine::fence::Pair;
use std::ptr;

/// The group of slots that may be taken without a claim, spread out for the fast path.
pub(super) struct Hand<T> {
    /// The next slot's number: `next[me]` of the chunk.
    pub(super) k: u32,
    /// The first slot that is not known to be published, or not for the fast path.
    pub(super) ready: u32,
    /// Where the group lies; with a blank header when the hand is empty.
    spot: Spot<T>,
    next: *const AtomicU32,
    pub(super) owner: *const AtomicU64,
    mine: Word,
    /// The chunk's last slot. It and its group are not for the fast path: to take it is to retire the
    /// chunk.
    last: u32,
    pair: Pair,
    /// The chunk turned out to be stolen after slot `k` was announced.
    pub(super) lost: bool,
}

/// Where a group lies.
pub(super) struct Spot<T> {
    /// The first slot behind it. 0: it is nowhere.
    pub(super) end: u32,
    /// Where slot 0 would lie if all slots lay behind each other as those of the group do.
    slots: *const Slot<T>,
    pub(super) header: *const AtomicU64,
    /// What that header says when nothing of the group is published, less the slots before it. What it
    /// says more than that is the number of slots published; it is below 0 in an earlier lap.
    nothing: u64,
}

impl<T> Spot<T> {
    /// Nowhere, with a `blank` header.
    pub(super) fn nowhere(blank: *const AtomicU64) -> Self {
        Self { end: 0, slots: ptr::null(), header: blank, nothing: 0 }
    }

    /// Where the group of slot `k` lies, in the life `lap` of `chunk`.
    pub(super) fn of(chunk: Chunk<T>, plan: &Plan, k: u32, lap: u64) -> Self {
        Self {
            end: plan.end::<T>(k),
            slots: chunk.slot(plan, k).wrapping_sub(k as usize),
            header: chunk.header_at(plan, k),
            nothing: Header::less(lap, plan.first::<T>(k)),
        }
    }

    /// The first slot that is not published, or something below the group.
    ///
    /// # Safety
    /// It lies in a chunk that the caller may look at (I2), or has a blank header.
    #[inline(always)]
    pub(super) unsafe fn published(&self) -> i64 {
        // SAFETY: the caller's.
        unsafe { Header::load(self.header) }.over(self.nothing)
    }

    /// Where slot `k` of this group lies.
    #[inline(always)]
    pub(super) fn slot(&self, k: u32) -> *const Slot<T> {
        self.slots.wrapping_add(k as usize)
    }

    /// Goes on to the next group.
    #[inline(always)]
    pub(super) fn turn_over(&mut self) {
        self.header = self.header.wrapping_byte_add(Group::<T>::STRIDE);
        let first = self.header.wrapping_byte_add(Group::<T>::SLOTS_AT);
        self.slots = first.cast::<Slot<T>>().wrapping_sub(self.end as usize);
        self.nothing = self.nothing.wrapping_sub(u64::from(Group::<T>::SLOTS));
        self.end += Group::<T>::SLOTS;
    }
}

impl<T> Hand<T> {
    pub(super) fn empty(pools: &Pools<T>) -> Self {
        Self {
            k: 0,
            ready: 0,
            spot: Spot::nowhere(&raw const pools.blank),
            next: ptr::null(),
            owner: ptr::null(),
            mine: Word::UNUSED,
            last: 0,
            pair: pools.settings.fencing.pair(),
            lost: false,
        }
    }

    /// What is known to be published of the group that `held` has come to. Nothing in hand when that is
    /// not for the fast path: to be taken with care or with a fence, or the end of the chunk.
    pub(super) fn holding(held: &Held<T>, pools: &Pools<T>, me: usize) -> Self {
        let (chunk, k) = (held.chunk, held.k);
        let plan = &pools.settings.plan;
        let last = plan.slots - 1;
        let spot = Spot::of(chunk, plan, k, held.lap);
        if held.careful > 0 || spot.end > last || !pools.settings.fencing.pair().is_asymmetric() {
            return Self::empty(pools);
        }
        Self {
            k,
            ready: held.seen.min(spot.end).max(k),
            spot,
            next: chunk.next(plan, me),
            owner: chunk.owner(),
            mine: held.mine,
            last,
            ..Self::empty(pools)
        }
    }

    /// Looks whether more of the group has been published than `k`, its next slot.
    #[inline(always)]
    fn look(&mut self, k: u32) -> bool {
        // SAFETY: a header of the chunk in the hand (I2), or the pools' blank one.
        let published = unsafe { self.spot.published() };
        if published <= i64::from(k) {
            return false;
        }
        self.ready = published as u32;
        true
    }

    /// Goes on to the next group, and takes its first task, if that is there and the chunk still is ours.
    #[inline(always)]
    pub(super) fn next_of_next_group(&mut self) -> Option<T> {
        let Self { k, last, spot, .. } = self;
        let last_group = spot.end + Group::<T>::SLOTS > *last;
        if *k != spot.end || last_group {
            return None;
        }
        // SAFETY: a hand is not empty when it comes to the end of a group, so we took its last slot.
        unsafe { send_group_back(spot.header, spot.slot(*k - 1)) };
        spot.turn_over();
        if !self.look(self.k) {
            return None;
        }
        // SAFETY: the slot has been seen published.
        unsafe { self.take_ready() }
    }

    /// Takes the next task of the group, if it is there and the chunk still is ours.
    #[inline(always)]
    pub(super) fn next(&mut self) -> Option<T> {
        let k = self.k;
        if k == self.ready && !self.look(k) {
            return None;
        }
        // SAFETY: the slot has been seen published.
        unsafe { self.take_ready() }
    }

    /// Takes the next task of the group, if the chunk still is ours.
    ///
    /// # Safety
    /// The next slot is below `ready`.
    #[inline(always)]
    unsafe fn take_ready(&mut self) -> Option<T> {
        let k = self.k;
        // SAFETY: something is in the hand: a chunk that we hold (I2), `k` is our index in it, and the
        // slot has been seen published. Nothing is taken into the hand in other modes (`holding`).
        unsafe {
            std::hint::assert_unchecked(self.pair.is_asymmetric());
            if !announce(&*self.next, k + 1, self.pair, &*self.owner, self.mine) {
                self.lost = true;
                return None;
            }
            self.k = k + 1;
            let slot = self.spot.slot(k);
            // I4: announced, and ours afterwards.
            let task = take(slot);
            if !Group::<T>::IS_LINE {
                send_back(slot);
            }
            Some(task)
        }
    }
}
