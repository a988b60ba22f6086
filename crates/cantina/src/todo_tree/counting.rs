//! Counting upwards: what was put and taken below each node.

use super::block::{Block, SLOTS};
use super::counts::MODULUS;
use super::metrics::Exchanges;
use super::tree::Tree;
use machine::CachePadded;

impl<T> Tree<T> {
    /// Counts what was put to or taken from a block, up to the highest level.
    #[inline]
    pub(super) fn mark_up(&self, block: usize, cas: &mut Exchanges) {
        if !self.levels.is_empty() {
            self.mark_up_from(1, self.blocks[block].above, cas);
        }
    }

    /// The same of a put alone. The paper's shapes count takes along, as the paper does.
    #[inline]
    pub(super) fn mark_up_puts(&self, block: usize, cas: &mut Exchanges) {
        if self.layout.by_weight {
            return self.mark_up(block, cas);
        }
        let mut node = self.blocks[block].above;
        for level in 1..=self.levels.len() {
            if level > 1 {
                node = self.layout.above(node);
            }
            let inserts = self.inserts_below(level, node);
            self.levels[level - 1][node].raise_inserts(inserts, cas);
        }
    }

    /// Counts a node, and those above it.
    pub(super) fn mark_up_from(&self, level: usize, mut node: usize, cas: &mut Exchanges) {
        self.count(level, node, cas);
        for level in level + 1..=self.levels.len() {
            node = self.layout.above(node);
            self.count(level, node, cas);
        }
    }

    /// Counts a node's children. The removes of all of them are read before the inserts of any (I4).
    fn count(&self, level: usize, node: usize, cas: &mut Exchanges) {
        let removes = self.removes_below(level, node);
        let inserts = self.inserts_below(level, node);
        self.levels[level - 1][node].raise(inserts, removes, cas);
    }

    #[inline]
    fn removes_below(&self, level: usize, node: usize) -> u64 {
        let children = self.layout.children(level, node);
        match level {
            1 => removes_of(&self.blocks[children]),
            _ => total(self.levels[level - 2][children].iter().map(|node| node.removes())),
        }
    }

    #[inline]
    fn inserts_below(&self, level: usize, node: usize) -> u64 {
        let children = self.layout.children(level, node);
        match level {
            1 => total(self.blocks[children].iter().map(|block| block.look().inserts())),
            _ => total(self.levels[level - 2][children].iter().map(|node| node.inserts())),
        }
    }

    /// Counts all nodes, from below: what has stopped before it could.
    pub(super) fn refresh(&self) {
        let cas = &mut Exchanges::default();
        for (level, &size) in (1..).zip(self.layout.levels()) {
            (0..size).for_each(|node| self.count(level, node, cas));
        }
    }
}

/// A sum of counts.
#[inline]
pub(super) fn total(counts: impl Iterator<Item = u64>) -> u64 {
    counts.fold(0, u64::wrapping_add) % MODULUS
}

/// How many tasks were taken from some blocks. The bits of four are counted together: programs that run on every x86 have no
/// instruction for it.
#[inline]
fn removes_of(blocks: &[CachePadded<Block>]) -> u64 {
    let each = |four: &[CachePadded<Block>]| {
        let (mut inserts, mut bits) = (0u64, 0u64);
        for word in four.iter().map(|block| block.look()) {
            inserts = inserts.wrapping_add(word.inserts());
            bits = bits << SLOTS | u64::from(word.tasks());
        }
        inserts.wrapping_sub(bits.count_ones().into())
    };
    total(blocks.chunks(4).map(each))
}
