//! The free blocks of a core.
//!
//! Allocators of today give each thread a heap of its own. What a thread frees of its own memory it has
//! again at once; what others free of it they push onto a list that its owner looks into when it has
//! nothing left, a few blocks at a time. So passing blocks on costs more than using them up, and
//! most where both sides are at it at once.

/// How many returned blocks the owner takes at a time.
const TAKEN: usize = 7;

/// Free blocks by class; the last freed is the first used.
#[derive(Debug, Default)]
pub(crate) struct Heap {
    own: Vec<Vec<usize>>,
    /// What others have freed.
    returned: Vec<Vec<usize>>,
}

impl Heap {
    /// A free block of `class` that starts at a multiple of `align`.
    pub(crate) fn take(&mut self, class: usize, align: usize) -> Option<usize> {
        let list = self.own.get_mut(class)?;
        let index = list.iter().rposition(|&block| block % align == 0)?;
        Some(list.remove(index))
    }

    /// Takes some returned blocks of `class` for its own: which they are, the first one first.
    pub(crate) fn collect(&mut self, class: usize) -> Vec<usize> {
        let Some(list) = self.returned.get_mut(class) else { return Vec::new() };
        let taken = list.split_off(list.len().saturating_sub(TAKEN));
        if !taken.is_empty() {
            of(&mut self.own, class).extend(&taken);
        }
        taken.into_iter().rev().collect()
    }

    /// A block of `class` is free, by the hand of its owner.
    pub(crate) fn put(&mut self, class: usize, block: usize) {
        of(&mut self.own, class).push(block);
    }

    /// A block of `class` is free, by the hand of another.
    pub(crate) fn give_back(&mut self, class: usize, block: usize) {
        of(&mut self.returned, class).push(block);
    }

    /// All that is free.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = usize> {
        self.own.iter().chain(&self.returned).flatten().copied()
    }
}

fn of(lists: &mut Vec<Vec<usize>>, class: usize) -> &mut Vec<usize> {
    if lists.len() <= class {
        lists.resize_with(class + 1, Vec::new);
    }
    &mut lists[class]
}

#[cfg(test)]
mod tests {
    use super::Heap;

    #[test]
    fn what_was_freed_last_is_used_first() {
        let mut heap = Heap::default();
        assert_eq!(heap.take(3, 1), None);
        [16, 32, 48].into_iter().for_each(|block| heap.put(3, block));
        assert_eq!(
            [heap.take(3, 1), heap.take(3, 32), heap.take(3, 32)],
            [Some(48), Some(32), None]
        );
        assert_eq!(heap.take(2, 1), None);
    }

    #[test]
    fn what_others_freed_is_collected_a_few_at_a_time() {
        let mut heap = Heap::default();
        assert!(heap.collect(0).is_empty());
        (0..10).for_each(|block| heap.give_back(0, block));
        assert_eq!(heap.take(0, 1), None);
        assert_eq!(heap.collect(0), [9, 8, 7, 6, 5, 4, 3]);
        assert_eq!([heap.take(0, 1), heap.take(0, 1)], [Some(9), Some(8)]);
        assert_eq!(heap.collect(0), [2, 1, 0]);
        assert_eq!(heap.blocks().count(), 8);
    }
}
