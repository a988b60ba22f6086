//! The ends of a [`RoomStack`]: each of them is the stack, seen from one side.

use super::RoomStack;
use crate::pool::{self, Drain, Full, OneAtATime, PutAllError};
use std::fmt;
use std::marker::PhantomData;

/// How many tasks `put_all` gathers before it enters the room.
const BATCH: usize = 512;

/// The putting end.
pub struct Producer<T> {
    stack: RoomStack<T>,
    one_at_a_time: OneAtATime,
}

/// The getting end.
pub struct Consumer<T> {
    stack: RoomStack<T>,
    one_at_a_time: OneAtATime,
}

/// Both ends in one hand.
pub struct Worker<T> {
    put: Producer<T>,
    get: Consumer<T>,
}

impl<T> Producer<T> {
    pub(super) fn new(stack: RoomStack<T>) -> Self {
        Self { stack, one_at_a_time: PhantomData }
    }

    /// Puts `task` on top.
    #[inline]
    pub fn put(&mut self, task: T) {
        self.stack.push(task);
    }

    /// Puts `task` on top; there is always room.
    ///
    /// # Errors
    /// Never.
    #[inline]
    pub fn try_put(&mut self, task: T) -> Result<(), Full<T>> {
        self.put(task);
        Ok(())
    }

    /// Puts all of `tasks` on top, up to 512 of them together, and says how many they were. Up to 511 that the iterator has
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
        Ok(self.stack.push_in_runs(tasks, BATCH))
    }
}

impl<T> Consumer<T> {
    pub(super) fn new(stack: RoomStack<T>) -> Self {
        Self { stack, one_at_a_time: PhantomData }
    }

    /// Gets the uppermost task. `None`: there was none.
    #[must_use = "a task that nobody keeps is dropped"]
    #[inline]
    pub fn get(&mut self) -> Option<T> {
        self.stack.pop()
    }

    /// Gets up to `max` of the uppermost tasks, together, appends them to `into` and says how many.
    pub fn get_many(&mut self, max: usize, into: &mut Vec<T>) -> usize {
        self.stack.pop_many(max, into)
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
    pub(super) fn new(stack: RoomStack<T>) -> Self {
        Self { put: Producer::new(stack.clone()), get: Consumer::new(stack) }
    }
}

pool::forward_to_own_methods!(Producer, Consumer, Worker);
pool::worker_of_two_ends!(Producer, Consumer, Worker);

impl<T> Clone for Producer<T> {
    fn clone(&self) -> Self {
        Self::new(self.stack.clone())
    }
}

impl<T> fmt::Debug for Producer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Producer").field(&*self.stack.shared).finish()
    }
}

impl<T> fmt::Debug for Consumer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Consumer").field(&*self.stack.shared).finish()
    }
}

impl<T> fmt::Debug for Worker<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Worker").field(&*self.put.stack.shared).finish()
    }
}
