//! A block: slots for tasks, and the link to the next older block.

use machine::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use machine::atomic::{AtomicPtr, AtomicU8};
use machine::cell::UnsafeCell;
use machine::trace::{self, Role};
use std::mem::MaybeUninit;
use std::ptr::NonNull;

/// Some slots, filled front to back. Blocks share no cache lines.
#[repr(align(128))]
pub(super) struct Block<T, const SLOTS: usize> {
    /// The next older block, or none; with a mark when this one is about to be unlinked. See I3.
    link: AtomicPtr<Self>,
    /// How many tasks were put to the list before; written before the block is linked.
    first: UnsafeCell<u64>,
    slots: [Slot<T>; SLOTS],
}

/// A place for a task. See I2.
struct Slot<T> {
    state: AtomicU8,
    task: UnsafeCell<MaybeUninit<T>>,
}

/// The states of a slot.
const EMPTY: u8 = 0;
const FULL: u8 = 1;
const TAKEN: u8 = 2;

/// The mark of a link.
const MARK: usize = 1;

/// What became of an attempt to take a slot's task.
enum Claim<T> {
    Won(T),
    Taken,
    Empty,
}

// SAFETY: I2: a task has one user at a time, so it moves between threads and is never shared.
unsafe impl<T: Send, const SLOTS: usize> Send for Block<T, SLOTS> {}

fn is_marked<T>(link: *mut T) -> bool {
    link.addr() & MARK != 0
}

fn unmarked<T>(link: *mut T) -> *mut T {
    link.map_addr(|address| address & !MARK)
}

impl<T> Slot<T> {
    fn claim(&self) -> Claim<T> {
        // taken: if it is. A task is carried by the exchange.
        let mut state = self.state.load(Acquire);
        if state == FULL {
            // task: ours. taken: what we did before, for who comes later; and if we come later, ours.
            match self.state.compare_exchange(FULL, TAKEN, AcqRel, Acquire) {
                Ok(_) => {
                    // SAFETY: I2: we made it taken.
                    let task = self.task.with_mut(|task| unsafe { (*task).assume_init_read() });
                    trace::gone(&self.task);
                    return Claim::Won(task);
                }
                Err(now) => state = now,
            }
        }
        if state == EMPTY { Claim::Empty } else { Claim::Taken }
    }
}

impl<T, const SLOTS: usize> Block<T, SLOTS> {
    /// An empty block, in front of `older`, for the tasks of its list from the `first` on.
    pub(super) fn new(first: u64, older: *mut Self) -> NonNull<Self> {
        let mut block = Box::<Self>::new_uninit();
        let at = block.as_mut_ptr();
        // SAFETY: each field is written, where it is to be, without a look at what was there.
        let block = unsafe {
            (&raw mut (*at).link).write(AtomicPtr::new(older));
            (&raw mut (*at).first).write(UnsafeCell::new(first));
            let slots = (&raw mut (*at).slots).cast::<Slot<T>>();
            for slot in (0..SLOTS).map(|slot| slots.add(slot)) {
                (&raw mut (*slot).state).write(AtomicU8::new(EMPTY));
                (&raw mut (*slot).task).write(UnsafeCell::new(MaybeUninit::uninit()));
            }
            block.assume_init()
        };
        trace::node(&*block, "block");
        trace::part(&block.link, "older", Role::Link);
        block.slots.iter().for_each(|slot| trace::part(&slot.task, "task", Role::Task));
        NonNull::from(Box::leak(block))
    }

    /// Frees the memory of a block without tasks.
    ///
    /// # Safety
    /// It came from `new`, and nobody looks at it any more.
    pub(super) unsafe fn free(block: NonNull<Self>) {
        // SAFETY: from a box, and the rest is the caller's.
        let block = unsafe { Box::from_raw(block.as_ptr()) };
        trace::gone(&*block);
        // To a model, freeing is a write.
        block.first.with_mut(|_| ());
        block.slots.iter().for_each(|slot| slot.task.with_mut(|_| ()));
    }

    /// How many tasks were put to the list before its first.
    pub(super) fn first(&self) -> u64 {
        // SAFETY: written before others knew the block.
        self.first.with(|first| unsafe { *first })
    }

    /// Fills `slot`.
    ///
    /// # Safety
    /// I1, I2: the caller has taken the list, and it is the next slot to be filled.
    pub(super) unsafe fn fill(&self, slot: usize, task: T) {
        let slot = &self.slots[slot];
        // SAFETY: I2: empty, so nobody else touches it.
        slot.task.with_mut(|cell| unsafe { (*cell).write(task) });
        // task: to whoever takes it.
        slot.state.store(FULL, Release);
    }

    /// How many slots are filled, to whoever has taken the list.
    pub(super) fn filled(&self) -> usize {
        // own: I1.
        self.slots.iter().take_while(|slot| slot.state.load(Relaxed) != EMPTY).count()
    }

    /// The task of `slot`, if it has one.
    pub(super) fn take_one(&self, slot: usize) -> Option<T> {
        match self.slots[slot].claim() {
            Claim::Won(task) => Some(task),
            Claim::Taken | Claim::Empty => None,
        }
    }

    /// The first task from `slot` on, which moves on to where it looked last: all slots that it passes
    /// are taken, and the block is used up when it has passed the last.
    pub(super) fn take(&self, slot: &mut usize) -> Option<T> {
        while let Some(place) = self.slots.get(*slot) {
            match place.claim() {
                Claim::Won(task) => {
                    *slot += 1;
                    return Some(task);
                }
                Claim::Taken => *slot += 1,
                Claim::Empty => return None,
            }
        }
        None
    }

    /// The next older block.
    ///
    /// # Errors
    /// This one is marked, and perhaps unlinked.
    pub(super) fn older(&self) -> Result<*mut Self, Marked> {
        // link: what was done in those that are gone; and the block, which `head` carries as well.
        let link = self.link.load(Acquire);
        if is_marked(link) { Err(Marked) } else { Ok(link) }
    }

    /// Marks it, unless somebody has; the block behind it, for good.
    ///
    /// It is used up, and there is a newer one: I3.
    pub(super) fn mark(&self) -> *mut Self {
        // link: if it is marked already, what was done behind it; else the exchange decides.
        let mut link = self.link.load(Acquire);
        while !is_marked(link) {
            let marked = link.map_addr(|address| address | MARK);
            // link: what was done behind it, to be passed on by `unlink`.
            match self.link.compare_exchange(link, marked, Acquire, Acquire) {
                Ok(_) => return link,
                Err(now) => link = now,
            }
        }
        unmarked(link)
    }

    /// Unlinks `older`, which is marked and in front of `behind`, if it is behind this one, and this one
    /// is not marked itself. Whether it did.
    pub(super) fn unlink(&self, older: NonNull<Self>, behind: *mut Self) -> bool {
        // link: the slots that we saw taken, and what marking it acquired. On failure nothing is read.
        self.link.compare_exchange(older.as_ptr(), behind, Release, Relaxed).is_ok()
    }

    /// The next older block, marked or not, when nobody else is left.
    pub(super) fn behind(&mut self) -> *mut Self {
        // own: `&mut self`.
        unmarked(self.link.load(Relaxed))
    }
}

/// A block is about to be unlinked, or already is.
pub(super) struct Marked;
