//! Taking: a walk to a task, the step that takes it, and the counts up to the top, at once or when its node is left.

use super::block::{SLOTS, anywhere, choose, each, from_on, pop};
use super::cloned::ClonedLease;
use super::lease::Lease;
use super::metrics::Tally;
use super::owners::MAX_HOLDERS;
use super::tree::{Tree, Wanted};
use crate::pool::{Patience, TooMany};
use machine::Arc;
use machine::random::Random;

/// One in so many gets goes by turns: the first task from a place on that moves round.
const TURN: u32 = 64;
/// Blocks that such a get looks at.
const REACH: usize = 64;
/// Tasks of a block that whoever fills it has nearly done with.
const RIPE: u32 = 14;

pub(super) struct Getter<T> {
    pub(super) tree: Arc<Tree<T>>,
    random: Random,
    /// The block to begin with.
    last: usize,
    /// Places of it that had a task when it was last looked at, and are still to be tried.
    seen: u32,
    /// The place of a block to begin with.
    next: u32,
    /// The node below which takes are not yet counted, if there is one (I6).
    uncounted: Option<usize>,
    /// Gets before the next one that goes by turns.
    before_turn: u32,
    /// The place from which the next one that does looks on.
    turn: usize,
    /// Under which it holds tasks.
    pub(super) number: u32,
    tally: Tally,
    patience: Patience,
}

