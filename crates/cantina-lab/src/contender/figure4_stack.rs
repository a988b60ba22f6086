//! The growing stack of the rooms paper (Blelloch, Cheng, Gibbons, SPAA 2001, figure 4), repaired.
//!
//! An array in two rooms, one for those who put and one for those who get. When it is full, exit code of the putting room makes one of twice the
//! size, and the tasks move over bit by bit: who puts into the upper half of the new array copies one from the old one. Below
//! that half tasks are looked for in the old array, until the new one is full as well; then all are copied.
//!
//! # What is repaired
//! * A get tests the number that its fetch-and-add gave it as if it were an index, which is one less: of an empty stack it reads the
//!   place before the first, and at the border between the arrays it reads what was not copied.
//! * A place must not be given out in the same batch as the one whose task is copied to it, or what is copied was not
//!   written yet. The paper asks for arrays that are larger than the number of users, who have to be known. Here a batch of those who put has
//!   at most as many places as the old array, and whoever comes later waits for the next batch.
//! * Who finds the array full leaves and enters again, and may find it full again and again. Here it changes from the room to the same
//!   room: its ticket is one of the next batch, before which the array has grown.
//!
//! `flavours/lab-on-sim/tests/bugs` has twins with the paper's code.
//!
//! # Progress
//! Blocking, as all in rooms: who puts waits until those who get have left, and the other way round, and all wait while exit
//! code asks for memory. No user code runs inside.
//!
//! # Linearization
//! Last in, first out, at the fetch-and-add; a get that finds nothing anywhere inside the room. A batch takes effect piece by piece
//! where it does not fit into what is left of the array.
//!
//! # Invariants
//! * **I1** outside the rooms tasks `0..top` are there, those below `old.len()` in `old` and the others in `new`, which has twice as many places.
//! * **I2** inside a room each has the places that its fetch-and-add gave it, and reaches only those, and when it copies to
//!   `i` reads `old[i]`, which was put in an earlier batch: places of one batch lie less than `old.len()` apart.
//! * **I3** when `top` has come to the end of `new`, it has passed all places of its upper half since the task below was last put: all
//!   are copied.
//!
//! # Orderings
//! | edge | release side | acquire side | carries |
//! |---|---|---|---|
//! | `phase` | who leaves a room | who enters one later, or closes it | the tasks, their number, the arrays |
//!
//! # Memory
//! Both arrays: three places for each two tasks when they have just been copied, and it never shrinks. The last handle drops the tasks nobody
//! got.

use super::ends_are_clones;
use cantina::pool::{self, Full, drop_all};
use cantina::rooms::{CellGuard, EnterError, Room, RoomCell};
use machine::atomic::Ordering::Relaxed;
use machine::atomic::{AtomicBool, AtomicI64};
use machine::cell::UnsafeCell;
use machine::{Arc, CachePadded, thread};
use std::fmt;
use std::mem::MaybeUninit;

/// How many tasks the first array has room for.
pub const FIRST: usize = 64;

/// A pool of arrays in rooms; see the [module](self). Its handles are all the same: the pool, once more.
pub struct Figure4Stack<T> {
    shared: Arc<RoomCell<Arrays<T>, 2>>,
}

type Slot<T> = UnsafeCell<MaybeUninit<T>>;

struct Arrays<T> {
    /// How many tasks there are; more, or less, by those of others that are about to be given back, while they are in the room.
    top: CachePadded<AtomicI64>,
    /// What it was when the last room closed.
    settled: i64,
    new: Box<[Slot<T>]>,
    /// None at first.
    old: Box<[Slot<T>]>,
    /// Whether somebody found no room.
    is_full: AtomicBool,
}

/// The room of those who put.
struct Putting;
/// The room of those who get.
struct Getting;

// SAFETY: a place is reached by one thread at a time (I2): tasks are handed from thread to thread and never shared. All else is
// atomic, or changes in exit code only.
unsafe impl<T: Send> Sync for Arrays<T> {}

// SAFETY: the only one for this number. Those inside only put: I2.
unsafe impl<T: Send> Room<Arrays<T>> for Putting {
    const INDEX: usize = 0;
    type View<'a>
        = &'a Arrays<T>
    where
        T: 'a;

    fn view(arrays: &Arrays<T>) -> &Arrays<T> {
        arrays
    }

    fn on_close(arrays: &mut Arrays<T>) {
        arrays.settle();
        arrays.grow();
    }
}

// SAFETY: as above. Those inside only get.
unsafe impl<T: Send> Room<Arrays<T>> for Getting {
    const INDEX: usize = 1;
    type View<'a>
        = &'a Arrays<T>
    where
        T: 'a;

    fn view(arrays: &Arrays<T>) -> &Arrays<T> {
        arrays
    }

    fn on_close(arrays: &mut Arrays<T>) {
        arrays.settle();
    }
}

fn slots<T>(many: usize) -> Box<[Slot<T>]> {
    (0..many).map(|_| UnsafeCell::new(MaybeUninit::uninit())).collect()
}

impl<T> Arrays<T> {
    fn new(first: usize) -> Self {
        Self {
            top: CachePadded::new(AtomicI64::new(0)),
            settled: 0,
            new: slots(first),
            old: slots(0),
            is_full: AtomicBool::new(false),
        }
    }

    fn settle(&mut self) {
        // phase: we are alone, and all that was too much is given back.
        self.settled = self.top.load(Relaxed);
    }

    fn grow(&mut self) {
        // phase: as above.
        if self.is_full.load(Relaxed) {
            // phase: for who enters later.
            self.is_full.store(false, Relaxed);
            let larger = slots(2 * self.new.len());
            self.old = std::mem::replace(&mut self.new, larger);
        }
    }

