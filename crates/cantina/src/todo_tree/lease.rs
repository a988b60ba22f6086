//! Leases: tasks that stay in their places until they are done.

use super::tree::Tree;
use machine::Arc;
use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::Deref;

/// A task that was taken and keeps its place: [`complete`](Self::complete) ends both, and dropping the lease, by a panic
/// or a `?`, puts the task back, for which there is always room. To the pool a leased task is taken, as if it had been
/// got: `None` does not count it, and `Full` counts its place.
///
/// A lease may outlive its consumer, and go to another thread. One that is leaked keeps its place and its task for ever,
/// unless the pool was built with [`leases`](super::Builder::leases): then those of a thread that has died can be
/// [recovered](super::Consumer::recover).
///
/// ```
/// use cantina::todo_tree::TodoTree;
///
/// let pool = TodoTree::builder().capacity(1).build().unwrap();
/// let mut worker = pool.worker();
/// worker.try_put("wash up").unwrap();
/// let lease = worker.take_leased().unwrap();
/// assert_eq!(*lease, "wash up");
/// assert_eq!(worker.get(), None);
/// assert!(worker.try_put("dry").is_err(), "it still has its place");
/// drop(lease);
/// worker.take_leased().unwrap().complete();
/// assert_eq!(worker.try_put("dry"), Ok(()));
/// ```
#[must_use = "a lease that is dropped puts its task back"]
pub struct Lease<T> {
    tree: Arc<Tree<T>>,
    block: usize,
    slot: u32,
    /// It hands out `&T`: so it may be shared only where a `T` may.
    task: PhantomData<T>,
}

impl<T> Lease<T> {
    /// The lease of a task that the caller has taken, and neither moved out nor given the place back of.
    pub(super) fn new(tree: Arc<Tree<T>>, block: usize, slot: u32) -> Self {
        Self { tree, block, slot, task: PhantomData }
    }

    /// The task is done: drops it and gives its place back.
    pub fn complete(self) {
        drop(self.into_inner());
    }

    /// The task is the caller's, and its place is given back.
    pub fn into_inner(self) -> T {
        let (tree, block, slot) = self.into_parts();
        // SAFETY: taken by us (I2), and moved out once: the lease is gone.
        unsafe { tree.finish(block, slot) }
    }

    /// As if its thread had died: the task is held until it is recovered. A model takes a lease that is forgotten for a leak.
    #[doc(hidden)]
    pub fn abandon(self) {
        self.into_place();
    }

    /// The place, whose task is still held.
    pub(super) fn into_place(self) -> usize {
        let (tree, block, slot) = self.into_parts();
        tree.layout.place(block, slot)
    }

    fn into_parts(self) -> (Arc<Tree<T>>, usize, u32) {
        let lease = ManuallyDrop::new(self);
        // SAFETY: the lease is not used or dropped after this, and the rest of it needs no drop.
        (unsafe { std::ptr::read(&lease.tree) }, lease.block, lease.slot)
    }
}

impl<T> Deref for Lease<T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: taken by us (I2), so nobody writes to the place before the lease ends (I1).
        unsafe { self.tree.task(self.block, self.slot) }
    }
}

impl<T> Drop for Lease<T> {
    fn drop(&mut self) {
        self.tree.give_back(self.block, self.slot);
    }
}

impl<T> fmt::Debug for Lease<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lease")
            .field("place", &self.tree.layout.place(self.block, self.slot))
            .finish()
    }
}
