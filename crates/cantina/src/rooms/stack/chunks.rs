//! The places of a stack, in chunks that never move: each as large as all before it, and one more of the first size.
//!
//! Those who call [`put_run`](Chunks::put_run) and [`put`](Chunks::put) are in one room, those who call
//! [`take`](Chunks::take) and [`take_run`](Chunks::take_run) in another, and those who call [`trim`](Chunks::trim) in a third one, or it is
//! exit code.
//!
//! Chunks that are not needed are freed at once, until one of them has to be made again: then the stack sways, and who finds too many
//! of them is patient.

use super::super::visit::Slot;
use crate::panics::drop_all;
use machine::CachePadded;
use machine::ahead;
use machine::atomic::Ordering::{Acquire, Relaxed, Release};
use machine::atomic::{AtomicBool, AtomicI64, AtomicPtr, AtomicU32};
use machine::trace::{self, Role};
use std::{ptr, slice};

/// More than there is memory for.
const CHUNKS: usize = 48;
/// The largest first chunk, as a power of two.
pub(in super::super) const LARGEST_FIRST: u32 = 16;

/// How many cycles it takes to move so many bytes, about: one for each word.
fn moved(bytes: usize) -> u64 {
    (bytes / size_of::<u64>()) as u64
}

/// So many tasks are claimed without a look whether there are as many: few enough for the counter, however many do so at once.
const MOST_UNSEEN: usize = 1 << 32;

pub(in super::super) struct Chunks<T> {
    /// How many tasks there are: less by those of others that are about to find nothing, while they are in the room.
    top: CachePadded<AtomicI64>,
    chunks: Box<[AtomicPtr<Slot<T>>]>,
    /// The number of places of the first chunk, as a power of two.
    first: u32,
    spare: CachePadded<Spare>,
}

/// What came of taking tasks.
pub(in super::super) struct Run {
    /// So many were taken.
    pub(in super::super) taken: usize,
    /// So many were left below them.
    pub(in super::super) left: usize,
}

/// How long chunks are kept that are not needed.
struct Spare {
    /// So often they are found too many before they are freed.
    patience: AtomicU32,
    /// So often they were.
    found: AtomicU32,
    /// Whether some were freed, and none made since.
    freed: AtomicBool,
}

/// How patient one is when a chunk that was freed is made again, the first time and at most.
const PATIENCE: [u32; 2] = [64, 1024];

// SAFETY: the tasks move with it.
unsafe impl<T: Send> Send for Chunks<T> {}
// SAFETY: a place is reached by one thread at a time (I2): tasks are handed from thread to thread and never shared.
unsafe impl<T: Send> Sync for Chunks<T> {}

/// The first chunk of tasks of that size, as a power of two: a few cache lines, and at least one task.
pub(in super::super) fn usual_first<T>() -> u32 {
    (2048 / size_of::<T>().max(1)).clamp(1, 256).ilog2()
}

impl<T> Chunks<T> {
    /// No tasks. The first chunk has two to the power of `first` places.
    pub(in super::super) fn new(first: u32) -> Self {
        let chunks = (0..CHUNKS).map(|_| AtomicPtr::new(ptr::null_mut())).collect();
        let spare = Spare {
            patience: AtomicU32::new(0),
            found: AtomicU32::new(0),
            freed: AtomicBool::new(false),
        };
        let top = CachePadded::new(AtomicI64::new(0));
        Self { top, chunks, first, spare: CachePadded::new(spare) }
    }

    /// Says what lies where; it stays there.
    pub(in super::super) fn describe(&self) {
        trace::part(&*self.top, "top", Role::Number);
    }

    /// In which chunk a place is, and where in it.
    #[inline]
    fn locate(&self, place: u64) -> (usize, usize) {
        let chunk = ((place >> self.first) + 1).ilog2();
        let before = ((1_u64 << chunk) - 1) << self.first;
        (chunk as usize, (place - before) as usize)
    }

    /// How many places a chunk has.
    #[inline]
    fn size(&self, chunk: usize) -> usize {
        1 << (self.first as usize + chunk)
    }

    /// The chunk, made if there is none. Only in the room of those who put. There is memory for it, or the process ends: it
    /// does not unwind, although places in it were given out.
    #[inline]
    fn chunk(&self, number: usize) -> *const Slot<T> {
        // chunk: made whole, by somebody who is in the room with us, or earlier.
        let chunk = self.chunks[number].load(Acquire);
        if chunk.is_null() { self.make(number) } else { chunk }
    }

    #[cold]
    fn make(&self, number: usize) -> *const Slot<T> {
        let slots: Box<[Slot<T>]> = (0..self.size(number)).map(|_| Slot::new()).collect();
        let made = Box::into_raw(slots).cast::<Slot<T>>();
        let place = &self.chunks[number];
        // chunk: it is whole. On failure it is another's that we use.
        match place.compare_exchange(ptr::null_mut(), made, Release, Acquire) {
            Ok(_) => {
                self.spare.made();
                // SAFETY: it is there, and stays until all have left this room.
                trace::row(
                    self,
                    unsafe { slice::from_raw_parts(made, self.size(number)) },
                    "task",
                    Role::Task,
                );
                made
            }
            Err(theirs) => {
                // SAFETY: made above, and nobody else has seen it.
                unsafe { self.free(number, made) };
                theirs
            }
        }
    }

