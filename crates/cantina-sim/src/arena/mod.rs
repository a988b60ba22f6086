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
//! from its start on, freed blocks of a size used again last in, first out, by the core that asked for
//! them. In a timed run that costs what it costs: see [`Costs`](crate::cost::Costs). Everything else,
//! the simulator's own memory included, comes from the system. Memory may outlive its run:
//! the next run on the same OS thread starts where nothing is in use.
//!
//! Arenas are cut from a large reservation of address space. Where that is not to be had, everything
//! comes from the system.

mod freed;
mod heap;
mod region;

use crate::engine::current;
use freed::{Freed, FreedBlock};
use heap::Heap;
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
    /// By core.
    heaps: Vec<Heap>,
    /// Bytes that may be cut, and that were.
    limit: usize,
    cut: usize,
    /// What is not to be used again, if that is watched.
    freed: Option<Freed>,
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
    /// The cores that blocks were cut for, by their start in grains. Empty where there is one heap.
    owners: Vec<u16>,
}

/// A block.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) start: NonNull<u8>,
    /// How many of its pages are used for the first time.
    pub(crate) fresh_pages: usize,
    /// The blocks that others had freed, and that were looked at to find it.
    pub(crate) collected: Vec<usize>,
}

/// Who wants a block, and where it should lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wish {
    pub(crate) core: usize,
    pub(crate) node: usize,
}

/// The arena has no more memory.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Exhausted;

impl Arena {
    /// An arena for `nodes` nodes and `cores` cores that gives out `limit` bytes at most, if there is a
    /// region for it. Where layout matters, it starts at a page.
    pub(crate) fn new(nodes: usize, cores: usize, by_pages: bool, limit: usize) -> Option<Self> {
        let region = Region::take(if by_pages { PAGE } else { GRAIN })?;
        let node = |node| {
            let (start, end) = region.stretch(node);
            Node { start, top: start, end, cuts: Vec::new(), owners: Vec::new() }
        };
        let nodes = (0..nodes).map(node).collect();
        let heaps = (0..cores).map(|_| Heap::default()).collect();
        Some(Self { nodes, heaps, region, limit, cut: 0, freed: None })
    }

    /// From now on what is freed is not used again soon.
    pub(crate) fn watch_freed(mut self) -> Self {
        self.freed = Some(Freed::default());
        self
    }

    /// Whether `address` lies in memory that was freed, if that is watched.
    pub(crate) fn is_freed(&self, address: usize) -> bool {
        self.freed.as_ref().is_some_and(|freed| freed.contains(address))
    }

    /// The node that `address` lies on, if it is in here.
    pub(crate) fn node_of(&self, address: usize) -> Option<usize> {
        self.region.node_of(address)
    }

    /// A block of `layout`: a free one of the core's, or a new one on the node.
    pub(crate) fn allocate(&mut self, layout: Layout, wish: Wish) -> Result<Block, Exhausted> {
        let (class, size) = class(layout.size());
        let align = layout.align().max(GRAIN);
        let heap = &mut self.heaps[wish.core];
        let mut collected = Vec::new();
        let free = heap.take(class, align).or_else(|| {
            collected = heap.collect(class);
            heap.take(class, align)
        });
        let (start, fresh_pages) = match free {
            Some(block) => (block, 0),
            None => self.cut(size, align, wish)?,
        };
        self.region.gave();
        let start = std::ptr::with_exposed_provenance_mut(start);
        Ok(Block { start: NonNull::new(start).ok_or(Exhausted)?, fresh_pages, collected })
    }

    /// A new block, and how many of its pages are new.
    fn cut(&mut self, size: usize, align: usize, wish: Wish) -> Result<(usize, usize), Exhausted> {
        let node = &mut self.nodes[wish.node];
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
        if self.heaps.len() > 1 {
            let grain = (start - node.start) / GRAIN;
            node.owners.resize(grain + 1, 0);
            node.owners[grain] = wish.core as u16;
        }
        Ok((start, pages))
    }

