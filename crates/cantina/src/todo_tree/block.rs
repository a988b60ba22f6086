//! A block: up to 16 places, and two words that say what is in them.

use super::counts::MODULUS;
use machine::atomic::AtomicU64;
use machine::atomic::Ordering::SeqCst;
use machine::random::Random;
use machine::trace::{self, Role};
use machine::{ahead, fence_after_rmw};
use std::slice;

/// The most places of a block.
pub(super) const SLOTS: u32 = 16;

/// The head of a block; its tasks lie elsewhere.
pub(super) struct Block {
    /// How many tasks were ever put, above a bit for each place that has one.
    word: AtomicU64,
    /// How many places were ever given back, above a bit for each that is somebody's.
    claims: AtomicU64,
    /// The node above it, if there are nodes.
    pub(super) above: usize,
}

/// What a block says of its tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word(u64);

/// What a block says of its places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Claims(u64);

const BITS: u64 = (1 << SLOTS) - 1;

impl Word {
    /// The places with a task.
    #[inline]
    pub(super) fn tasks(self) -> u32 {
        (self.0 & BITS) as u32
    }

    /// How many tasks were ever put.
    #[inline]
    pub(super) fn inserts(self) -> u64 {
        self.0 >> SLOTS
    }

    /// How many tasks were ever taken.
    #[inline]
    pub(super) fn removes(self) -> u64 {
        self.inserts().wrapping_sub(self.tasks().count_ones().into()) % MODULUS
    }
}

impl Claims {
    /// The places that are nobody's.
    #[inline]
    pub(super) fn free(self) -> u32 {
        (!self.0 & BITS) as u32
    }

    /// How many places were ever given back.
    #[inline]
    pub(super) fn released(self) -> u64 {
        self.0 >> SLOTS
    }
}

impl Block {
    /// A block of so many places, whose counts begin at `from`, below the node `above`. Places that it does not have are
    /// claimed for ever.
    pub(super) fn new(slots: u32, from: u64, above: usize) -> Self {
        let claimed = BITS & !((1 << slots) - 1);
        let counted = from << SLOTS;
        Self { word: AtomicU64::new(counted), claims: AtomicU64::new(counted | claimed), above }
    }

    /// Says what lies where in it, as a part of `tree`.
    pub(super) fn describe<W>(&self, tree: &W) {
        let role = Role::Block { bits: SLOTS };
        trace::row(tree, slice::from_ref(&self.word), "block", role);
        trace::row(tree, slice::from_ref(&self.claims), "claims", role);
    }

    /// Asks for its words, to be changed soon.
    #[inline]
    pub(super) fn expect(&self) {
        ahead::to_write(self);
    }

    #[inline]
    pub(super) fn look(&self) -> Word {
        // task: the tasks in it. count: what was put and taken before, here and elsewhere.
        Word(self.word.load(SeqCst))
    }

    #[inline]
    pub(super) fn look_at_claims(&self) -> Claims {
        // place: what was given back before, here and elsewhere.
        Claims(self.claims.load(SeqCst))
    }

    /// Claims `places`. Those that were nobody's are the caller's (I1).
    #[inline]
    pub(super) fn claim(&self, places: u32) -> u32 {
        if let Some(slot) = only(places) {
            return u32::from(self.claim_one(slot)) << slot;
        }
        // place: the task that was there is moved out.
        let old = Claims(self.claims.fetch_or(places.into(), SeqCst));
        old.free() & places
    }

    /// Claims one place. Whether it was nobody's.
    #[inline]
    pub(super) fn claim_one(&self, slot: u32) -> bool {
        // place: as above. Only this bit is asked for, which x86 can tell in one go: of several it has to be told by a
        // load and a loop of exchanges, so that the line comes twice.
        self.claims.fetch_or(1 << slot, SeqCst) & 1 << slot == 0
    }

    /// Publishes `places`, so many, which the caller has claimed and filled.
    #[inline]
    pub(super) fn publish(&self, places: u32, count: u32) {
        // task: the tasks. count: one step both shows and counts them.
        self.word.fetch_add(counting(count) + u64::from(places), SeqCst);
        before_counting();
    }

    /// Takes the tasks in `places`. Those that were still there are the caller's (I2).
    #[inline]
    pub(super) fn take(&self, places: u32) -> u32 {
        if let Some(slot) = only(places) {
            return u32::from(self.take_one(slot)) << slot;
        }
        // task: the tasks. count: one step both hides and counts them.
        let old = Word(self.word.fetch_and(!u64::from(places), SeqCst));
        old.tasks() & places
    }

    /// Takes the task in one place. Whether it was still there.
    #[inline]
    pub(super) fn take_one(&self, slot: u32) -> bool {
        // task: as above, and so is count. Only this bit is asked for, as in `claim_one`.
        self.word.fetch_and(!(1 << slot), SeqCst) & 1 << slot != 0
    }

    /// Clears a bit that is set in `seen`, if nothing has changed since.
    pub(super) fn clear_if(&self, seen: Word, place: u32) {
        // count: hides and counts the task, for whoever has it. On failure somebody else's step is as good.
        let _ = self.word.compare_exchange(seen.0, seen.0 & !u64::from(place), SeqCst, SeqCst);
    }

