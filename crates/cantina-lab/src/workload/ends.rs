//! What a run drives: putting and getting ends.

use super::{Counters, Parcel, Shape, Tally};
use machine::Backoff;
use machine::atomic::{AtomicBool, Ordering::Relaxed};
use std::ops::Range;

/// Something that tasks go through: a pool, or somebody else's queue, in one way of using it.
pub trait Subject: Send + Sync + 'static {
    /// The putting end.
    type Put<T: Parcel>: Put<T>;
    /// The getting end.
    type Get<T: Parcel>: Get<T>;

    /// A new one, empty, with the ends of `shape`.
    fn ends<T: Parcel>(&self, shape: Shape) -> Ends<Self::Put<T>, Self::Get<T>>;
}

/// The putting end of a run.
pub trait Put<T> {
    /// Puts the tasks of these numbers. It stops early only when [`Room`] says so.
    fn put(&mut self, numbers: Range<u64>, room: &Room<'_>);
}

/// The getting end of a run.
pub trait Get<T> {
    /// Gets what there is, as much as is best at a time, and adds each task to `tally`. Whether
    /// there was any.
    fn get(&mut self, tally: &mut Tally) -> bool;
}

/// All ends of a run, each made by the thread that uses it.
pub struct Ends<P, G> {
    /// One per producer.
    pub put: Vec<Make<P>>,
    /// One per consumer.
    pub get: Vec<Make<G>>,
    /// What the subject has counted, once all ends are gone; from those that count.
    pub count: Count,
}

/// Reads what a subject has counted.
pub type Count = Box<dyn FnOnce() -> Option<Counters> + Send>;

/// Makes an end on the thread that will use it.
pub type Make<E> = Box<dyn FnOnce() -> E + Send>;

/// What a producer does when there is no room: spin briefly, then yield, until there is.
#[derive(Debug)]
pub struct Room<'a> {
    /// bare: nobody reads anything through it.
    halted: &'a AtomicBool,
}

impl<P: Send + 'static, G: Send + 'static> Ends<P, G> {
    /// Ends that do not mind on which thread they are made.
    pub fn made(put: impl IntoIterator<Item = P>, get: impl IntoIterator<Item = G>) -> Self {
        Self {
            put: put.into_iter().map(as_it_is).collect(),
            get: get.into_iter().map(as_it_is).collect(),
            count: Box::new(|| None),
        }
    }
}

fn as_it_is<E: Send + 'static>(end: E) -> Make<E> {
    Box::new(move || end)
}

impl<'a> Room<'a> {
    pub(super) fn new(halted: &'a AtomicBool) -> Self {
        Self { halted }
    }

    /// Puts one task, however long it takes. `attempt` gives it back when there is no room. False:
    /// the run is over, and the task is dropped.
    #[inline(always)]
    pub fn put<T>(&self, task: T, mut attempt: impl FnMut(T) -> Result<(), T>) -> bool {
        match attempt(task) {
            Ok(()) => true,
            Err(task) => self.put_later(task, attempt),
        }
    }

    #[cold]
    #[inline(never)]
    fn put_later<T>(&self, mut task: T, mut attempt: impl FnMut(T) -> Result<(), T>) -> bool {
        let backoff = Backoff::new();
        while self.wait(&backoff) {
            match attempt(task) {
                Ok(()) => return true,
                Err(again) => task = again,
            }
        }
        false
    }

    /// Waits a little. False: the run is over.
    pub fn wait(&self, backoff: &Backoff) -> bool {
        backoff.snooze();
        !self.halted.load(Relaxed)
    }
}

impl<P, G> std::fmt::Debug for Ends<P, G> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ends").field("put", &self.put.len()).field("get", &self.get.len()).finish()
    }
}
