//! The lock-free queue of Michael and Scott (PODC 1996, figure 1), with hazard pointers (Michael,
//! IEEE TPDS 2004, figure 7) in the place of counted pointers.
//!
//! A linked list whose first node is a dummy: its task is gone. `head` names the dummy, `tail` the
//! last node or one before it. A put links its node behind the last one and moves `tail`; whoever
//! finds `tail` behind moves it first. A get moves `head` to the next node, which is the new dummy,
//! and takes that node's task.
//!
//! # Progress
//! Lock-free, but for the allocator: when an exchange fails, somebody else's has succeeded.
//!
//! # Linearization
//! First in, first out. `put` when its node is linked, `get` when it moves `head`; an empty queue
//! when it finds that the dummy has no successor: nothing moves `head` off the last node, so it was
//! still the dummy.
//!
//! # Invariants
//! * **I1** nodes are linked once, behind the last one, and numbered in that order from the dummy's 0.
//! * **I2** `head` only moves on to the next node; `tail` too, and it is never behind `head`.
//! * **I3** from the node behind the dummy on, tasks are initialized. The task of a node belongs to
//!   whoever moved `head` to that node.
//! * **I4** a node is retired by whoever moved `head` off it, when `tail` was past it: neither names
//!   it again.
//!
//! A node number is a [stamp](super::lane::Stamp): if an empty queue has the same dummy as before,
//! nothing was put meanwhile (I1, I2).
//!
//! # Orderings
//! | edge | release side | acquire side | carries |
//! |---|---|---|---|
//! | `link` | `put` links its node | `get`; a `put` that helps | the node: its task, its number |
//! | `tail` | whoever moves `tail` | the next `put`: protecting the last node | the node, to those that did not see it linked |
//! | `head` | `get` moves `head` | the next `get`: protecting the dummy | what `get`'s thread did before: its own puts, and that it saw `tail` past the old dummy |
//!
//! The fence in every announcement carries some of that as well, but it is there for the hazard
//! pointers, and nothing here relies on it.
//!
//! # Memory
//! A node per task, freed when the next task has been got and nobody looks at it. A handle keeps
//! fewer than a batch of retired nodes, and those that somebody looks at. The queue drops the tasks
//! nobody got.

use super::Central;
use super::lane::{Lane, Member, Stamp};
use cantina::pool::drop_all;
use machine::atomic::AtomicPtr;
use machine::atomic::Ordering::{Acquire, Relaxed, Release};
use machine::cell::UnsafeCell;
use machine::trace::{self, Role};
use machine::{Backoff, CachePadded};
use std::fmt;
use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};

/// A pool that is one queue.
pub type MsQueue<T> = Central<Queue<T>>;

/// The queue; see the [module](self).
pub struct Queue<T> {
    /// The dummy. See I2.
    head: CachePadded<AtomicPtr<Node<T>>>,
    /// The last node, or one before. See I2.
    tail: CachePadded<AtomicPtr<Node<T>>>,
}

/// A task on its way.
pub struct Node<T> {
    /// The node that was put next. See I1.
    next: AtomicPtr<Node<T>>,
    /// See I1; written before the node is linked.
    number: UnsafeCell<u64>,
    /// See I3.
    task: UnsafeCell<MaybeUninit<T>>,
}

/// The slot for the node at the end that one works at.
const END: usize = 0;
/// The slot for the node behind the dummy.
const NEXT: usize = 1;

// SAFETY: I3: a task has one user at a time, so it moves between threads and is never shared.
unsafe impl<T: Send> Send for Node<T> {}
// SAFETY: as above; all else that is shared is atomic, or written before it is.
unsafe impl<T: Send> Send for Queue<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Queue<T> {}

impl<T> Node<T> {
    fn new(task: MaybeUninit<T>) -> *mut Self {
        let node = Box::new(Self {
            next: AtomicPtr::new(ptr::null_mut()),
            number: UnsafeCell::new(0),
            task: UnsafeCell::new(MaybeUninit::uninit()),
        });
        trace::node(&*node, "node");
        trace::part(&node.next, "next", Role::Link);
        trace::part(&node.task, "task", Role::Task);
        trace::part(&node.number, "number", Role::Number);
        // SAFETY: nobody else knows it.
        node.task.with_mut(|cell| unsafe { *cell = task });
        Box::into_raw(node)
    }

    /// # Safety
    /// The node is linked, or the dummy.
    unsafe fn number(&self) -> u64 {
        // SAFETY: it was written before the node was linked.
        self.number.with(|number| unsafe { *number })
    }

    /// # Safety
    /// I3: the task is there, and the caller's.
    unsafe fn take(&self) -> T {
        // SAFETY: the caller's.
        let task = self.task.with_mut(|task| unsafe { (*task).assume_init_read() });
        trace::gone(&self.task);
        task
    }
}

