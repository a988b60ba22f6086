//! A batch of work.

use super::Shared;
use std::fmt;
use std::ops::{Deref, DerefMut};

/// Tasks that a worker has borrowed from a [`WorkStack`](super::WorkStack), uppermost first: a vector. Dropped, it returns what it holds
/// then, also when its worker panics: what was not worked on is left to the others.
#[must_use = "dropped, it is returned as it is"]
pub struct Batch<'a, T> {
    stack: &'a Shared<T>,
    tasks: Vec<T>,
}

impl<'a, T> Batch<'a, T> {
    pub(super) fn new(stack: &'a Shared<T>, tasks: Vec<T>) -> Self {
        Self { stack, tasks }
    }
}

impl<T> Deref for Batch<'_, T> {
    type Target = Vec<T>;

    fn deref(&self) -> &Vec<T> {
        &self.tasks
    }
}

impl<T> DerefMut for Batch<'_, T> {
    fn deref_mut(&mut self) -> &mut Vec<T> {
        &mut self.tasks
    }
}

impl<T> Drop for Batch<'_, T> {
    fn drop(&mut self) {
        self.stack.put_back(&mut self.tasks, 1);
    }
}

impl<T> fmt::Debug for Batch<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Batch({} tasks)", self.tasks.len())
    }
}
