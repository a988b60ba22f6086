//! Memory of the simulated program, so that a run does not depend on what the heap looked like.
//!
//! Which words share a line, and which address is used again when, is the allocator's choice; with the
//! system's, a run depends on all runs before it. A binary that wants its runs to be the same again
//! says
//!
//! ```
//! #[global_allocator]
//! static ALLOCATOR: cantina_sim::SimAllocator = cantina_sim::SimAllocator;
//! ```
//!
//! What virtual threads allocate then comes from an arena: one region for each node of the machine, cut
//! from its start on, freed blocks of a size used again last in, first out. Everything else,
//! the simulator's own memory included, comes from the system. Memory may outlive its run:
//! the next run on the same OS thread starts where nothing is in use.
//!
//! Arenas are cut from a large reservation of address space. Where that is not to be had, everything
//! comes from the system.

mod region;

use crate::engine::current;
use region::Region;
use std::alloc::{GlobalAlloc, Layout, System};
use std::collections::HashSet;
use std::ptr::NonNull;

/// Blocks are multiples of it.
const GRAIN: usize = 16;
/// Up to here each multiple has a list of its own.
const SMALL: usize = 1024;
/// Bytes of a page, whose first use costs something.
const PAGE: usize = 4096;

/// The global allocator of a binary whose simulations are to be the same again; see the
/// [module](self).
#[derive(Clone, Copy, Debug, Default)]
pub struct SimAllocator;

// SAFETY: memory comes from the system or from an arena, never from both: which it is shows in its
// address. An arena gives out what was free, as large and aligned as asked.
unsafe impl GlobalAlloc for SimAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        match current::allocate(layout) {
            Some(block) => block.as_ptr(),
            // SAFETY: the caller's promise.
            None => unsafe { System.alloc(layout) },
        }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        current::free(block as usize, layout);
        if !region::contains(block as usize) {
            // SAFETY: it came from the system, with this layout.
            unsafe { System.dealloc(block, layout) };
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !current::is_inside() && !region::contains(block as usize) {
            // SAFETY: it came from the system, with this layout.
            return unsafe { System.realloc(block, layout, size) };
        }
        // SAFETY: the caller promises that `size` fits.
        let wanted = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        // SAFETY: as above.
        let new = unsafe { self.alloc(wanted) };
        if !new.is_null() {
            // SAFETY: both are this large, and apart; the old block came from here.
            unsafe {
                std::ptr::copy_nonoverlapping(block, new, layout.size().min(size));
                self.dealloc(block, layout);
            }
        }
        new
    }
}

/// The memory of one run.
#[derive(Debug)]
pub(crate) struct Arena {
    region: Region,
    nodes: Vec<Node>,
    /// Bytes that may be cut, and that were.
    limit: usize,
    cut: usize,
}

/// The part of an arena that lies on a node.
#[derive(Debug)]
struct Node {
    start: usize,
    /// What is not cut yet.
    top: usize,
    end: usize,
    /// The blocks that were cut, in order: what was the top before, and where each starts.
    cuts: Vec<(usize, usize)>,
    /// Freed blocks, by class.
    free: Vec<Vec<usize>>,
}

/// A block, and how many of its pages are used for the first time.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) start: NonNull<u8>,
    pub(crate) fresh_pages: usize,
}

/// The arena has no more memory.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Exhausted;

impl Arena {
    /// An arena for `nodes` nodes that gives out `limit` bytes at most, if there is a region for it.
    /// Where layout matters, it starts at a page.
    pub(crate) fn new(nodes: usize, by_pages: bool, limit: usize) -> Option<Self> {
        let region = Region::take(if by_pages { PAGE } else { GRAIN })?;
        let node = |node| {
            let (start, end) = region.stretch(node);
            Node { start, top: start, end, cuts: Vec::new(), free: Vec::new() }
        };
        Some(Self { nodes: (0..nodes).map(node).collect(), region, limit, cut: 0 })
    }

    /// The node that `address` lies on, if it is in here.
    pub(crate) fn node_of(&self, address: usize) -> Option<usize> {
        self.region.node_of(address)
    }

    /// A block of `layout` on `node`.
    pub(crate) fn allocate(&mut self, layout: Layout, node: usize) -> Result<Block, Exhausted> {
        let (class, size) = class(layout.size());
        let align = layout.align().max(GRAIN);
        let node = &mut self.nodes[node];
        if node.free.len() <= class {
            node.free.resize_with(class + 1, Vec::new);
        }
        let list = &mut node.free[class];
        let used = list.iter().rposition(|&block| block % align == 0);
        let (start, fresh_pages) = match used {
            Some(index) => (list.remove(index), 0),
            None => {
                let start = node.top.next_multiple_of(align);
                let top = start + size;
                if top > node.end || self.cut + size > self.limit {
                    return Err(Exhausted);
                }
                let pages = |top: usize| (top - node.start).div_ceil(PAGE);
                let pages = pages(top) - pages(node.top);
                self.cut += top - node.top;
                node.cuts.push((node.top, start));
                node.top = top;
                (start, pages)
            }
        };
        self.region.gave();
        let start = std::ptr::with_exposed_provenance_mut(start);
        Ok(Block { start: NonNull::new(start).ok_or(Exhausted)?, fresh_pages })
    }

