//! A store buffer: what a processor has written and others cannot see yet.
//!
//! Stores leave it in the order they came. The processor's own loads look here first. What x86 calls
//! TSO is this and nothing else.

use crate::memory::place::Place;
use std::collections::VecDeque;

/// Stores that fit into a buffer.
pub(crate) const CAPACITY: usize = 24;

/// A store that is not visible yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pending {
    pub(crate) address: usize,
    /// The word and what to write there; `None` for plain data, which is there already.
    pub(crate) word: Option<(Place, u64)>,
    /// When it came, where that matters.
    pub(crate) issued: u64,
}

/// The pending stores of one thread, oldest first.
#[derive(Debug, Default)]
pub(crate) struct StoreBuffer(VecDeque<Pending>);

impl StoreBuffer {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many stores it can take.
    pub(crate) fn room(&self) -> usize {
        CAPACITY.saturating_sub(self.0.len())
    }

    /// A store of `bits` at `place`.
    pub(crate) fn push(&mut self, place: Place, bits: u64, issued: u64) {
        self.0.push_back(Pending { address: place.address(), word: Some((place, bits)), issued });
    }

    /// A store of plain data at `address`.
    pub(crate) fn push_plain(&mut self, address: usize, issued: u64) {
        self.0.push_back(Pending { address, word: None, issued });
    }

    /// The oldest store, which becomes visible.
    pub(crate) fn pop(&mut self) -> Option<Pending> {
        self.0.pop_front()
    }

    /// The oldest store.
    pub(crate) fn oldest(&self) -> Option<&Pending> {
        self.0.front()
    }

    /// What the thread itself would read at `place`, if that is in here.
    pub(crate) fn forward(&self, place: Place) -> Option<u64> {
        let words = self.0.iter().rev().filter_map(|pending| pending.word);
        words.into_iter().find(|&(word, _)| word == place).map(|(_, bits)| bits)
    }

    /// Whether the thread itself would find the word at `address` in here.
    pub(crate) fn has(&self, address: usize) -> bool {
        self.0.iter().any(|pending| pending.address == address && pending.word.is_some())
    }

    /// How many stores have to leave before none lies between `start` and `end`.
    pub(crate) fn until_clear_of(&self, start: usize, end: usize) -> usize {
        let inside = |pending: &Pending| (start..end).contains(&pending.address);
        self.0.iter().rposition(inside).map_or(0, |last| last + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::StoreBuffer;
    use crate::memory::place::Place;

    #[test]
    fn the_newest_store_is_forwarded_and_the_oldest_leaves() {
        let mut words = [0u64; 2];
        // SAFETY: two words that live until the end of the test and nobody else uses.
        let [one, two] =
            words.each_mut().map(|word| unsafe { Place::new((&raw mut *word).cast(), 8) });
        let mut buffer = StoreBuffer::default();
        assert_eq!(buffer.forward(one), None);
        buffer.push(one, 1, 0);
        buffer.push(two, 2, 0);
        buffer.push_plain(one.address(), 0);
        buffer.push(one, 3, 0);
        assert_eq!((buffer.forward(one), buffer.forward(two)), (Some(3), Some(2)));
        assert_eq!(buffer.until_clear_of(two.address(), two.address() + 8), 2);
        assert_eq!(buffer.until_clear_of(one.address(), one.address() + 1), 4);
        assert_eq!(buffer.until_clear_of(0, 1), 0);
        assert_eq!(buffer.pop().and_then(|pending| pending.word), Some((one, 1)));
        assert_eq!(buffer.forward(one), Some(3));
    }
}
