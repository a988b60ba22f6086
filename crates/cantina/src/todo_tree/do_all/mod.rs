//! All of a fixed set of tasks, by workers that may die or dawdle: the paper's write-all.
//!
//! The tasks live as long as the [`DoAll`] and are shared; a [`Worker`] asks for the [`next`](Worker::next) one, gets a
//! [`Claim`] to it, and says when it is [`done`](Claim::done). A claim that is dropped, by a panic or a `?`, goes back.
//! One whose worker is dead or stuck is taken from it: by [`DoAll::reclaim`], or by the others when it is older than
//! [`Builder::reclaim_after`], twice as old the next time. A slow worker that wakes up does no harm: its `done` is refused.
//!
//! `done` is accepted **exactly once** for each task. The work itself is done **at least once**: twice, when a claim was
//! taken from a worker that was only slow. A task whose effect is a compare-and-swap takes effect exactly once.
//! [`Builder::at_most_once`] is the paper's form: no claim is ever taken or given back, a task is begun at most once, and
//! what a dead worker had stays undone.
//!
//! # Progress
//! Lock-free: an exchange fails when another worker's has succeeded. Whoever stops keeps its claims and nothing else.
//! Workers that take over from each other what takes long do not do so for ever: with each time the age doubles from which
//! on a claim to that task is taken over, until the work fits into it. Who calls [`DoAll::reclaim`] decides for itself.
//!
//! # Linearization
//! [`Worker::next`], [`Claim::done`] and dropping a claim at their exchange. `None`: each task was done or held when it was
//! looked at. [`DoAll::is_finished`] is exact: what is done stays done.
//!
//! # Invariants
//! * **I1** a word is changed by exchanges alone, and the number in it is new with each claim: whoever has a claim changes
//!   its word only as long as the claim stands.
//! * **I2** the bit of a task is cleared after its word says that it is done, by whoever sees that.
//!
//! # Orderings
//! | edge | release side | acquire side | carries |
//! |---|---|---|---|
//! | `done` | [`Claim::done`], clearing the bit | looking at the word, or at the bit | the work |
//! | `claim` | claiming, giving back | claiming | what was done of the work before it was given back; since when it is held |
//!
//! # Memory
//! The tasks, a word and a time for each, and a bit. All are freed with the last handle.

mod builder;
mod search;
mod word;
mod work;

pub use builder::Builder;
pub use work::{Claim, Superseded, Worker, WorkerId};

use crate::pool::TooMany;
use machine::Arc;
use search::Search;
use std::collections::BTreeMap;
use std::fmt;
use word::{MAX_WORKERS, State};

/// A fixed set of tasks that are all to be done; see the [module](self).
///
/// ```
/// use cantina::todo_tree::DoAll;
///
/// let all = DoAll::new(["wash up", "dry", "put away"]);
/// let worker = all.worker();
/// while let Some(claim) = worker.next() {
///     println!("{}", *claim);
///     claim.done().unwrap();
/// }
/// assert!(all.is_finished());
/// assert_eq!(all.progress().done, 3);
/// ```
pub struct DoAll<T> {
    shared: Arc<Shared<T>>,
}

/// How far a [`DoAll`] has come, for a progress bar.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// How many tasks there are.
    pub tasks: usize,
    /// How many are done.
    pub done: usize,
    /// How many each worker holds that holds any.
    pub claimed: BTreeMap<WorkerId, usize>,
}

struct Shared<T> {
    tasks: Box<[T]>,
    search: Search,
}

impl<T> DoAll<T> {
    /// All of `tasks`, each to be done at least once.
    pub fn new(tasks: impl IntoIterator<Item = T>) -> Self {
        Self::with(tasks.into_iter().collect(), None, false)
    }

    /// Settings to build one from.
    pub fn builder() -> Builder {
        Builder::new()
    }

    fn with(tasks: Box<[T]>, reclaim_after: Option<u64>, at_most_once: bool) -> Self {
        let search = Search::new(tasks.len(), reclaim_after, at_most_once);
        Self { shared: Arc::new(Shared { tasks, search }) }
    }

    /// One more worker.
    ///
    /// # Panics
    /// After 1,048,574 of them; see [`try_worker`](Self::try_worker).
    pub fn worker(&self) -> Worker<T> {
        self.try_worker().expect("a worker for each of a million threads is enough")
    }

    /// One more worker. A number that was given out is not given out again.
    ///
    /// # Errors
    /// [`TooMany`] after 1,048,574 of them.
    pub fn try_worker(&self) -> Result<Worker<T>, TooMany> {
        let limit = || TooMany::new(MAX_WORKERS as usize);
        let number = self.shared.search.join().ok_or_else(limit)?;
        Ok(Worker::new(self.shared.clone(), number))
    }

    /// Takes all claims from `worker`, dead or not, for others to do its tasks; how many. None, if they are to be done
    /// at most once.
    pub fn reclaim(&self, worker: WorkerId) -> usize {
        self.shared.search.reclaim(worker.0)
    }

    /// The tasks, in the order they were given.
    pub fn tasks(&self) -> &[T] {
        &self.shared.tasks
    }

    /// Whether all are done. Whoever sees that sees all of the work.
    pub fn is_finished(&self) -> bool {
        self.shared.search.is_finished()
    }

    /// How many are not done.
    pub fn remaining(&self) -> usize {
        self.shared.search.remaining()
    }

    /// How far it has come, looked up task by task.
    pub fn progress(&self) -> Progress {
        let tasks = self.shared.tasks.len();
        let mut progress = Progress { tasks, ..Progress::default() };
        for state in self.shared.search.states() {
            match state {
                State::Free => {}
                State::Held(worker) => *progress.claimed.entry(WorkerId(worker)).or_default() += 1,
                State::Done => progress.done += 1,
            }
        }
        progress
    }
}

impl<T> Clone for DoAll<T> {
    fn clone(&self) -> Self {
        Self { shared: self.shared.clone() }
    }
}

impl<T> fmt::Debug for DoAll<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (remaining, tasks) = (self.remaining(), self.shared.tasks.len());
        write!(f, "DoAll({remaining} of {tasks} tasks remain)")
    }
}