    /// Publishes a place whose bit is clear in `seen`, if nothing has changed since.
    pub(super) fn publish_if(&self, seen: Word, place: u32) -> bool {
        let new = seen.0.wrapping_add(counting(1) + u64::from(place));
        // count: as in `publish`.
        let published = self.word.compare_exchange(seen.0, new, SeqCst, SeqCst).is_ok();
        before_counting();
        published
    }

    /// Gives `places` back, so many, which are the caller's and have no task.
    #[inline]
    pub(super) fn release(&self, places: u32, count: u32) {
        let change = counting(count).wrapping_sub(places.into());
        // place: the tasks are moved out.
        self.claims.fetch_add(change, SeqCst);
    }
}

/// The number of the bit of `bits`, if it is one.
#[inline]
fn only(bits: u32) -> Option<u32> {
    bits.is_power_of_two().then(|| bits.trailing_zeros())
}

/// Between publishing and counting.
#[inline]
fn before_counting() {
    // count: the put, then the looks of the mark-up.
    fence_after_rmw();
}

/// A change of a word that counts so many places.
#[inline]
fn counting(places: u32) -> u64 {
    u64::from(places) << SLOTS
}

/// Up to `wanted` of the bits of `of`, the first ones from `start` on.
#[inline]
pub(super) fn choose(of: u32, wanted: u32, start: u32) -> u32 {
    if wanted >= SLOTS {
        return of;
    }
    // 16 bits twice, so that the search goes round. If there are not as many it comes to the same ones again.
    let mut left = (of | of << SLOTS) & u32::MAX << (start % SLOTS);
    let mut chosen = 0;
    for _ in 0..wanted {
        let next = left & left.wrapping_neg();
        chosen |= next;
        left &= !next;
    }
    (chosen | chosen >> SLOTS) & BITS as u32
}

/// The bits of `of` from `start` on, if there are any, or else all of them.
#[inline]
pub(super) fn from_on(of: u32, start: u32) -> u32 {
    let rest = of & u32::MAX << (start % u32::BITS);
    if rest == 0 { of } else { rest }
}

/// A place of a block to begin with, where others do not: those who go on from the places that they had last may meet again and again.
pub(super) fn anywhere(random: &mut Random) -> u32 {
    random.below(SLOTS as usize) as u32
}

/// The number of the lowest bit of `bits`, which is cleared.
#[inline]
pub(super) fn pop(bits: &mut u32) -> Option<u32> {
    let next = (*bits != 0).then(|| bits.trailing_zeros());
    *bits &= bits.wrapping_sub(1);
    next
}

/// The number of each bit of `bits`.
#[inline]
pub(super) fn each(mut bits: u32) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || pop(&mut bits))
}

#[cfg(test)]
mod tests {
    use super::{Block, SLOTS, choose, each};
    use crate::todo_tree::counts::MODULUS;

    #[test]
    fn a_place_is_claimed_once_and_a_task_taken_once() {
        let block = Block::new(SLOTS, 0, 0);
        assert_eq!(block.claim(0b0111), 0b0111);
        assert_eq!(block.claim(0b1110), 0b1000);
        block.publish(0b0011, 2);
        assert_eq!(block.take(0b0001), 0b0001);
        assert_eq!(block.take(0b0011), 0b0010);
        assert_eq!(block.take(0b1111), 0);
        let word = block.look();
        assert_eq!((word.tasks(), word.inserts(), word.removes()), (0, 2, 2));
        block.release(0b0011, 2);
        let claims = block.look_at_claims();
        assert_eq!((claims.free(), claims.released()), (0xfff3, 2));
    }

    #[test]
    fn a_small_block_has_no_more_places_than_it_should() {
        for slots in 1..=SLOTS {
            let block = Block::new(slots, 0, 0);
            assert_eq!(block.claim(0xffff), ((1u64 << slots) - 1) as u32);
            assert_eq!(block.look_at_claims().free(), 0);
        }
    }

    #[test]
    fn counts_go_round() {
        let block = Block::new(SLOTS, MODULUS - 1, 0);
        block.claim(0b111);
        block.publish(0b111, 3);
        let word = block.look();
        assert_eq!((word.tasks(), word.inserts(), word.removes()), (0b111, 2, MODULUS - 1));
        block.take(0b111);
        block.release(0b111, 3);
        assert_eq!(block.look().removes(), 2);
        assert_eq!(block.look_at_claims().released(), 2);
    }

    #[test]
    fn bits_are_chosen_all_round() {
        let of = 0b1010_0000_0000_0111;
        let mut seen = 0;
        for start in 0..=SLOTS {
            let one = choose(of, 1, start);
            assert!(one.count_ones() == 1 && one & !of == 0, "{one:b}");
            seen |= one;
            let three = choose(of, 3, start);
            assert!(three.count_ones() == 3 && three & !of == 0, "{three:b}");
            for all in 5..=SLOTS {
                assert_eq!(choose(of, all, start), of);
                assert_eq!(choose(0, all, start), 0);
            }
        }
        assert_eq!(seen, of);
        assert_eq!(choose(of, 1, 3), 1 << 13);
        assert_eq!(choose(of, 2, 15), 1 << 15 | 1);
        assert_eq!(choose(0, 1, 0), 0);
        assert_eq!(each(0b1010_0001).collect::<Vec<_>>(), [0, 5, 7]);
    }
}
