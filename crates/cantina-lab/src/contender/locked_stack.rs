//! The locked stack: a mutex and a vector.
//!
//! # Progress
//! Blocking: each operation waits for the thread that holds the lock. No user code runs under it.
//!
//! # Linearization
//! Last in, first out, at the step that takes the lock. `get_many` gets all it gets in one step.
//!
//! # Memory
//! The vector grows by doubling and shrinks when it is seven eighths empty, so that a burst is given
//! back. The last handle drops the tasks nobody got.

use cantina::pool::{self, Full, TaskPool};
use machine::Arc;
use machine::lock::Mutex;
use std::fmt;

/// A vector of at most this many places is never shrunk.
const KEEP: usize = 1024;

/// A pool of a lock and a vector; see the [module](self). Its handles are all the same: the pool,
/// once more.
pub struct LockedStack<T> {
    shared: Arc<Mutex<Vec<T>>>,
}

impl<T> LockedStack<T> {
    /// An empty pool.
    pub fn new() -> Self {
        Self { shared: Arc::new(Mutex::new(Vec::new())) }
    }
}

/// Tells the machine where the last `count` tasks are read.
fn touch_last<T>(tasks: &[T], count: usize) {
    let slots = &tasks[tasks.len() - count..];
    machine::touch_read(slots.as_ptr().cast(), size_of_val(slots));
}

/// Gives memory back after a burst, at a price that the tasks got since then have paid.
fn shrink<T>(tasks: &mut Vec<T>) {
    if tasks.capacity() > KEEP && tasks.len() < tasks.capacity() / 8 {
        tasks.shrink_to((tasks.len() * 2).max(KEEP));
    }
}

impl<T: Send> TaskPool<T> for LockedStack<T> {
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

impl<T: Send> pool::Producer<T> for LockedStack<T> {
    fn try_put(&mut self, task: T) -> Result<(), Full<T>> {
        let mut tasks = self.shared.lock();
        tasks.push(task);
        let slot = tasks.last().map_or(std::ptr::null(), std::ptr::from_ref);
        machine::touch_write(slot.cast(), size_of::<T>());
        Ok(())
    }
}

impl<T: Send> pool::Consumer<T> for LockedStack<T> {
    fn get(&mut self) -> Option<T> {
        let mut tasks = self.shared.lock();
        if tasks.is_empty() {
            return None;
        }
        touch_last(&tasks, 1);
        let task = tasks.pop();
        shrink(&mut tasks);
        task
    }

    fn get_many(&mut self, max: usize, into: &mut Vec<T>) -> usize {
        let mut tasks = self.shared.lock();
        let count = max.min(tasks.len());
        // Before any task moves: it may panic.
        into.reserve(count);
        touch_last(&tasks, count);
        let kept = tasks.len() - count;
        into.extend(tasks.drain(kept..).rev());
        shrink(&mut tasks);
        count
    }
}

impl<T> Clone for LockedStack<T> {
    fn clone(&self) -> Self {
        Self { shared: self.shared.clone() }
    }
}

impl<T> Default for LockedStack<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> fmt::Debug for LockedStack<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LockedStack").finish_non_exhaustive()
    }
}
