//! A queue: the oldest task inside comes out.

use super::model::{Fates, Model};
use std::collections::VecDeque;

/// The tasks inside, oldest first.
#[derive(Debug)]
pub(crate) struct Queue {
    tasks: VecDeque<u32>,
}

impl Model for Queue {
    fn new(_: &Fates) -> Self {
        Self { tasks: VecDeque::new() }
    }

    fn len(&self) -> usize {
        self.tasks.len()
    }

    /// Not if a task that is still to be put is out before anybody begins to get this one: it would
    /// have to overtake.
    fn may_put(&self, item: u32, fates: &Fates, still_to_put: impl FnOnce() -> u64) -> bool {
        still_to_put() >= fates[item].from
    }

    /// Who comes out first goes in first.
    fn rank(out: u64) -> u64 {
        out
    }

    fn put(&mut self, item: u32, _: &Fates) {
        self.tasks.push_back(item);
    }

    fn undo_put(&mut self, _: u32, _: &Fates) {
        self.tasks.pop_back();
    }

    fn gives(&self, item: u32) -> bool {
        self.tasks.front() == Some(&item)
    }

    fn next_untaken(&self, fates: &Fates) -> Option<u32> {
        self.tasks.front().copied().filter(|&item| fates[item].untaken)
    }

    fn get(&mut self, _: u32, _: &Fates) {
        self.tasks.pop_front();
    }

    fn undo_get(&mut self, item: u32, _: &Fates) {
        self.tasks.push_front(item);
    }

    fn describe(&self, fates: &Fates, into: &mut Vec<u32>) {
        into.extend(self.tasks.iter().map(|&item| fates.face(item)));
    }

    fn order_matters(&self, fates: &Fates) -> bool {
        !fates.look_alike(self.tasks.iter().copied())
    }
}
