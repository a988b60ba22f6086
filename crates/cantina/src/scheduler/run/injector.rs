//! Tasks from outside: a list that is added to one by one and taken whole, so that no address comes back in between.

use super::task::Task;
use machine::atomic::AtomicUsize;
use machine::atomic::Ordering::{Acquire, Relaxed, Release};

/// Nothing is in it.
const EMPTY: usize = 0;
/// Nothing more is taken. No address of a header.
const CLOSED: usize = 1;

pub(super) struct Injector {
    /// The newest task's address, `EMPTY` or `CLOSED`.
    head: AtomicUsize,
}

/// Tasks that were taken, newest first.
pub(super) struct Taken(usize);

impl Injector {
    pub(super) fn new() -> Self {
        Self { head: AtomicUsize::new(EMPTY) }
    }

    /// Adds a task.
    ///
    /// # Errors
    /// The task, if it is closed.
    pub(super) fn push(&self, task: Task) -> Result<(), Task> {
        // hint: only named; the exchange decides.
        let mut seen = self.head.load(Relaxed);
        loop {
            if seen == CLOSED {
                return Err(task);
            }
            task.set_next(seen);
            // outside: the task and its link.
            match self.head.compare_exchange_weak(seen, task.address(), Release, Relaxed) {
                // A task has no drop: it is in the list now.
                Ok(_) => return Ok(()),
                Err(now) => seen = now,
            }
        }
    }

    /// Takes all of them.
    pub(super) fn take(&self) -> Taken {
        // hint: only named; the exchange decides.
        let mut seen = self.head.load(Relaxed);
        while seen > CLOSED {
            // outside: the tasks and their links.
            match self.head.compare_exchange_weak(seen, EMPTY, Acquire, Relaxed) {
                Ok(_) => return Taken(seen),
                Err(now) => seen = now,
            }
        }
        Taken(EMPTY)
    }

    /// Takes all of them, and no more come.
    pub(super) fn close(&self) -> Taken {
        // outside: the tasks and their links.
        let seen = self.head.swap(CLOSED, Acquire);
        Taken(if seen == CLOSED { EMPTY } else { seen })
    }

    pub(super) fn is_empty(&self) -> bool {
        // hint: a look, behind the caller's fence if it decides on it.
        self.head.load(Relaxed) <= CLOSED
    }
}

impl Iterator for Taken {
    type Item = Task;

    fn next(&mut self) -> Option<Task> {
        if self.0 == EMPTY {
            return None;
        }
        // SAFETY: taken off the list, which it was put on as a task.
        let task = unsafe { Task::from_address(self.0) };
        self.0 = task.next();
        Some(task)
    }
}
