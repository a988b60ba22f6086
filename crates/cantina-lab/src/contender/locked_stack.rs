//! The locked stack: a mutex and a vector.
//!
//! # Progress
//! Blocking: each operation waits for the thread that holds the lock. No user code runs under it.
//!
//! # Linearization
//! Last in, first out, at the step that takes the lock. `get_many` gets all it gets in one step, and `put_all` puts all at once.
//!
//! # Memory
//! The vector grows by doubling and shrinks when it is seven eighths empty, so that a burst is given
//! back. The last handle drops the tasks nobody got.

use super::ends_are_clones;
use cantina::pool::{self, Full, PutAllError, drop_all};
use machine::Arc;
use machine::ahead;
use machine::lock::Mutex;
use machine::trace::{self, Role};
use std::fmt;

/// A vector of at most this many places is never shrunk.
const KEEP: usize = 1024;

/// A pool of a lock and a vector; see the [module](self). Its handles are all the same: the pool,
/// once more.
pub struct LockedStack<T> {
    shared: Arc<Mutex<Tasks<T>>>,
}

/// The tasks nobody got: they are all dropped, whatever comes of it.
struct Tasks<T>(Vec<T>);

impl<T> LockedStack<T> {
    /// An empty pool.
    pub fn new() -> Self {
        let shared = Arc::new(Mutex::new(Tasks(Vec::new())));
        trace::structure(&*shared, "stack");
        trace::part(&*shared, "lock", Role::Lock);
        Self { shared }
    }

    /// Puts all of `tasks`, the last one uppermost, and leaves the vector empty.
    pub fn append(&self, tasks: &mut Vec<T>) {
        let Tasks(all) = &mut *self.shared.lock();
        let before = all.len();
        all.reserve(tasks.len());
        ahead::all_to_write(all.as_ptr().wrapping_add(before).cast(), size_of_val(&tasks[..]));
        all.append(tasks);
        let slots = &all[before..];
        machine::touch_write(slots.as_ptr().cast(), size_of_val(slots));
        moved(slots);
        describe(all);
    }
}

/// Tells whoever draws the stack what it holds.
fn describe<T>(tasks: &Vec<T>) {
    trace::contents(tasks, tasks.iter().rev());
}

/// Tells the machine where the last `count` tasks are read.
fn touch_last<T>(tasks: &[T], count: usize) {
    let slots = &tasks[tasks.len() - count..];
    ahead::all_to_read(slots.as_ptr().cast(), size_of_val(slots));
    machine::touch_read(slots.as_ptr().cast(), size_of_val(slots));
    moved(slots);
}

/// Tells the machine that tasks are moved, under the lock: an instruction or two for each word of them.
fn moved<T>(tasks: &[T]) {
    machine::work((size_of_val(tasks) / size_of::<u64>()) as u64);
}

/// Gives memory back after a burst, at a price that the tasks got since then have paid.
fn shrink<T>(tasks: &mut Vec<T>) {
    if tasks.capacity() > KEEP && tasks.len() < tasks.capacity() / 8 {
        tasks.shrink_to((tasks.len() * 2).max(KEEP));
    }
}

ends_are_clones!(LockedStack);

impl<T: Send> pool::Producer<T> for LockedStack<T> {
    fn try_put(&mut self, task: T) -> Result<(), Full<T>> {
        let Tasks(tasks) = &mut *self.shared.lock();
        tasks.push(task);
        let slot = tasks.last().map_or(std::ptr::null(), std::ptr::from_ref);
        machine::touch_write(slot.cast(), size_of::<T>());
        describe(tasks);
        Ok(())
    }

    fn put_all<I>(&mut self, tasks: I) -> Result<usize, PutAllError<T, I::IntoIter>>
    where
        I: IntoIterator<Item = T>,
    {
        // Gathered outside the lock: it is the caller's code.
        let append = |run: &mut Vec<T>| self.append(run);
        Ok(pool::put_in_runs(tasks.into_iter(), usize::MAX, &mut Vec::new(), append))
    }
}

impl<T: Send> pool::Consumer<T> for LockedStack<T> {
    fn get(&mut self) -> Option<T> {
        let Tasks(tasks) = &mut *self.shared.lock();
        if tasks.is_empty() {
            return None;
        }
        touch_last(tasks, 1);
        let task = tasks.pop();
        describe(tasks);
        shrink(tasks);
        task
    }

    fn get_many(&mut self, max: usize, into: &mut Vec<T>) -> usize {
        let Tasks(tasks) = &mut *self.shared.lock();
        let count = max.min(tasks.len());
        // Before any task moves: it may panic.
        into.reserve(count);
        touch_last(tasks, count);
        let kept = tasks.len() - count;
        into.extend(tasks.drain(kept..).rev());
        describe(tasks);
        shrink(tasks);
        count
    }
}

impl<T> Drop for Tasks<T> {
    fn drop(&mut self) {
        drop_all(|| self.0.pop());
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
