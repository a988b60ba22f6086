//! Which leaf a consumer takes from, and when it looks.

use super::super::tree::{LeafNumber, Siblings};
use super::Getter;
use crate::pool::Patience;

impl<T> Getter<T> {
    /// Begins with a random leaf of a tree that is new to us.
    pub(super) fn begin(&mut self) {
        let leaves = self.hold.tree().frame().leaves();
        let leaf = LeafNumber(self.random.below(leaves as usize) as u32);
        self.empties = 0;
        self.turn_to(leaf);
    }

    /// Turns to a leaf of which nothing is known.
    pub(super) fn turn_to(&mut self, leaf: LeafNumber) {
        self.report_empties();
        self.arrive(leaf, 0);
        self.others = Siblings { leaves: 0, ..self.hold.tree().alone(leaf) };
    }

    /// Goes to a leaf of our tree that had a task a moment ago. False: at one instant its root showed none.
    pub(super) fn go_to_task(&mut self) -> bool {
        self.report_empties();
        let Some(found) = self.hold.tree().leaf_with_task(self.leaf.leaf, &mut self.tally.get_cas)
        else {
            return false;
        };
        self.others = found.others;
        self.arrive(found.leaf, found.available);
        true
    }

    /// Goes from a leaf without tasks to one of those beside it that has one. False: none of them has.
    pub(super) fn go_on(&mut self) -> bool {
        self.go_on_from(self.leaf.leaf)
    }

    /// Goes to one of the leaves beside ours that has a task, from `start` on, which is one of them or ours.
    fn go_on_from(&mut self, start: LeafNumber) -> bool {
        while self.others.leaves != 0 {
            let tree = self.hold.tree();
            let leaf = tree.first_of(self.others, start);
            tree.expect_tasks(leaf);
            self.others.leaves &= !tree.alone(leaf).leaves;
            if self.others.leaves != 0 {
                tree.expect(tree.first_of(self.others, leaf));
            }
            let available = tree.available(leaf);
            if available != 0 {
                self.arrive(leaf, available);
                return true;
            }
        }
        false
    }

    /// Somebody else takes from our leaf: goes to another one beside it, or looks at ours again.
    #[cold]
    #[inline(never)]
    pub(super) fn step_aside(&mut self) {
        self.tally.contended += 1;
        self.seen = 0;
        if self.others.leaves != 0 {
            let any = self.random.below(self.others.leaves.count_ones() as usize);
            let start = self.hold.tree().nth_of(self.others, any as u32);
            if self.go_on_from(start) {
                return;
            }
        }
        self.look();
    }

    /// Takes up a leaf, whose `available` places we saw.
    fn arrive(&mut self, leaf: LeafNumber, available: u32) {
        let tree = self.hold.tree();
        self.slots = tree.slots_of(leaf);
        (self.leaf, self.seen, self.used_up) = (tree.spot(leaf), available, false);
    }

    /// Tells the word above which leaves we found used up, if any. Which others it shows then.
    fn report_empties(&mut self) -> u64 {
        if self.empties == 0 {
            return 0;
        }
        let empties = Siblings { mid: self.others.mid, leaves: self.empties };
        self.empties = 0;
        self.hold.tree().take_away(empties, &mut self.tally.get_cas)
    }

    /// We have come to the end of a flow of tasks: waits for a moment, and does not disturb those that put.
    /// Whether there are more.
    pub(super) fn wait_for_more(&mut self) -> bool {
        if !self.patience.ends_a_flow() {
            return false;
        }
        if self.used_up {
            self.patience.wait();
            self.others.leaves = self.report_empties();
            if !self.go_on() && !self.go_to_task() {
                self.patience.judge(0);
                return false;
            }
            self.patience.judge(if self.others.leaves == 0 {
                self.seen.count_ones()
            } else {
                u32::MAX
            });
        }
        let before = self.seen.count_ones();
        if self.others.leaves == 0 && Patience::wants_more(before) {
            self.patience.wait();
            self.look();
            self.patience.judge(self.seen.count_ones().saturating_sub(before));
        }
        self.seen != 0
    }

    /// Looks at our leaf.
    #[inline]
    pub(super) fn look(&mut self) {
        self.seen = if self.used_up { 0 } else { self.hold.tree().available(self.leaf.leaf) };
    }

    /// Looks at our leaf, of which we have taken all that we saw: in a flow not before many tasks can have come.
    pub(super) fn look_in_time(&mut self) {
        if self.used_up || self.others.leaves != 0 || !self.patience.flows() {
            return self.look();
        }
        self.patience.wait();
        self.look();
        self.patience.judge(self.seen.count_ones());
    }
}
