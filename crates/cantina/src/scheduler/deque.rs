//! One worker's tasks: it pushes and pops at the bottom, thieves take at the top (Chase and Lev).
//!
//! # Invariants
//! * **I1** only its worker pushes and pops. Thieves take the oldest, by an exchange of `top`.
//! * **I2** a slot at an index from `top` to `bottom` holds a task, in the buffer that is current and in those that a
//!   thief may still look at: one that was replaced is not written any more, and freed with the deque.
//!
//! # Orderings
//! | edge | release side | acquire side | carries |
//! |---|---|---|---|
//! | `task` | a worker that pushes, or moves `bottom` back | a thief that looks at `bottom` | what lies behind the task |
//! | `room` | a thief that takes | the worker that looks for room | that the slot has been read |
//! | `larger` | a worker that has copied its tasks | a thief that looks into the new buffer | its slots |
//! | `last` | the worker's `bottom`, then a light fence | a thief's `top`, then a heavy fence | of both, one sees the other: the last task is taken once |
//!
//! The fences are a [pair](machine::fence::Pair), which whoever makes the deque chooses: its worker pops all the time, and
//! thieves come now and then.

use machine::CachePadded;
use machine::atomic::Ordering::{Acquire, Relaxed, Release};
use machine::atomic::{AtomicPtr, AtomicUsize};
use machine::cell::UnsafeCell;
use machine::fence::{self, Pair};
use std::fmt;
use std::ptr::{self, NonNull};

/// A growing deque of addresses; see I1 and I2. What is left in it is not dropped.
pub struct Deque<T> {
    /// The index of the oldest task. It only grows.
    top: CachePadded<AtomicUsize>,
    /// The index behind the newest task.
    bottom: CachePadded<AtomicUsize>,
    buffer: AtomicPtr<Buffer<T>>,
    /// Buffers that were too small: the worker's.
    outgrown: UnsafeCell<Vec<*mut Buffer<T>>>,
    fences: Pair,
}

// SAFETY: I1, I2: `outgrown` is the worker's, and all else is atomic.
unsafe impl<T: Send> Sync for Deque<T> {}
// SAFETY: buffers are the deque's alone, and tasks are `Send`.
unsafe impl<T: Send> Send for Deque<T> {}

struct Buffer<T>(Box<[AtomicPtr<T>]>);

impl<T> Buffer<T> {
    /// With `len` places, a power of two.
    fn boxed(len: usize) -> *mut Self {
        assert!(len.is_power_of_two(), "{len} places cannot be told apart by a mask");
        let slots = (0..len).map(|_| AtomicPtr::new(ptr::null_mut())).collect();
        Box::into_raw(Box::new(Self(slots)))
    }

    #[inline(always)]
    fn slot(&self, index: usize) -> &AtomicPtr<T> {
        // SAFETY: there is a power of two of them, and so that is less.
        unsafe { self.0.get_unchecked(index & (self.0.len() - 1)) }
    }
}

impl<T> Deque<T> {
    /// An empty one, with room for `room` tasks at first, or a few more.
    pub fn new(room: usize, fences: Pair) -> Self {
        Self {
            top: CachePadded::new(AtomicUsize::new(0)),
            bottom: CachePadded::new(AtomicUsize::new(0)),
            buffer: AtomicPtr::new(Buffer::boxed(room.next_power_of_two())),
            outgrown: UnsafeCell::new(Vec::new()),
            fences,
        }
    }

    /// Adds a task.
    ///
    /// # Safety
    /// The caller is its worker (I1).
    #[inline]
    pub unsafe fn push(&self, task: NonNull<T>) {
        // own: only its worker writes it.
        let bottom = self.bottom.load(Relaxed);
        // room: slots before it have been read.
        let top = self.top.load(Acquire);
        // own: only its worker writes it.
        let mut buffer = self.buffer.load(Relaxed);
        // SAFETY: I2: the current one.
        if bottom - top >= unsafe { &*buffer }.0.len() {
            // SAFETY: the caller's.
            buffer = unsafe { self.grow(buffer, top, bottom) };
        }
        // SAFETY: I2: the current one.
        // bare: `bottom` says that it is there.
        unsafe { &*buffer }.slot(bottom).store(task.as_ptr(), Relaxed);
        // task: what lies behind it.
        self.bottom.store(bottom + 1, Release);
    }

    /// # Safety
    /// As of [`push`](Self::push).
    #[cold]
    unsafe fn grow(&self, from: *mut Buffer<T>, top: usize, bottom: usize) -> *mut Buffer<T> {
        // SAFETY: I2: the current one.
        let old = unsafe { &*from };
        let larger = Buffer::boxed(2 * old.0.len());
        for index in top..bottom {
            // own: only its worker writes slots.
            let task = old.slot(index).load(Relaxed);
            // SAFETY: new, and ours.
            // bare: `larger` says that they are there.
            unsafe { &*larger }.slot(index).store(task, Relaxed);
        }
        // SAFETY: the caller is the worker, whose it is.
        self.outgrown.with_mut(|outgrown| unsafe { (*outgrown).push(from) });
        // larger: its slots.
        self.buffer.store(larger, Release);
        larger
    }

