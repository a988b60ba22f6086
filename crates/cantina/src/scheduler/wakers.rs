//! Threads and tasks that wait for a value: one waiter of its cell for all of them, however many come and go.

use super::cell::{Waiter, Word};
use super::context::quietly;
use super::counted::Counted;
use machine::atomic::AtomicPtr;
use machine::atomic::Ordering::{Acquire, Relaxed, Release};
use machine::lock::Mutex;
use machine::park::Unparker;
use std::collections::BTreeMap;
use std::mem;
use std::ptr::{self, NonNull};
use std::task::Waker;

/// Those who wait for one cell, once there have been some: a counted [`Slot`].
pub(super) struct Wakers(AtomicPtr<Slot>);

type Slot = Mutex<Waiting>;

/// By their numbers: each takes itself off when its time is up, or its handle goes.
#[derive(Default)]
struct Waiting {
    all: BTreeMap<u32, Who>,
    /// The number that was given out last.
    last: u32,
}

/// Whom to wake.
pub(super) enum Who {
    Thread(Unparker),
    Task(Waker),
}

/// A waiter that wakes whoever is in the slot.
#[repr(C)]
struct Woken {
    waiter: Waiter,
    slot: Counted<Slot>,
}

/// # Safety
/// As of [`Waiter`].
unsafe fn wake(waiter: NonNull<Waiter>) {
    // SAFETY: from such a box, and used up.
    let woken = unsafe { Box::from_raw(waiter.cast::<Woken>().as_ptr()) };
    let all = mem::take(&mut woken.slot.lock().all);
    all.into_values().for_each(Who::wake);
}

impl Who {
    fn wake(self) {
        match self {
            Self::Thread(thread) => thread.unpark(),
            // A waker is the user's.
            Self::Task(task) => {
                quietly(|| task.wake());
            }
        }
    }
}

impl Waiting {
    /// Puts `who` where the one with that number is, or where none is if it is 0. Its number, and who was there.
    fn set(&mut self, number: u32, who: Who) -> (u32, Option<Who>) {
        let number = if number == 0 { self.new_number() } else { number };
        (number, self.all.insert(number, who))
    }

    fn new_number(&mut self) -> u32 {
        loop {
            self.last = self.last.wrapping_add(1);
            if self.last != 0 && !self.all.contains_key(&self.last) {
                return self.last;
            }
        }
    }
}

impl Wakers {
    pub(super) fn new() -> Self {
        Self(AtomicPtr::new(ptr::null_mut()))
    }

    /// Has `who` woken when the value is there, in place of the one with that number if it is not 0. Its number. Whoever finds the
    /// cell not filled afterwards is woken.
    ///
    /// # Safety
    /// It is the cell's of that word, to which the caller has a handle.
    pub(super) unsafe fn set(&self, word: Word, number: u32, who: Who) -> u32 {
        // slot: as it was made.
        let slot = NonNull::new(self.0.load(Acquire));
        // SAFETY: the caller's.
        let (number, unused) = match slot.or_else(|| unsafe { self.make(word) }) {
            // SAFETY: it stays as long as the cell.
            Some(slot) => unsafe { slot.as_ref() }.lock().set(number, who),
            None => (0, Some(who)),
        };
        // A waker is the user's.
        quietly(|| drop(unused));
        number
    }

    /// The place of those who wait. `None`: the cell is filled. A waiter that finds nobody there, as another one has made the
    /// place, wakes nobody.
    ///
    /// # Safety
    /// As of `set`.
    #[cold]
    unsafe fn make(&self, word: Word) -> Option<NonNull<Slot>> {
        let slot = Counted::new(Slot::new(Waiting::default()));
        let woken = Box::new(Woken { waiter: Waiter::new(wake), slot: slot.clone() });
        let woken = NonNull::from(Box::leak(woken));
        // SAFETY: a box that is the list's, and stays until it is woken. The caller has a handle.
        if !unsafe { word.add(woken.cast()) } {
            // SAFETY: in no list, and ours again.
            drop(unsafe { Box::from_raw(woken.as_ptr()) });
            return None;
        }
        let new = Counted::into_raw(slot);
        // slot: as it was made.
        // slot: as another one has made it.
        match self.0.compare_exchange(ptr::null_mut(), new.as_ptr(), Release, Acquire) {
            Ok(_) => Some(new),
            Err(theirs) => {
                // SAFETY: ours again.
                drop(unsafe { Counted::from_raw(new) });
                NonNull::new(theirs)
            }
        }
    }

    /// The one with that number does not wait any more.
    #[cold]
    pub(super) fn remove(&self, number: u32) {
        // slot: as it was made.
        if let Some(slot) = NonNull::new(self.0.load(Acquire)) {
            // SAFETY: it stays as long as the cell.
            let who = unsafe { slot.as_ref() }.lock().all.remove(&number);
            // A waker is the user's.
            quietly(|| drop(who));
        }
    }
}

impl Drop for Wakers {
    #[inline]
    fn drop(&mut self) {
        // own: `&mut self`.
        if let Some(slot) = NonNull::new(self.0.load(Relaxed)) {
            // SAFETY: counted, and ours.
            drop(unsafe { Counted::from_raw(slot) });
        }
    }
}
