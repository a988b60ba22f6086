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
    pub(crate) place: Place,
    pub(crate) bits: u64,
}

/// The pending stores of one thread, oldest first.
#[derive(Debug, Default)]
pub(crate) struct StoreBuffer(VecDeque<Pending>);

impl StoreBuffer {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn is_full(&self) -> bool {
        self.0.len() >= CAPACITY
    }

    pub(crate) fn push(&mut self, place: Place, bits: u64) {
        self.0.push_back(Pending { place, bits });
    }

    /// The oldest store, which becomes visible.
    pub(crate) fn pop(&mut self) -> Option<Pending> {
        self.0.pop_front()
    }

    /// What the thread itself would read at `place`, if that is in here.
    pub(crate) fn forward(&self, place: Place) -> Option<u64> {
        self.0.iter().rev().find(|pending| pending.place == place).map(|pending| pending.bits)
    }

    /// How many stores have to leave before none lies between `start` and `end`.
    pub(crate) fn until_clear_of(&self, start: usize, end: usize) -> usize {
        let inside = |pending: &Pending| (start..end).contains(&pending.place.address());
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
        buffer.push(one, 1);
        buffer.push(two, 2);
        buffer.push(one, 3);
        assert_eq!((buffer.forward(one), buffer.forward(two)), (Some(3), Some(2)));
        assert_eq!(buffer.until_clear_of(two.address(), two.address() + 8), 2);
        assert_eq!(buffer.until_clear_of(one.address(), one.address() + 1), 3);
        assert_eq!(buffer.until_clear_of(0, 1), 0);
        assert_eq!(buffer.pop().map(|pending| pending.bits), Some(1));
        assert_eq!(buffer.forward(one), Some(3));
    }
}