    /// The newest task.
    ///
    /// # Safety
    /// As of [`push`](Self::push).
    #[inline]
    pub unsafe fn pop(&self) -> Option<NonNull<T>> {
        // own: only its worker writes it.
        let bottom = self.bottom.load(Relaxed);
        // hint: it only grows: who sees it here sees an empty deque. What is taken is decided below.
        if self.top.load(Relaxed) == bottom {
            return None;
        }
        let last = bottom - 1;
        // task: those before it.
        self.bottom.store(last, Release);
        // last: whoever takes the last one has seen that it is the last, or is seen by us.
        self.fences.light();
        // bare: the fence is before it, and the exchange decides about the last.
        let top = self.top.load(Relaxed);
        let taken = if top < last {
            // SAFETY: the caller's, and no thief comes as far as `last`.
            Some(unsafe { self.own(last) })
        } else {
            // SAFETY: as above; if the exchange succeeds no thief has it.
            let taken = (top == last && self.claim(top)).then(|| unsafe { self.own(last) });
            // task: nothing is before it.
            self.bottom.store(bottom, Release);
            taken
        };
        taken.and_then(NonNull::new)
    }

    /// The oldest task.
    ///
    /// # Safety
    /// As of [`push`](Self::push), and nobody ever [pops](Self::pop).
    pub unsafe fn shift(&self) -> Option<NonNull<T>> {
        // own: only its worker writes it.
        let bottom = self.bottom.load(Relaxed);
        loop {
            // hint: only named; the exchange decides.
            let top = self.top.load(Relaxed);
            if top >= bottom {
                return None;
            }
            // SAFETY: the caller's. Whether it is still there the exchange says.
            let task = unsafe { self.own(top) };
            if self.claim(top) {
                return NonNull::new(task);
            }
        }
    }

    /// Whether it is empty, for its worker, where nobody ever [pops](Self::pop).
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        // own: only its worker writes it.
        let bottom = self.bottom.load(Relaxed);
        // hint: it only grows, and not beyond: who sees it here sees an empty deque.
        self.top.load(Relaxed) == bottom
    }

    /// What is in a slot, for the worker.
    ///
    /// # Safety
    /// As of [`push`](Self::push).
    unsafe fn own(&self, index: usize) -> *mut T {
        // SAFETY: I2: the current one.
        // own: only its worker writes it, and slots.
        unsafe { &*self.buffer.load(Relaxed) }.slot(index).load(Relaxed)
    }

    /// Takes the task at `top` from all others.
    fn claim(&self, top: usize) -> bool {
        // room: the slot was read.
        self.top.compare_exchange(top, top + 1, Release, Relaxed).is_ok()
    }

    /// The oldest task, for anybody. `None` also where the operating system refuses its fence.
    pub fn steal(&self) -> Option<NonNull<T>> {
        loop {
            // hint: only named; the exchange decides.
            let top = self.top.load(Relaxed);
            // hint: what is empty, as it seems, needs no fence.
            if top >= self.bottom.load(Relaxed) {
                return None;
            }
            // last: of its worker and us one sees the other.
            self.fences.heavy().ok()?;
            // task: what lies behind it.
            if top >= self.bottom.load(Acquire) {
                return None;
            }
            // SAFETY: `top` was read before the fence, and `bottom` behind it.
            if let Some(task) = unsafe { self.take(top) } {
                return Some(task);
            }
        }
    }

    /// The oldest task if `wants` it, by its index and how many there are: for anybody where nobody ever
    /// [pops](Self::pop), and for its worker. `Err`: whether there are some.
    ///
    /// # Safety
    /// One of both.
    pub unsafe fn steal_unpopped(
        &self,
        wants: impl Fn(usize, usize) -> bool,
    ) -> Result<NonNull<T>, bool> {
        loop {
            // hint: only named; the exchange decides.
            let top = self.top.load(Relaxed);
            // hint: for models, which have fewer old values to try. A thief has the time.
            fence::full();
            // task: what lies behind it.
            let bottom = self.bottom.load(Acquire);
            if top >= bottom {
                return Err(false);
            }
            if !wants(top, bottom - top) {
                return Err(true);
            }
            // SAFETY: the caller's.
            if let Some(task) = unsafe { self.take(top) } {
                return Ok(task);
            }
        }
    }

    /// The task at `top`, if it is still there.
    ///
    /// # Safety
    /// `top` was below `bottom`, which was acquired, and its worker does not pop it without an exchange.
    unsafe fn take(&self, top: usize) -> Option<NonNull<T>> {
        // larger: its slots.
        let buffer = self.buffer.load(Acquire);
        // SAFETY: I2: not freed before the deque.
        // bare: what it leads to was acquired with `bottom`.
        let task = unsafe { &*buffer }.slot(top).load(Relaxed);
        self.claim(top).then(|| NonNull::new(task)).flatten()
    }

    /// How many have been taken from the other end.
    pub(super) fn begun(&self) -> usize {
        // hint: a look, on which nothing depends.
        self.top.load(Relaxed)
    }

    /// How many there are, about.
    pub(super) fn len(&self) -> usize {
        // bare: a look, behind the caller's fence if it decides on it.
        let top = self.top.load(Relaxed);
        // bare: as above.
        self.bottom.load(Relaxed).saturating_sub(top)
    }
}

impl<T> Drop for Deque<T> {
    fn drop(&mut self) {
        // own: `&mut self`.
        let current = self.buffer.load(Relaxed);
        // SAFETY: nobody else is left.
        let outgrown = self.outgrown.with_mut(|outgrown| unsafe { std::mem::take(&mut *outgrown) });
        for buffer in outgrown.into_iter().chain([current]) {
            // SAFETY: from a box, and nobody looks any more.
            drop(unsafe { Box::from_raw(buffer) });
        }
    }
}

impl<T> fmt::Debug for Deque<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Deque").field("len", &self.len()).finish()
    }
}