    fn slot(&self, index: usize) -> &Slot<T> {
        self.old.get(index).unwrap_or_else(|| &self.new[index])
    }

    /// Puts tasks as long as there is room. Only in the putting room; `next` of the tasks does not panic.
    fn put(&self, tasks: &mut impl ExactSizeIterator<Item = T>) {
        let (size, half) = (self.new.len() as i64, self.old.len() as i64);
        // I2: no more than were there before, if tasks are copied.
        let limit = if half == 0 { size } else { size.min(self.settled + half) };
        let many = tasks.len() as i64;
        // phase: each has its own places, and nobody takes meanwhile.
        let first = self.top.fetch_add(many, Relaxed);
        let some = (limit - first).clamp(0, many);
        if some < many {
            // phase: before we leave. It stays at the limit or beyond it.
            self.top.fetch_sub(many - some, Relaxed);
            if limit == size {
                // phase: for whoever closes the room.
                self.is_full.store(true, Relaxed);
            }
        }
        for (index, task) in (first..first + some).zip(tasks) {
            if half > 0 && index >= half {
                self.copy((index - half) as usize);
            }
            // SAFETY: the place was given to us, and nobody takes meanwhile (I2).
            self.slot(index as usize).with_mut(|slot| unsafe { (*slot).write(task) });
        }
    }

    /// Copies a task from the old array.
    fn copy(&self, index: usize) {
        let (from, to) = (&self.old[index], &self.new[index]);
        // SAFETY: it was put in an earlier batch, and in this one nobody reaches the place, in either array, but us, who were given
        // the one above it (I2). The task stays where it is; its copy is one when the old array goes (I3).
        from.with(|from| to.with_mut(|to| unsafe { from.copy_to_nonoverlapping(to, 1) }));
    }

    /// Gives up to `many` tasks to `into`, the uppermost first. Only in the getting room; `into` does not panic.
    fn take(&self, many: usize, mut into: impl FnMut(T)) {
        // phase: only those change it who are in this room. At 0 or below it stays there, until all have left.
        let wanted = (many as i64).min(self.top.load(Relaxed));
        if wanted <= 0 {
            return;
        }
        // phase: each has its own share.
        let top = self.top.fetch_sub(wanted, Relaxed);
        let some = wanted.min(top.max(0));
        if some < wanted {
            // phase: before we leave.
            self.top.fetch_add(wanted - some, Relaxed);
        }
        for index in (top - some..top).rev() {
            let slot = self.slot(index as usize);
            // SAFETY: a task is there (I1), and ours (I2).
            into(slot.with(|slot| unsafe { (*slot).assume_init_read() }));
        }
    }
}

impl<T: Send> Figure4Stack<T> {
    /// An empty pool.
    pub fn new() -> Self {
        Self::with(FIRST)
    }

    /// An empty pool whose first array has so many places, at least one.
    pub fn with(first: usize) -> Self {
        Self { shared: Arc::new(RoomCell::new(Arrays::new(first.max(1)))) }
    }

    fn enter<R: Room<Arrays<T>>>(&self) -> CellGuard<'_, Arrays<T>, R, 2> {
        Self::once_there_is_a_place(self.shared.enter::<R>(), || self.shared.enter::<R>())
    }

    /// What `again` comes to where too many wait, which says nothing of the tasks.
    fn once_there_is_a_place<G>(
        mut entered: Result<G, EnterError>,
        again: impl Fn() -> Result<G, EnterError>,
    ) -> G {
        loop {
            match entered {
                Ok(guard) => return guard,
                Err(_) => thread::yield_now(),
            }
            entered = again();
        }
    }

    /// Puts all of `tasks`, whose `next` does not panic.
    fn put(&self, mut tasks: impl ExactSizeIterator<Item = T>) {
        let mut guard = self.enter::<Putting>();
        loop {
            guard.view().put(&mut tasks);
            if tasks.len() == 0 {
                return;
            }
            let changed = guard.change::<Putting>();
            guard = Self::once_there_is_a_place(changed, || self.shared.enter::<Putting>());
        }
    }

    /// Puts all of `tasks`, the last one uppermost, and leaves the vector empty.
    pub fn append(&self, tasks: &mut Vec<T>) {
        if !tasks.is_empty() {
            self.put(tasks.drain(..));
        }
    }
}

ends_are_clones!(Figure4Stack);

impl<T: Send> pool::Producer<T> for Figure4Stack<T> {
    fn try_put(&mut self, task: T) -> Result<(), Full<T>> {
        self.put([task].into_iter());
        Ok(())
    }
}

impl<T: Send> pool::Consumer<T> for Figure4Stack<T> {
    fn get(&mut self) -> Option<T> {
        let mut got = None;
        let guard = self.enter::<Getting>();
        guard.view().take(1, |task| got = Some(task));
        drop(guard);
        got
    }

    fn get_many(&mut self, max: usize, into: &mut Vec<T>) -> usize {
        let before = into.len();
        let guard = self.enter::<Getting>();
        let arrays = guard.view();
        // Before anything is taken: it may panic. In this room there are fewer and fewer.
        // bare: rooms order it.
        let most = max.min(arrays.top.load(Relaxed).max(0) as usize);
        into.reserve(most);
        arrays.take(most, |task| into.push(task));
        drop(guard);
        into.len() - before
    }
}

impl<T> Drop for Arrays<T> {
    fn drop(&mut self) {
        drop_all(|| {
            let mut last = None;
            self.take(1, |task| last = Some(task));
            last
        });
    }
}

impl<T> Clone for Figure4Stack<T> {
    fn clone(&self) -> Self {
        Self { shared: self.shared.clone() }
    }
}

impl<T: Send> Default for Figure4Stack<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> fmt::Debug for Figure4Stack<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Figure4Stack").finish_non_exhaustive()
    }
}
