//! The tree itself: blocks, the counts above them, and the places of the tasks.

use super::block::{Block, each};
use super::counting::total;
use super::counts::{MODULUS, Node, ahead};
use super::layout::{Layout, MAX_FAN};
use super::metrics::{Counters, Exchanges};
use super::owners::{MAX_HOLDERS, Owners};
use super::places::Places;
use crate::panics;
use machine::CachePadded;
use machine::atomic::AtomicU64;
use machine::atomic::Ordering::Relaxed;
use machine::random::Random;
use machine::trace::{self, Role};
use std::fmt;
use std::ops::Range;

pub(super) struct Tree<T> {
    pub(super) layout: Layout,
    pub(super) blocks: Box<[CachePadded<Block>]>,
    /// The levels above the blocks, from below.
    pub(super) levels: Box<[Box<[CachePadded<Node>]>]>,
    pub(super) places: Places<T>,
    pub(super) owners: Owners,
    /// Whether a put of one task claims, fills and publishes, and that is all.
    pub(super) plain_puts: bool,
    /// Whether a get of one task takes it, moves it out and gives the place back, and that is all, as long as it stays below one node.
    pub(super) plain_takes: bool,
    seed: u64,
    /// How many ends there have been.
    ends: AtomicU64,
    /// How many of them can hold tasks.
    holders: AtomicU64,
    pub(super) counters: CachePadded<Counters>,
}

// SAFETY: tasks are sent from thread to thread and never shared (I1, I2). All else that is shared are
// atomics.
unsafe impl<T: Send> Send for Tree<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Tree<T> {}

/// What a walk looks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    Task,
    Room,
}

/// There is not as much memory as that.
#[derive(Debug)]
pub(super) struct NoMemory;

pub(super) fn boxed<E>(size: usize, element: impl FnMut(usize) -> E) -> Result<Box<[E]>, NoMemory> {
    let mut elements = Vec::new();
    elements.try_reserve_exact(size).map_err(|_| NoMemory)?;
    elements.extend((0..size).map(element));
    Ok(elements.into_boxed_slice())
}

impl<T> Tree<T> {
    /// An empty tree, with the counts of each block as if so many tasks had been put and taken.
    pub(super) fn new(
        layout: Layout,
        leases: bool,
        seed: u64,
        from: u64,
    ) -> Result<Self, NoMemory> {
        let owned = if leases { layout.capacity() } else { 0 };
        let owners = Owners(boxed(owned, |_| AtomicU64::new(0))?);
        let places = Places::new(layout.capacity())?;
        let blocks = boxed(layout.blocks(), |block| {
            let slots = layout.places_of(0, block) as u32;
            CachePadded::new(Block::new(slots, from, layout.above(block)))
        })?;
        let has_levels = !layout.levels().is_empty();
        let mut tree = Self {
            plain_puts: !leases && !has_levels,
            plain_takes: !leases && !layout.by_weight && (layout.counts_late || !has_levels),
            layout,
            blocks,
            levels: Box::new([]),
            places,
            owners,
            seed,
            ends: AtomicU64::new(0),
            holders: AtomicU64::new(0),
            counters: CachePadded::new(Counters::default()),
        };
        let mut levels: Vec<Box<[CachePadded<Node>]>> = Vec::new();
        for (level, &size) in (1..).zip(tree.layout.levels()) {
            let sum = |node| {
                let below = tree.layout.children(level, node);
                below.map(|child| match levels.last() {
                    Some(level) => level[child].inserts(),
                    None => tree.blocks[child].look().inserts(),
                })
            };
            let nodes = boxed(size, |node| {
                CachePadded::new(Node::new(total(sum(node)), tree.layout.array_values))
            })?;
            levels.push(nodes);
        }
        tree.levels = levels.into_boxed_slice();
        Ok(tree)
    }

    /// Says what lies where, now that it stays there: the levels from the top down, and each block with its
    /// tasks.
    pub(super) fn describe(&self) {
        trace::structure(self, "to-do tree");
        for (below, nodes) in self.levels.iter().enumerate().rev() {
            for (number, node) in nodes.iter().enumerate() {
                node.describe(self, self.layout.children(below + 1, number).len());
            }
        }
        for (number, block) in self.blocks.iter().enumerate() {
            block.describe(self);
            let first = self.layout.place(number, 0);
            let tasks = self.places.run(first, self.layout.places_of(0, number));
            trace::row(self, tasks, "task", Role::Task);
        }
    }

