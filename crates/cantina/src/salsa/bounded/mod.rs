//! SALSA with a capacity.
//!
//! The pool never holds more tasks than that. `try_put` gives the task back as
//! [`Full`](crate::pool::Full) when it finds no room; how early that may come is
//! [`Bounded::full_slack`]: not at all below a capacity of 128, and never with half the capacity or less
//! inside.
//!
//! Room is counted in *credits* that ends take and give in lots, so that a put or a get seldom touches
//! anything shared that an unbounded one does not.
//!
//! # Progress
//! As [`Salsa`]. Beside that a put for which the end has no credit takes some by a compare-and-swap that others may
//! make again: lock-free. To give credits back is one addition.
//!
//! # Linearization
//! Puts, gets and `None` as those of [`Salsa`]. `Full` when it finds no credit left: those that others have in
//! their pockets then, and those of gets under way, are room that it does not see.
//!
//! # Invariants and orderings
//! Tasks inside, credits left and credits in pockets are the capacity together; a put spends its credit when the task is there, a
//! get earns one when it has the task. The rest: `credits.rs`.
//!
//! # Memory
//! As [`Salsa`]: room is not memory, and nothing is reserved. A consumer that finds nothing gives back
//! the credits in its pocket, and so does every end that goes. One that is busy with its last task keeps less than a lot, and one
//! that is leaked keeps it for good.

mod builder;
mod credits;
mod ends;

pub use builder::Builder;
pub use ends::{Consumer, Producer, Worker};

use super::{Metrics, Salsa};
use crate::pool::{self, TooMany};
use credits::Credits;
use machine::Arc;
use machine::topology::CoreId;
use std::fmt;

/// Tasks that [`Bounded::new`] has room for.
const CAPACITY: usize = 1024;

/// A pool of tasks in chunks, with a capacity; see the [module](self).
///
/// ```
/// use cantina::pool::Full;
/// use cantina::salsa::Bounded;
///
/// let pool = Bounded::builder().capacity(2).build().unwrap();
/// let mut worker = pool.worker();
/// assert_eq!(worker.try_put("wash up"), Ok(()));
/// assert_eq!(worker.try_put("dry"), Ok(()));
/// assert_eq!(worker.try_put("put away"), Err(Full("put away")));
/// assert!(worker.get().is_some());
/// assert_eq!(worker.try_put("put away"), Ok(()));
/// ```
pub struct Bounded<T> {
    pool: Salsa<T>,
    credits: Arc<Credits>,
}

impl<T> Bounded<T> {
    /// An empty pool with room for 1024 tasks.
    ///
    /// # Panics
    /// When they do not fit into the address space.
    pub fn new() -> Self {
        Self::builder().build().expect("the defaults are allowed")
    }

    /// Settings to build one from.
    pub fn builder() -> Builder<T> {
        Builder::new()
    }

    /// One more putting end, near the core it is made on.
    pub fn producer(&self) -> Producer<T> {
        Producer::new(self.pool.producer(), self.credits.clone())
    }

    /// One more putting end, near `core`.
    pub fn producer_on(&self, core: CoreId) -> Producer<T> {
        Producer::new(self.pool.producer_on(core), self.credits.clone())
    }

    /// One more getting end, on the core it is made on.
    ///
    /// # Panics
    /// Beyond the most consumers; see [`try_consumer`](Self::try_consumer).
    pub fn consumer(&self) -> Consumer<T> {
        Consumer::new(self.pool.consumer(), self.credits.clone())
    }

    /// One more getting end, on `core`.
    ///
    /// # Errors
    /// [`TooMany`] beyond [`Builder::max_consumers`].
    pub fn consumer_on(&self, core: CoreId) -> Result<Consumer<T>, TooMany> {
        Ok(Consumer::new(self.pool.consumer_on(core)?, self.credits.clone()))
    }

    /// One more getting end, on the core it is made on.
    ///
    /// # Errors
    /// [`TooMany`] beyond [`Builder::max_consumers`].
    pub fn try_consumer(&self) -> Result<Consumer<T>, TooMany> {
        Ok(Consumer::new(self.pool.try_consumer()?, self.credits.clone()))
    }

    /// One more end for a thread in both roles: it puts to itself first.
    ///
    /// # Panics
    /// As [`consumer`](Self::consumer).
    pub fn worker(&self) -> Worker<T> {
        Worker::new(self.pool.worker(), self.credits.clone())
    }

    /// One more end for a thread in both roles.
    ///
    /// # Errors
    /// As [`try_consumer`](Self::try_consumer).
    pub fn try_worker(&self) -> Result<Worker<T>, TooMany> {
        Ok(Worker::new(self.pool.try_worker()?, self.credits.clone()))
    }

    /// How many tasks it has room for.
    pub fn capacity(&self) -> usize {
        self.credits.capacity
    }

    /// How many tasks fewer than its capacity it may hold and still say
    /// [`Full`](crate::pool::Full), operations under way apart.
    pub fn full_slack(&self) -> usize {
        self.credits.slack()
    }

    /// Tasks of a chunk.
    pub fn chunk_size(&self) -> usize {
        self.pool.chunk_size()
    }

    /// What it has done so far.
    pub fn metrics(&self) -> Metrics {
        self.pool.metrics()
    }

    /// How many tasks it held a moment ago.
    pub fn len_hint(&self) -> usize {
        self.pool.len_hint()
    }
}

pool::forward_to_own_methods!(Bounded {
    fn try_consumer(&self) -> Result<Consumer<T>, TooMany> {
        self.try_consumer()
    }

    fn try_worker(&self) -> Result<Worker<T>, TooMany> {
        self.try_worker()
    }

    fn full_slack(&self) -> usize {
        self.full_slack()
    }

    /// A get gives its room back after it has taken its task.
    fn full_counts_under_way(&self) -> bool {
        true
    }
});

impl<T> Clone for Bounded<T> {
    fn clone(&self) -> Self {
        Self { pool: self.pool.clone(), credits: self.credits.clone() }
    }
}

impl<T> Default for Bounded<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> fmt::Debug for Bounded<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bounded").field("capacity", &self.credits.capacity).finish_non_exhaustive()
    }
}
