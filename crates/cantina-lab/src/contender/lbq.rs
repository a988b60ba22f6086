//! The papers' locked queue: two locks, one per end.
//!
//! What the papers call LBQ is Java's `LinkedBlockingQueue`, which is the two-lock queue of Michael
//! and Scott (PODC 1996, figure 2): a linked list whose first node is a dummy, so that those who put
//! and those who get meet only at an empty queue. Java's also counts its tasks, to bound them and to
//! wake who waits; neither is asked for here.
//!
//! # Progress
//! Blocking: a put waits for the thread that holds the lock of the tail, a get for the one that holds
//! the lock of the head. Neither waits for the other. No user code runs under a lock, and nothing is
//! allocated or freed, except that `get_many` makes room in its `Vec`.
//!
//! # Linearization
//! First in, first out. A put when its node is linked, a get when it moves the head; an empty queue
//! when it finds that the dummy has no successor. `get_many` takes all it gets under the lock.
//!
//! # Invariants
//! * **I1** the head names the dummy and belongs to who holds its lock. So does the tail, the last
//!   node.
//! * **I2** from the node behind the dummy on, tasks are initialized. The task of a node belongs to
//!   whoever moved the head to that node.
//! * **I3** a node that the head has left has a successor, so nobody writes to it any more, and is
//!   freed by whoever moved the head.
//!
//! # Orderings
//! | edge | release side | acquire side | carries |
//! |---|---|---|---|
//! | `link` | a put links its node | a get finds it | the task |
//!
//! # Memory
//! A node per task, freed when the next task is got. The last handle drops the tasks nobody got.

use super::ends_are_clones;
use cantina::pool::{self, Full, drop_all};
use machine::atomic::AtomicPtr;
use machine::atomic::Ordering::{Acquire, Relaxed, Release};
use machine::cell::UnsafeCell;
use machine::lock::Mutex;
use machine::trace::{self, Role};
use machine::{Arc, CachePadded};
use std::fmt;
use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};

/// A pool of two locks and a list; see the [module](self). Its handles are all the same: the pool,
/// once more.
pub struct Lbq<T> {
    shared: Arc<Shared<T>>,
}

struct Shared<T> {
    /// The dummy. See I1.
    head: CachePadded<Mutex<*mut Node<T>>>,
    /// The last node. See I1.
    tail: CachePadded<Mutex<*mut Node<T>>>,
}

struct Node<T> {
    next: AtomicPtr<Node<T>>,
    /// See I2.
    task: UnsafeCell<MaybeUninit<T>>,
}

// SAFETY: I1, I2: nodes and tasks have one user at a time; what two ends share is atomic.
unsafe impl<T: Send> Send for Shared<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Shared<T> {}

impl<T> Lbq<T> {
    /// An empty pool.
    pub fn new() -> Self {
        let dummy = Node::new(MaybeUninit::uninit());
        let [head, tail] = [dummy; 2].map(|node| CachePadded::new(Mutex::new(node)));
        let shared = Arc::new(Shared { head, tail });
        trace::structure(&*shared, "queue");
        trace::part(&*shared.head, "head lock", Role::Lock);
        trace::part(&*shared.tail, "tail lock", Role::Lock);
        Self { shared }
    }
}

impl<T> Node<T> {
    fn new(task: MaybeUninit<T>) -> *mut Self {
        let node = Box::new(Self {
            next: AtomicPtr::new(ptr::null_mut()),
            task: UnsafeCell::new(MaybeUninit::uninit()),
        });
        trace::node(&*node, "node");
        trace::part(&node.next, "next", Role::Link);
        trace::part(&node.task, "task", Role::Task);
        // SAFETY: nobody else knows it.
        node.task.with_mut(|cell| unsafe { *cell = task });
        Box::into_raw(node)
    }

    /// The node that was put next.
    fn next(&self) -> Option<NonNull<Self>> {
        // link: the task.
        NonNull::new(self.next.load(Acquire))
    }

    /// # Safety
    /// I2: the task is there, and the caller's.
    unsafe fn take(&self) -> T {
        // SAFETY: the caller's.
        let task = self.task.with_mut(|task| unsafe { (*task).assume_init_read() });
        trace::gone(&self.task);
        task
    }
}

impl<T> Shared<T> {
    fn put(&self, task: T) {
        let node = Node::new(MaybeUninit::new(task));
        let mut tail = self.tail.lock();
        trace::part(&*tail, "tail", Role::Link);
        // SAFETY: the last node has no successor, so the head has not left it (I3).
        // link: the task. The old tail may be freed as soon as this is seen.
        unsafe { (**tail).next.store(node, Release) };
        *tail = node;
    }

    /// Gets up to `max` tasks, each to `into`; how many.
    fn get(&self, max: usize, mut into: impl FnMut(T)) -> usize {
        let mut head = self.head.lock();
        trace::part(&*head, "head", Role::Link);
        let first = *head;
        let mut count = 0;
        while count < max {
            // SAFETY: I1: it is the dummy, and ours to look at.
            let Some(next) = (unsafe { (**head).next() }) else { break };
            *head = next.as_ptr();
            count += 1;
            // SAFETY: we moved the head to it, so its task is ours (I2).
            into(unsafe { next.as_ref().take() });
        }
        let dummy = *head;
        drop(head);
        let mut old = first;
        while old != dummy {
            // SAFETY: the head has left it and was ours then (I3).
            let node = unsafe { Box::from_raw(old) };
            // own: as above.
            old = node.next.load(Relaxed);
            trace::gone(&*node);
        }
        count
    }

    /// Takes the next task and frees the dummy; without one too, and then nothing is left.
    fn take_apart(&mut self) -> Option<T> {
        let mut head = self.head.lock();
        let dummy = NonNull::new(*head)?;
        // SAFETY: linked, so not freed; and nobody else is left.
        let dummy = unsafe { Box::from_raw(dummy.as_ptr()) };
        let next = dummy.next();
        *head = next.map_or(ptr::null_mut(), NonNull::as_ptr);
        // SAFETY: we moved the head to it (I2).
        next.map(|next| unsafe { next.as_ref().take() })
    }
}

ends_are_clones!(Lbq);

impl<T: Send> pool::Producer<T> for Lbq<T> {
    fn try_put(&mut self, task: T) -> Result<(), Full<T>> {
        self.shared.put(task);
        Ok(())
    }
}

impl<T: Send> pool::Consumer<T> for Lbq<T> {
    fn get(&mut self) -> Option<T> {
        let mut got = None;
        self.shared.get(1, |task| got = Some(task));
        got
    }

    fn get_many(&mut self, max: usize, into: &mut Vec<T>) -> usize {
        self.shared.get(max, |task| into.push(task))
    }
}

impl<T> Clone for Lbq<T> {
    fn clone(&self) -> Self {
        Self { shared: self.shared.clone() }
    }
}

impl<T> Default for Lbq<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Drop for Shared<T> {
    fn drop(&mut self) {
        trace::gone(self);
        drop_all(|| self.take_apart());
    }
}

impl<T> fmt::Debug for Lbq<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lbq").finish_non_exhaustive()
    }
}
