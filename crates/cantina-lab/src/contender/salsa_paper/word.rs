//! The owner word of a chunk: who may take from it, and by which node's index.
//!
//! `tag:31 | transit:1 | id:8 | node:24`. It is in *transit* from a thief's first change, which names
//! the thief and leaves the node, to its second, which names the thief's own node.

/// The most consumers at a time: ids are below it.
pub(super) const MAX_CONSUMERS: usize = 64;
/// The most nodes in one life of a chunk.
pub(super) const MAX_NODES: usize = 1 << NODE_BITS;

const NODE_BITS: u32 = 24;
const ID_BITS: u32 = 8;
/// The id of nobody.
const NONE: u64 = (1 << ID_BITS) - 1;
const TRANSIT: u64 = 1 << (NODE_BITS + ID_BITS);
const TAG: u64 = TRANSIT << 1;
/// A word past this tag is the last of its chunk's memory.
const WORN: u64 = 1 << 63;

/// A value of the owner word. Each change has a new tag, so none comes again: a chunk that has had
/// 2^30 of them is not used again, and one life has far fewer than are left then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word(u64);

impl Word {
    /// What new memory holds: nobody has owned it.
    pub(super) const UNUSED: Self = Self(NONE << NODE_BITS);

    pub(super) fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    pub(super) fn bits(self) -> u64 {
        self.0
    }

    fn next(self, id: u64, node: usize) -> Self {
        let tag = (self.0 & !(TAG - 1)).wrapping_add(TAG);
        Self(tag | id << NODE_BITS | node as u64)
    }

    /// The chunk begins another life at the consumer `id`, with its first node.
    pub(super) fn begun_at(self, id: usize) -> Self {
        self.next(id as u64, 0)
    }

    /// `thief` claims it; the node stays the same.
    pub(super) fn claimed_by(self, thief: usize) -> Self {
        let Self(word) = self.next(thief as u64, self.node());
        Self(word | TRANSIT)
    }

    /// The claimer has made `node`.
    pub(super) fn settled(self, node: usize) -> Self {
        self.next(self.id() as u64, node)
    }

    /// The chunk is exhausted, and nobody's.
    pub(super) fn recycled(self) -> Self {
        self.next(NONE, 0)
    }

    /// Who owns it; no consumer's id when nobody does.
    pub(super) fn id(self) -> usize {
        ((self.0 >> NODE_BITS) & NONE) as usize
    }

    /// The node whose index is in force.
    pub(super) fn node(self) -> usize {
        (self.0 as usize) & (MAX_NODES - 1)
    }

    /// Whether the node is not the owner's own.
    pub(super) fn is_in_transit(self) -> bool {
        self.0 & TRANSIT != 0
    }

    pub(super) fn is_nobodys(self) -> bool {
        self.id() == NONE as usize
    }

    /// Whether the chunk's memory has had enough words.
    pub(super) fn is_worn(self) -> bool {
        self.0 >= WORN
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_CONSUMERS, MAX_NODES, NONE, WORN, Word};

    #[test]
    fn a_word_says_who_owns_and_which_node_counts() {
        let last = MAX_CONSUMERS - 1;
        let begun = Word::UNUSED.begun_at(3);
        assert_eq!((begun.id(), begun.node(), begun.is_in_transit()), (3, 0, false));
        let settled = begun.claimed_by(last).settled(MAX_NODES - 1);
        assert_eq!((settled.id(), settled.node()), (last, MAX_NODES - 1));
        assert!(!settled.is_in_transit());
        let claimed = settled.claimed_by(0);
        assert_eq!((claimed.id(), claimed.node()), (0, MAX_NODES - 1));
        assert!(claimed.is_in_transit() && !claimed.is_nobodys());
        assert!(claimed.recycled().is_nobodys() && Word::UNUSED.is_nobodys());
        assert!(last < NONE as usize);
    }

    #[test]
    fn no_word_comes_again() {
        let begun = Word::UNUSED.begun_at(0);
        let claimed = begun.claimed_by(1);
        let words = [
            Word::UNUSED,
            begun,
            claimed,
            claimed.settled(1),
            claimed.claimed_by(0),
            claimed.settled(1).claimed_by(0),
            begun.recycled(),
            begun.recycled().begun_at(0),
        ];
        for (index, word) in words.iter().enumerate() {
            assert_eq!(words.iter().position(|other| other == word), Some(index));
        }
    }

    #[test]
    fn memory_wears_out_before_its_words_run_out() {
        let late = Word::from_bits(WORN - 1);
        assert!(!late.is_worn() && late.recycled().is_worn());
        assert!(late.recycled().is_nobodys());
    }
}
