//! A leaf: up to 32 places, a word that says which are published, and another one which are gone.

use super::presence::Clearers;
use crate::cafe::metrics::Exchanges;
use machine::ahead;
use machine::atomic::AtomicU32;
use machine::atomic::AtomicU64;
use machine::atomic::Ordering::{Relaxed, SeqCst};
use machine::fence_after_rmw;
use machine::trace::{self, Role};
use std::ops::Range;
use std::slice;

/// The most places of a leaf.
pub(in crate::cafe) const SLOTS: u32 = 32;

/// Beside the places that are published: nothing that is published from now on counts.
const CLOSED: u64 = 1 << SLOTS;

/// The head of a leaf; its tasks lie elsewhere. Producers and consumers have a cache line each: a consumer
/// that knows of several tasks takes them one by one without a look at what producers write.
pub(super) struct Leaf {
    published: AtomicU64,
    /// How many places have been asked for; may be more than there are.
    claims: AtomicU32,
    /// Of this leaf's bit above.
    pub(super) clearers: Clearers,
    taken: Taken,
}

/// Which places are gone.
#[repr(align(64))]
struct Taken(AtomicU32);

/// What a leaf's words say. A place is published by whoever claimed it, and then gone when it is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word {
    published: u64,
    /// Looked at before the others: so what is published and not gone may be gone by now, and when all is
    /// gone that is published, there was nothing at the moment of the second look.
    gone: u32,
}

impl Word {
    /// The places whose tasks can be taken.
    #[inline]
    pub(super) fn available(self) -> u32 {
        // When it was closed, all that was published before was gone (I3).
        if self.published & CLOSED == 0 { self.published as u32 & !self.gone } else { 0 }
    }
}

/// The lowest `count` bits.
#[inline]
pub(super) fn ones(count: u32) -> u64 {
    debug_assert!(count < u64::BITS);
    (1 << count) - 1
}

impl Leaf {
    pub(super) fn new() -> Self {
        Self {
            published: AtomicU64::new(0),
            claims: AtomicU32::new(0),
            clearers: Clearers::new(),
            taken: Taken(AtomicU32::new(0)),
        }
    }

    /// Says what lies where in it, as a part of `tree`.
    pub(super) fn describe<W>(&self, tree: &W) {
        trace::row(tree, slice::from_ref(&self.published), "leaf", Role::Filled { bits: SLOTS });
        trace::row(tree, slice::from_ref(&self.taken.0), "gone", Role::Bits);
        trace::row(tree, slice::from_ref(&self.claims), "claims", Role::Number);
        self.clearers.describe(tree, "pending", "cleared");
    }

    /// Makes it as new.
    pub(super) fn reset(&mut self) {
        // own: `&mut self`.
        self.published.store(0, Relaxed);
        // own: as above.
        self.taken.0.store(0, Relaxed);
        // own: as above.
        self.claims.store(0, Relaxed);
        self.clearers.reset();
    }

    /// Up to `wanted` of its `slots` places for the caller to fill (I2).
    pub(super) fn claim(&self, wanted: u32, slots: u32, cas: &mut Exchanges) -> Range<u32> {
        // hint: so that the count does not grow for ever.
        let claimed = self.claims.load(Relaxed);
        if claimed >= slots {
            return slots..slots;
        }
        let wanted = wanted.min(slots - claimed);
        // bare: each place is given out once; there is nothing in it to be seen.
        let first = self.claims.fetch_add(wanted, Relaxed);
        cas.note(first < slots);
        first.min(slots)..(first + wanted).min(slots)
    }

    /// Asks for its words, which are looked at later.
    #[inline]
    pub(super) fn expect(&self) {
        ahead::to_read(&self.published);
        ahead::to_write(&self.taken);
    }

    /// Asks for the word that producers write.
    #[inline]
    pub(super) fn expect_room(&self) {
        ahead::to_write(&self.published);
    }

    #[inline]
    pub(super) fn look(&self) -> Word {
        // gone: what those who took did before, their puts among it.
        let gone = self.taken.0.load(SeqCst);
        // task: the tasks of the places that are published. closed: that the producers have another tree.
        Word { published: self.published.load(SeqCst), gone }
    }

