//! A tree of leaves: places that are used once, and words that say where tasks are.

mod cells;
mod describe;
mod room;

use super::frame::{Frame, MID_FAN, ROOT_FAN};
use super::leaf::Leaf;
use super::presence::{Clearers, Presence, Shown};
use crate::cafe::metrics::Exchanges;
use crate::cafe::overtaking::Stamps;
use crate::panics::{self, Panic};
use cells::Cells;
pub(super) use cells::Spot;
use machine::atomic::Ordering::Relaxed;
use machine::atomic::{AtomicPtr, AtomicU64};
use machine::trace;
use machine::{CachePadded, fence_after_rmw};
use room::Room;
use std::ptr;

/// A tree.
pub(in crate::cafe) struct Tree<T> {
    frame: Frame,
    root: CachePadded<Presence<ROOT_FAN>>,
    room: CachePadded<Room>,
    mids: Box<[CachePadded<Mid>]>,
    leaves: Box<[CachePadded<Leaf>]>,
    tasks: Cells<T>,
    stamps: Stamps,
    /// The next tree of the list. See I5.
    pub(super) next: AtomicPtr<Tree<T>>,
}

/// A word between the root and its leaves.
struct Mid {
    present: Presence<MID_FAN>,
    /// As the root's.
    full: AtomicU64,
    /// Of this mid's bit in the root.
    clearers: Clearers,
}

/// Something to take: where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LeafNumber(pub(super) u32);

/// Leaves that hang from the same word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Siblings {
    /// Which mid that is; 0 where it is the root.
    pub(super) mid: u32,
    /// A bit for each.
    pub(super) leaves: u64,
}

/// A leaf with tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) leaf: LeafNumber,
    /// Its places whose tasks can be taken.
    pub(super) available: u32,
    /// Other leaves beside it that may have tasks.
    pub(super) others: Siblings,
}

/// The first of `bits` from number `start` on, or from the beginning.
fn first_from(bits: u64, start: u32) -> u32 {
    let ahead = bits & u64::MAX << start;
    if ahead != 0 { ahead.trailing_zeros() } else { bits.trailing_zeros() }
}

impl<T> Tree<T> {
    pub(super) fn new(frame: Frame, measured: bool) -> Box<Self> {
        let mid = |_| {
            let present = Presence::new();
            CachePadded::new(Mid { present, full: AtomicU64::new(0), clearers: Clearers::new() })
        };
        let tree = Box::new(Self {
            frame,
            root: CachePadded::new(Presence::new()),
            room: CachePadded::new(Room::new()),
            mids: (0..frame.mids()).map(mid).collect(),
            leaves: (0..frame.leaves()).map(|_| CachePadded::new(Leaf::new())).collect(),
            tasks: Cells::new(frame.leaves(), frame.slots_of(0)),
            stamps: Stamps::new(frame.places() as usize, measured),
            next: AtomicPtr::new(ptr::null_mut()),
        });
        tree.describe();
        tree
    }

    /// What a tree of that frame takes, roughly.
    pub(super) fn bytes(frame: Frame) -> usize {
        let leaves = frame.leaves() as usize * size_of::<CachePadded<Leaf>>();
        leaves + frame.places() as usize * size_of::<T>()
    }

    pub(super) fn frame(&self) -> Frame {
        self.frame
    }

    /// Makes it as new. It has no tasks.
    pub(super) fn reset(&mut self) {
        self.root.reset();
        self.room.reset();
        for mid in &mut self.mids {
            mid.present.reset();
            // own: `&mut self`.
            mid.full.store(0, Relaxed);
            mid.clearers.reset();
        }
        self.leaves.iter_mut().for_each(|leaf| leaf.reset());
        self.stamps.reset();
        // own: as above.
        self.next.store(ptr::null_mut(), Relaxed);
    }

    #[inline]
    fn leaf(&self, number: u32) -> &Leaf {
        &self.leaves[self.frame.spot(number) as usize]
    }

    /// What lies beside the task of a place, where overtaking is measured: whose, and its number there.
    pub(super) fn stamp(&self, LeafNumber(leaf): LeafNumber, slot: u32) -> (&Stamps, usize) {
        (&self.stamps, self.frame.place(leaf, slot))
    }

