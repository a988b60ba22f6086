//! Where the leaves of a tree and their tasks lie.
//!
//! A processor that reads some lines fetches those behind them, too. A consumer that reads one leaf would so take the next one from
//! the producer that fills it. So leaves whose numbers are neighbours lie apart, and each begins a cache line, where tasks are as
//! large that one begins there.

use super::{LeafNumber, Tree};
use crate::pool::{first_on_a_line, lines_of, spare_cells};
use machine::ahead;
use machine::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::ops::Range;

/// The tasks of all leaves.
pub(super) struct Cells<T> {
    cells: Box<[UnsafeCell<MaybeUninit<T>>]>,
    /// The cell of the first place.
    first: usize,
    /// So many cells belong to a leaf.
    of_a_leaf: usize,
}

/// A leaf and where it lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Spot {
    pub(in super::super) leaf: LeafNumber,
    /// Its words, among those of all leaves.
    pub(super) head: usize,
    /// The cell of its first place.
    cell: usize,
}

impl<T> Cells<T> {
    /// Of so many leaves, with so many places each.
    pub(super) fn new(leaves: u32, places: u32) -> Self {
        let of_a_leaf = places as usize;
        let count = leaves as usize * of_a_leaf + spare_cells::<T>();
        let cells: Box<[_]> = (0..count).map(|_| UnsafeCell::new(MaybeUninit::uninit())).collect();
        Self { first: first_on_a_line(&cells), cells, of_a_leaf }
    }

    /// The lines that the tasks of a leaf lie in.
    #[inline]
    fn lines(&self, spot: Spot) -> impl Iterator<Item = *const u8> {
        lines_of(&self.cells[spot.cell..][..self.of_a_leaf])
    }
}

impl<T> Tree<T> {
    /// Where a leaf lies.
    #[inline]
    pub(in super::super) fn spot(&self, leaf: LeafNumber) -> Spot {
        let head = self.frame.spot(leaf.0) as usize;
        Spot { leaf, head, cell: self.tasks.first + head * self.tasks.of_a_leaf }
    }

    /// The cells of the places `run` of a leaf.
    #[inline]
    pub(super) fn cells(&self, spot: Spot, run: Range<u32>) -> &[UnsafeCell<MaybeUninit<T>>] {
        &self.tasks.cells[spot.cell + run.start as usize..][..run.len()]
    }

    /// Writes `task` to a place.
    ///
    /// # Safety
    /// The caller has claimed the place, and has not published it (I2).
    #[inline]
    pub(in super::super) unsafe fn write(&self, spot: Spot, slot: u32, task: T) {
        let cell = &self.tasks.cells[spot.cell + slot as usize];
        // SAFETY: the caller's: nobody else looks at it.
        cell.with_mut(|cell| unsafe { (*cell).write(task) });
    }

    /// Writes a task to each place of `run`.
    ///
    /// # Safety
    /// The caller has claimed them, and has published none (I2).
    #[inline]
    pub(in super::super) unsafe fn write_run(
        &self,
        spot: Spot,
        run: Range<u32>,
        tasks: impl Iterator<Item = T>,
    ) {
        for (cell, task) in self.cells(spot, run).iter().zip(tasks) {
            // SAFETY: the caller's: nobody else looks at it.
            cell.with_mut(|cell| unsafe { (*cell).write(task) });
        }
    }

    /// Moves the task of a place out.
    ///
    /// # Safety
    /// It is the caller's (I3, I4).
    #[inline]
    pub(in super::super) unsafe fn read(&self, spot: Spot, slot: u32) -> T {
        let cell = &self.tasks.cells[spot.cell + slot as usize];
        // SAFETY: the caller's: written, and nobody else reads it.
        cell.with_mut(|cell| unsafe { (*cell).assume_init_read() })
    }

    /// Moves the tasks of the places `run` out, one after the other, to the end of `into`, which has room for them.
    ///
    /// # Safety
    /// They are the caller's (I3, I4).
    #[inline]
    pub(in super::super) unsafe fn read_run(&self, spot: Spot, run: Range<u32>, into: &mut Vec<T>) {
        into.extend(self.cells(spot, run).iter().map(|cell| {
            // SAFETY: the caller's: written, and nobody else reads it.
            cell.with_mut(|cell| unsafe { (*cell).assume_init_read() })
        }));
    }

    /// Asks for the tasks of a leaf, which is about to be looked at: they come while its words do.
    #[inline]
    pub(in super::super) fn expect_tasks(&self, leaf: LeafNumber) {
        self.tasks.lines(self.spot(leaf)).for_each(ahead::to_read);
    }

    /// Asks for the words of a leaf that is looked at later.
    #[inline]
    pub(in super::super) fn expect(&self, leaf: LeafNumber) {
        self.leaves[self.spot(leaf).head].expect();
    }

    /// Asks for a leaf that is about to be filled, if there is one of that number.
    pub(in super::super) fn expect_room(&self, leaf: LeafNumber) {
        if leaf.0 < self.frame.leaves() {
            let spot = self.spot(leaf);
            self.leaves[spot.head].expect_room();
            self.tasks.lines(spot).for_each(ahead::to_write);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::frame::{FAN, Frame};
    use super::super::super::leaf::SLOTS;
    use super::{LeafNumber, Tree, ahead};

    fn tree<T>(height: u32) -> Box<Tree<T>> {
        Tree::new(Frame::new(height, SLOTS, FAN).unwrap(), false)
    }

    #[test]
    fn leaves_begin_cache_lines() {
        let tree = tree::<u64>(8);
        for leaf in 0..tree.frame().leaves() {
            let cells = tree.cells(tree.spot(LeafNumber(leaf)), 0..tree.frame().slots_of(leaf));
            assert_eq!(cells.as_ptr() as usize % ahead::LINE, 0);
        }
    }

    #[test]
    fn a_leaf_is_asked_for_whole_and_nothing_beside_it() {
        let lines = |tree: &Tree<u64>| tree.tasks.lines(tree.spot(LeafNumber(0))).count();
        assert_eq!([0, 3, 4, 8].map(|height| lines(&tree(height))), [1, 2, 4, 4]);
        let (large, none) = (tree::<[u64; 16]>(8), tree::<()>(8));
        assert_eq!(large.tasks.lines(large.spot(LeafNumber(3))).count(), 8);
        assert_eq!(none.tasks.lines(none.spot(LeafNumber(3))).count(), 0);
        none.expect_room(LeafNumber(16));
    }
}
