//! Memory on a chosen node.

use crate::os;
use crate::topology::{NodeId, Topology};
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ptr::NonNull;

/// A block of memory, on a node of choice where the operating system can place it.
///
/// Its bytes are uninitialized. Dropping it frees the memory and drops nothing in it.
#[derive(Debug)]
pub struct Block {
    start: NonNull<u8>,
    layout: Layout,
    placed: bool,
}

// SAFETY: a block is memory that nobody else has; who may touch its bytes is up to its user.
unsafe impl Send for Block {}
// SAFETY: as above; a shared block only gives out a pointer.
unsafe impl Sync for Block {}

impl Block {
    /// A block of `layout`, anywhere.
    ///
    /// # Panics
    /// When `layout` has no bytes.
    pub fn new(layout: Layout) -> Self {
        assert!(layout.size() > 0, "a block has at least one byte");
        // SAFETY: the layout has at least one byte.
        let start = unsafe { alloc(layout) };
        let start = NonNull::new(start).unwrap_or_else(|| handle_alloc_error(layout));
        Self { start, layout, placed: false }
    }

    /// A block of `layout`, preferably on `node` of `topology`.
    ///
    /// Placed are blocks of a page or more on machines with more than one node; others come from the
    /// allocator. A node that is full or not there costs placement, never the block.
    ///
    /// # Panics
    /// When `layout` has no bytes.
    pub fn on_node(layout: Layout, topology: &Topology, node: NodeId) -> Self {
        let several = topology.nodes().len() > 1;
        let placed = topology
            .os_node(node)
            .filter(|_| several && layout.size() >= os::PAGE && layout.align() <= os::PAGE)
            .and_then(|os_node| os::map_on_node(layout.size(), os_node));
        match placed {
            Some(start) => Self { start, layout, placed: true },
            None => Self::new(layout),
        }
    }

    /// Its first byte.
    #[inline]
    pub fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// What was asked for.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// Whether the operating system was told a node.
    pub fn is_placed(&self) -> bool {
        self.placed
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        if self.placed {
            // SAFETY: `placed` says it came from `map_on_node` with this size; nobody has it any more.
            unsafe { os::unmap(self.start, self.layout.size()) };
        } else {
            // SAFETY: it came from `alloc` with this layout; nobody has it any more.
            unsafe { dealloc(self.start.as_ptr(), self.layout) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Block;
    use crate::topology::{NodeId, Topology};
    use std::alloc::Layout;

    fn fill(block: &Block) {
        // SAFETY: the block is this long, and nobody else knows it.
        unsafe { block.start().write_bytes(7, block.layout().size()) };
    }

    #[test]
    fn a_block_is_aligned_and_can_be_written() {
        for (size, align) in [(1, 1), (64, 64), (8_192, 4_096), (100_000, 128)] {
            let layout = Layout::from_size_align(size, align).unwrap();
            for block in [
                Block::new(layout),
                Block::on_node(layout, &Topology::detect(), NodeId(0)),
                Block::on_node(layout, &Topology::mock(2, 1), NodeId(0)),
                Block::on_node(layout, &Topology::mock(2, 1), NodeId(9)),
            ] {
                assert_eq!(block.start().as_ptr() as usize % align, 0);
                fill(&block);
            }
        }
    }

    #[test]
    #[should_panic = "at least one byte"]
    fn a_block_without_bytes_is_refused() {
        Block::new(Layout::new::<()>());
    }
}
