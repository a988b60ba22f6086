//! What memory costs: asking for a block, giving it back.
//!
//! A core's own free blocks cost a little. Those that it gets from others, or gives to them, go
//! through a list, and that costs what it costs to touch the list and the blocks in it: the links lie
//! there.

use crate::arena::{Block, Wish};
use crate::cost::coherence::Kind;
use crate::engine::table::Table;
use crate::engine::timed::Timed;

/// Where the lists of returned blocks would lie: an address that no program has.
const LISTS: usize = 1 << 60;
/// Bytes from one list to the next: they share no line.
const APART: usize = 128;

impl Timed {
    /// What the current thread wants of the allocator.
    pub(crate) fn wish(&mut self, table: &Table) -> Wish {
        let core = self.lanes[table.current].core;
        Wish { core, node: self.coherence.node_for(core) }
    }

    /// The current thread has got `block`.
    pub(crate) fn charge_block(&mut self, table: &Table, block: &Block) {
        let core = self.lanes[table.current].core;
        let costs = self.coherence.costs();
        let mut clock = self.lanes[table.current].clock;
        clock += costs.malloc + costs.page * block.fresh_pages as u64;
        if !block.collected.is_empty() {
            clock += costs.malloc_shared;
            clock = self.touch_list(core, core, clock);
        }
        for &looked_at in &block.collected {
            clock = self.touch(core, looked_at, Kind::Load, clock);
        }
        self.lanes[table.current].clock = clock;
    }

    /// The current thread has given back the block at `start`, which is another core's if there is an
    /// `owner`.
    pub(crate) fn charge_free(&mut self, table: &Table, start: usize, owner: Option<usize>) {
        let core = self.lanes[table.current].core;
        let costs = self.coherence.costs();
        let mut clock = self.lanes[table.current].clock + costs.malloc;
        if let Some(owner) = owner {
            let shared = costs.malloc_shared;
            // Who was the last to use it has all that belongs to it, too.
            if !self.has_list(core, owner) {
                clock += shared;
            }
            clock = self.touch(core, start, Kind::Store, clock);
            clock = self.touch_list(core, owner, clock);
        }
        self.lanes[table.current].clock = clock;
    }

    /// Whether `core` was the last to use the list of `owner`.
    fn has_list(&mut self, core: usize, owner: usize) -> bool {
        let id = self.coherence.line(LISTS + owner * APART, owner);
        self.coherence.lines.get(id).owner == core as u16
    }

    /// When an access of `core` to the list of `owner` is done.
    fn touch_list(&mut self, core: usize, owner: usize, now: u64) -> u64 {
        let id = self.coherence.line(LISTS + owner * APART, owner);
        self.coherence.access(core, id, Kind::Rmw, now)
    }
}
