//! A bag: any task that is inside may come out.

use super::model::{Fates, Model};

/// The tasks inside. Which of the untaken ones a pending get took makes no difference to anybody,
/// so it takes the last one.
#[derive(Debug)]
pub(crate) struct Bag {
    inside: Vec<bool>,
    untaken: Vec<u32>,
    len: usize,
}

impl Model for Bag {
    fn new(fates: &Fates) -> Self {
        Self { inside: vec![false; fates.len()], untaken: Vec::new(), len: 0 }
    }

    fn len(&self) -> usize {
        self.len
    }

    fn may_put(&self, _: u32, _: &Fates, _: impl FnOnce() -> u64) -> bool {
        true
    }

    fn rank(_: u64) -> u64 {
        0
    }

    fn put(&mut self, item: u32, fates: &Fates) {
        self.inside[item as usize] = true;
        self.len += 1;
        if fates[item].untaken {
            self.untaken.push(item);
        }
    }

    fn undo_put(&mut self, item: u32, fates: &Fates) {
        self.inside[item as usize] = false;
        self.len -= 1;
        if fates[item].untaken {
            self.untaken.pop();
        }
    }

    fn gives(&self, item: u32) -> bool {
        self.inside[item as usize]
    }

    fn next_untaken(&self, _: &Fates) -> Option<u32> {
        self.untaken.last().copied()
    }

    fn get(&mut self, item: u32, fates: &Fates) {
        self.inside[item as usize] = false;
        self.len -= 1;
        if fates[item].untaken {
            self.untaken.pop();
        }
    }

    fn undo_get(&mut self, item: u32, fates: &Fates) {
        self.put(item, fates);
    }

    /// The done operations say what is inside, but for how many a pending batch took.
    fn describe(&self, _: &Fates, into: &mut Vec<u32>) {
        into.push(self.len as u32);
    }

    fn order_matters(&self, _: &Fates) -> bool {
        false
    }
}
