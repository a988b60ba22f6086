//! The shelves of the producers: for each its chunk lists, one at each consumer, and the chunk it fills.

use super::chunk::Chunk;
use super::lasting::Lasting;
use super::list::List;
use machine::atomic::Ordering::{Acquire, Relaxed, Release};
use machine::atomic::{AtomicBool, AtomicPtr};
use machine::cell::UnsafeCell;
use std::ptr::{self, NonNull};

/// All shelves of a pool: new ones are added in front.
pub(super) struct Shelves<T> {
    newest: AtomicPtr<Shelf<T>>,
}

/// A producer's place.
pub(super) struct Shelf<T> {
    /// Whether a producer has it. It is the writer of its lists.
    taken: AtomicBool,
    /// Its list at each consumer: `chunkLists[producer]` there.
    pub(super) lists: Box<[List<T>]>,
    /// The producer's own: the next one goes on where the last has left.
    filling: UnsafeCell<Filling<T>>,
    /// How many were there before. Written before others know it, as the next.
    number: UnsafeCell<usize>,
    older: UnsafeCell<*mut Shelf<T>>,
}

/// Where a producer puts its next task.
pub(super) struct Filling<T> {
    pub(super) chunk: Option<Lasting<Chunk<T>>>,
    /// How many tasks it has put there.
    pub(super) tasks: usize,
}

// SAFETY: I4: what is not atomic belongs to one producer at a time, or is written before others know it.
unsafe impl<T: Send> Send for Shelf<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Shelf<T> {}

impl<T> Shelves<T> {
    pub(super) fn new() -> Self {
        Self { newest: AtomicPtr::new(ptr::null_mut()) }
    }

    /// The newest shelf. As long as it is, there are no others than before.
    pub(super) fn newest(&self) -> Option<Lasting<Shelf<T>>> {
        // shelf: this one, and all older ones.
        let newest = NonNull::new(self.newest.load(Acquire))?;
        // SAFETY: freed when the pool goes; its handles ask.
        Some(unsafe { Lasting::new(newest) })
    }

    /// A shelf for a producer: one that was left, or a new one with `lists` lists.
    pub(super) fn take(&self, lists: usize) -> Lasting<Shelf<T>> {
        let mut next = self.newest();
        while let Some(shelf) = next {
            // hint: a hint; the exchange decides.
            let looks_free = !shelf.taken.load(Relaxed);
            // seat: the lists and the chunk as its last producer left them. On failure nothing is read.
            if looks_free && shelf.taken.compare_exchange(false, true, Acquire, Relaxed).is_ok() {
                return shelf;
            }
            next = shelf.older();
        }
        self.add(lists)
    }

    fn add(&self, lists: usize) -> Lasting<Shelf<T>> {
        let shelf = Box::into_raw(Box::new(Shelf {
            taken: AtomicBool::new(true),
            lists: (0..lists).map(|_| List::new()).collect(),
            filling: UnsafeCell::new(Filling { chunk: None, tasks: 0 }),
            number: UnsafeCell::new(0),
            older: UnsafeCell::new(ptr::null_mut()),
        }));
        loop {
            let older = self.newest();
            let number = older.map_or(0, |shelf| shelf.number() + 1);
            let older = older.map_or(ptr::null_mut(), |shelf| shelf.as_ptr().as_ptr());
            // SAFETY: nobody else knows it yet.
            unsafe {
                (*shelf).number.with_mut(|cell| *cell = number);
                (*shelf).older.with_mut(|cell| *cell = older);
            }
            // shelf: its contents. Exchanges before this one go on carrying the older ones. On failure
            // nothing is read.
            if self.newest.compare_exchange(older, shelf, Release, Relaxed).is_ok() {
                // SAFETY: from a box, and freed when the pool goes.
                return unsafe { Lasting::new(NonNull::new_unchecked(shelf)) };
            }
        }
    }
}

impl<T> Shelf<T> {
    /// How many shelves were there before it.
    pub(super) fn number(&self) -> usize {
        // SAFETY: I4: written before others knew it.
        self.number.with(|number| unsafe { *number })
    }

    /// The next older shelf.
    pub(super) fn older(&self) -> Option<Lasting<Self>> {
        // SAFETY: as above.
        let older = NonNull::new(self.older.with(|older| unsafe { *older }))?;
        // SAFETY: freed when the pool goes; its handles ask.
        Some(unsafe { Lasting::new(older) })
    }

    /// Where its producer puts the next task.
    ///
    /// # Safety
    /// The caller has taken the shelf, and `f` does not come back here.
    pub(super) unsafe fn filling<R>(&self, f: impl FnOnce(&mut Filling<T>) -> R) -> R {
        // SAFETY: I4: the caller's alone.
        self.filling.with_mut(|filling| f(unsafe { &mut *filling }))
    }

    /// Gives it back.
    pub(super) fn leave(&self) {
        // seat: the lists and the chunk, for the next producer.
        self.taken.store(false, Release);
    }
}

impl<T> Drop for Shelves<T> {
    fn drop(&mut self) {
        // own: `&mut self`.
        let mut next = self.newest.load(Relaxed);
        while !next.is_null() {
            // SAFETY: linked once, from a box.
            let shelf = unsafe { Box::from_raw(next) };
            // SAFETY: as in `number`.
            next = shelf.older.with(|older| unsafe { *older });
        }
    }
}
