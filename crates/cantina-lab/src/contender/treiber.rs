//! Treiber's lock-free stack (IBM RJ 5118, 1986), with hazard pointers as Michael has them
//! (IEEE TPDS 2004, figure 6) and backoff.
//!
//! A linked list: `top` names the newest node, each node the one below. A put moves `top` to its
//! node, a get moves it to the node below.
//!
//! The word under the last node is not null but a *floor*: the number of times that the stack has
//! been emptied, in a pointer that no node can have. Taking the last node leaves a new floor. It
//! costs nothing, and makes a [stamp](super::lane::Stamp) of it: the same floor means that nothing
//! was put meanwhile.
//!
//! # Progress
//! Lock-free, but for the allocator: when an exchange fails, somebody else's has succeeded. Who fails
//! waits a little longer each time.
//!
//! # Linearization
//! Last in, first out, at the exchange of `top`; an empty stack when it finds a floor there.
//!
//! # Invariants
//! * **I1** the state is `top` and the nodes under it. `below` is written before its node is linked.
//! * **I2** a node is linked once. Its task belongs to whoever moved `top` off it to what is below.
//! * **I3** a node is retired by whoever took its task; `top` does not name it again.
//! * **I4** no two floors of a stack are equal.
//!
//! # Orderings
//! | edge | release side | acquire side | carries |
//! |---|---|---|---|
//! | `top` | `put`, `get`: the exchange of `top` | `get`: the looks at `top` | the nodes from the top down, and what the other threads did before: their own puts |
//!
//! All that ever changes `top` are exchanges, so whoever acquires one acquires all before it. That a
//! get releases matters to a pool of several stacks. The fence in every announcement carries that as
//! well, but it is there for the hazard pointers, and nothing here relies on it.
//!
//! # Memory
//! A node per task, freed when its task has been got and nobody looks at it. A handle keeps fewer
//! than a batch of retired nodes, and those that somebody looks at. The stack drops the tasks nobody
//! got.

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

/// A pool that is one stack.
pub type Treiber<T> = Central<Stack<T>>;

/// The stack; see the [module](self).
pub struct Stack<T> {
    /// The newest node, or a floor. See I1.
    top: CachePadded<AtomicPtr<Node<T>>>,
}

/// A task on its way.
pub struct Node<T> {
    /// The next older node, or a floor. See I1.
    below: UnsafeCell<*mut Node<T>>,
    /// See I2.
    task: UnsafeCell<MaybeUninit<T>>,
}

/// The slot for the node at the top.
const TOP: usize = 0;

// SAFETY: I2: a task has one user at a time, so it moves between threads and is never shared.
unsafe impl<T: Send> Send for Node<T> {}
// SAFETY: as above; all else that is shared is atomic, or written before it is.
unsafe impl<T: Send> Send for Stack<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Stack<T> {}

/// The floor of a stack that has been emptied so often.
fn floor<T>(emptied: u64) -> *mut Node<T> {
    ptr::without_provenance_mut((emptied << 1 | 1) as usize)
}

/// How often the stack has been emptied, if this is a floor: nodes have even addresses.
fn as_floor<T>(node: *mut Node<T>) -> Option<u64> {
    let address = node.addr() as u64;
    (address & 1 == 1).then_some(address >> 1)
}

/// The node that is at this address now. A put may have found an earlier one there, gone since, and
/// have linked its own node above the later one: same address, stale pointer.
fn node_at<T>(top: *mut Node<T>) -> *mut Node<T> {
    ptr::with_exposed_provenance_mut(top.addr())
}

impl<T> Node<T> {
    fn new(task: T) -> *mut Self {
        let node = Box::new(Self {
            below: UnsafeCell::new(ptr::null_mut()),
            task: UnsafeCell::new(MaybeUninit::uninit()),
        });
        trace::node(&*node, "node");
        trace::part(&node.below, "below", Role::Link);
        trace::part(&node.task, "task", Role::Task);
        // SAFETY: nobody else knows it.
        node.task.with_mut(|cell| unsafe { (*cell).write(task) });
        let node = Box::into_raw(node);
        // For `node_at`.
        let _ = node.expose_provenance();
        node
    }

