//! Putting: a place is claimed, filled, published, and counted up to the top.

use super::block::{SLOTS, anywhere, choose, from_on, pop};
use super::metrics::{LONG, Tally};
use super::tree::{Tree, Wanted, from};
use crate::pool::{Full, PutAllError};
use machine::Arc;
use machine::random::Random;

/// Walks in vain after which a put looks at all blocks.
const WALKS: usize = 2;
/// One in so many answers "full" comes from all blocks, not from the counts at the top. Those may be behind for
/// ever, when somebody has stopped in the middle of a get.
const LOOK_EVERY: u32 = 16;

pub(super) struct Putter<T> {
    pub(super) tree: Arc<Tree<T>>,
    random: Random,
    /// The block to begin with.
    last: usize,
    /// Places of it that were nobody's when it was last looked at, and are still to be tried.
    free: u32,
    /// The place of a block to begin with.
    next: u32,
    /// Answers "full" by the counts since all blocks were looked at.
    by_counts: u32,
    tally: Tally,
}

/// Places of the last block that are the putter's. Publishes those that are filled and gives the others back when
/// it goes: at the end, and when the iterator that the tasks come from panics.
struct Run<'a, T> {
    putter: &'a mut Putter<T>,
    free: u32,
    filled: u32,
}

impl<T> Putter<T> {
    pub(super) fn new(tree: Arc<Tree<T>>) -> Self {
        let mut random = tree.random();
        let last = random.below(tree.blocks.len());
        let next = anywhere(&mut random);
        Self { tree, random, last, free: 0, next, by_counts: 0, tally: Tally::default() }
    }

    /// The block that it begins with.
    #[inline]
    pub(super) fn last(&self) -> usize {
        self.last
    }

    /// Begins with this block.
    #[inline]
    pub(super) fn begin_in(&mut self, block: usize) {
        if block != self.last {
            (self.last, self.free) = (block, 0);
        }
    }

    #[inline]
    pub(super) fn try_put(&mut self, task: T) -> Result<(), Full<T>> {
        if self.free == 0 {
            self.look_again();
        }
        let tree: &Tree<T> = &self.tree;
        let head = &tree.blocks[self.last];
        let slot = match pop(&mut self.free) {
            Some(slot) if head.claim_one(slot) => slot,
            tried => return self.put_elsewhere(task, tried.is_some()),
        };
        // SAFETY: claimed by us, and not published before (I1).
        unsafe { tree.write(self.last, slot, task) };
        if !tree.plain_puts {
            self.publish(1 << slot, 1);
            return Ok(());
        }
        head.publish(1 << slot, 1);
        self.tally.single_puts += 1;
        if self.tally.single_puts >= LONG {
            self.tally.report(&tree.counters);
        }
        Ok(())
    }

    /// The same, where the last block has no room, or somebody else was faster there.
    #[inline(never)]
    fn put_elsewhere(&mut self, task: T, has_lost: bool) -> Result<(), Full<T>> {
        if has_lost {
            self.lose();
        }
        let won = self.claim_elsewhere(1);
        if won == 0 {
            return Err(Full(task));
        }
        // SAFETY: as above.
        unsafe { self.tree.write(self.last, won.trailing_zeros(), task) };
        self.publish(won, 1);
        Ok(())
    }

    pub(super) fn put_all<I>(&mut self, tasks: I) -> Result<usize, PutAllError<T, I::IntoIter>>
    where
        I: IntoIterator<Item = T>,
    {
        let mut rest = tasks.into_iter();
        let mut put = 0;
        loop {
            // Before a task is here that a panic could lose.
            let wanted = rest.size_hint().0.clamp(1, SLOTS as usize) as u32;
            let Some(task) = rest.next() else { return Ok(put) };
            let free = self.claim(wanted);
            if free == 0 {
                return Err(PutAllError { put, task, rest });
            }
            let mut run = Run::new(self, free);
            run.fill(task);
            put += 1;
            while run.free != 0 {
                let Some(task) = rest.next() else { return Ok(put) };
                run.fill(task);
                put += 1;
            }
        }
    }

    /// Looks which places of the last block are free, if it has one to begin with.
    #[inline]
    fn look_again(&mut self) {
        if !self.tree.layout.by_weight {
            let free = self.tree.blocks[self.last].look_at_claims().free();
            self.free = from_on(free, self.next);
            self.next = 0;
        }
    }

    /// Somebody else was faster.
    #[cold]
    #[inline(never)]
    fn lose(&mut self) {
        self.tally.put_cas.note(false);
        self.tally.lost += 1;
        self.free = 0;
        self.next = anywhere(&mut self.random);
    }

    /// Claims up to `wanted` places of one block, which is the last one then. None of them: there was no room.
    #[inline]
    fn claim(&mut self, wanted: u32) -> u32 {
        if !self.tree.layout.by_weight {
            let won = self.claim_in(self.last, wanted);
            if won != 0 {
                return won;
            }
        }
        self.claim_elsewhere(wanted)
    }

