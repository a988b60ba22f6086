//! Sets of threads, by slot.

use crate::engine::MAX_THREADS;

/// A set of slots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Slots([u64; MAX_THREADS.div_ceil(64)]);

impl Slots {
    pub(crate) fn insert(&mut self, slot: usize) {
        self.0[slot / 64] |= 1 << (slot % 64);
    }

    pub(crate) fn remove(&mut self, slot: usize) {
        self.0[slot / 64] &= !(1 << (slot % 64));
    }

    pub(crate) fn contains(&self, slot: usize) -> bool {
        self.0[slot / 64] & (1 << (slot % 64)) != 0
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

    /// The smallest member.
    pub(crate) fn first(&self) -> Option<usize> {
        self.nth(0)
    }

    /// The smallest member above `slot`, or else the smallest.
    pub(crate) fn after(&self, slot: usize) -> Option<usize> {
        self.iter().find(|&member| member > slot).or_else(|| self.first())
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
        assert!(!set.contains(63) && set.contains(64));
        assert_eq!(set.len(), 5);
        assert_eq!((set.after(1), set.after(130)), (Some(64), Some(256)));
        assert_eq!(set.after(256), Some(0));
    }
}
