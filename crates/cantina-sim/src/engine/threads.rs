//! Who there is: virtual threads and sets of them.

use crate::engine::Access;
use crate::fibre::{Exit, Fibre};
use std::fmt;

/// How many virtual threads can be alive at once: 256, and the scenario's own.
pub const MAX_THREADS: usize = 257;

/// A virtual thread, by the order of birth; the scenario itself is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadId(pub u32);

impl fmt::Display for ThreadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "thread {}", self.0)
    }
}

/// What a thread waits for. Addresses are compared and never shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// It can run.
    Nothing,
    /// The end of another thread, whose packet is at `on`.
    Join { on: usize, thread: ThreadId },
    /// A token for the parker at `on`.
    Token { on: usize },
    /// The lock at `on`.
    Lock { on: usize, holder: Option<ThreadId> },
    /// Its deadline.
    Sleep,
}

impl Wait {
    /// The address it waits at.
    pub(crate) fn on(self) -> Option<usize> {
        match self {
            Self::Join { on, .. } | Self::Token { on } | Self::Lock { on, .. } => Some(on),
            Self::Nothing | Self::Sleep => None,
        }
    }
}

/// A virtual thread that has not ended.
pub(crate) struct Thread {
    pub(crate) id: ThreadId,
    pub(crate) name: Option<String>,
    pub(crate) wait: Wait,
    /// The virtual time at which the wait ends by itself.
    pub(crate) deadline: Option<u64>,
    /// Whether the last wait ended by its deadline.
    pub(crate) timed_out: bool,
    /// What it is about to do.
    pub(crate) about: Access,
    /// Its stack, except while it runs.
    pub(crate) fibre: Option<Box<Fibre>>,
    /// The way out of it, once it has started.
    pub(crate) exit: *const Exit,
}

/// A set of slots.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Slots([u64; MAX_THREADS.div_ceil(64)]);

impl Slots {
    pub(crate) fn insert(&mut self, slot: usize) {
        self.0[slot / 64] |= 1 << (slot % 64);
    }

    pub(crate) fn remove(&mut self, slot: usize) {
        self.0[slot / 64] &= !(1 << (slot % 64));
    }

    pub(crate) fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.iter().all(|&word| word == 0)
    }

    /// Its members, ascending.
    pub(crate) fn iter(self) -> impl Iterator<Item = usize> {
        self.0.into_iter().enumerate().flat_map(|(index, mut word)| {
            std::iter::from_fn(move || {
                let bit = word.trailing_zeros() as usize;
                word &= word.wrapping_sub(1);
                (bit < 64).then_some(index * 64 + bit)
            })
        })
    }

    /// The member that `rank` smaller ones precede.
    pub(crate) fn nth(&self, rank: usize) -> Option<usize> {
        let mut rank = rank;
        for (index, &word) in self.0.iter().enumerate() {
            let count = word.count_ones() as usize;
            if rank < count {
                let mut word = word;
                (0..rank).for_each(|_| word &= word - 1);
                return Some(index * 64 + word.trailing_zeros() as usize);
            }
            rank -= count;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_THREADS, Slots};

    #[test]
    fn a_set_knows_its_members_in_order() {
        let mut set = Slots::default();
        assert!(set.is_empty() && set.nth(0).is_none() && set.iter().next().is_none());
        let members = [0, 1, 63, 64, 130, MAX_THREADS - 1];
        members.iter().rev().for_each(|&slot| set.insert(slot));
        assert_eq!(set.iter().collect::<Vec<_>>(), members);
        assert_eq!((0..=6).map_while(|rank| set.nth(rank)).collect::<Vec<_>>(), members);
        set.remove(63);
        assert_eq!(set.nth(2), Some(64));
        assert_eq!(set.len(), 5);
    }
}