    /// What `top` moves to when this node is taken off.
    ///
    /// # Safety
    /// It is linked, or was.
    unsafe fn below(&self) -> *mut Self {
        // SAFETY: I1.
        let below = self.below.with(|below| unsafe { *below });
        as_floor(below).map_or(below, |emptied| floor(emptied + 1))
    }

    /// # Safety
    /// I2: the task is the caller's.
    unsafe fn take(&self) -> T {
        // SAFETY: the caller's.
        let task = self.task.with_mut(|task| unsafe { (*task).assume_init_read() });
        trace::gone(&self.task);
        task
    }
}

impl<T: Send> Lane for Stack<T> {
    type Task = T;
    type Node = Node<T>;

    fn new() -> Self {
        Self { top: CachePadded::new(AtomicPtr::new(floor(0))) }
    }

    fn describe(&self) {
        trace::structure(self, "stack");
        trace::part(&*self.top, "top", Role::Link);
    }

    unsafe fn free(node: NonNull<Node<T>>) {
        // SAFETY: it came from a box, and nobody looks at it.
        let node = unsafe { Box::from_raw(node.as_ptr()) };
        trace::gone(&*node);
        // To a model, freeing is a write.
        node.task.with_mut(|_| ());
    }

    unsafe fn put(&self, _: &mut Member<Self>, task: T) {
        let node = Node::new(task);
        let backoff = Backoff::new();
        loop {
            // hint: only named, not looked at; the exchange decides.
            let top = self.top.load(Relaxed);
            // SAFETY: not linked yet, so nobody else knows it.
            unsafe { (*node).below.with_mut(|below| *below = top) };
            // top: the node's contents. On failure nothing is read.
            if self.top.compare_exchange(top, node, Release, Relaxed).is_ok() {
                return;
            }
            backoff.spin();
        }
    }

    unsafe fn get(&self, member: &mut Member<Self>) -> Result<T, Stamp> {
        let backoff = Backoff::new();
        loop {
            // top: an empty stack's story ends here.
            let top = self.top.load(Acquire);
            if let Some(emptied) = as_floor(top) {
                member.clear_all();
                return Err(Stamp(emptied));
            }
            member.announce(TOP, top);
            // top: the node as it was linked, which need not be the one of the first look.
            if self.top.load(Acquire) != top {
                continue;
            }
            let node = node_at(top);
            // SAFETY: announced, and then still linked, so not retired before (I3).
            let below = unsafe { (*node).below() };
            // top: what we did before. The node is protected, so it is the same if it is here. On
            // failure nothing is read.
            if self.top.compare_exchange(top, below, Release, Relaxed).is_ok() {
                // SAFETY: protected, and we moved `top` off it, so its task is ours (I2).
                let task = unsafe { (*node).take() };
                member.clear_all();
                // SAFETY: we moved `top` off it (I3).
                unsafe { member.retire(NonNull::new_unchecked(node)) };
                return Ok(task);
            }
            backoff.spin();
        }
    }
}

impl<T> Stack<T> {
    /// Takes the newest task and frees its node.
    fn take_apart(&mut self) -> Option<T> {
        // own: `&mut self`.
        let top = self.top.load(Relaxed);
        if as_floor(top).is_some() {
            return None;
        }
        // SAFETY: linked, so not retired, so not freed; and nobody else is left.
        let node = unsafe { Box::from_raw(node_at(top)) };
        // SAFETY: it is linked.
        let below = unsafe { node.below() };
        // own: as above.
        self.top.store(below, Relaxed);
        // SAFETY: `top` was just moved off it, by us (I2).
        Some(unsafe { node.take() })
    }
}

impl<T> Drop for Stack<T> {
    fn drop(&mut self) {
        trace::gone(self);
        drop_all(|| self.take_apart());
    }
}

impl<T> fmt::Debug for Stack<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stack").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Node<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Node").finish_non_exhaustive()
    }
}
