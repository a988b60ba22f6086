//! Memory on a chosen node.

use crate::engine::current;
use crate::topology::{NodeId, Topology};
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ptr::NonNull;

/// A block of memory, on a node of choice.
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
        let start = unsafe { alloc(by_lines(layout)) };
        let start = NonNull::new(start).unwrap_or_else(|| handle_alloc_error(layout));
        Self { start, layout, placed: false }
    }

    /// A block of `layout`, on `node` of `topology` if there is such a node.
    ///
    /// # Panics
    /// When `layout` has no bytes.
    pub fn on_node(layout: Layout, topology: &Topology, node: NodeId) -> Self {
        let placed = topology.nodes().len() > 1 && topology.nodes().any(|other| other == node);
        let mut block = Self::new(layout);
        if placed {
            current::place(block.start.as_ptr() as usize, layout.size(), Some(node.0));
        }
        block.placed = placed;
        block
    }

    /// Its first byte.
    pub fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// What was asked for.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// Whether it lies on the node that was asked for.
    pub fn is_placed(&self) -> bool {
        self.placed
    }
}

/// `layout`, from the start of a line.
fn by_lines(layout: Layout) -> Layout {
    layout.align_to(64).unwrap_or(layout)
}

impl Drop for Block {
    fn drop(&mut self) {
        let start = self.start.as_ptr() as usize;
        current::clear(start, start + self.layout.size());
        if self.placed {
            current::place(start, self.layout.size(), None);
        }
        // SAFETY: it came from `alloc` with this layout; nobody has it any more.
        unsafe { dealloc(self.start.as_ptr(), by_lines(self.layout)) };
    }
}
