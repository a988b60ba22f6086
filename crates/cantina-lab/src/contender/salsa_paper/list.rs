//! The paper's chunk lists: one writer, any number of readers.
//!
//! The paper links nodes into lists, but a node that is about to be stolen is in two. So here a list is
//! cells that name nodes. A cell is a hint: whoever follows it asks the owner word of the chunk. The
//! writer uses cells again whose node refers to nothing.

use super::chunk::Node;
use super::lasting::{Growing, Lasting};
use machine::atomic::Ordering::{Acquire, Relaxed, Release};
use machine::atomic::{AtomicPtr, AtomicUsize};
use std::ptr::{self, NonNull};

/// A list.
pub(super) struct List<T> {
    cells: Growing<AtomicPtr<Node<T>>>,
    /// How many cells there are to look at.
    len: AtomicUsize,
    /// Where the writer looks for a cell to use again.
    turn: AtomicUsize,
}

/// How many cells the writer looks at for one to use again.
const LOOKS: usize = 2;

impl<T> List<T> {
    /// An empty list.
    pub(super) fn new() -> Self {
        Self { cells: Growing::new(), len: AtomicUsize::new(0), turn: AtomicUsize::new(0) }
    }

    /// How many cells there are to look at.
    pub(super) fn len(&self) -> usize {
        // cell: those before it.
        self.len.load(Acquire)
    }

    /// The node in a cell.
    pub(super) fn node(&self, cell: usize) -> Option<Lasting<Node<T>>> {
        // cell: the node as it was put there.
        let node = NonNull::new(self.cells.get(cell)?.load(Acquire))?;
        // SAFETY: nodes last, and readers of lists are handles.
        Some(unsafe { Lasting::new(node) })
    }

    /// Puts `node` into a cell: which.
    ///
    /// # Safety
    /// The caller is the list's writer.
    pub(super) unsafe fn append(&self, node: Lasting<Node<T>>) -> usize {
        // own: the writer's, also below.
        let all = self.len.load(Relaxed);
        let used = (0..all).rev().find(|&cell| !self.is_free(cell)).map_or(0, |cell| cell + 1);
        let turn = self.turn.load(Relaxed);
        let mut looks = (turn..turn + LOOKS.min(used)).map(|cell| cell % used);
        let free = looks.find(|&cell| self.is_free(cell));
        // own: as above.
        self.turn.store((turn + LOOKS) % used.max(1), Relaxed);
        let cell = free.unwrap_or(used);
        // SAFETY: the caller's.
        unsafe { self.replace(cell, node) };
        // cell: it has a node; those behind it have none that refers to anything.
        self.len.store(used.max(cell + 1), Release);
        cell
    }

    /// Puts `node` into this cell.
    ///
    /// # Safety
    /// The caller is the list's writer.
    pub(super) unsafe fn replace(&self, cell: usize, node: Lasting<Node<T>>) {
        let cell = self.cells.get_or_grow(cell, |_| AtomicPtr::new(ptr::null_mut()));
        // cell: the node.
        cell.store(node.as_ptr().as_ptr(), Release);
    }

    /// Empties a cell.
    ///
    /// # Safety
    /// The caller is the list's writer.
    pub(super) unsafe fn remove(&self, cell: usize) {
        if let Some(cell) = self.cells.get(cell) {
            // cell: why it is empty: what we know to be taken, or who has the chunk.
            cell.store(ptr::null_mut(), Release);
        }
    }

    /// Whether a cell names no node that refers to anything. What the writer put there it sees as it
    /// was then, or later: if the node's chunk has begun another life elsewhere, the cell is not the one
    /// that leads to it.
    fn is_free(&self, cell: usize) -> bool {
        self.node(cell).is_none_or(|node| !node.refers())
    }
}

#[cfg(test)]
mod tests {
    use super::super::chunk::Chunk;
    use super::List;

    #[test]
    fn cells_are_used_again_when_their_node_refers_to_nothing() {
        let chunk = Chunk::<u8>::new(1);
        let nodes: Vec<_> = (0..200).map(|_| Chunk::make_node(chunk, 0)).collect();
        let list = List::new();
        // SAFETY: we are its writer.
        let append = |number: usize| unsafe { list.append(nodes[number]) };
        assert_eq!([0, 1, 2].map(append), [0, 1, 2]);
        nodes[1].end();
        assert_eq!(append(3), 1);
        assert!(list.node(1).is_some_and(|node| node == nodes[3]));
        // SAFETY: as above.
        unsafe { list.remove(0) };
        assert!(list.node(0).is_none());
        assert!([4, 5].map(append).contains(&0));
        for number in 6..100 {
            nodes[number - 2].end();
            assert!(append(number) < 6);
        }
        nodes[..100].iter().for_each(|node| node.end());
        assert_eq!((append(100), list.len()), (0, 1));
        drop((list, nodes));
        // SAFETY: nobody looks at it.
        unsafe { Chunk::free(chunk.as_ptr()) };
    }
}