    /// Frees a chunk, and drops no task.
    ///
    /// # Safety
    /// It is the chunk of that number, made by [`make`](Self::make), and nobody reaches it any more.
    unsafe fn free(&self, number: usize, chunk: *mut Slot<T>) {
        let slots = ptr::slice_from_raw_parts_mut(chunk, self.size(number));
        // SAFETY: a box of so many places, as `make` made it; the rest is the caller's.
        drop(unsafe { Box::from_raw(slots) });
    }

    /// A place that was given out.
    ///
    /// # Safety
    /// `chunk` is that of the place, which is `offset` in it, and it is not freed meanwhile.
    #[inline]
    unsafe fn slot<'a>(chunk: *const Slot<T>, offset: usize) -> &'a Slot<T> {
        // SAFETY: the caller's.
        unsafe { &*chunk.add(offset) }
    }

    /// Puts `task` on top.
    #[inline]
    pub(in super::super) fn put(&self, task: T) {
        // phase: each has its own place, and nobody takes meanwhile.
        let place = self.top.fetch_add(1, Relaxed);
        let (chunk, offset) = self.locate(place as u64);
        // SAFETY: `locate` and `chunk` say where it is. It was given to us, and nothing is freed in this room (I2, I3).
        unsafe { Self::slot(self.chunk(chunk), offset).write(task) };
    }

    /// Puts all tasks of `run` on top, the last one uppermost, and takes them out of it.
    pub(in super::super) fn put_run(&self, run: &mut Vec<T>) {
        // phase: as in `put`.
        let mut place = self.top.fetch_add(run.len() as i64, Relaxed) as u64;
        let mut tasks = run.drain(..);
        while tasks.len() > 0 {
            let (number, offset) = self.locate(place);
            let chunk = self.chunk(number);
            let here = tasks.len().min(self.size(number) - offset);
            // SAFETY: as in `put`.
            let first: *const Slot<T> = unsafe { Self::slot(chunk, offset) };
            let bytes = here * size_of::<Slot<T>>();
            ahead::all_to_write(first.cast(), bytes);
            machine::touch_write(first.cast(), bytes);
            machine::work(moved(bytes));
            machine::in_bulk(|| {
                for (offset, task) in (offset..offset + here).zip(tasks.by_ref()) {
                    // SAFETY: as in `put`; there are as many places as tasks.
                    unsafe { Self::slot(chunk, offset).write(task) };
                }
            });
            place += here as u64;
        }
    }

    /// Up to `wanted` tasks: how many lie below the uppermost of them and including it, and how many there are.
    #[inline]
    fn claim(&self, wanted: i64) -> (u64, u64) {
        // phase: each has its own share.
        let top = self.top.fetch_sub(wanted, Relaxed);
        let some = wanted.min(top.max(0));
        if some < wanted {
            // phase: before we leave, so that who enters the other room finds how many there are.
            self.top.fetch_add(wanted - some, Relaxed);
        }
        (top.max(0) as u64, some as u64)
    }

    /// Takes the uppermost task.
    #[inline]
    pub(in super::super) fn take(&self) -> Option<T> {
        // Once there are none there are none until all have left: it is enough to look.
        let (top, some) = if self.len_hint() > 0 { self.claim(1) } else { (0, 0) };
        if some == 0 {
            return None;
        }
        let (number, offset) = self.locate(top - 1);
        // phase: made before anybody of this room came in, and not freed before all have left.
        let chunk = self.chunks[number].load(Relaxed);
        // SAFETY: claimed by us: it was put before anybody of this room came in, and nobody else takes it (I2). Nothing is
        // freed while somebody is inside (I3).
        Some(unsafe { Self::slot(chunk, offset).take() })
    }

    /// Makes room in `into` for up to `max` tasks, or for as many as there are: before the room is entered, where it holds up nobody.
    pub(in super::super) fn make_room(&self, max: usize, into: &mut Vec<T>) {
        // Those inside need the word that says how many there are.
        if into.capacity() - into.len() < max {
            into.reserve(max.min(self.len_hint()));
        }
    }