    /// The same, not in the block that was used last.
    #[inline(never)]
    fn claim_elsewhere(&mut self, wanted: u32) -> u32 {
        let won = self.claim_by_walks(wanted);
        if won != 0 {
            return won;
        }
        let won = self.claim_anywhere(wanted);
        if won == 0 {
            self.tally.full += 1;
            self.tally.report_when_idle(&self.tree.counters);
        }
        won
    }

    /// The same in the blocks beside the last one, or where walks lead.
    fn claim_by_walks(&mut self, wanted: u32) -> u32 {
        if !self.tree.layout.by_weight {
            for block in self.tree.beside(self.last) {
                let won = self.claim_in(block, wanted);
                if won != 0 {
                    return won;
                }
            }
        }
        if self.tree.levels.is_empty() {
            return 0;
        }
        for _ in 0..WALKS {
            let Some(top) = self.tree.room_at_the_top(&mut self.random) else { return 0 };
            let cas = &mut self.tally.put_cas;
            let Some(block) = self.tree.descend(Wanted::Room, top, &mut self.random, cas) else {
                self.tally.stuck += 1;
                continue;
            };
            let won = self.claim_in(block, wanted);
            if won != 0 {
                return won;
            }
        }
        0
    }

    /// The same in any block. None of them: at one instant every place was somebody's, or the counts say so.
    #[cold]
    fn claim_anywhere(&mut self, wanted: u32) -> u32 {
        let layout = &self.tree.layout;
        let by_counts = !layout.levels().is_empty() && !layout.counts_late;
        if by_counts && self.by_counts < LOOK_EVERY - 1 && self.tree.is_full_by_counts() {
            self.by_counts += 1;
            return 0;
        }
        self.by_counts = 0;
        let blocks = self.tree.blocks.len();
        loop {
            let start = self.random.below(blocks);
            let mut released: u64 = 0;
            for block in from(0..blocks, start) {
                loop {
                    let claims = self.tree.blocks[block].look_at_claims();
                    if claims.free() == 0 {
                        released = released.wrapping_add(claims.released());
                        break;
                    }
                    let won = self.claim_in(block, wanted);
                    if won != 0 {
                        return won;
                    }
                }
            }
            // Nothing was given back since: all were full at once, between the two passes (I5).
            let again = self.tree.blocks.iter().map(|block| block.look_at_claims().released());
            if again.fold(0, u64::wrapping_add) == released {
                return 0;
            }
        }
    }

    #[inline(always)]
    fn claim_in(&mut self, block: usize, wanted: u32) -> u32 {
        let head = &self.tree.blocks[block];
        let free = head.look_at_claims().free();
        if free == 0 {
            return 0;
        }
        if block != self.last {
            self.tree.expect_room(block);
        }
        let won = head.claim(choose(free, wanted, self.next));
        if won == 0 {
            self.lose();
            return 0;
        }
        let after = u32::BITS - won.leading_zeros();
        (self.last, self.next) = (block, after);
        self.free = match self.tree.layout.by_weight {
            true => 0,
            false => free & u32::MAX << after,
        };
        won
    }

    /// Publishes `filled` places of the last block, so many, and counts them.
    #[inline(never)]
    fn publish(&mut self, filled: u32, count: u32) {
        let Self { tree, tally, last, .. } = self;
        tree.own_puts(*last, filled);
        tree.blocks[*last].publish(filled, count);
        // The claim, too.
        tally.put_cas.add(2);
        tally.puts += u64::from(count);
        tree.mark_up_puts(*last, &mut tally.put_cas);
        tally.report_when_long(&tree.counters);
    }
}

impl<'a, T> Run<'a, T> {
    /// `free` are claimed places of the putter's last block.
    #[inline]
    fn new(putter: &'a mut Putter<T>, free: u32) -> Self {
        Self { putter, free, filled: 0 }
    }

    /// Fills one of the free places.
    #[inline]
    fn fill(&mut self, task: T) {
        let slot = self.free.trailing_zeros();
        // SAFETY: claimed by us, and not published before `self` goes (I1).
        unsafe { self.putter.tree.write(self.putter.last, slot, task) };
        self.free &= self.free - 1;
        self.filled |= 1 << slot;
    }
}

impl<T> Drop for Run<'_, T> {
    fn drop(&mut self) {
        if self.free != 0 {
            let head = &self.putter.tree.blocks[self.putter.last];
            head.release(self.free, self.free.count_ones());
            self.putter.tally.put_cas.add(1);
        }
        self.putter.publish(self.filled, self.filled.count_ones());
    }
}

impl<T> Drop for Putter<T> {
    fn drop(&mut self) {
        self.tally.report(&self.tree.counters);
    }
}
