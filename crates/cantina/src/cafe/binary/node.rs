//! A node of a binary tree, and the root's word.

use crate::cafe::metrics::Exchanges;
use machine::atomic::Ordering::SeqCst;
use machine::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64};
use machine::cell::UnsafeCell;
use machine::fence_after_rmw;
use machine::trace::{self, Role};
use std::mem::MaybeUninit;
use std::slice;

/// States of a node: nothing yet, a task, a task no longer.
const FREE: u8 = 0;
const FULL: u8 = 1;
const TAKEN: u8 = 2;

/// One change of a father's word.
const VERSION: u32 = 2;

/// A node: a place for one task, and what is known of the nodes below.
pub(super) struct Node<T> {
    /// For each child: its lowest bit says whether there are tasks at or below it, the rest is a version.
    below: [AtomicU32; 2],
    /// How many are about to change this node's bit in its father.
    pending: AtomicU32,
    /// Whether somebody has taken the place. See I1.
    dirty: AtomicBool,
    state: AtomicU8,
    /// See I2 and I3.
    task: UnsafeCell<MaybeUninit<T>>,
}

impl<T> Node<T> {
    pub(super) fn new() -> Self {
        Self {
            below: [AtomicU32::new(0), AtomicU32::new(0)],
            pending: AtomicU32::new(0),
            dirty: AtomicBool::new(false),
            state: AtomicU8::new(FREE),
            task: UnsafeCell::new(MaybeUninit::uninit()),
        }
    }

    /// Says what lies where in it, as a part of `tree`.
    pub(super) fn describe<W>(&self, tree: &W) {
        trace::row(tree, &self.below, "below", Role::Presence { bits: 1, children: 1 });
        trace::row(tree, slice::from_ref(&self.pending), "pending", Role::Number);
        trace::row(tree, slice::from_ref(&self.dirty), "dirty", Role::Number);
        trace::row(tree, slice::from_ref(&self.state), "state", Role::Number);
        trace::row(tree, slice::from_ref(&self.task), "task", Role::Task);
    }

    /// Whether its place is used.
    pub(super) fn is_dirty(&self) -> bool {
        // place: a node below is looked at only if this one is used.
        self.dirty.load(SeqCst)
    }

    /// Takes the place, if nobody has.
    pub(super) fn claim(&self) -> bool {
        // place: it is ours. On failure it is somebody's.
        self.dirty.compare_exchange(false, true, SeqCst, SeqCst).is_ok()
    }

    /// Writes the task.
    ///
    /// # Safety
    /// The caller has claimed the place and has not published it (I2).
    pub(super) unsafe fn write(&self, task: T) {
        // SAFETY: the caller's: nobody else looks at it yet.
        self.task.with_mut(|cell| unsafe { (*cell).write(task) });
    }

    /// Moves the task out.
    ///
    /// # Safety
    /// The caller has taken it (I3).
    pub(super) unsafe fn read(&self) -> T {
        // SAFETY: the caller's: it was published, and nobody else reads it.
        self.task.with_mut(|cell| unsafe { (*cell).assume_init_read() })
    }

    /// Nobody looks at it any more: this is the last access to its place.
    pub(super) fn end(&mut self) {
        self.task.with_mut(|_| ());
    }

    /// Makes the task visible to whoever looks at the node.
    pub(super) fn publish(&self) {
        // task: the task; and before `pending` is looked at.
        self.state.store(FULL, SeqCst);
        // pending: the task, then the look at who is pending.
        fence_after_rmw();
    }

    /// Whether it has a task.
    pub(super) fn is_full(&self) -> bool {
        // task: the task is there; whoever wants it takes it by an exchange.
        self.state.load(SeqCst) == FULL
    }

    /// Takes the task, if it is there.
    pub(super) fn take(&self) -> bool {
        // task: the task is ours. On failure it is somebody else's.
        self.state.compare_exchange(FULL, TAKEN, SeqCst, SeqCst).is_ok()
    }

    /// Whether there are tasks at or below its left and its right child.
    pub(super) fn bits(&self) -> [bool; 2] {
        [0, 1].map(|side| self.word(side) & 1 == 1)
    }

    /// Whether there are tasks at or below it.
    pub(super) fn has_tasks(&self) -> bool {
        let [left, right] = self.bits();
        left || right || self.is_full()
    }

    /// What is known of the child on that side.
    pub(super) fn word(&self, side: usize) -> u32 {
        // below: what was there when it was set.
        self.below[side].load(SeqCst)
    }

