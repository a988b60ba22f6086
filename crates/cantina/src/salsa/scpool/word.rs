//! The owner word: who may take from a chunk, and by whose index.
//!
//! `tag:39 | fresh:1 | owner:12 | from:12`. It is *stable* when `owner == from`. Otherwise it is in
//! *transit*: `owner` has claimed the chunk from `from` and has not published an index of its own.

/// The most consumers at a time: ids are below it.
pub(in crate::salsa) const MAX_CONSUMERS: usize = 0xffe;

/// Bits of an id.
pub(super) const ID_BITS: u32 = 12;
const NOBODY: u64 = 0xfff;
const FRESH: u64 = 1 << (2 * ID_BITS);
const TAG: u64 = FRESH << 1;
/// A word past this tag is the last of its chunk's: words never come again.
const WORN: u64 = TAG << 38;

/// A value of the owner word. Every change has a new tag, so none comes again in the life of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word(u64);

impl Word {
    /// What new memory holds: nobody has owned it.
    pub(super) const UNUSED: Self = Self(NOBODY << ID_BITS | NOBODY);

    pub(super) fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    pub(super) fn bits(self) -> u64 {
        self.0
    }

    fn next(self, owner: u64, from: u64) -> Self {
        let tag = (self.0 & !(TAG - 1)).wrapping_add(TAG);
        Self(tag | owner << ID_BITS | from)
    }

    /// The chunk begins another life at `home`: nobody has stolen it in this one.
    pub(super) fn published_at(self, home: usize) -> Self {
        let Self(word) = self.next(home as u64, home as u64);
        Self(word | FRESH)
    }

    /// `thief` claims it; the index in force stays that of [`from`](Self::from).
    pub(super) fn claimed_by(self, thief: usize) -> Self {
        self.next(thief as u64, self.from() as u64)
    }

    /// The claimer has published an index.
    pub(super) fn settled(self) -> Self {
        self.next(self.owner() as u64, self.owner() as u64)
    }

    /// The claim is undone.
    pub(super) fn rolled_back(self) -> Self {
        self.next(self.from() as u64, self.from() as u64)
    }

    /// The chunk is exhausted.
    pub(super) fn retired(self) -> Self {
        self.next(NOBODY, NOBODY)
    }

    /// Who owns it; no consumer's id when it is retired.
    pub(super) fn owner(self) -> usize {
        ((self.0 >> ID_BITS) & NOBODY) as usize
    }

    /// Whose index is in force.
    pub(super) fn from(self) -> usize {
        (self.0 & NOBODY) as usize
    }

    pub(super) fn is_stable(self) -> bool {
        self.owner() == self.from()
    }

    pub(super) fn is_retired(self) -> bool {
        self.from() == NOBODY as usize
    }

    /// Whether nobody has stolen it since it was published.
    pub(super) fn is_fresh(self) -> bool {
        self.0 & FRESH != 0
    }

    /// Whether the chunk's memory has had enough words.
    pub(super) fn is_worn(self) -> bool {
        self.0 >= WORN
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_CONSUMERS, WORN, Word};

    #[test]
    fn a_word_says_who_owns_and_whose_index_counts() {
        let last = MAX_CONSUMERS - 1;
        let fresh = Word::UNUSED.published_at(3);
        assert!(fresh.is_fresh() && fresh.is_stable() && fresh.owner() == 3);
        let claimed = fresh.claimed_by(last);
        assert!(!claimed.is_fresh() && !claimed.is_stable());
        assert_eq!((claimed.owner(), claimed.from()), (last, 3));
        let settled = claimed.settled();
        assert!(settled.is_stable() && settled.owner() == last);
        assert!(claimed.rolled_back().is_stable() && claimed.rolled_back().owner() == 3);
        assert!(settled.retired().is_retired() && Word::UNUSED.is_retired());
        assert!(!settled.is_retired());
    }

    #[test]
    fn no_word_comes_again() {
        let fresh = Word::UNUSED.published_at(0);
        let words = [
            fresh,
            fresh.claimed_by(1),
            fresh.claimed_by(1).settled(),
            fresh.claimed_by(1).rolled_back(),
            fresh.retired(),
            fresh.retired().published_at(0),
        ];
        for (index, word) in words.iter().enumerate() {
            assert_eq!(words.iter().position(|other| other == word), Some(index));
        }
    }

    #[test]
    fn memory_wears_out_before_its_words_run_out() {
        let late = Word::from_bits(WORN - 1);
        assert!(!late.is_worn() && late.retired().is_worn());
        assert_eq!(late.retired().owner(), Word::UNUSED.owner());
    }
}
