//! What the search asks of a sequential object: to do an operation, and to undo it.

use std::ops::Index;

/// A sequential object over tasks numbered from 0. Undoing is in the reverse order of doing.
pub(crate) trait Model {
    /// An empty one.
    fn new(fates: &Fates) -> Self;
    /// How many tasks are inside.
    fn len(&self) -> usize;
    /// Whether a put of `item` now has a future. `false` is certain, `true` is not.
    /// `still_to_put` tells by when the first of the other tasks not yet put is certainly out.
    fn may_put(&self, item: u32, fates: &Fates, still_to_put: impl FnOnce() -> u64) -> bool;
    /// Of two tasks that may go in in either order, which should? The one with the smaller rank, if
    /// they come out at about `out`. A guess: the search tries the other way too.
    fn rank(out: u64) -> u64;
    /// Puts it.
    fn put(&mut self, item: u32, fates: &Fates);
    /// Undoes the put.
    fn undo_put(&mut self, item: u32, fates: &Fates);
    /// Whether a get may return `item` now.
    fn gives(&self, item: u32) -> bool;
    /// A task that a pending get may take now: none that is recorded to have come out elsewhere.
    fn next_untaken(&self, fates: &Fates) -> Option<u32>;
    /// Gets it: [`gives`](Self::gives) said so, or [`next_untaken`](Self::next_untaken).
    fn get(&mut self, item: u32, fates: &Fates);
    /// Undoes the get.
    fn undo_get(&mut self, item: u32, fates: &Fates);
    /// Appends what the future depends on beyond which operations are done.
    fn describe(&self, fates: &Fates, into: &mut Vec<u32>);
    /// Whether the tasks inside could be in another order, and that could make a difference.
    fn order_matters(&self, fates: &Fates) -> bool;
}

/// How each task came out.
#[derive(Debug)]
pub(crate) struct Fates(pub(crate) Vec<Fate>);

/// How a task came out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fate {
    /// Nobody begins to get it before. [`u64::MAX`]: it stays inside.
    pub(crate) from: u64,
    /// By then it is out. [`u64::MAX`]: perhaps never.
    pub(crate) until: u64,
    /// No get is recorded to have returned it.
    pub(crate) untaken: bool,
}

impl Fates {
    /// Stands for all the untaken tasks: no operation to come tells them apart.
    const UNTAKEN: u32 = u32::MAX;

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// What operations to come can see of a task that is inside.
    pub(crate) fn face(&self, item: u32) -> u32 {
        if self[item].untaken { Self::UNTAKEN } else { item }
    }

    /// Whether `items` are one, none, or all the same to see.
    pub(crate) fn look_alike(&self, items: impl IntoIterator<Item = u32>) -> bool {
        let mut faces = items.into_iter().map(|item| self.face(item));
        let first = faces.next();
        faces.all(|face| Some(face) == first)
    }
}

impl Index<u32> for Fates {
    type Output = Fate;

    fn index(&self, item: u32) -> &Fate {
        &self.0[item as usize]
    }
}
