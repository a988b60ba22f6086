//! Trees to be used again, and when it is better to wait for one than to make one.
//!
//! Producers that are many trees ahead fill memory that nobody has touched, page by page, and what they filled leaves the caches before
//! anybody gets it. Where there are more threads than processors they are ahead because no consumer has its turn.

use super::frame::Frame;
use super::tree::Tree;
use machine::atomic::AtomicPtr;
use machine::atomic::Ordering::{Acquire, Relaxed, Release};
use std::ptr::{self, NonNull};

/// The most trees that are kept.
pub(super) const MOST_KEPT: usize = 32;
/// The most small ones.
const MOST_SMALL: usize = 8;
/// Bytes of the trees that are kept, in all, unless that is less than one.
const KEPT_BYTES: usize = 4 << 20;
/// A tree of fewer bytes is small: it is made in less time than a turn takes.
const WORTH_A_TURN: usize = 16 << 10;

/// How many trees of that frame are kept.
pub(super) fn kept<T>(frame: Frame) -> usize {
    let bytes = Tree::<T>::bytes(frame);
    let most = if bytes < WORTH_A_TURN { MOST_SMALL } else { MOST_KEPT };
    (KEPT_BYTES / bytes).clamp(1, most)
}

/// Whether producers are so far ahead that others should have a turn before one more tree of that frame is made, where there are so
/// many `trees` already.
pub(super) fn is_too_much<T>(frame: Frame, trees: usize) -> bool {
    Tree::<T>::bytes(frame) >= WORTH_A_TURN && trees > kept::<T>(frame)
}

/// Private trees without tasks, as new.
pub(super) struct Spares<T>(Box<[AtomicPtr<Tree<T>>]>);

impl<T> Spares<T> {
    pub(super) fn new(room: usize) -> Self {
        Self((0..room).map(|_| AtomicPtr::new(ptr::null_mut())).collect())
    }

    /// One of those that were kept as one of at most so many.
    pub(super) fn take(&self, most: usize) -> Option<Box<Tree<T>>> {
        self.0.iter().take(most).find_map(|cell| {
            // hint: a hint; the swap decides.
            if cell.load(Relaxed).is_null() {
                return None;
            }
            // spare: whoever had the tree before has let go of it.
            let tree = NonNull::new(cell.swap(ptr::null_mut(), Acquire))?;
            // SAFETY: from a box, by `put`, and taken out by us.
            Some(unsafe { Box::from_raw(tree.as_ptr()) })
        })
    }

    /// Keeps `tree`, or gives it back when there are `most` already.
    pub(super) fn put(&self, tree: Box<Tree<T>>, most: usize) -> Result<(), Box<Tree<T>>> {
        let tree = Box::into_raw(tree);
        let kept = self.0.iter().take(most).any(|cell| {
            // hint: a hint; the exchange decides.
            cell.load(Relaxed).is_null()
                // spare: we let go of the tree. On failure nothing is read.
                && cell.compare_exchange(ptr::null_mut(), tree, Release, Relaxed).is_ok()
        });
        // SAFETY: from the box above, and still ours.
        if kept { Ok(()) } else { Err(unsafe { Box::from_raw(tree) }) }
    }
}

impl<T> Drop for Spares<T> {
    fn drop(&mut self) {
        while self.take(MOST_KEPT).is_some() {}
    }
}

#[cfg(test)]
mod tests {
    use super::super::frame::{FAN, Frame};
    use super::super::{SLOTS, tree::Tree};
    use super::{KEPT_BYTES, MOST_KEPT, is_too_much, kept};

    fn frame(height: u32) -> Frame {
        Frame::new(height, SLOTS, FAN).unwrap()
    }

    #[test]
    fn four_megabytes_of_large_trees_are_kept_and_eight_small_ones() {
        let kept_of = |height| kept::<u64>(frame(height));
        assert_eq!([0, 5, 9, 10, 12, 13, 14, 16].map(kept_of), [8, 8, 8, 32, 32, 21, 10, 4]);
        assert_eq!((kept::<[u64; 16]>(frame(12)), kept::<[u8; 1 << 23]>(frame(0))), (3, 1));
        for height in 0..=16 {
            assert!(kept_of(height) * Tree::<u64>::bytes(frame(height)) <= KEPT_BYTES);
        }
    }

    #[test]
    fn others_have_a_turn_before_many_large_trees_are_made() {
        assert!(is_too_much::<u64>(frame(12), MOST_KEPT + 1));
        assert!(!is_too_much::<u64>(frame(12), MOST_KEPT));
        assert!(!is_too_much::<u64>(frame(5), 1_000));
    }
}
