//! Where producers find room.

use super::super::leaf::ones;
use super::{LeafNumber, Tree, first_from};
use crate::cafe::metrics::Exchanges;
use machine::atomic::AtomicU64;
use machine::atomic::Ordering::Relaxed;
use std::ops::Range;

/// What is known of a root's children. Hints: what decides are the claims of each leaf.
pub(super) struct Room {
    /// Those whose places are all claimed, as far as somebody noticed.
    full: AtomicU64,
    /// The mids that somebody has turned to: others keep away as long as there are more, and so do not write the same words.
    begun: AtomicU64,
}

impl Room {
    pub(super) fn new() -> Self {
        Self { full: AtomicU64::new(0), begun: AtomicU64::new(0) }
    }

    /// Makes it as new.
    pub(super) fn reset(&mut self) {
        // own: `&mut self`.
        self.full.store(0, Relaxed);
        // own: as above.
        self.begun.store(0, Relaxed);
    }
}

impl<T> Tree<T> {
    /// Up to `wanted` places of a leaf for the caller to fill (I2): none when it is full, as others now
    /// know.
    pub(in super::super) fn claim(
        &self,
        LeafNumber(leaf): LeafNumber,
        wanted: u32,
        cas: &mut Exchanges,
    ) -> Range<u32> {
        let slots = self.frame.slots_of(leaf);
        let run = self.leaf(leaf).claim(wanted, slots, cas);
        if run.is_empty() {
            self.mark_full(LeafNumber(leaf));
        }
        run
    }

    /// Says that all places of a leaf are claimed.
    pub(in super::super) fn mark_full(&self, LeafNumber(leaf): LeafNumber) {
        if self.mids.is_empty() {
            // hint: a hint where not to look.
            self.room.full.fetch_or(1 << leaf, Relaxed);
            return;
        }
        let (mid, child) = self.frame.above(leaf);
        // hint: as above. Whoever finds all of them set says so above.
        self.mids[mid as usize].full.fetch_or(1 << child, Relaxed);
    }

    /// A leaf that may have places to claim: `start`, or one behind it. None: all are claimed.
    pub(in super::super) fn leaf_with_room(&self, start: LeafNumber) -> Option<LeafNumber> {
        let LeafNumber(start) = start;
        let all = ones(self.frame.children());
        if self.mids.is_empty() {
            // hint: a leaf that is full and not marked is found out by its claims.
            let free = all & !self.room.full.load(Relaxed);
            return (free != 0).then(|| LeafNumber(first_from(free, start)));
        }
        let (first_mid, child) = self.frame.above(start);
        self.room_below(first_mid, child).or_else(|| self.turn_to_mid(first_mid, child))
    }

    /// A leaf that a producer begins with that is new to the tree: `start`, or one where others are not.
    pub(in super::super) fn leaf_to_begin(&self, LeafNumber(start): LeafNumber) -> LeafNumber {
        if self.mids.is_empty() {
            return LeafNumber(start);
        }
        let (mid, child) = self.frame.above(start);
        self.turn_to_mid(mid, child).unwrap_or(LeafNumber(start))
    }

    /// The mid `first`, or one behind it, where others have not begun, or at least one with room: a leaf there that may have
    /// places to claim, from the child `start` on.
    #[cold]
    fn turn_to_mid(&self, first: u32, start: u32) -> Option<LeafNumber> {
        let all = ones(self.frame.children());
        loop {
            // hint: as a leaf that is full.
            let free = all & !self.room.full.load(Relaxed);
            if free == 0 {
                return None;
            }
            // hint: where others are; whoever does not see it begins there as well.
            let fresh = free & !self.room.begun.load(Relaxed);
            let mid = first_from(if fresh != 0 { fresh } else { free }, first);
            if fresh != 0 {
                // hint: as above.
                self.room.begun.fetch_or(1 << mid, Relaxed);
            }
            let leaf = self.room_below(mid, start);
            if leaf.is_some() {
                return leaf;
            }
            // hint: as above.
            self.room.full.fetch_or(1 << mid, Relaxed);
        }
    }

    /// A leaf below `mid` that may have places to claim, from the child `start` on.
    fn room_below(&self, mid: u32, start: u32) -> Option<LeafNumber> {
        let below = ones(self.frame.leaves_of(mid));
        // hint: as a leaf that is full.
        let free = below & !self.mids[mid as usize].full.load(Relaxed);
        (free != 0).then(|| LeafNumber(self.frame.leaf(mid, first_from(free, start))))
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::frame::Frame;
    use super::{Exchanges, LeafNumber, Tree};

    /// Seven leaves of one place, two to a mid.
    fn tree() -> Box<Tree<u8>> {
        Tree::new(Frame::new(2, 1, 2).unwrap(), false)
    }

    #[test]
    fn producers_begin_apart_as_long_as_they_can() {
        let tree = tree();
        let begin = || tree.leaf_to_begin(LeafNumber(3)).0;
        let mut mids = [begin(), begin(), begin(), begin()].map(|leaf| tree.frame().above(leaf).0);
        assert_eq!(mids[0], 1, "there was nobody");
        mids.sort_unstable();
        assert_eq!(mids, [0, 1, 2, 3]);
        assert_eq!(begin(), 3);
    }

    #[test]
    fn all_leaves_are_found_wherever_one_begins() {
        for start in 0..7 {
            let tree = tree();
            let mut found = Vec::new();
            let mut leaf = tree.leaf_to_begin(LeafNumber(start));
            loop {
                assert_eq!(tree.claim(leaf, 1, &mut Exchanges::default()), 0..1);
                found.push(leaf.0);
                tree.mark_full(leaf);
                let Some(next) = tree.leaf_with_room(leaf) else { break };
                leaf = next;
            }
            found.sort_unstable();
            assert_eq!(found, [0, 1, 2, 3, 4, 5, 6]);
        }
    }
}