    /// The most bytes of a node's region, from its start, that may be in use.
    fn used(&self) -> usize {
        if self.region.is_clear() {
            return 0;
        }
        let mut free: HashSet<usize> = self.heaps.iter().flat_map(Heap::blocks).collect();
        free.extend(self.freed.iter().flat_map(Freed::starts));
        self.nodes.iter().map(|node| node.used(&free)).max().unwrap_or(0)
    }

    /// Takes a block back from `core` that was allocated here in this run. Whose it is, if another's.
    pub(crate) fn free(&mut self, start: usize, layout: Layout, core: usize) -> Option<usize> {
        let node = self.nodes.get(self.node_of(start)?)?;
        let owner = node.owners.get((start - node.start) / GRAIN).map_or(0, |&core| core.into());
        let (class, size) = class(layout.size());
        if let Some(freed) = &mut self.freed {
            for FreedBlock { start, class, .. } in freed.keep(FreedBlock { start, size, class }) {
                self.heaps[owner].put(class, start);
            }
            return None;
        }
        if owner == core {
            self.heaps[owner].put(class, start);
            return None;
        }
        self.heaps[owner].give_back(class, start);
        Some(owner)
    }
}

impl Node {
    /// How many bytes, from its start, may be in use: up to the last block that is not `free`.
    fn used(&self, free: &HashSet<usize>) -> usize {
        let unused = self.cuts.iter().rev().take_while(|(_, start)| free.contains(start));
        unused.last().map_or(self.top, |&(top, _)| top) - self.start
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        self.region.close(self.used());
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
    use super::{Arena, Exhausted, Wish, class};
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

    fn on(node: usize) -> Wish {
        Wish { core: node, node }
    }

    #[test]
    fn a_block_goes_back_to_the_core_it_was_cut_for() {
        let Some(mut arena) = Arena::new(2, 2, true, 1 << 20) else { return };
        let block = |arena: &mut Arena, node| {
            let block = arena.allocate(layout(40), on(node)).unwrap();
            (block.start.as_ptr() as usize, block.collected)
        };
        let ((one, _), (two, _)) = (block(&mut arena, 0), block(&mut arena, 0));
        assert_eq!(two - one, 48);
        let (far, _) = block(&mut arena, 1);
        assert_eq!(arena.node_of(far), Some(1));
        let mut free = |start, core| {
            super::count_freed(start);
            arena.free(start, layout(40), core)
        };
        assert_eq!([free(one, 0), free(two, 1), free(far, 1)], [None, Some(0), None]);
        assert_eq!(block(&mut arena, 0), (one, vec![]));
        assert_eq!(block(&mut arena, 0), (two, vec![two]), "another has freed it");
        assert_eq!(block(&mut arena, 1), (far, vec![]));
        [one, two, far].into_iter().for_each(super::count_freed);
    }

    #[test]
    fn what_was_freed_at_the_end_is_free_for_the_next_run() {
        let Some(mut arena) = Arena::new(1, 1, true, 1 << 20) else { return };
        let blocks: Vec<usize> = (0..5)
            .map(|n| arena.allocate(layout(100 * n + 1), on(0)).unwrap().start.as_ptr() as usize)
            .collect();
        let used = |arena: &Arena| arena.used();
        let all = used(&arena);
        let mut free = |n: usize| {
            arena.free(blocks[n], layout(100 * n + 1), 0);
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
        let Some(mut arena) = Arena::new(1, 1, true, 10_000) else { return };
        assert!(arena.allocate(layout(20_000), on(0)) == Err(Exhausted));
        let block = arena.allocate(layout(5_000), on(0)).unwrap();
        assert_eq!(block.fresh_pages, 2);
        assert!(arena.allocate(layout(5_000), on(0)) == Err(Exhausted));
        super::count_freed(block.start.as_ptr() as usize);
    }
}
