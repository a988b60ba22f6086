//! Settings for a [`Bounded`].

use super::credits::Credits;
use super::{Bounded, CAPACITY};
use crate::pool::BuildError;
use crate::salsa::policy::Policy;
use crate::salsa::{self, Mode};
use machine::{Arc, Topology};
use std::fmt;

/// Settings for a [`Bounded`]: a capacity, and those of a [`Salsa`](crate::salsa::Salsa).
#[must_use = "a builder does nothing until it builds"]
pub struct Builder<T> {
    capacity: usize,
    pool: salsa::Builder<T>,
}

impl<T> Builder<T> {
    pub(super) fn new() -> Self {
        Self { capacity: CAPACITY, pool: salsa::Builder::new() }
    }

    /// How many tasks there is room for, at least 1: 1024 unless told otherwise.
    pub fn capacity(mut self, tasks: usize) -> Self {
        self.capacity = tasks;
        self
    }

    /// As [`salsa::Builder::chunk_size`].
    pub fn chunk_size(mut self, tasks: usize) -> Self {
        self.pool = self.pool.chunk_size(tasks);
        self
    }

    /// As [`salsa::Builder::max_consumers`].
    pub fn max_consumers(mut self, consumers: usize) -> Self {
        self.pool = self.pool.max_consumers(consumers);
        self
    }

    /// As [`salsa::Builder::balancing`].
    pub fn balancing(mut self, balancing: bool) -> Self {
        self.pool = self.pool.balancing(balancing);
        self
    }

    /// As [`salsa::Builder::topology`].
    pub fn topology(mut self, topology: Topology) -> Self {
        self.pool = self.pool.topology(topology);
        self
    }

    /// As [`salsa::Builder::policy`].
    pub fn policy(mut self, policy: impl Policy + 'static) -> Self {
        self.pool = self.pool.policy(policy);
        self
    }

    /// As [`salsa::Builder::mode`].
    pub fn mode(mut self, mode: Mode) -> Self {
        self.pool = self.pool.mode(mode);
        self
    }

    /// As [`salsa::Builder::patience`].
    pub fn patience(mut self, turns: u32) -> Self {
        self.pool = self.pool.patience(turns);
        self
    }

    /// As [`salsa::Builder::spares`].
    pub fn spares(mut self, chunks: usize) -> Self {
        self.pool = self.pool.spares(chunks);
        self
    }

    /// As [`salsa::Builder::table_width`].
    #[doc(hidden)]
    pub fn table_width(mut self, places: usize) -> Self {
        self.pool = self.pool.table_width(places);
        self
    }

    /// Builds the pool.
    ///
    /// # Errors
    /// [`BuildError`] names the setting that was given something it does not take, and what it takes.
    pub fn build(self) -> Result<Bounded<T>, BuildError> {
        if self.capacity == 0 {
            return Err(BuildError::new("capacity", 0, "at least 1"));
        }
        let pool = self.pool.build()?;
        let credits = Credits::new(self.capacity, pool.chunk_size());
        Ok(Bounded { pool, credits: Arc::new(credits) })
    }
}

impl<T> fmt::Debug for Builder<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("capacity", &self.capacity)
            .field("pool", &self.pool)
            .finish()
    }
}