    /// Makes the tasks of `places` visible, which the caller has claimed and filled. `shown` is what this call left there the last
    /// time, for the same leaf, or nothing. False: the tree is closed, and they stay the caller's (I3).
    #[inline]
    pub(super) fn publish(
        &self,
        spot: Spot,
        places: u32,
        shown: &mut Option<Shown>,
        cas: &mut Exchanges,
    ) -> bool {
        let leaf = &self.leaves[spot.head];
        let published = cas.note(leaf.publish(places));
        // As long as nobody has come to clear its bit above, that is set, and so are those above it (I7).
        if published && (shown.is_none() || leaf.clearers.look() != *shown) {
            *shown = self.show(spot.leaf, cas);
        }
        published
    }

    /// Tells the words above a leaf, all the way up: to stop where the bit is set already is wrong, for
    /// whoever set it may not have come further.
    #[inline(never)]
    fn show(&self, LeafNumber(leaf): LeafNumber, cas: &mut Exchanges) -> Option<Shown> {
        let clearers = &self.leaf(leaf).clearers;
        if self.leaves.len() == 1 {
            // Its word is the root.
            return clearers.look();
        }
        if self.mids.is_empty() {
            return self.root.show(leaf, clearers, cas);
        }
        let (number, child) = self.frame.above(leaf);
        let mid = &self.mids[number as usize];
        let shown = mid.present.show(child, clearers, cas);
        // present: the mid's bit, ours or another's, then the look at who is pending there.
        fence_after_rmw();
        self.root.show(number, &mid.clearers, cas);
        shown
    }

    /// A leaf that had a task a moment ago, from `start` on. None: at one instant the root showed nothing.
    pub(super) fn leaf_with_task(
        &self,
        LeafNumber(start): LeafNumber,
        cas: &mut Exchanges,
    ) -> Option<Found> {
        if self.leaves.len() == 1 {
            let available = self.leaves[0].look().available();
            let others = Siblings { mid: 0, leaves: 0 };
            return (available != 0).then_some(Found { leaf: LeafNumber(0), available, others });
        }
        let mut start = start;
        loop {
            let bits = self.root.look();
            if bits == 0 {
                return None;
            }
            let Some((leaf, others)) = self.descend(bits, start, cas) else { continue };
            let available = self.available(leaf);
            if available != 0 {
                return Some(Found { leaf, available, others });
            }
            self.clear(leaf, cas);
            start = leaf.0;
        }
    }

    /// A leaf that the `bits` of the root lead to, from `start` on, and others beside it. None: the mid on the
    /// way shows nothing.
    fn descend(
        &self,
        bits: u64,
        start: u32,
        cas: &mut Exchanges,
    ) -> Option<(LeafNumber, Siblings)> {
        if self.mids.is_empty() {
            let leaf = first_from(bits, start);
            return Some((LeafNumber(leaf), Siblings { mid: 0, leaves: bits & !(1 << leaf) }));
        }
        let (first_mid, first_child) = self.frame.above(start);
        let mid = first_from(bits, first_mid);
        let bits = self.mids[mid as usize].present.look();
        if bits == 0 {
            self.clear_mid(mid, cas);
            return None;
        }
        let child = first_from(bits, if mid == first_mid { first_child } else { 0 });
        let leaf = LeafNumber(self.frame.leaf(mid, child));
        Some((leaf, Siblings { mid, leaves: bits & !(1 << child) }))
    }

    /// The first leaf of `siblings` from `start` on, which is one of them.
    pub(super) fn first_of(&self, siblings: Siblings, start: LeafNumber) -> LeafNumber {
        let (mid, child) = self.above(start);
        debug_assert_eq!(mid, siblings.mid);
        self.leaf_below(mid, first_from(siblings.leaves, child))
    }

    /// The leaf number so and so of `siblings`.
    pub(super) fn nth_of(&self, siblings: Siblings, number: u32) -> LeafNumber {
        let rest = (0..number).fold(siblings.leaves, |rest, _| rest & rest.wrapping_sub(1));
        self.leaf_below(siblings.mid, rest.trailing_zeros())
    }

    /// One leaf as a set.
    pub(super) fn alone(&self, leaf: LeafNumber) -> Siblings {
        let (mid, child) = self.above(leaf);
        Siblings { mid, leaves: 1 << child }
    }

    /// Where a leaf hangs, and as which child; all hang from the root where there are no mids.
    fn above(&self, LeafNumber(leaf): LeafNumber) -> (u32, u32) {
        if self.mids.is_empty() { (0, leaf) } else { self.frame.above(leaf) }
    }

