//! What the twins have in common: anybody may put and get, and all handles are the same.

use cantina::pool::{Consumer, Full, Producer, TaskPool};
use machine::Arc;

/// A structure with a bug, or without.
pub(crate) trait Twin: Send + Sync + 'static {
    /// Gives its words names, for the log.
    fn name(&self);
    /// Whether there was room.
    fn put(&self, task: u64) -> bool;
    fn get(&self) -> Option<u64>;
}

/// A twin as a pool.
pub(crate) struct Shared<Q>(Arc<Q>);

impl<Q: Twin> Shared<Q> {
    pub(crate) fn new(twin: Q) -> Self {
        let shared = Arc::new(twin);
        shared.name();
        Self(shared)
    }
}

impl<Q> Clone for Shared<Q> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<Q: Twin> TaskPool<u64> for Shared<Q> {
    type Producer = Self;
    type Consumer = Self;
    type Worker = Self;

    fn producer(&self) -> Self {
        self.clone()
    }

    fn consumer(&self) -> Self {
        self.clone()
    }

    fn worker(&self) -> Self {
        self.clone()
    }
}

impl<Q: Twin> Producer<u64> for Shared<Q> {
    fn try_put(&mut self, task: u64) -> Result<(), Full<u64>> {
        if self.0.put(task) { Ok(()) } else { Err(Full(task)) }
    }
}

impl<Q: Twin> Consumer<u64> for Shared<Q> {
    fn get(&mut self) -> Option<u64> {
        self.0.get()
    }
}
