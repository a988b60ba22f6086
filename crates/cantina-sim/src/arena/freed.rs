//! Blocks that were freed and are kept from being used again, so that who reaches into one is noticed.

use std::collections::{BTreeMap, VecDeque};

/// So many bytes are kept; then what was freed first is used again.
const KEPT: usize = 16 << 20;

/// A block that was freed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FreedBlock {
    pub(crate) start: usize,
    pub(crate) size: usize,
    pub(crate) class: usize,
}

/// Those that are kept.
#[derive(Debug, Default)]
pub(crate) struct Freed {
    /// How large they are, by where they start.
    sizes: BTreeMap<usize, usize>,
    /// What was freed first comes first.
    blocks: VecDeque<FreedBlock>,
    bytes: usize,
}

impl Freed {
    /// Keeps `block`, and gives up what there is no room for any more.
    pub(crate) fn keep(&mut self, block: FreedBlock) -> Vec<FreedBlock> {
        self.sizes.insert(block.start, block.size);
        self.blocks.push_back(block);
        self.bytes += block.size;
        let mut given_up = Vec::new();
        while self.bytes > KEPT
            && let Some(first) = self.blocks.pop_front()
        {
            self.sizes.remove(&first.start);
            self.bytes -= first.size;
            given_up.push(first);
        }
        given_up
    }

    /// Whether `address` lies in one of them.
    pub(crate) fn contains(&self, address: usize) -> bool {
        let before = self.sizes.range(..=address).next_back();
        before.is_some_and(|(start, size)| address - start < *size)
    }

    /// Where they start.
    pub(crate) fn starts(&self) -> impl Iterator<Item = usize> {
        self.sizes.keys().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::{Freed, FreedBlock, KEPT};

    #[test]
    fn a_block_is_kept_until_there_is_no_room_for_it() {
        let mut freed = Freed::default();
        let small = FreedBlock { start: 64, size: 32, class: 2 };
        assert_eq!(freed.keep(small), []);
        assert_eq!(
            [63, 64, 95, 96].map(|address| freed.contains(address)),
            [false, true, true, false]
        );
        let large = FreedBlock { start: 1 << 20, size: KEPT, class: 9 };
        assert_eq!(freed.keep(large), [small]);
        assert!(!freed.contains(64) && freed.contains(1 << 20));
        assert!(freed.starts().eq([1 << 20]));
    }
}