    /// Takes up to `max` of the uppermost tasks, from the top downwards, and appends them to `into`.
    pub(in super::super) fn take_run(&self, max: usize, into: &mut Vec<T>) -> Run {
        let mut most = max;
        // Who need not look does not: it would take the word from those who claim.
        if into.capacity() - into.len() < max || max > MOST_UNSEEN {
            most = max.min(self.len_hint());
            // Before anything is claimed: it may panic. In this room there are fewer and fewer.
            into.reserve(most);
        }
        if most == 0 {
            return Run { taken: 0, left: self.len_hint() };
        }
        let (top, some) = self.claim(most as i64);
        let mut left = some as usize;
        while left > 0 {
            let (number, offset) = self.locate(top - some + left as u64 - 1);
            // phase: as in `take`.
            let chunk = self.chunks[number].load(Relaxed);
            let here = left.min(offset + 1);
            // SAFETY: as in `take`.
            let last: *const Slot<T> = unsafe { Self::slot(chunk, offset + 1 - here) };
            let bytes = here * size_of::<Slot<T>>();
            ahead::all_to_read(last.cast(), bytes);
            machine::touch_read(last.cast(), bytes);
            machine::work(moved(bytes));
            // SAFETY: as in `take`.
            let tasks = (0..here).map(|down| unsafe { Self::slot(chunk, offset - down).take() });
            machine::in_bulk(|| into.extend(tasks));
            left -= here;
        }
        Run { taken: some as usize, left: (top - some) as usize }
    }

    /// Which chunk is the second above the uppermost of so many tasks: if it is there it is one too many, and so are those above it.
    #[inline]
    fn first_too_many(&self, tasks: usize) -> usize {
        let (uppermost, _) = self.locate((tasks.max(1) - 1) as u64);
        uppermost + 2
    }

    /// Whether it is time to [trim](Self::trim), about, with so many tasks: chunks are not needed any more, and were not for long enough.
    /// Who knows how many there are need not ask for the word that those inside need.
    #[inline]
    pub(in super::super) fn wants_trimming(&self, tasks: usize) -> bool {
        self.has_too_many(tasks) && self.spare.is_over()
    }

    /// Whether there are chunks that so many tasks do not need, about.
    #[inline]
    fn has_too_many(&self, tasks: usize) -> bool {
        let first = self.chunks.get(self.first_too_many(tasks));
        // hint: who frees it looks again.
        first.is_some_and(|place| !place.load(Relaxed).is_null())
    }

    /// Frees the chunks from the second above the uppermost task on, while nobody puts or takes. As many tasks are put, before one
    /// of them is needed again, as it has places.
    #[inline]
    pub(in super::super) fn trim(&self) {
        let tasks = self.len_hint();
        if !self.has_too_many(tasks) {
            return;
        }
        self.spare.freed();
        for (number, place) in self.chunks.iter().enumerate().skip(self.first_too_many(tasks)) {
            // phase: nobody puts or takes. Of those who free chunks one gets it.
            let chunk = place.swap(ptr::null_mut(), Relaxed);
            if chunk.is_null() {
                break;
            }
            // SAFETY: all its tasks were taken, nobody is inside who could reach it, and only we have it now.
            unsafe { self.free(number, chunk) };
        }
    }

    /// How many tasks there are, about. In the room of those who take, at least as many as can still be taken; exactly in
    /// exit code.
    #[inline]
    pub(in super::super) fn len_hint(&self) -> usize {
        // hint: where it has to be more than a hint, rooms see to it.
        self.top.load(Relaxed).max(0) as usize
    }

    /// How many places there are, about.
    pub(in super::super) fn places(&self) -> usize {
        // hint: a look.
        let is_there = |number: &usize| !self.chunks[*number].load(Relaxed).is_null();
        (0..CHUNKS).filter(is_there).map(|number| self.size(number)).sum()
    }
}

impl Spare {
    /// Chunks are found too many. Whether that was so often enough.
    #[cold]
    fn is_over(&self) -> bool {
        // hint: how long memory is kept is neither right nor wrong; so in all of these.
        let patience = self.patience.load(Relaxed);
        // hint: as above.
        patience == 0 || self.found.fetch_add(1, Relaxed) >= patience
    }

    fn freed(&self) {
        // hint: as above.
        self.found.store(0, Relaxed);
        // hint: as above.
        self.freed.store(true, Relaxed);
    }

    /// A chunk was made: if some were freed since the last time, it was one of them.
    fn made(&self) {
        // hint: as above.
        if self.freed.swap(false, Relaxed) {
            let [first, most] = PATIENCE;
            // hint: as above.
            let patience = if self.patience.load(Relaxed) == 0 { first } else { most };
            // hint: as above.
            self.patience.store(patience, Relaxed);
        }
    }
}

impl<T> Drop for Chunks<T> {
    fn drop(&mut self) {
        /// Frees the chunks when the tasks are dropped, also when one of them panics.
        struct Free<'a, T>(&'a Chunks<T>);
        impl<T> Drop for Free<'_, T> {
            fn drop(&mut self) {
                for (number, place) in self.0.chunks.iter().enumerate() {
                    // own: nobody else has it any more.
                    let chunk = place.load(Relaxed);
                    if !chunk.is_null() {
                        // SAFETY: made by `make`, and all tasks are taken.
                        unsafe { self.0.free(number, chunk) };
                    }
                }
            }
        }
        let chunks = Free(self);
        drop_all(|| chunks.0.take());
    }
}