    /// Changes what is known of the child on that side, if it still is `old`.
    pub(super) fn change(&self, side: usize, old: u32, has_tasks: bool) -> bool {
        let new = (old & !1).wrapping_add(VERSION) | u32::from(has_tasks);
        // below: what is there. On failure somebody else has looked.
        self.below[side].compare_exchange(old, new, SeqCst, SeqCst).is_ok()
    }

    /// Whether somebody is about to change this node's bit in its father.
    pub(super) fn is_pending(&self) -> bool {
        // pending: a clearer that is not counted yet will see what was published.
        self.pending.load(SeqCst) > 0
    }

    /// Does `change`, and is counted as pending meanwhile.
    pub(super) fn while_pending<R>(&self, change: impl FnOnce() -> R) -> R {
        // pending: we are counted before we look.
        self.pending.fetch_add(1, SeqCst);
        // pending: the count, then the looks.
        fence_after_rmw();
        let result = change();
        // pending: our change comes before we are counted no longer.
        self.pending.fetch_sub(1, SeqCst);
        result
    }
}

/// The root: what is known of both its children, whether its own task is there, and a version.
pub(super) struct Root(AtomicU64);

/// A value of the root's word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seen(u64);

const OWN: u64 = 1 << 2;
const ROOT_VERSION: u64 = 1 << 3;

impl Seen {
    /// Whether the tree is empty.
    pub(super) fn is_empty(self) -> bool {
        self.0 & (ROOT_VERSION - 1) == 0
    }

    /// Whether the root's own task is there.
    pub(super) fn has_own(self) -> bool {
        self.0 & OWN != 0
    }

    /// Whether there are tasks at or below the left and the right child.
    pub(super) fn bits(self) -> [bool; 2] {
        [0, 1].map(|side| self.has(side))
    }

    fn has(self, side: usize) -> bool {
        self.0 & 1 << side != 0
    }
}

impl Root {
    pub(super) fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// Says what it is, as a part of `tree`.
    pub(super) fn describe<W>(&self, tree: &W) {
        let role = Role::Presence { bits: ROOT_VERSION.ilog2(), children: 2 };
        trace::row(tree, slice::from_ref(&self.0), "root", role);
    }

    pub(super) fn look(&self) -> Seen {
        // below: what was there when it was set.
        Seen(self.0.load(SeqCst))
    }

    /// Says that the root's own task is there. Once in the life of a tree (I2), so it can be added.
    pub(super) fn publish_own(&self) {
        // task: the task. The version moves too: who looks twice must see that it was there.
        self.0.fetch_add(OWN + ROOT_VERSION, SeqCst);
    }

    /// Takes the root's own task, if it is there.
    pub(super) fn take_own(&self) -> bool {
        // task: the task is ours, if it was there.
        Seen(self.0.fetch_and(!OWN, SeqCst)).has_own()
    }

    /// Says that there are tasks at or below the child on that side. It cannot fail: an exchange that is
    /// tried so many times could be in vain each time, for both sides share the word.
    pub(super) fn show<T>(&self, child: &Node<T>, side: usize, cas: &mut Exchanges) {
        // Pending first (K1).
        let pending = child.is_pending();
        if self.look().has(side) && !pending {
            return;
        }
        // below: whoever looked before and wants to clear the bit now fails.
        let old = Seen(self.0.fetch_add(ROOT_VERSION, SeqCst));
        if !old.has(side) {
            // below: after the new version, or a clearer in between would be missed.
            self.0.fetch_or(1 << side, SeqCst);
            cas.add(1);
        }
        cas.add(1);
    }

    /// Says that there are none, if so. One attempt: a bit that is left over a later get clears.
    pub(super) fn clear<T>(&self, child: &Node<T>, side: usize, cas: &mut Exchanges) {
        cas.add(2);
        child.while_pending(|| {
            let seen = self.look();
            if seen.has(side) && !child.has_tasks() {
                // below: nothing is there. On failure somebody has put, or taken something.
                let done = self.0.compare_exchange(seen.0, seen.0 & !(1 << side), SeqCst, SeqCst);
                cas.note(done.is_ok());
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::Root;

    #[test]
    fn a_root_whose_own_task_came_and_went_is_not_as_before() {
        let root = Root::new();
        let before = root.look();
        root.publish_own();
        assert!(root.take_own() && root.look().is_empty());
        assert_ne!(root.look(), before, "who looks twice has to see it");
    }
}
