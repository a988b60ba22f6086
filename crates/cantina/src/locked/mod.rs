//! A mutex and a deque: the obviously right pool.
//!
//! Every test runs it beside the clever ones. It is also a sound choice for a few threads that mostly
//! do other things: nothing here is faster uncontended by much, and nothing is simpler.
//!
//! # Progress
//! Blocking: each operation waits for the thread that holds the lock. No user code runs under it.
//!
//! # Linearization
//! First in, first out, at the step that takes the lock. `put_all` puts runs of up to [`BATCH`]
//! tasks in one step each; `get_many` gets all it gets in one step.
//!
//! # Invariants
//! * **I1** `puts - gets` is the number of tasks.
//!
//! # Memory
//! The deque grows by doubling and shrinks when it is seven eighths empty, so that a burst is given
//! back. The last handle drops the tasks nobody got.
//!
//! # Limits
//! None: any number of ends.

mod ends;

pub use ends::{Consumer, Producer, Worker};

use crate::panics;
use crate::pool::{self, BuildError, TooMany};
use machine::Arc;
use machine::lock::{Mutex, MutexGuard};
use machine::trace::{self, Role};
use std::collections::VecDeque;
use std::fmt;
use std::marker::PhantomData;

/// How many tasks `put_all` gathers before it takes the lock.
pub const BATCH: usize = 64;

/// A deque of at most this many places is never shrunk.
const KEEP: usize = 1024;

/// An unbounded pool, first in first out; see the [module](self).
///
/// ```
/// let pool = cantina::locked::Locked::new();
/// let mut worker = pool.worker();
/// worker.put("wash up");
/// worker.put("dry");
/// assert_eq!(worker.get(), Some("wash up"));
/// assert_eq!(pool.len_hint(), 1);
/// ```
pub struct Locked<T> {
    shared: Arc<Shared<T>>,
}

/// Settings for a [`Locked`].
#[must_use = "a builder does nothing until it builds"]
pub struct Builder<T> {
    reserve: usize,
    task: PhantomData<fn() -> T>,
}

/// What a [`Locked`] has done.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Metrics {
    /// Tasks put.
    pub puts: u64,
    /// Tasks got.
    pub gets: u64,
    /// Tasks there is room for without growing.
    pub capacity: usize,
}

struct Shared<T> {
    queue: Mutex<Queue<T>>,
}

struct Queue<T> {
    tasks: VecDeque<T>,
    /// See I1.
    puts: u64,
    /// See I1.
    gets: u64,
}

impl<T> Locked<T> {
    /// An empty pool.
    pub fn new() -> Self {
        Self::with(VecDeque::new())
    }

    /// Settings to build one from.
    pub fn builder() -> Builder<T> {
        Builder { reserve: 0, task: PhantomData }
    }

    fn with(tasks: VecDeque<T>) -> Self {
        let queue = Queue { tasks, puts: 0, gets: 0 };
        let shared = Arc::new(Shared { queue: Mutex::new(queue) });
        trace::structure(&*shared, "queue");
        trace::part(&shared.queue, "lock", Role::Lock);
        Self { shared }
    }

    /// One more putting end.
    pub fn producer(&self) -> Producer<T> {
        Producer::new(self.shared.clone())
    }

    /// One more getting end.
    pub fn consumer(&self) -> Consumer<T> {
        Consumer::new(self.shared.clone())
    }

    /// One more getting end; there is no limit.
    ///
    /// # Errors
    /// Never.
    pub fn try_consumer(&self) -> Result<Consumer<T>, TooMany> {
        Ok(self.consumer())
    }

    /// One more end for a thread in both roles.
    pub fn worker(&self) -> Worker<T> {
        Worker::new(self.shared.clone())
    }

    /// One more end for a thread in both roles; there is no limit.
    ///
    /// # Errors
    /// Never.
    pub fn try_worker(&self) -> Result<Worker<T>, TooMany> {
        Ok(self.worker())
    }

