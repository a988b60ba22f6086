//! Copies of leased tasks: one that dawdles can be taken over from, also while it lives.

use super::tree::Tree;
use machine::Arc;
use std::fmt;
use std::ops::{Deref, DerefMut};

/// A copy of a task that was taken and keeps its place, as with a [`Lease`](super::Lease). Since nobody looks at the place itself
/// meanwhile, the task can be taken from a worker that is only slow: see [`Consumer::reclaim`](super::Consumer::reclaim). Then it
/// may be done twice, and [`complete`](Self::complete) tells one of them.
///
/// Dropped before it is complete, it puts the task back, unless it was reclaimed. What was done to the copy is not seen then.
///
/// ```
/// use cantina::todo_tree::TodoTree;
///
/// let pool = TodoTree::builder().leases(true).build().unwrap();
/// pool.producer().try_put("wash up".to_owned()).unwrap();
/// let mut slow = pool.consumer();
/// let late = slow.take_cloned().unwrap();
/// let mut other = pool.consumer();
/// assert_eq!(other.reclaim(slow.id()), 1);
/// let task = other.take_cloned().unwrap();
/// assert_eq!(*task, "wash up");
/// assert!(task.complete().is_ok());
/// assert_eq!(late.complete().unwrap_err().into_inner(), "wash up");
/// ```
#[must_use = "a copy that is dropped puts its task back"]
pub struct ClonedLease<T> {
    tree: Arc<Tree<T>>,
    place: usize,
    /// What the place's owner word says as long as the task is ours.
    owner: u64,
    /// There until the end.
    copy: Option<T>,
}

/// The task was [reclaimed](super::Consumer::reclaim) from whoever comes to complete it. What it has done may be done again.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Reclaimed<T>(T);

impl<T> Reclaimed<T> {
    /// The copy.
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<T> fmt::Display for Reclaimed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the task was taken over by somebody else")
    }
}

impl<T> fmt::Debug for Reclaimed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Reclaimed(..)")
    }
}

impl<T> std::error::Error for Reclaimed<T> {}

impl<T> ClonedLease<T> {
    /// A copy of the task in a place, whose owner word says so.
    pub(super) fn new(tree: Arc<Tree<T>>, place: usize, owner: u64, copy: T) -> Self {
        Self { tree, place, owner, copy: Some(copy) }
    }

    /// The task is done: drops it, gives its place back, and hands out the copy.
    ///
    /// # Errors
    /// [`Reclaimed`], with the copy, when the task was taken over: it is somebody else's to complete.
    pub fn complete(mut self) -> Result<T, Reclaimed<T>> {
        let copy = self.copy.take().expect("it is there until the end");
        if !self.tree.hold_again(self.place, self.owner) {
            return Err(Reclaimed(copy));
        }
        let (block, slot) = self.tree.layout.block_of(self.place);
        // SAFETY: held by us, and moved out once: no other copy has this owner word.
        drop(unsafe { self.tree.finish(block, slot) });
        Ok(copy)
    }
}

impl<T> Deref for ClonedLease<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.copy.as_ref().expect("it is there until the end")
    }
}

impl<T> DerefMut for ClonedLease<T> {
    fn deref_mut(&mut self) -> &mut T {
        self.copy.as_mut().expect("it is there until the end")
    }
}

impl<T> Drop for ClonedLease<T> {
    fn drop(&mut self) {
        if self.copy.is_some() && self.tree.hold_again(self.place, self.owner) {
            let (block, slot) = self.tree.layout.block_of(self.place);
            self.tree.give_back(block, slot);
        }
    }
}

impl<T> fmt::Debug for ClonedLease<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClonedLease").field("place", &self.place).finish()
    }
}
