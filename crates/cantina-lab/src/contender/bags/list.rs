//! The lists of a pool: one for each end that puts.
//!
//! Lists are themselves linked, new ones in front. They are taken and left again, and stay until the
//! pool goes.

use super::block::Block;
use cantina::pool::drop_all;
use machine::CachePadded;
use machine::atomic::Ordering::{Acquire, Relaxed, Release};
use machine::atomic::{AtomicBool, AtomicPtr};
use machine::cell::UnsafeCell;
use machine::trace::{self, Role};
use std::ptr::{self, NonNull};

/// All lists of a pool.
pub(super) struct Lists<T, const SLOTS: usize> {
    /// The newest list. See I1.
    newest: CachePadded<AtomicPtr<List<T, SLOTS>>>,
}

/// The blocks of one end that puts.
pub(super) struct List<T, const SLOTS: usize> {
    /// The newest block, never none. See I1.
    head: CachePadded<AtomicPtr<Block<T, SLOTS>>>,
    /// Whether somebody has it. See I1.
    taken: AtomicBool,
    /// Lists are numbered from 0; written before the list is linked.
    number: UnsafeCell<usize>,
    /// The next older list; written before the list is linked.
    older: UnsafeCell<*mut List<T, SLOTS>>,
}

// SAFETY: I1: a list's place does not change once others know it; blocks and tasks are sent.
unsafe impl<T: Send, const SLOTS: usize> Send for Lists<T, SLOTS> {}
// SAFETY: as above; all else that is shared is atomic.
unsafe impl<T: Send, const SLOTS: usize> Sync for Lists<T, SLOTS> {}

impl<T, const SLOTS: usize> Lists<T, SLOTS> {
    pub(super) fn new() -> Self {
        Self { newest: CachePadded::new(AtomicPtr::new(ptr::null_mut())) }
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.newest().map_or(0, |list| list.number() + 1)
    }

    /// All of them, the newest first.
    pub(super) fn all(&self) -> impl Iterator<Item = &List<T, SLOTS>> {
        // SAFETY: I1.
        std::iter::successors(self.newest(), |list| unsafe { list.older().as_ref() })
    }

    fn newest(&self) -> Option<&List<T, SLOTS>> {
        // list: this one, and all older ones.
        let newest = self.newest.load(Acquire);
        // SAFETY: I1.
        unsafe { newest.as_ref() }
    }

    /// A list to put to, the caller's until it [leaves](List::leave) it: one that was left, or a new one.
    pub(super) fn take(&self) -> &List<T, SLOTS> {
        let left = self.all().find(|list| {
            // hint: a hint; the exchange decides.
            let looks_left = !list.taken.load(Relaxed);
            // seat: how far it is filled. On failure nothing is read.
            looks_left && list.taken.compare_exchange(false, true, Acquire, Relaxed).is_ok()
        });
        left.unwrap_or_else(|| self.add())
    }

    fn add(&self) -> &List<T, SLOTS> {
        let list = Box::new(List {
            head: CachePadded::new(AtomicPtr::new(Block::new(0, ptr::null_mut()).as_ptr())),
            taken: AtomicBool::new(true),
            number: UnsafeCell::new(0),
            older: UnsafeCell::new(ptr::null_mut()),
        });
        trace::structure(&*list, "list");
        trace::part(&*list.head, "head", Role::Link);
        let list = Box::into_raw(list);
        loop {
            let newest = self.newest();
            let number = newest.map_or(0, |list| list.number() + 1);
            let older = newest.map_or(ptr::null_mut(), |list| ptr::from_ref(list).cast_mut());
            // SAFETY: not linked yet, so nobody else knows it.
            unsafe {
                (*list).number.with_mut(|cell| *cell = number);
                (*list).older.with_mut(|cell| *cell = older);
            }
            // list: the list. Exchanges before this one go on carrying the older ones. On failure
            // nothing is read.
            if self.newest.compare_exchange(older, list, Release, Relaxed).is_ok() {
                // SAFETY: I1.
                return unsafe { &*list };
            }
        }
    }
}

impl<T, const SLOTS: usize> List<T, SLOTS> {
    /// Its number.
    pub(super) fn number(&self) -> usize {
        // SAFETY: written before others knew it.
        self.number.with(|number| unsafe { *number })
    }

    fn older(&self) -> *mut Self {
        // SAFETY: written before others knew it.
        self.older.with(|older| unsafe { *older })
    }

    /// What names the newest block, for those that protect it.
    pub(super) fn head(&self) -> &AtomicPtr<Block<T, SLOTS>> {
        &self.head
    }

    /// The newest block, to whoever has taken the list.
    pub(super) fn newest(&self) -> NonNull<Block<T, SLOTS>> {
        // own: I1.
        let head = self.head.load(Relaxed);
        // SAFETY: it is never none.
        unsafe { NonNull::new_unchecked(head) }
    }

    /// A new block in front of the `newest`, which is full.
    ///
    /// # Safety
    /// I1: the caller has taken the list.
    pub(super) unsafe fn grow(&self) -> NonNull<Block<T, SLOTS>> {
        let newest = self.newest();
        // SAFETY: I4: it is not unlinked while it is the newest.
        let first = unsafe { newest.as_ref() }.first() + SLOTS as u64;
        let block = Block::new(first, newest.as_ptr());
        // head: the block, and that the others are full.
        self.head.store(block.as_ptr(), Release);
        block
    }

    /// Leaves it to whoever comes next.
    ///
    /// # Safety
    /// I1: the caller has taken the list, and does no more with it.
    pub(super) unsafe fn leave(&self) {
        // seat: how far it is filled.
        self.taken.store(false, Release);
    }

    /// Takes the next task from `slot` of the newest block on, and frees the blocks it has emptied;
    /// without one too, and then nothing is left.
    fn take_apart(&mut self, slot: &mut usize) -> Option<T> {
        loop {
            // own: `&mut self`.
            let mut newest = NonNull::new(self.head.load(Relaxed))?;
            // SAFETY: linked, so not retired, so not freed; and nobody else is left.
            let block = unsafe { newest.as_mut() };
            if let Some(task) = block.take(slot) {
                return Some(task);
            }
            // own: as above.
            self.head.store(block.behind(), Relaxed);
            *slot = 0;
            // SAFETY: as above, and it is not linked any more.
            unsafe { Block::free(newest) };
        }
    }
}

impl<T, const SLOTS: usize> Drop for List<T, SLOTS> {
    fn drop(&mut self) {
        trace::gone(self);
        let mut slot = 0;
        drop_all(|| self.take_apart(&mut slot));
    }
}

impl<T, const SLOTS: usize> Drop for Lists<T, SLOTS> {
    fn drop(&mut self) {
        // own: `&mut self`.
        let mut next = self.newest.load(Relaxed);
        // First all of them are unlinked: a task that panics when dropped must not stop that.
        let mut lists = Vec::new();
        while !next.is_null() {
            // SAFETY: I1: linked once, from a box.
            let list = unsafe { Box::from_raw(next) };
            next = list.older();
            lists.push(list);
        }
    }
}