    /// Random numbers for one more end.
    pub(super) fn random(&self) -> Random {
        // bare: to tell ends apart.
        let number = self.ends.fetch_add(1, Relaxed);
        Random::seeded(self.seed ^ Random::seeded(number).next_u64())
    }

    /// The number of one more end that can hold tasks, from 1 on; 0 where nobody is named. `None`: there have been as
    /// many as there is room for in an owner word.
    pub(super) fn join(&self) -> Option<u32> {
        if !self.owners.are_there() {
            return Some(0);
        }
        let more = |had| (had < MAX_HOLDERS).then_some(had + 1);
        // bare: each number is given once, and carries nothing.
        let had = self.holders.fetch_update(Relaxed, Relaxed, more).ok()?;
        Some(had as u32 + 1)
    }

    fn inserts(&self, level: usize, node: usize) -> u64 {
        match level {
            0 => self.blocks[node].look().inserts(),
            _ => self.levels[level - 1][node].inserts(),
        }
    }

    fn removes(&self, level: usize, node: usize) -> u64 {
        match level {
            0 => self.blocks[node].look().removes(),
            _ => self.levels[level - 1][node].removes(),
        }
    }

    /// How many tasks were taken, and how many a block has, or a node seems to have below it: never too few of
    /// those whose puts have ended.
    fn removes_and_surplus(&self, level: usize, node: usize) -> (u64, u64) {
        if level == 0 {
            let word = self.blocks[node].look();
            if word.tasks() == 0 {
                return (word.inserts(), 0);
            }
            return (word.removes(), word.tasks().count_ones().into());
        }
        let (removes, inserts) = self.levels[level - 1][node].removes_and_inserts();
        (removes, ahead(inserts, removes))
    }

    fn surplus(&self, level: usize, node: usize) -> u64 {
        self.removes_and_surplus(level, node).1
    }

    /// How many places are free in a block, or seem to be below a node.
    fn room(&self, level: usize, node: usize) -> u64 {
        if level == 0 {
            return self.blocks[node].look_at_claims().free().count_ones().into();
        }
        let places = self.layout.places_of(level, node) as u64;
        places.saturating_sub(self.surplus(level, node))
    }

    fn weight(&self, wanted: Wanted, level: usize, node: usize) -> u64 {
        match wanted {
            Wanted::Task => self.surplus(level, node),
            Wanted::Room => self.room(level, node),
        }
    }

    /// Whether it has any of what is wanted.
    #[inline]
    fn has(&self, wanted: Wanted, level: usize, node: usize) -> bool {
        match (wanted, level) {
            (Wanted::Task, 0) => self.blocks[node].look().tasks() != 0,
            (Wanted::Room, 0) => self.blocks[node].look_at_claims().free() != 0,
            _ => self.weight(wanted, level, node) > 0,
        }
    }

    /// A child that has what is wanted: a random one, each as likely as it has much, or the first from a
    /// random one on.
    fn pick(
        &self,
        wanted: Wanted,
        level: usize,
        children: Range<usize>,
        random: &mut Random,
    ) -> Option<usize> {
        if !self.layout.by_weight {
            let start = random.below(children.len());
            return from(children, start).find(|&child| self.has(wanted, level, child));
        }
        let mut weights = [0; MAX_FAN];
        let weights = &mut weights[..children.len()];
        for (weight, child) in weights.iter_mut().zip(children.clone()) {
            *weight = self.weight(wanted, level, child);
        }
        let sum: u64 = weights.iter().sum();
        if sum == 0 {
            return None;
        }
        let mut mark = random.below(sum as usize) as u64;
        let found = weights.iter().position(|&weight| {
            let here = mark < weight;
            mark = mark.saturating_sub(weight);
            here
        });
        Some(children.start + found.expect("the mark is below the sum"))
    }

    /// The other blocks below the same node, or of as many where there are no nodes, from the next one on. Who goes on to them stays
    /// with counts that it has changed itself, and does not meet those who are elsewhere.
    pub(super) fn beside(&self, block: usize) -> impl Iterator<Item = usize> + use<T> {
        let siblings = self.layout.children(1, self.blocks[block].above);
        (block + 1..siblings.end).chain(siblings.start..block)
    }

