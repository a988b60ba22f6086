//! Where the tasks of a tree lie.

use super::tree::{NoMemory, Tree, boxed};
use crate::pool::{first_on_a_line, lines_of, spare_cells};
use machine::ahead;
use machine::cell::UnsafeCell;
use machine::trace;
use std::mem::MaybeUninit;

type Cell<T> = UnsafeCell<MaybeUninit<T>>;

/// A cell for each place. The first one begins a cache line, and so do the blocks if their tasks fill lines.
pub(super) struct Places<T> {
    cells: Box<[Cell<T>]>,
    first: usize,
}

impl<T> Places<T> {
    /// So many empty ones.
    pub(super) fn new(count: usize) -> Result<Self, NoMemory> {
        let count = count.checked_add(spare_cells::<T>()).ok_or(NoMemory)?;
        let cells = boxed(count, |_| UnsafeCell::new(MaybeUninit::uninit()))?;
        Ok(Self { first: first_on_a_line(&cells), cells })
    }

    /// So many behind each other.
    #[inline]
    pub(super) fn run(&self, place: usize, count: usize) -> &[Cell<T>] {
        &self.cells[self.first + place..][..count]
    }
}

impl<T> Tree<T> {
    #[inline]
    fn place(&self, block: usize, slot: u32) -> &Cell<T> {
        &self.places.cells[self.places.first + self.layout.place(block, slot)]
    }

    /// The lines that the tasks of a block lie in.
    #[inline]
    fn lines(&self, block: usize) -> impl Iterator<Item = *const u8> {
        let places = self.layout.places_of(0, block);
        lines_of(self.places.run(self.layout.place(block, 0), places))
    }

    /// Asks for the lines of a block that has room, and for the next one.
    #[inline(never)]
    pub(super) fn expect_room(&self, block: usize) {
        self.expect(block, ahead::to_write);
    }

    /// Asks for the lines of a block that has tasks, and for the next one.
    #[inline(never)]
    pub(super) fn expect_tasks(&self, block: usize) {
        self.expect(block, ahead::to_read);
    }

    #[inline(always)]
    fn expect(&self, block: usize, ask: impl Fn(*const u8)) {
        let next = self.beside(block).next();
        if let Some(next) = next {
            self.blocks[next].expect();
        }
        for block in [Some(block), next].into_iter().flatten() {
            self.lines(block).for_each(&ask);
        }
    }

    /// Fills a place.
    ///
    /// # Safety
    /// The place is the caller's, and not published.
    #[inline]
    pub(super) unsafe fn write(&self, block: usize, slot: u32, task: T) {
        let place = self.place(block, slot);
        // SAFETY: the caller's: nobody else looks at the place (I1).
        place.with_mut(|place| unsafe { (*place).write(task) });
    }

    /// Moves the task out of a place.
    ///
    /// # Safety
    /// The caller has taken the task of this place, and does this once.
    #[inline]
    pub(super) unsafe fn read(&self, block: usize, slot: u32) -> T {
        let place = self.place(block, slot);
        // SAFETY: the caller's: it was filled, and nobody else looks at the place (I1, I2).
        let task = place.with(|place| unsafe { (*place).assume_init_read() });
        trace::gone(place);
        task
    }

    /// The task in a place.
    ///
    /// # Safety
    /// The caller has taken the task of this place, and does not move it out while the reference is used.
    #[inline]
    pub(super) unsafe fn task(&self, block: usize, slot: u32) -> &T {
        let place = self.place(block, slot).with(|place| place);
        // SAFETY: the caller's: it was filled, and nobody else writes to the place (I1, I2).
        unsafe { (*place).assume_init_ref() }
    }
}

#[cfg(test)]
mod tests {
    use crate::todo_tree::TodoTree;
    use machine::ahead;

    #[test]
    fn blocks_begin_cache_lines_and_are_asked_for_whole() {
        let pool = TodoTree::<u64>::builder().capacity(100).build().unwrap();
        let line = |place: &_| std::ptr::from_ref(place) as usize;
        for block in 0..7 {
            assert_eq!(line(pool.tree.place(block, 0)) % ahead::LINE, 0);
            let lines: Vec<usize> = pool.tree.lines(block).map(|line| line as usize).collect();
            let last = pool.tree.layout.places_of(0, block) as u32 - 1;
            assert_eq!(lines[0], line(pool.tree.place(block, 0)));
            assert_eq!(
                lines[lines.len() - 1],
                line(pool.tree.place(block, last)) & !(ahead::LINE - 1)
            );
        }
    }
}