    /// Takes a block back that was allocated here in this run.
    pub(crate) fn free(&mut self, start: usize, layout: Layout) {
        if let Some(node) = self.node_of(start) {
            let class = class(layout.size()).0;
            if let Some(list) = self.nodes.get_mut(node).and_then(|node| node.free.get_mut(class)) {
                list.push(start);
            }
        }
    }
}

impl Node {
    /// How many bytes, from its start, may be in use: up to the last block that was not freed.
    fn used(&self) -> usize {
        let free: HashSet<usize> = self.free.iter().flatten().copied().collect();
        let unused = self.cuts.iter().rev().take_while(|(_, start)| free.contains(start));
        unused.last().map_or(self.top, |&(top, _)| top) - self.start
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        let used =
            if self.region.is_clear() { None } else { self.nodes.iter().map(Node::used).max() };
        self.region.close(used.unwrap_or(0));
    }
}

/// The class of blocks of at least `size` bytes, and how large they are.
fn class(size: usize) -> (usize, usize) {
    let size = size.max(1);
    if size <= SMALL {
        let class = size.div_ceil(GRAIN);
        return (class, class * GRAIN);
    }
    // Four classes for each doubling.
    let power = size.next_power_of_two();
    let quarter = power / 8;
    let quarters = size.div_ceil(quarter);
    let doublings = (power / SMALL).ilog2() as usize;
    (SMALL / GRAIN + doublings * 4 + quarters - 8, quarters * quarter)
}

/// The node of a block at `address`, if it is an arena's.
pub(crate) fn node_of(address: usize) -> Option<usize> {
    region::node_of(address)
}

/// A block is given back: one of an arena's is counted, wherever that happens.
pub(crate) fn count_freed(start: usize) {
    region::freed(start);
}

#[cfg(test)]
mod tests {
    use super::{Arena, Exhausted, class};
    use std::alloc::Layout;

    fn layout(size: usize) -> Layout {
        Layout::from_size_align(size, 8).unwrap()
    }

    #[test]
    fn classes_are_large_enough_and_differ() {
        let mut last = (0, 0);
        for size in 1..100_000 {
            let (class, bytes) = class(size);
            assert!(bytes >= size && bytes < size + size / 4 + 16, "{size} {bytes}");
            assert!(
                class == last.0 && bytes == last.1 || class > last.0 && bytes > last.1,
                "{size}"
            );
            last = (class, bytes);
        }
    }

    #[test]
    fn what_was_freed_last_is_used_first() {
        let Some(mut arena) = Arena::new(2, true, 1 << 20) else { return };
        let block = |arena: &mut Arena, node| arena.allocate(layout(40), node).unwrap().start;
        let (one, two) = (block(&mut arena, 0), block(&mut arena, 0));
        assert_eq!(two.as_ptr() as usize - one.as_ptr() as usize, 48);
        let far = block(&mut arena, 1);
        assert_eq!(arena.node_of(far.as_ptr() as usize), Some(1));
        for freed in [one, two, far] {
            arena.free(freed.as_ptr() as usize, layout(40));
            super::count_freed(freed.as_ptr() as usize);
        }
        assert_eq!(block(&mut arena, 0), two);
        assert_eq!(block(&mut arena, 0), one);
        assert_eq!(block(&mut arena, 1), far);
        for freed in [one, two, far] {
            super::count_freed(freed.as_ptr() as usize);
        }
    }

    #[test]
    fn what_was_freed_at_the_end_is_free_for_the_next_run() {
        let Some(mut arena) = Arena::new(1, true, 1 << 20) else { return };
        let blocks: Vec<usize> = (0..5)
            .map(|n| arena.allocate(layout(100 * n + 1), 0).unwrap().start.as_ptr() as usize)
            .collect();
        let used = |arena: &Arena| arena.nodes[0].used();
        let all = used(&arena);
        let mut free = |n: usize| {
            arena.free(blocks[n], layout(100 * n + 1));
            super::count_freed(blocks[n]);
            used(&arena)
        };
        assert_eq!(free(1), all);
        assert_eq!(free(4), blocks[4] - blocks[0]);
        assert_eq!(free(3), blocks[3] - blocks[0]);
        assert_eq!(free(2), blocks[1] - blocks[0]);
        assert_eq!(free(0), 0);
    }

    #[test]
    fn a_limit_is_kept() {
        let Some(mut arena) = Arena::new(1, true, 10_000) else { return };
        assert!(arena.allocate(layout(20_000), 0) == Err(Exhausted));
        let block = arena.allocate(layout(5_000), 0).unwrap();
        assert_eq!(block.fresh_pages, 2);
        assert!(arena.allocate(layout(5_000), 0) == Err(Exhausted));
        super::count_freed(block.start.as_ptr() as usize);
    }
}