impl<T> Getter<T> {
    pub(super) fn new(tree: Arc<Tree<T>>) -> Result<Self, TooMany> {
        let number = tree.join().ok_or_else(|| TooMany::new(MAX_HOLDERS as usize))?;
        let mut random = tree.random();
        let last = random.below(tree.blocks.len());
        let turn = random.below(tree.layout.capacity());
        let next = anywhere(&mut random);
        Ok(Self {
            tree,
            random,
            last,
            seen: 0,
            next,
            uncounted: None,
            before_turn: TURN - 1,
            turn,
            number,
            tally: Tally::default(),
            patience: Patience::new(),
        })
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
            (self.last, self.seen) = (block, 0);
        }
    }

    #[inline]
    pub(super) fn get(&mut self) -> Option<T> {
        if self.before_turn == 0 {
            return self.get_elsewhere(false);
        }
        if self.seen == 0 {
            self.look_again();
        }
        let tree: &Tree<T> = &self.tree;
        let head = &tree.blocks[self.last];
        let slot = match pop(&mut self.seen) {
            Some(slot) if head.take_one(slot) => slot,
            tried => return self.get_elsewhere(tried.is_some()),
        };
        self.before_turn -= 1;
        self.tally.single_gets += 1;
        self.patience.came(1);
        // SAFETY: taken by us, once (I2).
        let task = unsafe { tree.read(self.last, slot) };
        head.release(1 << slot, 1);
        Some(task)
    }

    /// Looks which places of the last block have tasks, where takes are not counted one by one.
    #[inline]
    fn look_again(&mut self) {
        if self.tree.plain_takes {
            let tasks = self.tree.blocks[self.last].look().tasks();
            self.seen = from_on(tasks, self.next);
            self.next = 0;
            if self.tree.layout.counts_late && tasks != 0 {
                self.count_later();
            }
        }
    }

    /// Somebody else was faster.
    #[cold]
    #[inline(never)]
    fn lose(&mut self) {
        self.tally.get_cas.note(false);
        self.tally.lost += 1;
        self.seen = 0;
        self.next = anywhere(&mut self.random);
    }

    /// The same by turns, or where the last block has nothing, or somebody else was faster there.
    #[inline(never)]
    fn get_elsewhere(&mut self, has_lost: bool) -> Option<T> {
        if has_lost {
            self.lose();
        }
        let won = match self.before_turn > 0 && self.tree.plain_takes {
            true => {
                self.before_turn -= 1;
                self.win_by_walks(1, |_| {})
            }
            false => self.win(1, |_| {}),
        };
        if won == 0 {
            return None;
        }
        // SAFETY: taken by us, once (I2).
        let task = unsafe { self.tree.finish_without_place(self.last, won.trailing_zeros()) };
        self.give_back(won, 1);
        Some(task)
    }

    pub(super) fn take_leased(&mut self) -> Option<Lease<T>> {
        let won = self.win(1, |_| {});
        if won == 0 {
            return None;
        }
        self.count(1);
        Some(Lease::new(self.tree.clone(), self.last, won.trailing_zeros()))
    }

    pub(super) fn take_cloned(&mut self) -> Option<ClonedLease<T>>
    where
        T: Clone,
    {
        assert!(self.tree.owners.are_there(), "copies are of pools that were built with leases");
        // If the clone panics, it goes back as every lease does.
        let lease = self.take_leased()?;
        let copy = T::clone(&lease);
        let place = lease.into_place();
        let owner = self.tree.copied(place);
        Some(ClonedLease::new(self.tree.clone(), place, owner, copy))
    }

    pub(super) fn get_many(&mut self, max: usize, into: &mut Vec<T>) -> usize {
        let mut left = max;
        while left > 0 {
            let wanted = left.min(SLOTS as usize) as u32;
            let won = self.win(wanted, |count| into.reserve(count));
            if won == 0 {
                break;
            }
            for slot in each(won) {
                // SAFETY: taken by us, each once (I2).
                into.push(unsafe { self.tree.finish_without_place(self.last, slot) });
            }
            let count = won.count_ones();
            self.give_back(won, count);
            left -= count as usize;
        }
        max - left
    }

    /// Takes up to `wanted` tasks of one block, which is the last one then, for the caller to move out. Before it
    /// does, `reserve` hears how many these are at most, and may panic. None of them: at one instant there was none.
    #[inline]
    fn win(&mut self, wanted: u32, mut reserve: impl FnMut(usize)) -> u32 {
        if !self.tree.layout.by_weight {
            if self.before_turn > 0 {
                self.before_turn -= 1;
            } else {
                let won = self.win_by_turn(wanted, &mut reserve);
                if won != 0 {
                    return won;
                }
            }
            let won = self.win_in(self.last, u32::MAX, wanted, &mut reserve);
            if won != 0 {
                return won;
            }
        }
        self.win_by_walks(wanted, reserve)
    }

    /// The same in the blocks beside the last one, or where walks lead.
    #[inline(never)]
    fn win_by_walks(&mut self, wanted: u32, mut reserve: impl FnMut(usize)) -> u32 {
        if !self.tree.layout.by_weight {
            // Who wants many takes all of a block at once, and has nobody to wait for there.
            if wanted == 1 && self.patience.flows() {
                let won = self.win_after_a_wait(&mut reserve);
                if won != 0 {
                    return won;
                }
            }
            for block in self.tree.beside(self.last) {
                let won = self.win_in(block, u32::MAX, wanted, &mut reserve);
                if won != 0 {
                    return won;
                }
            }
        }
        self.count_late();
        loop {
            let top = match self.tree.task_at_the_top(&mut self.random) {
                Ok(top) => top,
                Err(removed) if self.tree.is_empty(removed) => {
                    self.tally.empty += 1;
                    self.tally.report_when_idle(&self.tree.counters);
                    return 0;
                }
                Err(_) => continue,
            };
            let cas = &mut self.tally.get_cas;
            let Some(block) = self.tree.descend(Wanted::Task, top, &mut self.random, cas) else {
                self.tally.stuck += 1;
                continue;
            };
            let won = self.win_in(block, u32::MAX, wanted, &mut reserve);
            if won != 0 {
                return won;
            }
            // Whoever was faster may have stopped before it counted that.
            self.tree.mark_up(block, &mut self.tally.get_cas);
        }
    }

    /// Takes one task of the last block, where a flow of tasks has come to its end, and the next block is not yet filled: those who
    /// put are not disturbed for a moment.
    fn win_after_a_wait(&mut self, reserve: &mut impl FnMut(usize)) -> u32 {
        // Below a node whoever puts looks at all blocks, so that a look at the next one takes it from them, too.
        let beside = self.tree.beside(self.last).next().filter(|_| self.tree.levels.is_empty());
        let next = beside.unwrap_or(self.last);
        let tasks_in = |block: usize| self.tree.blocks[block].look().tasks().count_ones();
        if tasks_in(next) >= RIPE {
            return 0;
        }
        self.patience.ends_a_flow();
        self.patience.wait();
        self.patience.judge(tasks_in(next).max(tasks_in(self.last)));
        self.win_in(self.last, u32::MAX, 1, reserve)
    }

    /// The same from the place that moves round. So no task is passed over for ever: that place goes past it only
    /// when it is taken.
    #[inline(never)]
    fn win_by_turn(&mut self, wanted: u32, reserve: &mut impl FnMut(usize)) -> u32 {
        self.before_turn = TURN - 1;
        let blocks = self.tree.blocks.len();
        let (mut block, slot) = self.tree.layout.block_of(self.turn);
        let mut places = u32::MAX << slot;
        for _ in 0..REACH.min(blocks + 1) {
            let tasks = self.tree.blocks[block].look().tasks() & places;
            if tasks != 0 {
                let first = tasks.trailing_zeros();
                let next = self.tree.layout.place(block, first) + 1;
                let won = self.win_in(block, 1 << first, wanted, reserve);
                self.turn = if next < self.tree.layout.capacity() { next } else { 0 };
                return won;
            }
            block = if block + 1 < blocks { block + 1 } else { 0 };
            places = u32::MAX;
        }
        self.turn = self.tree.layout.place(block, 0);
        0
    }

    /// Takes up to `wanted` tasks of a block that are in some `places` of it.
    #[inline(always)]
    fn win_in(
        &mut self,
        block: usize,
        places: u32,
        wanted: u32,
        reserve: &mut impl FnMut(usize),
    ) -> u32 {
        let tasks = self.tree.blocks[block].look().tasks() & places;
        if tasks == 0 {
            return 0;
        }
        if block != self.last {
            self.tree.expect_tasks(block);
        }
        let chosen = choose(tasks, wanted, self.next);
        reserve(chosen.count_ones() as usize);
        let won = match self.tree.owners.are_there() {
            true => self.tree.take_owned(block, chosen, self.number),
            false => self.tree.blocks[block].take(chosen),
        };
        if won == 0 {
            self.lose();
            return 0;
        }
        let after = u32::BITS - won.leading_zeros();
        (self.last, self.next) = (block, after);
        self.seen = match self.tree.plain_takes {
            true => tasks & u32::MAX << after,
            false => 0,
        };
        self.patience.came(won.count_ones() as usize);
        won
    }

    /// Gives places of the last block back, so many, whose tasks were taken and moved out, and counts that.
    #[inline]
    fn give_back(&mut self, won: u32, count: u32) {
        self.tree.blocks[self.last].release(won, count);
        self.tally.get_cas.add(1);
        self.count(count);
    }

    /// Puts everything back that `dead` has; how many tasks.
    ///
    /// # Safety
    /// Whoever holds tasks as `dead` has stopped for ever.
    pub(super) unsafe fn recover(&mut self, dead: u32) -> usize {
        // SAFETY: the caller's.
        unsafe { self.tree.recover(dead, self.number) }
    }

    /// Puts everything back that `slow` has copies of; how many tasks.
    pub(super) fn reclaim(&mut self, slow: u32) -> usize {
        self.tree.reclaim(slow, self.number)
    }

    /// Counts what is not yet counted.
    #[inline(never)]
    fn count_late(&mut self) {
        if let Some(node) = self.uncounted.take() {
            self.tree.mark_up_from(1, node, &mut self.tally.get_cas);
        }
    }

    /// Takes from the last block are to be counted, when its node is left.
    #[inline]
    fn count_later(&mut self) {
        let node = self.tree.blocks[self.last].above;
        if self.uncounted != Some(node) {
            self.count_late();
            self.uncounted = Some(node);
        }
    }

    /// Counts so many tasks of the last block that were taken.
    #[inline]
    fn count(&mut self, count: u32) {
        self.tally.get_cas.add(1);
        match self.tree.layout.counts_late {
            true => self.count_later(),
            false => self.tree.mark_up(self.last, &mut self.tally.get_cas),
        }
        self.tally.gets += u64::from(count);
        self.tally.report_when_long(&self.tree.counters);
    }
}

