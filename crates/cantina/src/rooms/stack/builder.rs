//! Settings for a [`RoomStack`].

use super::super::packed;
use super::RoomStack;
use super::chunks::{LARGEST_FIRST, usual_first};
use crate::pool::BuildError;
use std::fmt;
use std::marker::PhantomData;

/// Settings for a [`RoomStack`].
#[must_use = "a builder does nothing until it builds"]
pub struct Builder<T> {
    first_chunk: usize,
    limit: u64,
    task: PhantomData<fn() -> T>,
}

impl<T> Builder<T> {
    pub(super) fn new() -> Self {
        Self { first_chunk: 1 << usual_first::<T>(), limit: packed::LIMIT, task: PhantomData }
    }

    /// How many tasks the first chunk has room for, a power of two from 1 to 65536: unless told otherwise what fits into 2 KiB, and
    /// at most 256.
    pub fn first_chunk(mut self, tasks: usize) -> Self {
        self.first_chunk = tasks;
        self
    }

    /// The most that may be in a room or wait for it before others have to ask again, if less than possible: for tests.
    #[doc(hidden)]
    pub fn limit(mut self, limit: u64) -> Self {
        self.limit = limit;
        self
    }

    /// Builds the stack.
    ///
    /// # Errors
    /// When the first chunk is of a size that it cannot be of.
    pub fn build(self) -> Result<RoomStack<T>, BuildError> {
        let tasks = self.first_chunk;
        if !tasks.is_power_of_two() || tasks.ilog2() > LARGEST_FIRST {
            return Err(BuildError::new("first_chunk", tasks, "a power of two from 1 to 65536"));
        }
        Ok(RoomStack::with(tasks.ilog2(), self.limit))
    }
}

impl<T> Clone for Builder<T> {
    fn clone(&self) -> Self {
        Self { ..*self }
    }
}

impl<T> fmt::Debug for Builder<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder").field("first_chunk", &self.first_chunk).finish()
    }
}
