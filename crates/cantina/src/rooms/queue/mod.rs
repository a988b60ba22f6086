//! A bounded queue, first in first out, in two rooms: who puts never meets who gets.
//!
//! # Progress
//! Blocking: who puts waits until those who get have left their room, and the other way round; who comes to those who do the same
//! joins them, unless somebody waits. With more users than processors some 2000 join although somebody does, each time that a room is
//! opened. No user code runs inside, and nobody waits there.
//!
//! # Linearization
//! First in, first out. Those who put take effect in the order of their fetch-and-adds, which is that of their places, and so do
//! those who get. A batch has one: its tasks go in, or come out, together. Who finds the queue full, or empty, does so at any
//! step inside the room: once one has, all others of that room do until it closes.
//!
//! # Invariants
//! * **I1** outside the rooms, tasks `gets..puts` are there, each in its place, and they are no more than the places.
//! * **I2** inside a room each has the numbers that its fetch-and-add gave it, below the limit of its room, and reaches only
//!   their places.
//! * **I3** what is given back lies beyond the limit, so that nobody is given a number twice.
//!
//! # Orderings
//! | edge | release side | acquire side | carries |
//! |---|---|---|---|
//! | `phase` | who leaves a room | who enters one later | the tasks, and both counters: inside, a read-modify-write is all it takes |
//!
//! # Memory
//! All places from the start. The last handle drops the tasks that nobody got.
//!
//! # Limits
//! 1 to 2^32 - 1 tasks. Any number of ends, any number of threads; of more than 14336 that wait for a room some ask again and again.

mod builder;
mod ends;
mod ring;

pub use builder::Builder;
pub use ends::{Consumer, Producer, Worker};

use crate::pool::{self, Full, PutAllError, TooMany};
use machine::Arc;
use ring::Ring;
use std::fmt;
use std::iter::Chain;
use std::vec;

/// What [`RoomQueue::new`] holds.
const CAPACITY: usize = 1024;

/// A bounded queue, first in first out; see the [module](self).
///
/// ```
/// use cantina::rooms::RoomQueue;
///
/// let queue = RoomQueue::builder().capacity(3).build()?;
/// assert_eq!(queue.enqueue_all(["wash up", "dry"]).unwrap(), 2);
/// queue.enqueue("put away").unwrap();
/// assert_eq!(queue.enqueue("rest").unwrap_err().into_inner(), "rest");
/// assert_eq!(queue.dequeue(), Some("wash up"));
/// let mut rest = Vec::new();
/// assert_eq!(queue.dequeue_many(10, &mut rest), 2);
/// assert_eq!(rest, ["dry", "put away"]);
/// # Ok::<(), cantina::pool::BuildError>(())
/// ```
pub struct RoomQueue<T> {
    ring: Arc<Ring<T>>,
}

/// What a [`RoomQueue`] has done.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Metrics {
    /// Tasks put.
    pub puts: u64,
    /// Tasks got.
    pub gets: u64,
    /// Tasks there is room for.
    pub capacity: usize,
}

/// Tasks that there was no room for: those that were taken from an iterator, and the rest of it.
pub type Rest<I> = Chain<vec::IntoIter<<I as Iterator>::Item>, I>;

impl<T> RoomQueue<T> {
    /// An empty queue that holds 1024 tasks.
    pub fn new() -> Self {
        Self::builder().build().expect("a queue of usual size")
    }

    /// Settings to build one from.
    pub fn builder() -> Builder<T> {
        Builder::new()
    }

    fn with(ring: Ring<T>) -> Self {
        let ring = Arc::new(ring);
        ring.describe();
        Self { ring }
    }

    /// Puts `task` at the end.
    ///
    /// # Errors
    /// [`Full`] gives it back when there was no room.
    #[inline]
    pub fn enqueue(&self, task: T) -> Result<(), Full<T>> {
        self.ring.put(task)
    }

    /// Puts `tasks` at the end, as many as there is room for, and says how many. They go in together, or as many of them at
    /// a time as the queue can hold.
    ///
    /// # Errors
    /// [`PutAllError`] when there is no room for all: how many were put, the first that was not, and the rest.
    ///
    /// # Panics
    /// When the iterator does. What it gave since it was last asked for as many as the queue can hold is dropped.
    pub fn enqueue_all<I>(&self, tasks: I) -> Result<usize, PutAllError<T, Rest<I::IntoIter>>>
    where
        I: IntoIterator<Item = T>,
    {
        let mut tasks = tasks.into_iter();
        let mut put = 0;
        loop {
            let mut run: Vec<T> = tasks.by_ref().take(self.capacity()).collect();
            let last = run.len() < self.capacity();
            put += self.append(&mut run);
            let mut left = run.into_iter();
            if let Some(task) = left.next() {
                return Err(PutAllError { put, task, rest: left.chain(tasks) });
            }
            if last {
                return Ok(put);
            }
        }
    }

    /// Puts the first of `tasks` at the end, together, as many as there is room for, takes them out of the vector, and says how many. What
    /// there is no room for stays in it.
    #[must_use = "those that there was no room for are left in the vector"]
    pub fn append(&self, tasks: &mut Vec<T>) -> usize {
        if tasks.is_empty() { 0 } else { self.ring.put_run(tasks) }
    }

    /// Gets the oldest task. `None`: there was none.
    #[inline]
    #[must_use = "the task is dropped if nobody takes it"]
    pub fn dequeue(&self) -> Option<T> {
        self.ring.get()
    }

    /// Gets up to `max` of the oldest tasks, together, appends them to `into` and says how many. 0 with `max > 0`: there was none.
    pub fn dequeue_many(&self, max: usize, into: &mut Vec<T>) -> usize {
        self.ring.get_many(max, into)
    }

    /// How many tasks there is room for.
    pub fn capacity(&self) -> usize {
        self.ring.capacity()
    }

    /// One more putting end.
    pub fn producer(&self) -> Producer<T> {
        Producer::new(self.clone())
    }

    /// One more getting end.
    pub fn consumer(&self) -> Consumer<T> {
        Consumer::new(self.clone())
    }

    /// One more getting end; there is no limit.
    ///
    /// # Errors
    /// Never.
    pub fn try_consumer(&self) -> Result<Consumer<T>, TooMany> {
        Ok(self.consumer())
    }

    /// One more end for a thread in both roles.
    pub fn worker(&self) -> Worker<T> {
        Worker::new(self.clone())
    }

    /// One more end for a thread in both roles; there is no limit.
    ///
    /// # Errors
    /// Never.
    pub fn try_worker(&self) -> Result<Worker<T>, TooMany> {
        Ok(self.worker())
    }

    /// What it has done so far: exact when nobody uses it meanwhile.
    pub fn metrics(&self) -> Metrics {
        let (puts, gets) = self.ring.counts();
        Metrics { puts, gets, capacity: self.capacity() }
    }

    /// How many tasks it held a moment ago, about.
    pub fn len_hint(&self) -> usize {
        self.ring.len_hint()
    }
}

pool::forward_to_own_methods!(RoomQueue {});

impl<T> Clone for RoomQueue<T> {
    fn clone(&self) -> Self {
        Self { ring: self.ring.clone() }
    }
}

impl<T> Default for RoomQueue<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> fmt::Debug for RoomQueue<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RoomQueue").field(&*self.ring).finish()
    }
}
