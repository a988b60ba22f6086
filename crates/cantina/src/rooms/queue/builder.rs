//! Settings for a [`RoomQueue`].

use super::super::packed;
use super::super::visit::Slot;
use super::ring::Ring;
use super::{CAPACITY, RoomQueue};
use crate::pool::BuildError;
use std::fmt;
use std::marker::PhantomData;

/// Settings for a [`RoomQueue`].
#[must_use = "a builder does nothing until it builds"]
pub struct Builder<T> {
    capacity: usize,
    limit: u64,
    task: PhantomData<fn() -> T>,
}

impl<T> Builder<T> {
    pub(super) fn new() -> Self {
        Self { capacity: CAPACITY, limit: packed::LIMIT, task: PhantomData }
    }

    /// How many tasks there is room for, at least 1: 1024 unless told otherwise.
    pub fn capacity(mut self, tasks: usize) -> Self {
        self.capacity = tasks;
        self
    }

    /// The most that may be in a room or wait for it before others have to ask again, if less than possible: for tests.
    #[doc(hidden)]
    pub fn limit(mut self, limit: u64) -> Self {
        self.limit = limit;
        self
    }

    /// Builds the queue.
    ///
    /// # Errors
    /// When the capacity is 0, too large, or there is not enough memory for it.
    ///
    /// ```
    /// use cantina::rooms::RoomQueue;
    ///
    /// let error = RoomQueue::<[u64; 1 << 28]>::builder().capacity(1 << 30).build().unwrap_err();
    /// assert_eq!((error.setting, &*error.allowed), ("capacity", "at most what fits into memory"));
    /// ```
    pub fn build(self) -> Result<RoomQueue<T>, BuildError> {
        let error = |allowed| BuildError::new("capacity", self.capacity, allowed);
        if !(1..=u32::MAX as usize).contains(&self.capacity) {
            return Err(error("from 1 to 4294967295"));
        }
        let mut slots = Vec::new();
        slots
            .try_reserve_exact(self.capacity)
            .map_err(|_| error("at most what fits into memory"))?;
        slots.extend((0..self.capacity).map(|_| Slot::new()));
        Ok(RoomQueue::with(Ring::new(slots.into(), self.limit)))
    }
}

impl<T> Clone for Builder<T> {
    fn clone(&self) -> Self {
        Self { ..*self }
    }
}

impl<T> fmt::Debug for Builder<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder").field("capacity", &self.capacity).finish()
    }
}
