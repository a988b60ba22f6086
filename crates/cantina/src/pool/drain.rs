//! Getting until there is nothing left.

use super::Consumer;
use std::fmt;
use std::iter::FusedIterator;
use std::marker::PhantomData;

/// Gets tasks until the pool says it is empty. Made by a consumer's `drain`.
#[must_use = "nothing is got until it is iterated"]
pub struct Drain<'a, C, T> {
    consumer: Option<&'a mut C>,
    task: PhantomData<fn() -> T>,
}

impl<'a, C: Consumer<T>, T> Drain<'a, C, T> {
    pub(crate) fn new(consumer: &'a mut C) -> Self {
        Self { consumer: Some(consumer), task: PhantomData }
    }
}

impl<C: Consumer<T>, T> Iterator for Drain<'_, C, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        let task = self.consumer.as_mut()?.get();
        if task.is_none() {
            self.consumer = None;
        }
        task
    }
}

impl<C: Consumer<T>, T> FusedIterator for Drain<'_, C, T> {}

impl<C, T> fmt::Debug for Drain<'_, C, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Drain").field("done", &self.consumer.is_none()).finish_non_exhaustive()
    }
}