    /// What it has done so far.
    pub fn metrics(&self) -> Metrics {
        let queue = self.shared.lock();
        Metrics { puts: queue.puts, gets: queue.gets, capacity: queue.tasks.capacity() }
    }

    /// How many tasks it held a moment ago.
    pub fn len_hint(&self) -> usize {
        self.shared.lock().tasks.len()
    }
}

impl<T> Builder<T> {
    /// Makes room for `tasks` tasks from the start.
    pub fn reserve(mut self, tasks: usize) -> Self {
        self.reserve = tasks;
        self
    }

    /// Builds the pool.
    ///
    /// # Errors
    /// When there is not enough memory for [`reserve`](Self::reserve).
    pub fn build(self) -> Result<Locked<T>, BuildError> {
        let mut tasks = VecDeque::new();
        tasks.try_reserve(self.reserve).map_err(|_| {
            BuildError::new("reserve", self.reserve, "at most what fits into memory")
        })?;
        Ok(Locked::with(tasks))
    }
}

impl<T> Shared<T> {
    fn lock(&self) -> MutexGuard<'_, Queue<T>> {
        self.queue.lock()
    }

    fn put(&self, task: T) {
        self.lock().push(task);
    }

    fn put_run(&self, run: &mut Vec<T>) {
        let mut queue = self.lock();
        run.drain(..).for_each(|task| queue.push(task));
    }

    fn get(&self) -> Option<T> {
        let mut queue = self.lock();
        let task = queue.pop()?;
        queue.shrink();
        Some(task)
    }

    fn get_many(&self, max: usize, into: &mut Vec<T>) -> usize {
        let mut queue = self.lock();
        let count = max.min(queue.tasks.len());
        // Before any task moves: it may panic.
        into.reserve(count);
        into.extend(std::iter::from_fn(|| queue.pop()).take(count));
        queue.shrink();
        count
    }
}

impl<T> Queue<T> {
    fn push(&mut self, task: T) {
        self.tasks.push_back(task);
        self.puts += 1;
        let slot = self.tasks.back().map_or(std::ptr::null(), std::ptr::from_ref);
        machine::touch_write(slot.cast(), size_of::<T>());
        trace::contents(&self.tasks, self.tasks.iter());
    }

    fn pop(&mut self) -> Option<T> {
        let slot = std::ptr::from_ref(self.tasks.front()?);
        machine::touch_read(slot.cast(), size_of::<T>());
        self.gets += 1;
        let task = self.tasks.pop_front();
        trace::contents(&self.tasks, self.tasks.iter());
        task
    }

    /// Gives memory back after a burst, at a price that the tasks got since then have paid.
    fn shrink(&mut self) {
        if self.tasks.capacity() > KEEP && self.tasks.len() < self.tasks.capacity() / 8 {
            self.tasks.shrink_to((self.tasks.len() * 2).max(KEEP));
        }
    }
}

impl<T> Drop for Queue<T> {
    fn drop(&mut self) {
        // As all pools do it: of several tasks that panic, the deque's own drop survives one.
        panics::drop_all(|| self.tasks.pop_front());
    }
}

pool::forward_to_own_methods!(Locked {});

impl<T> Clone for Locked<T> {
    fn clone(&self) -> Self {
        Self { shared: self.shared.clone() }
    }
}

impl<T> Default for Locked<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Clone for Builder<T> {
    fn clone(&self) -> Self {
        Self { ..*self }
    }
}

impl<T> fmt::Debug for Builder<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder").field("reserve", &self.reserve).finish()
    }
}

impl<T> fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.queue.try_lock() {
            Some(queue) => write!(f, "{} tasks", queue.tasks.len()),
            None => f.write_str("locked"),
        }
    }
}

impl<T> fmt::Debug for Locked<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Locked").field(&*self.shared).finish()
    }
}