    fn leaf_below(&self, mid: u32, child: u32) -> LeafNumber {
        LeafNumber(if self.mids.is_empty() { child } else { self.frame.leaf(mid, child) })
    }

    /// Tells the words above a leaf that it is empty, if so.
    pub(super) fn clear(&self, LeafNumber(number): LeafNumber, cas: &mut Exchanges) {
        let leaf = self.leaf(number);
        let is_empty = || leaf.look().available() == 0;
        if self.leaves.len() == 1 {
            // Its word is the root.
        } else if self.mids.is_empty() {
            self.root.clear(number, &leaf.clearers, cas, is_empty);
        } else {
            let (mid, child) = self.frame.above(number);
            let present = &self.mids[mid as usize].present;
            present.clear(child, &leaf.clearers, cas, is_empty);
            if present.look() == 0 {
                self.clear_mid(mid, cas);
            }
        }
    }

    fn clear_mid(&self, number: u32, cas: &mut Exchanges) {
        let mid = &self.mids[number as usize];
        self.root.clear(number, &mid.clearers, cas, || mid.present.look() == 0);
    }

    /// The places of a leaf whose tasks can be taken.
    pub(super) fn available(&self, LeafNumber(leaf): LeafNumber) -> u32 {
        self.leaf(leaf).look().available()
    }

    /// How many places a leaf has.
    pub(super) fn slots_of(&self, LeafNumber(leaf): LeafNumber) -> u32 {
        self.frame.slots_of(leaf)
    }

    /// Takes the place `slot` of a leaf that has so many `slots`, which was seen available. Whether it was still there, and is the
    /// caller's (I4); and whether all places of the leaf are gone now.
    #[inline]
    pub(super) fn take_one(
        &self,
        spot: Spot,
        slot: u32,
        slots: u32,
        cas: &mut Exchanges,
    ) -> (bool, bool) {
        let (won, used_up) = self.leaves[spot.head].take_one(slot, slots);
        (cas.note(won), used_up)
    }

    /// Takes `places` of a leaf that has so many `slots`, which were seen available. Those that were still there are the caller's
    /// (I4); and whether all places of the leaf are gone now.
    pub(super) fn take(
        &self,
        spot: Spot,
        places: u32,
        slots: u32,
        cas: &mut Exchanges,
    ) -> (u32, bool) {
        let (won, used_up) = self.leaves[spot.head].take(places, slots);
        cas.note(won != 0);
        (won, used_up)
    }

    /// Tells the word above some leaves that all their places are gone. Which others it shows.
    pub(super) fn take_away(&self, Siblings { mid, leaves }: Siblings, cas: &mut Exchanges) -> u64 {
        if self.leaves.len() == 1 {
            // Its words are the root.
            0
        } else if self.mids.is_empty() {
            self.root.take_away(leaves, cas)
        } else {
            self.mids[mid as usize].present.take_away(leaves, cas)
        }
    }

    /// Closes all leaves, so that nothing can be published any more. A leaf with a task is in the way.
    pub(super) fn close(&self, cas: &mut Exchanges) -> Result<(), LeafNumber> {
        for number in 0..self.frame.leaves() {
            let leaf = self.leaf(number);
            let slots = self.frame.slots_of(number);
            loop {
                let seen = leaf.look();
                if seen.available() != 0 {
                    return Err(LeafNumber(number));
                }
                if Leaf::is_done(seen, slots) || cas.note(leaf.close(seen)) {
                    break;
                }
            }
        }
        Ok(())
    }

    /// How many tasks it had a moment ago.
    pub(super) fn len_hint(&self) -> usize {
        self.leaves.iter().map(|leaf| leaf.look().available().count_ones() as usize).sum()
    }

    /// Drops the tasks that are left; the first panic that comes of it.
    pub(super) fn drop_tasks(&mut self) -> Option<Panic> {
        let mut first_panic = None;
        for number in 0..self.frame.leaves() {
            let spot = self.spot(LeafNumber(number));
            let mut left = self.leaves[spot.head].left();
            while left != 0 {
                let slot = left.trailing_zeros();
                left &= left - 1;
                // SAFETY: published, not taken, and nobody else is left; each once.
                let task = unsafe { self.read(spot, slot) };
                panics::catch(&mut first_panic, || drop(task));
            }
        }
        first_panic
    }
}

impl<T> Drop for Tree<T> {
    fn drop(&mut self) {
        trace::gone(self);
    }
}
