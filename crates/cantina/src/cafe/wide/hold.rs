//! An end's hold on the tree it works on.

use super::tree::Tree;
use super::{List, waiting};
use crate::reclaim::{Domain, Member, Reclaims};
use machine::Arc;
use machine::atomic::AtomicPtr;
use machine::atomic::Ordering::{Acquire, SeqCst};
use std::ptr::{self, NonNull};

/// Which tree of the list an end works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Tail,
    Head,
}

/// The tree that an end works on, named by its hazard pointer from one call to the next.
pub(super) struct Hold<T> {
    pub(super) list: Arc<List<T>>,
    guard: Member<List<T>, 1>,
    tree: NonNull<Tree<T>>,
    end: End,
}

// SAFETY: the hazard pointer is its own, on whichever thread; tasks are sent.
unsafe impl<T: Send> Send for Hold<T> {}

impl<T> Tree<T> {
    /// The next tree of the list, or null.
    pub(super) fn next(&self) -> *mut Self {
        // next: the tree as it was linked.
        self.next.load(Acquire)
    }
}

impl<T> Hold<T> {
    pub(super) fn new(list: Arc<List<T>>, end: End) -> Self {
        let mut guard = Member::join(list.clone());
        let tree = NonNull::new(guard.protect(0, list.end(end))).expect("the list has a tree");
        Self { guard, tree, end, list }
    }

    /// The tree.
    pub(super) fn tree(&self) -> &Tree<T> {
        // SAFETY: named since it was found in its place, so not freed.
        unsafe { self.tree.as_ref() }
    }

    /// Goes on to the tree that the list names now. Whether that is another.
    #[inline]
    pub(super) fn follow(&mut self) -> bool {
        // tail: which tree producers fill. head: which one consumers empty.
        let now = self.list.end(self.end).load(SeqCst);
        let moved = !ptr::eq(now, self.tree.as_ptr());
        if moved {
            // The list always has a tree.
            let now = self.guard.protect(0, self.list.end(self.end));
            self.tree = NonNull::new(now).unwrap_or(self.tree);
        }
        moved
    }

    /// Whether the list's tail still names the tree.
    pub(super) fn is_last(&self) -> bool {
        // tail: later trees are not in use.
        ptr::eq(self.list.tail.load(SeqCst), self.tree.as_ptr())
    }

    /// Moves the tail from the tree, which is full, to `next`, which follows it. Whether nobody else did.
    pub(super) fn move_tail(&self, next: *mut Tree<T>) -> bool {
        // tail: that this one is full. On failure somebody else has moved it.
        self.list.tail.compare_exchange(self.tree.as_ptr(), next, SeqCst, SeqCst).is_ok()
    }

    /// Moves the head past the tree, whose leaves are closed, and retires it. Whether nobody else did.
    pub(super) fn pass(&mut self) -> bool {
        let old = self.tree;
        let (next, batch) = (self.tree().next(), waiting(self.tree().frame()));
        // head: that this one is closed and drained. On failure somebody else has moved it.
        let moved = self.list.head.compare_exchange(old.as_ptr(), next, SeqCst, SeqCst).is_ok();
        self.follow();
        if moved {
            // SAFETY: I5: neither head nor tail name it again (I1). What nobody names is private.
            unsafe {
                self.guard.retire_into(old, batch, |list, tree| {
                    list.keep(Box::from_raw(tree.as_ptr()));
                });
            }
        }
        moved
    }
}

// SAFETY: one of its fields.
unsafe impl<T> Reclaims<1> for List<T> {
    type Node = Tree<T>;

    fn domain(&self) -> &Domain<Tree<T>, 1> {
        &self.domain
    }
}

impl<T> List<T> {
    fn end(&self, end: End) -> &AtomicPtr<Tree<T>> {
        match end {
            End::Tail => &self.tail,
            End::Head => &self.head,
        }
    }
}
