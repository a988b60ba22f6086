//! The ends of a [`Cafe`](super::Cafe).

use super::form::{Form, Getter, Putter};
use super::wide::SLOTS;
use crate::pool::{self, Drain, Full, PutAllError};
use std::fmt;
use std::ops::ControlFlow;

/// Tasks that `put_all` gathers before it publishes them.
const BATCH: usize = SLOTS as usize;

/// The putting end.
pub struct Producer<T> {
    putter: Putter<T>,
    /// Tasks on their way in; empty between calls.
    run: Vec<T>,
}

/// The getting end.
pub struct Consumer<T> {
    getter: Getter<T>,
}

/// Both ends in one hand.
pub struct Worker<T> {
    put: Producer<T>,
    get: Consumer<T>,
}

impl<T> Producer<T> {
    pub(super) fn new(form: &Form<T>) -> Self {
        Self { putter: form.putter(), run: Vec::new() }
    }

    /// Puts `task`.
    #[inline]
    pub fn put(&mut self, task: T) {
        self.putter.put(task);
    }

    /// Puts `task`; there is always room.
    ///
    /// # Errors
    /// Never.
    #[inline]
    pub fn try_put(&mut self, task: T) -> Result<(), Full<T>> {
        self.put(task);
        Ok(())
    }

    /// Puts all of `tasks` and says how many they were. Up to 32 become visible at once, and so up to
    /// 31 are nobody's to get while the iterator waits; in binary trees each by itself.
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
        let Self { putter, run } = self;
        Ok(pool::put_in_runs(tasks.into_iter(), BATCH, run, |run| putter.put_run(run)))
    }
}

impl<T> Consumer<T> {
    pub(super) fn new(form: &Form<T>) -> Self {
        Self { getter: form.getter() }
    }

    /// Gets a task. `None`: at one instant there was none.
    #[must_use = "a task that nobody keeps is dropped"]
    #[inline]
    pub fn get(&mut self) -> Option<T> {
        self.getter.get()
    }

    /// One walk of a get in the wait-free form, or that it has to be begun again: so that its steps can be counted.
    #[doc(hidden)]
    pub fn walk(&mut self) -> ControlFlow<Option<T>> {
        self.getter.walk()
    }

    /// Gets up to `max` tasks, appends them to `into` and says how many. 0 with `max > 0`: at one
    /// instant there was none.
    pub fn get_many(&mut self, max: usize, into: &mut Vec<T>) -> usize {
        self.getter.get_many(max, into)
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
    pub(super) fn new(form: &Form<T>) -> Self {
        Self { put: Producer::new(form), get: Consumer::new(form) }
    }
}

pool::forward_to_own_methods!(Producer, Consumer, Worker);
pool::worker_of_two_ends!(Producer, Consumer, Worker);

impl<T> Clone for Producer<T> {
    /// One more producer.
    fn clone(&self) -> Self {
        Self::new(&self.putter.form())
    }
}

impl<T> fmt::Debug for Producer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Producer").field(&self.putter.form()).finish()
    }
}

impl<T> fmt::Debug for Consumer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Consumer").field(&self.getter.form()).finish()
    }
}

impl<T> fmt::Debug for Worker<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Worker").field(&self.put.putter.form()).finish()
    }
}
