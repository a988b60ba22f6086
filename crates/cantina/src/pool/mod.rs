//! What every pool offers, and nothing a pool cannot keep.
//!
//! A [`TaskPool`] is a cheap handle that many threads share. It gives out ends: a [`Producer`] puts,
//! a [`Consumer`] gets, a worker does both. An end belongs to one thread at a time, comes and goes at
//! any moment, and loses nothing when it goes.
//!
//! # What `None` claims
//! At one instant of the call the pool held no task whose put happens before the call, or is ordered
//! before it through this pool. A put that has returned may become visible to threads that are not
//! synchronised with it a little later, because it may sit in its processor's store buffer. Whoever
//! judges by a clock has to fence: after taking a start time, and before taking an end time.
//!
//! # What `Full` claims
//! A bounded pool says how early it may come: [`TaskPool::full_slack`], and whether it counts operations
//! under way: [`TaskPool::full_counts_under_way`].
//!
//! # Panics
//! A panic in a task, or in a task's `Drop`, loses no other task and hangs nobody. Everything left in
//! a pool is dropped exactly once when its last handle goes.

mod drain;
mod error;
mod exchanges;
mod forward;
mod lines;
mod patience;
mod runs;

#[doc(hidden)]
pub use crate::panics::drop_all;
pub use drain::Drain;
pub use error::{BuildError, Full, PutAllError, TooMany};
pub(crate) use exchanges::Exchanges;
pub(crate) use forward::{forward_to_own_methods, worker_of_two_ends};
pub(crate) use lines::{first_on_a_line, lines_of, spare_cells};
pub(crate) use patience::Patience;
#[doc(hidden)]
pub use runs::put_in_runs;
pub(crate) use runs::put_one_by_one;

use std::cell::Cell;
use std::marker::PhantomData;

/// What makes an end one for a thread at a time: it is not `Sync`.
pub(crate) type OneAtATime = PhantomData<Cell<()>>;

/// A pool of tasks.
///
/// `T` need not be `'static`: scoped threads work.
pub trait TaskPool<T: Send>: Clone + Send + Sync {
    /// The putting end.
    type Producer: Producer<T>;
    /// The getting end.
    type Consumer: Consumer<T>;
    /// Both ends in one hand: one thread in both roles.
    type Worker: Producer<T> + Consumer<T>;

    /// One more putting end. Any thread, any time.
    fn producer(&self) -> Self::Producer;

    /// One more getting end. Any thread, any time.
    ///
    /// # Panics
    /// Beyond the pool's documented, generous limit; see [`try_consumer`](Self::try_consumer).
    fn consumer(&self) -> Self::Consumer;

    /// One more end for a thread in both roles.
    ///
    /// # Panics
    /// As [`consumer`](Self::consumer).
    fn worker(&self) -> Self::Worker;

    /// One more getting end, or an error beyond the pool's limit.
    ///
    /// # Errors
    /// [`TooMany`] where the pool has a limit and it is reached.
    fn try_consumer(&self) -> Result<Self::Consumer, TooMany> {
        Ok(self.consumer())
    }

    /// One more end for a thread in both roles, or an error beyond the pool's limit.
    ///
    /// # Errors
    /// As [`try_consumer`](Self::try_consumer).
    fn try_worker(&self) -> Result<Self::Worker, TooMany> {
        Ok(self.worker())
    }

    /// How many tasks fewer than its capacity a bounded pool may hold and still say [`Full`].
    fn full_slack(&self) -> usize {
        0
    }

    /// Whether [`Full`] counts operations of others that are under way: then a task takes up its room
    /// from the start of its put to the end of its get, whenever these take effect.
    fn full_counts_under_way(&self) -> bool {
        false
    }
}

/// The putting end of a pool.
pub trait Producer<T>: Send {
    /// Puts `task`.
    ///
    /// # Errors
    /// [`Full`] gives the task back when a bounded pool has no room. Unbounded pools never do.
    fn try_put(&mut self, task: T) -> Result<(), Full<T>>;

    /// Puts all of `tasks`, in order, and says how many they were. Each becomes visible by itself,
    /// unless the pool says more.
    ///
    /// A pool that puts several at a time holds back those that the iterator has given until it has enough of them: while the iterator
    /// waits, nobody gets these. Each pool says how many that may be. When the iterator ends or panics, all that it gave are put.
    ///
    /// # Errors
    /// [`PutAllError`] when a bounded pool has no room: how many were put, the task that was not, and
    /// the rest.
    ///
    /// # Panics
    /// When the iterator does. What was put before stays put.
    fn put_all<I>(&mut self, tasks: I) -> Result<usize, PutAllError<T, I::IntoIter>>
    where
        I: IntoIterator<Item = T>,
        Self: Sized,
    {
        put_one_by_one(tasks.into_iter(), |task| self.try_put(task))
    }
}

/// The getting end of a pool.
pub trait Consumer<T>: Send {
    /// Gets a task. `None` is a [claim](self#what-none-claims): the pool was empty.
    #[must_use = "a task that nobody keeps is dropped"]
    fn get(&mut self) -> Option<T>;

    /// Gets up to `max` tasks, appends them to `into` and says how many. 0 with `max > 0` is the same
    /// claim as `None`. Room is reserved only for what is there.
    fn get_many(&mut self, max: usize, into: &mut Vec<T>) -> usize {
        let before = into.len();
        while into.len() - before < max {
            let Some(task) = self.get() else { break };
            into.push(task);
        }
        into.len() - before
    }

    /// Gets tasks until the pool says it is empty.
    fn drain(&mut self) -> Drain<'_, Self, T>
    where
        Self: Sized,
    {
        Drain::new(self)
    }
}
