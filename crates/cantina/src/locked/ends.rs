//! The ends of a [`Locked`](super::Locked): all of them a count on the same lock.

use super::{BATCH, Shared};
use crate::pool::{self, Drain, Full, OneAtATime, PutAllError};
use machine::Arc;
use std::fmt;
use std::marker::PhantomData;

/// The putting end.
pub struct Producer<T> {
    shared: Arc<Shared<T>>,
    one_at_a_time: OneAtATime,
}

/// The getting end.
pub struct Consumer<T> {
    shared: Arc<Shared<T>>,
    one_at_a_time: OneAtATime,
}

/// Both ends in one hand.
pub struct Worker<T> {
    put: Producer<T>,
    get: Consumer<T>,
}

impl<T> Producer<T> {
    pub(super) fn new(shared: Arc<Shared<T>>) -> Self {
        Self { shared, one_at_a_time: PhantomData }
    }

    /// Puts `task`.
    pub fn put(&mut self, task: T) {
        self.shared.put(task);
    }

    /// Puts `task`; there is always room.
    ///
    /// # Errors
    /// Never.
    pub fn try_put(&mut self, task: T) -> Result<(), Full<T>> {
        self.put(task);
        Ok(())
    }

    /// Puts all of `tasks` and says how many they were: up to [`BATCH`] at a time, so that up to 63 that the iterator has
    /// given are nobody's to get while it waits.
    ///
    /// # Errors
    /// Never.
    ///
    /// # Panics
    /// When the iterator does. Every task it gave before is put.
    pub fn put_all<I>(&mut self, tasks: I) -> Result<usize, PutAllError<T, I::IntoIter>>
    where
        I: IntoIterator<Item = T>,
    {
        let shared = &self.shared;
        let put = |run: &mut Vec<T>| shared.put_run(run);
        Ok(pool::put_in_runs(tasks.into_iter(), BATCH, &mut Vec::new(), put))
    }
}

impl<T> Consumer<T> {
    pub(super) fn new(shared: Arc<Shared<T>>) -> Self {
        Self { shared, one_at_a_time: PhantomData }
    }

    /// Gets the oldest task. `None`: there was none when it had the lock.
    #[must_use = "a task that nobody keeps is dropped"]
    pub fn get(&mut self) -> Option<T> {
        self.shared.get()
    }

    /// Gets up to `max` of the oldest tasks, appends them to `into` and says how many.
    pub fn get_many(&mut self, max: usize, into: &mut Vec<T>) -> usize {
        self.shared.get_many(max, into)
    }

    /// Gets tasks until there are none.
    pub fn drain(&mut self) -> Drain<'_, Self, T>
    where
        T: Send,
    {
        Drain::new(self)
    }
}

impl<T> Worker<T> {
    pub(super) fn new(shared: Arc<Shared<T>>) -> Self {
        Self { put: Producer::new(shared.clone()), get: Consumer::new(shared) }
    }
}

pool::forward_to_own_methods!(Producer, Consumer, Worker);
pool::worker_of_two_ends!(Producer, Consumer, Worker);

impl<T> Clone for Producer<T> {
    fn clone(&self) -> Self {
        Self::new(self.shared.clone())
    }
}

impl<T> fmt::Debug for Producer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Producer").field(&*self.shared).finish()
    }
}

impl<T> fmt::Debug for Consumer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Consumer").field(&*self.shared).finish()
    }
}

impl<T> fmt::Debug for Worker<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Worker").field(&*self.put.shared).finish()
    }
}
