//! The ring: two counters and the places between them.

use super::super::packed::{Packed, Plan};
use super::super::visit::{GET, PUT, Slot, Visit, joined};
use crate::panics::drop_all;
use crate::pool::Full;
use machine::CachePadded;
use machine::atomic::AtomicU64;
use machine::atomic::Ordering::Relaxed;
use machine::trace::{self, Role};
use std::fmt;

pub(super) struct Ring<T> {
    rooms: Packed,
    /// Tasks put so far: those of others that are about to find no room included, while they are in the room.
    puts: CachePadded<AtomicU64>,
    /// Tasks got so far: those of others that are about to find nothing included, while they are in the room.
    gets: CachePadded<AtomicU64>,
    /// As many as the capacity: task number `n` lies in place `n` modulo that.
    slots: Box<[Slot<T>]>,
}

// SAFETY: the tasks move with it.
unsafe impl<T: Send> Send for Ring<T> {}
// SAFETY: a place is reached by one thread at a time (I2): tasks are handed from thread to thread and never shared.
unsafe impl<T: Send> Sync for Ring<T> {}

/// Adds up to `many` to `counter`, but not beyond `limit`: what it was, and how much was added for good.
///
/// Who adds at the same time has the same limit. So what is given back lies beyond it, and nobody's share does.
#[inline]
fn advance(counter: &AtomicU64, limit: u64, many: u64) -> (u64, u64) {
    // phase: only those change it who are in this room. Beyond the limit it stays there, until all have left.
    let wanted = many.min(limit.saturating_sub(counter.load(Relaxed)));
    if wanted == 0 {
        return (limit, 0);
    }
    // phase: each has its own share.
    let first = counter.fetch_add(wanted, Relaxed);
    let some = wanted.min(limit.saturating_sub(first));
    if some < wanted {
        // phase: before we leave, so that who enters the other room finds what is there.
        counter.fetch_sub(wanted - some, Relaxed);
    }
    (first, some)
}

impl<T> Ring<T> {
    /// An empty ring of these places, for up to `limit` who are in a room or wait for it.
    pub(super) fn new(slots: Box<[Slot<T>]>, limit: u64) -> Self {
        Self {
            rooms: Packed::new(Plan { limit, ..joined() }),
            puts: CachePadded::new(AtomicU64::new(0)),
            gets: CachePadded::new(AtomicU64::new(0)),
            slots,
        }
    }

    /// Says what lies where; it stays there.
    pub(super) fn describe(&self) {
        trace::structure(self, "queue");
        self.rooms.describe_parts();
        trace::part(&*self.puts, "puts", Role::Number);
        trace::part(&*self.gets, "gets", Role::Number);
        trace::row(self, &self.slots, "task", Role::Task);
    }

    pub(super) fn capacity(&self) -> usize {
        self.slots.len()
    }

    /// Places for up to `many` tasks: the number of the first, and how many. Only in the room of those who put.
    #[inline]
    fn reserve(&self, many: usize) -> (u64, u64) {
        // phase: nobody gets meanwhile.
        let limit = self.gets.load(Relaxed) + self.slots.len() as u64;
        advance(&self.puts, limit, many as u64)
    }

    /// Up to `many` tasks: the number of the first, and how many. Only in the room of those who get.
    #[inline]
    fn claim(&self, many: usize) -> (u64, u64) {
        // phase: nobody puts meanwhile.
        let limit = self.puts.load(Relaxed);
        advance(&self.gets, limit, many as u64)
    }

    /// The places from number `first` on, all around.
    #[inline]
    fn places(&self, first: u64) -> impl Iterator<Item = &Slot<T>> {
        let (before, from) = self.slots.split_at((first % self.slots.len() as u64) as usize);
        from.iter().chain(before)
    }

    #[inline]
    pub(super) fn put(&self, task: T) -> Result<(), Full<T>> {
        let visit = Visit::new(&self.rooms, PUT, || ());
        let (first, some) = self.reserve(1);
        let result = match self.places(first).next() {
            Some(place) if some == 1 => {
                // SAFETY: reserved for us, so that it is empty and nobody else's (I2), and we are inside.
                unsafe { place.write(task) };
                Ok(())
            }
            _ => Err(Full(task)),
        };
        drop(visit);
        result
    }

    /// Puts the first tasks of `run`, as many as there is room for, and takes them out of it. How many.
    pub(super) fn put_run(&self, run: &mut Vec<T>) -> usize {
        let visit = Visit::new(&self.rooms, PUT, || ());
        let (first, some) = self.reserve(run.len());
        for (place, task) in self.places(first).zip(run.drain(..some as usize)) {
            // SAFETY: as in `put`; there are no more of them than places.
            unsafe { place.write(task) };
        }
        drop(visit);
        some as usize
    }

    #[inline]
    pub(super) fn get(&self) -> Option<T> {
        let visit = Visit::new(&self.rooms, GET, || ());
        let (first, some) = self.claim(1);
        let place = self.places(first).next().filter(|_| some == 1);
        // SAFETY: claimed by us: it was put before anybody of this room came in, and nobody else takes it (I2).
        let task = place.map(|place| unsafe { place.take() });
        drop(visit);
        task
    }

    pub(super) fn get_many(&self, max: usize, into: &mut Vec<T>) -> usize {
        // Most of the time outside, where it holds up nobody.
        into.reserve(max.min(self.len_hint()));
        let visit = Visit::new(&self.rooms, GET, || ());
        let most = max.min(self.len_hint());
        // Before anything is claimed: it may panic. In this room there are fewer and fewer.
        into.reserve(most);
        let (first, some) = self.claim(most);
        // SAFETY: as in `get`; there are no more of them than places.
        let tasks = self.places(first).take(some as usize).map(|place| unsafe { place.take() });
        into.extend(tasks);
        drop(visit);
        some as usize
    }

    /// How many tasks were put and got, about; exactly when nobody is in a room.
    pub(super) fn counts(&self) -> (u64, u64) {
        // hint: gets first, so that it is not ahead.
        let gets = self.gets.load(Relaxed);
        // hint: as above.
        (self.puts.load(Relaxed), gets)
    }

    /// How many tasks there are, about. In the room of those who get, at least as many as can still be got.
    pub(super) fn len_hint(&self) -> usize {
        let (puts, gets) = self.counts();
        (puts.saturating_sub(gets) as usize).min(self.slots.len())
    }
}

impl<T> Drop for Ring<T> {
    fn drop(&mut self) {
        trace::gone(self);
        // Nobody waits for it: it is ours alone.
        drop_all(|| {
            let (first, some) = self.claim(1);
            let place = self.places(first).next().filter(|_| some == 1);
            // SAFETY: as in `get`.
            place.map(|place| unsafe { place.take() })
        });
    }
}

impl<T> fmt::Debug for Ring<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} tasks", self.len_hint())
    }
}
