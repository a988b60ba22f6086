//! A stack: the youngest task inside comes out.

use super::model::{Fates, Model};

/// The tasks inside, oldest first.
#[derive(Debug)]
pub(crate) struct Stack {
    tasks: Vec<u32>,
    /// For each of them: by when it or an older one is certainly out.
    until: Vec<u64>,
}

impl Model for Stack {
    fn new(_: &Fates) -> Self {
        Self { tasks: Vec::new(), until: Vec::new() }
    }

    fn len(&self) -> usize {
        self.tasks.len()
    }

    /// Not on top of a task that is out before anybody begins to get this one.
    fn may_put(&self, item: u32, fates: &Fates, _: impl FnOnce() -> u64) -> bool {
        self.until.last().is_none_or(|&until| until >= fates[item].from)
    }

    /// Who comes out last goes in first.
    fn rank(out: u64) -> u64 {
        u64::MAX - out
    }

    fn put(&mut self, item: u32, fates: &Fates) {
        self.tasks.push(item);
        let until = fates[item].until;
        self.until.push(self.until.last().map_or(until, |&below| below.min(until)));
    }

    fn undo_put(&mut self, _: u32, _: &Fates) {
        self.tasks.pop();
        self.until.pop();
    }

    fn gives(&self, item: u32) -> bool {
        self.tasks.last() == Some(&item)
    }

    fn next_untaken(&self, fates: &Fates) -> Option<u32> {
        self.tasks.last().copied().filter(|&item| fates[item].untaken)
    }

    fn get(&mut self, item: u32, fates: &Fates) {
        self.undo_put(item, fates);
    }

    fn undo_get(&mut self, item: u32, fates: &Fates) {
        self.put(item, fates);
    }

    fn describe(&self, fates: &Fates, into: &mut Vec<u32>) {
        into.extend(self.tasks.iter().map(|&item| fates.face(item)));
    }

    fn order_matters(&self, fates: &Fates) -> bool {
        !fates.look_alike(self.tasks.iter().copied())
    }
}