impl<T> Drop for Getter<T> {
    fn drop(&mut self) {
        self.count_late();
        self.tally.report(&self.tree.counters);
    }
}

#[cfg(test)]
mod tests {
    use crate::todo_tree::TodoTree;
    use machine::random::Random;

    /// A tree that counts late, and whether it looks as if it had tasks.
    fn tree() -> (TodoTree<u32>, impl Fn() -> bool) {
        let tree = TodoTree::builder().capacity(8).widths(2, 2, 1).build().unwrap();
        let same = tree.tree.clone();
        (tree, move || same.task_at_the_top(&mut Random::seeded(0)).is_ok())
    }

    #[test]
    fn what_was_taken_is_counted_when_its_node_is_left() {
        let (tree, seems_to_have_some) = tree();
        let mut worker = tree.worker();
        worker.put_all(0..2).unwrap();
        assert!(worker.get().is_some() && worker.get().is_some());
        assert!(seems_to_have_some(), "not yet");
        assert_eq!(worker.get(), None);
        assert!(!seems_to_have_some());
        worker.put_all(0..2).unwrap();
        let mut other = tree.producer();
        other.put_all(2..8).unwrap();
        for _ in 0..7 {
            assert!(worker.get().is_some() && seems_to_have_some());
        }
        assert!(worker.take_leased().is_some_and(|lease| *lease < 8));
        assert_eq!(worker.drain().count(), 1, "the lease was dropped");
        assert!(!seems_to_have_some());
    }

    #[test]
    fn what_was_taken_is_counted_when_the_consumer_goes() {
        let (tree, seems_to_have_some) = tree();
        tree.producer().try_put(1).unwrap();
        let mut consumer = tree.consumer();
        assert_eq!(consumer.get(), Some(1));
        assert!(seems_to_have_some(), "not yet");
        drop(consumer);
        assert!(!seems_to_have_some());
    }

    #[test]
    fn who_goes_on_to_another_node_counts_the_one_it_leaves() {
        let (tree, _) = tree();
        let mut consumer = tree.consumer();
        tree.producer().put_all(0..8).unwrap();
        for _ in 0..8 {
            assert!(consumer.get().is_some());
        }
        drop(consumer);
        assert_eq!(tree.metrics().stuck, 0, "no walk went where nothing was left");
    }
}
