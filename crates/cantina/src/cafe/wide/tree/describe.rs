//! What lies where in a tree, for whoever draws a run.

use super::{LeafNumber, Tree};
use machine::trace::{self, Role};

impl<T> Tree<T> {
    /// Says what lies where. The words above the leaves come from the root down, and each leaf's tasks by
    /// themselves: so it can be seen what hangs from what.
    pub(super) fn describe(&self) {
        trace::node(self, "tree");
        trace::part(&self.next, "next", Role::Link);
        let frame = self.frame;
        if frame.leaves() > 1 {
            self.root.describe(self, "root", frame.children());
        }
        for (number, mid) in (0..).zip(&*self.mids) {
            mid.present.describe(self, "mid", frame.leaves_of(number));
            mid.clearers.describe(self, "mid-pending", "mid-cleared");
        }
        for number in 0..frame.leaves() {
            self.leaf(number).describe(self);
            let spot = self.spot(LeafNumber(number));
            let tasks = self.cells(spot, 0..frame.slots_of(number));
            trace::row(self, tasks, "task", Role::Task);
        }
    }
}