    /// The highest level's first node from a random one on with room below it.
    pub(super) fn room_at_the_top(&self, random: &mut Random) -> Option<usize> {
        let (level, nodes) = self.layout.top();
        let start = random.below(nodes);
        from(0..nodes, start).find(|&node| self.has(Wanted::Room, level, node))
    }

    /// The highest level's first node from a random one on with a task below it. If none has: how many tasks were
    /// ever taken, for [`is_empty`](Self::is_empty).
    pub(super) fn task_at_the_top(&self, random: &mut Random) -> Result<usize, u64> {
        let (level, nodes) = self.layout.top();
        let mut removed = 0;
        for node in from(0..nodes, random.below(nodes)) {
            let (removes, surplus) = self.removes_and_surplus(level, node);
            if surplus > 0 {
                return Ok(node);
            }
            removed = (removed + removes) % MODULUS;
        }
        Err(removed)
    }

    /// Whether there was no task at one instant since [`task_at_the_top`](Self::task_at_the_top) found that so
    /// many had been taken: no more had been put when it was done (I4).
    pub(super) fn is_empty(&self, removed: u64) -> bool {
        let (level, nodes) = self.layout.top();
        total((0..nodes).map(|node| self.inserts(level, node))) == removed
    }

    /// The block that a walk down from a node of the highest level comes to. None: it got stuck, and what it
    /// had followed is counted again.
    pub(super) fn descend(
        &self,
        wanted: Wanted,
        mut node: usize,
        random: &mut Random,
        cas: &mut Exchanges,
    ) -> Option<usize> {
        let (top, _) = self.layout.top();
        for level in (1..=top).rev() {
            let children = self.layout.children(level, node);
            let Some(child) = self.pick(wanted, level - 1, children, random) else {
                self.mark_up_from(level, node, cas);
                return None;
            };
            node = child;
        }
        Some(node)
    }

    /// Whether, by the counts of the highest level, all places were taken up at one instant of this call by
    /// tasks, and by operations under way.
    pub(super) fn is_full_by_counts(&self) -> bool {
        let (level, nodes) = self.layout.top();
        let inserts = total((0..nodes).map(|node| self.inserts(level, node)));
        // The inserts of all, then the removes of any: what is counted as inside was.
        let removes = total((0..nodes).map(|node| self.removes(level, node)));
        let inside = ahead(inserts, removes);
        // More than half: more was taken meanwhile than there was.
        inside >= self.layout.capacity() as u64 && inside < MODULUS / 2
    }

    /// How many tasks it held a moment ago.
    pub(super) fn len_hint(&self) -> usize {
        let (level, nodes) = match self.layout.counts_late {
            true => (0, self.blocks.len()),
            false => self.layout.top(),
        };
        let len: u64 = (0..nodes).map(|node| self.surplus(level, node)).sum();
        (len as usize).min(self.layout.capacity())
    }
}

/// All of `range`, beginning so many after its start.
pub(super) fn from(range: Range<usize>, start: usize) -> impl Iterator<Item = usize> {
    let middle = range.start + start;
    (middle..range.end).chain(range.start..middle)
}

impl<T> fmt::Debug for Tree<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} tasks", self.len_hint(), self.layout.capacity())
    }
}

impl<T> Drop for Tree<T> {
    fn drop(&mut self) {
        trace::gone(self);
        let mut first_panic = None;
        for block in 0..self.blocks.len() {
            for slot in each(self.blocks[block].look().tasks()) {
                // SAFETY: published, not taken, and nobody else is left; each once.
                let task = unsafe { self.read(block, slot) };
                panics::catch(&mut first_panic, || drop(task));
            }
        }
        panics::go_on(first_panic);
    }
}

#[cfg(test)]
mod tests {
    use crate::todo_tree::{Shape, TodoTree};
    use machine::thread;

    /// The one task comes and goes: at no time the other place was taken up.
    #[test]
    fn a_tree_that_was_never_full_is_not_full_by_counts() {
        let tree = TodoTree::builder().capacity(2).shape(Shape::Binary).build().unwrap();
        let (looked_at, mut worker) = (tree.tree.clone(), tree.worker());
        let looks = thread::spawn(move || (0..1_000_000).all(|_| !looked_at.is_full_by_counts()));
        for task in 0..100_000 {
            worker.try_put(task).unwrap();
            assert_eq!(worker.get(), Some(task));
        }
        assert!(looks.join().unwrap());
    }
}
