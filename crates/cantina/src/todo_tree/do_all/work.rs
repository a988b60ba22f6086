//! Workers and their claims.

use super::Shared;
use super::word::Word;
use machine::Arc;
use machine::random::Random;
use std::cell::Cell;
use std::error::Error;
use std::fmt;
use std::ops::Deref;

/// One who does tasks of a [`DoAll`](super::DoAll). It may have several claims at once, belongs to one thread at a
/// time, and needs no farewell: claims that it leaks are there to be [reclaimed](super::DoAll::reclaim).
pub struct Worker<T> {
    shared: Arc<Shared<T>>,
    number: u32,
    /// The task to look from.
    next: Cell<usize>,
}

/// Names a [`Worker`], also when it is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorkerId(pub(super) u32);

/// A task to be done by whoever has this. Dropped, it goes back for others, unless tasks are done at most once.
///
/// ```
/// use cantina::todo_tree::DoAll;
///
/// let all = DoAll::new([7]);
/// let (slow, quick) = (all.worker(), all.worker());
/// let claim = slow.next().unwrap();
/// all.reclaim(slow.id());
/// quick.next().unwrap().done().unwrap();
/// assert!(claim.done().is_err(), "somebody else has done it");
/// ```
#[must_use = "a claim that is dropped goes back"]
pub struct Claim<'a, T> {
    shared: &'a Shared<T>,
    task: usize,
    word: Word,
}

/// The claim was taken over: the work is somebody else's to report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Superseded;

impl<T> Worker<T> {
    pub(super) fn new(shared: Arc<Shared<T>>, number: u32) -> Self {
        let tasks = shared.tasks.len().max(1);
        // Workers begin far from each other, whatever their numbers.
        let next = Cell::new(Random::seeded(number.into()).below(tasks));
        Self { shared, number, next }
    }

    /// Its name.
    pub fn id(&self) -> WorkerId {
        WorkerId(self.number)
    }

    /// A task that is to be done. `None`: each was done, or held by somebody, when it was looked at. Those that are
    /// held may come back: [`is_finished`](super::DoAll::is_finished) tells.
    pub fn next(&self) -> Option<Claim<'_, T>> {
        let (task, word) = self.shared.search.claim(self.number, self.next.get())?;
        self.next.set(if task + 1 < self.shared.tasks.len() { task + 1 } else { 0 });
        Some(Claim { shared: &self.shared, task, word })
    }
}

impl<T> Claim<'_, T> {
    /// Which task it is, counted from 0 in the order they were given.
    pub fn index(&self) -> usize {
        self.task
    }

    /// Reports the task done.
    ///
    /// # Errors
    /// [`Superseded`] when the claim was taken over, whether or not the other one is done.
    pub fn done(self) -> Result<(), Superseded> {
        // What is dropped after this finds another word, and changes nothing.
        if self.shared.search.done(self.task, self.word) { Ok(()) } else { Err(Superseded) }
    }
}

impl<T> Deref for Claim<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.shared.tasks[self.task]
    }
}

impl<T> Drop for Claim<'_, T> {
    fn drop(&mut self) {
        self.shared.search.give_back(self.task, self.word);
    }
}

impl<T> fmt::Debug for Worker<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Worker").field(&self.number).finish()
    }
}

impl<T> fmt::Debug for Claim<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Claim").field(&self.task).finish()
    }
}

impl fmt::Display for WorkerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Superseded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the claim was taken over by another worker")
    }
}

impl Error for Superseded {}