impl<T: Send> Lane for Queue<T> {
    type Task = T;
    type Node = Node<T>;

    fn new() -> Self {
        let dummy = Node::new(MaybeUninit::uninit());
        Self {
            head: CachePadded::new(AtomicPtr::new(dummy)),
            tail: CachePadded::new(AtomicPtr::new(dummy)),
        }
    }

    fn describe(&self) {
        trace::structure(self, "queue");
        trace::part(&*self.head, "head", Role::Link);
        trace::part(&*self.tail, "tail", Role::Link);
    }

    unsafe fn free(node: NonNull<Node<T>>) {
        // SAFETY: it came from a box, and nobody looks at it.
        let node = unsafe { Box::from_raw(node.as_ptr()) };
        trace::gone(&*node);
        // To a model, freeing is a write.
        node.task.with_mut(|_| ());
    }

    unsafe fn put(&self, member: &mut Member<Self>, task: T) {
        let node = Node::new(MaybeUninit::new(task));
        let backoff = Backoff::new();
        loop {
            // tail: by the look that protects.
            let tail = member.protect(END, &self.tail);
            // SAFETY: protected; `tail` does not name retired nodes (I4).
            let last = unsafe { &*tail };
            // link: passed on by the exchange below.
            let next = last.next.load(Acquire);
            if !next.is_null() {
                self.move_tail(tail, next);
                continue;
            }
            // SAFETY: linked, as `tail` names it.
            let number = unsafe { last.number() } + 1;
            // SAFETY: not linked yet, so nobody else knows it.
            unsafe { (*node).number.with_mut(|cell| *cell = number) };
            // link: the node's contents. On failure nothing is read.
            if last.next.compare_exchange(ptr::null_mut(), node, Release, Relaxed).is_ok() {
                self.move_tail(tail, node);
                break;
            }
            backoff.spin();
        }
        member.clear_all();
    }

    unsafe fn get(&self, member: &mut Member<Self>) -> Result<T, Stamp> {
        let backoff = Backoff::new();
        loop {
            // head: by the look that protects.
            let head = member.protect(END, &self.head);
            // SAFETY: protected; `head` does not name retired nodes (I4).
            let dummy = unsafe { &*head };
            // link: the task that we may be about to take.
            let next = dummy.next.load(Acquire);
            if next.is_null() {
                // SAFETY: it is the dummy.
                let stamp = Stamp(unsafe { dummy.number() });
                member.clear_all();
                return Err(stamp);
            }
            // For I4: a node is not retired while `tail` names it.
            // bare: by `head` we see it at the dummy or past it, and it does not come back (I2).
            if self.tail.load(Relaxed) == head {
                self.move_tail(head, next);
            }
            member.announce(NEXT, next);
            // head: what we did before. If it succeeds `head` has not moved since it was protected,
            // and `next` was not retired when it was announced. On failure nothing is read.
            if self.head.compare_exchange(head, next, Release, Relaxed).is_ok() {
                // SAFETY: protected, and we moved `head` to it, so its task is ours (I3).
                let task = unsafe { (*next).take() };
                member.clear_all();
                // SAFETY: we moved `head` off it, and `tail` is past it (I4).
                unsafe { member.retire(NonNull::new_unchecked(head)) };
                return Ok(task);
            }
            backoff.spin();
        }
    }
}

impl<T> Queue<T> {
    /// Moves `tail` from a node that is protected to the one behind it, unless somebody has.
    fn move_tail(&self, from: *mut Node<T>, to: *mut Node<T>) {
        // tail: the node, which we have linked or have seen linked. On failure nothing is read.
        let _ = self.tail.compare_exchange(from, to, Release, Relaxed);
    }

    /// Takes the next task and frees the dummy; without one too, and then nothing is left.
    fn take_apart(&mut self) -> Option<T> {
        // own: `&mut self`.
        let dummy = self.head.load(Relaxed);
        if dummy.is_null() {
            return None;
        }
        // SAFETY: linked, so not retired, so not freed; and nobody else is left.
        let dummy = unsafe { Box::from_raw(dummy) };
        // own: as above.
        let next = dummy.next.load(Relaxed);
        // own: as above.
        self.head.store(next, Relaxed);
        // SAFETY: `head` was just moved to it, by us (I3).
        NonNull::new(next).map(|next| unsafe { next.as_ref().take() })
    }
}

impl<T> Drop for Queue<T> {
    fn drop(&mut self) {
        trace::gone(self);
        drop_all(|| self.take_apart());
    }
}

impl<T> fmt::Debug for Queue<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Node<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Node").finish_non_exhaustive()
    }
}