    /// Publishes `places`, which the caller has claimed and filled. False: the leaf was closed before, and
    /// what is in them stays the caller's (I3).
    #[inline]
    pub(super) fn publish(&self, places: u32) -> bool {
        // task: the tasks, unless they come too late. Nobody else sets these bits, so adding them sets them; and where a processor
        // has no "or" that tells what was there before, an addition needs no look first, and takes the line once.
        let old = self.published.fetch_add(u64::from(places), SeqCst);
        debug_assert_eq!(old & u64::from(places), 0);
        // present: the tasks, then the look at who is pending.
        fence_after_rmw();
        old & CLOSED == 0
    }

    /// Takes the place `slot`, which the caller has seen available. Whether it was still there, and is the caller's (I4); and whether
    /// now all of its `slots` are gone.
    #[inline]
    pub(super) fn take_one(&self, slot: u32, slots: u32) -> (bool, bool) {
        // gone: as of several. Only this bit is asked for: some processors can tell it in one go.
        let won = self.taken.0.fetch_or(1 << slot, SeqCst) & (1 << slot) == 0;
        // gone: whoever takes the last one sees all of them.
        (won, u64::from(self.taken.0.load(SeqCst)) == ones(slots))
    }

    /// Takes `places`, which the caller has seen available. Those that were still there are the caller's
    /// (I4); and whether now all of its `slots` are gone.
    pub(super) fn take(&self, places: u32, slots: u32) -> (u32, bool) {
        // gone: what we did before. Whoever comes later sees them gone.
        let gone = self.taken.0.fetch_or(places, SeqCst);
        (places & !gone, u64::from(gone | places) == ones(slots))
    }

    /// Closes it, if nothing was published since it was `seen`: nothing was available. Whether it did.
    pub(super) fn close(&self, seen: Word) -> bool {
        debug_assert_eq!(seen.available(), 0);
        let (before, closed) = (seen.published, seen.published | CLOSED);
        // closed: whoever publishes later knows that the producers have another tree. On failure
        // something was published, or somebody else has closed it.
        let changed = self.published.compare_exchange(before, closed, SeqCst, SeqCst).is_ok();
        // closed: this leaf, then the next one and the head of the list.
        fence_after_rmw();
        changed
    }

    /// Whether nothing more can be published or taken in its `slots` places.
    pub(super) fn is_done(seen: Word, slots: u32) -> bool {
        seen.published & CLOSED != 0 || u64::from(seen.gone) == ones(slots)
    }

    /// The places whose tasks are left.
    pub(super) fn left(&mut self) -> u32 {
        // own: `&mut self`.
        let (published, gone) = (self.published.load(Relaxed), self.taken.0.load(Relaxed));
        Word { published, gone }.available()
    }
}

#[cfg(test)]
mod tests {
    use super::{Exchanges, Leaf};

    #[test]
    fn a_place_is_claimed_once() {
        let leaf = Leaf::new();
        let claim = |wanted| leaf.claim(wanted, 5, &mut Exchanges::default());
        assert_eq!(claim(1), 0..1);
        assert_eq!(claim(3), 1..4);
        assert_eq!(claim(3), 4..5);
        assert!(claim(3).is_empty());
    }

    #[test]
    fn a_place_is_taken_once() {
        let leaf = Leaf::new();
        assert!(leaf.publish(0b11000));
        assert_eq!(leaf.take_one(3, 5), (true, false));
        assert_eq!(leaf.take_one(3, 5), (false, false));
        assert!(leaf.publish(0b00111));
        assert_eq!(leaf.take(0b00111, 5), (0b00111, false));
        assert_eq!(leaf.take_one(4, 5), (true, true));

        let leaf = Leaf::new();
        assert!(leaf.publish(0b111));
        assert_eq!(leaf.take(0b011, 3), (0b011, false));
        assert_eq!(leaf.take(0b110, 3), (0b100, true));
        assert_eq!(leaf.look().available(), 0);
        assert!(Leaf::is_done(leaf.look(), 3) && !Leaf::is_done(leaf.look(), 4));
    }

    #[test]
    fn a_closed_leaf_sends_late_tasks_away() {
        let leaf = Leaf::new();
        assert!(leaf.publish(0b001));
        assert_eq!(leaf.take(0b001, 2), (0b001, false));
        let seen = leaf.look();
        assert!(!Leaf::is_done(seen, 2) && leaf.close(seen));
        assert!(Leaf::is_done(leaf.look(), 2));
        assert!(!leaf.publish(0b010));
        assert_eq!(leaf.look().available(), 0);
    }
}
