//! The ends of a [`Locked`](super::Locked): all of them a count on the same lock.

use super::{BATCH, Shared};
use crate::pool::{self, Drain, Full, PutAllError};
use machine::Arc;
use std::fmt;

/// The putting end.
pub struct Producer<T> {
    shared: Arc<Shared<T>>,
}

/// The getting end.
pub struct Consumer<T> {
    shared: Arc<Shared<T>>,
}

/// Both ends in one hand.
pub struct Worker<T> {
    put: Producer<T>,
    get: Consumer<T>,
}

/// Tasks on their way in: they are put when it is full, and when the iterator they came from panics.
struct Run<'a, T> {
    shared: &'a Shared<T>,
    tasks: Vec<T>,
}

impl<T> Producer<T> {
    pub(super) fn new(shared: Arc<Shared<T>>) -> Self {
        Self { shared }
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

    /// Puts all of `tasks` and says how many they were.
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
        let tasks = tasks.into_iter();
        let mut run = Run { shared: &self.shared, tasks: Vec::new() };
        run.tasks.reserve(tasks.size_hint().0.clamp(1, BATCH));
        let mut count = 0;
        for task in tasks {
            run.tasks.push(task);
            count += 1;
            if run.tasks.len() == BATCH {
                run.put();
            }
        }
        Ok(count)
    }
}

impl<T> Consumer<T> {
    pub(super) fn new(shared: Arc<Shared<T>>) -> Self {
        Self { shared }
    }

    /// Gets the oldest task. `None`: there was none when it had the lock.
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

    /// Puts `task`.
    pub fn put(&mut self, task: T) {
        self.put.put(task);
    }

    /// Puts `task`; there is always room.
    ///
    /// # Errors
    /// Never.
    pub fn try_put(&mut self, task: T) -> Result<(), Full<T>> {
        self.put.try_put(task)
    }

    /// Puts all of `tasks` and says how many they were.
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
        self.put.put_all(tasks)
    }

    /// Gets the oldest task. `None`: there was none when it had the lock.
    pub fn get(&mut self) -> Option<T> {
        self.get.get()
    }

    /// Gets up to `max` of the oldest tasks, appends them to `into` and says how many.
    pub fn get_many(&mut self, max: usize, into: &mut Vec<T>) -> usize {
        self.get.get_many(max, into)
    }

    /// Gets tasks until there are none.
    pub fn drain(&mut self) -> Drain<'_, Self, T>
    where
        T: Send,
    {
        Drain::new(self)
    }
}

impl<T> Run<'_, T> {
    fn put(&mut self) {
        self.shared.put_run(&mut self.tasks);
    }
}

impl<T> Drop for Run<'_, T> {
    fn drop(&mut self) {
        if !self.tasks.is_empty() {
            self.put();
        }
    }
}

impl<T: Send> pool::Producer<T> for Producer<T> {
    fn try_put(&mut self, task: T) -> Result<(), Full<T>> {
        self.try_put(task)
    }

    fn put_all<I>(&mut self, tasks: I) -> Result<usize, PutAllError<T, I::IntoIter>>
    where
        I: IntoIterator<Item = T>,
    {
        self.put_all(tasks)
    }
}

impl<T: Send> pool::Consumer<T> for Consumer<T> {
    fn get(&mut self) -> Option<T> {
        self.get()
    }

    fn get_many(&mut self, max: usize, into: &mut Vec<T>) -> usize {
        self.get_many(max, into)
    }
}

impl<T: Send> pool::Producer<T> for Worker<T> {
    fn try_put(&mut self, task: T) -> Result<(), Full<T>> {
        self.try_put(task)
    }

    fn put_all<I>(&mut self, tasks: I) -> Result<usize, PutAllError<T, I::IntoIter>>
    where
        I: IntoIterator<Item = T>,
    {
        self.put_all(tasks)
    }
}

impl<T: Send> pool::Consumer<T> for Worker<T> {
    fn get(&mut self) -> Option<T> {
        self.get()
    }

    fn get_many(&mut self, max: usize, into: &mut Vec<T>) -> usize {
        self.get_many(max, into)
    }
}

impl<T> Extend<T> for Producer<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, tasks: I) {
        // There is always room.
        let _ = self.put_all(tasks);
    }
}

impl<T> Extend<T> for Worker<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, tasks: I) {
        self.put.extend(tasks);
    }
}

impl<T> Clone for Producer<T> {
    fn clone(&self) -> Self {
        Self { shared: self.shared.clone() }
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
