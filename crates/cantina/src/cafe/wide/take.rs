//! The getting side.

mod moves;

use super::List;
use super::hold::{End, Hold};
use super::leaf::{SLOTS, ones};
use super::tree::{LeafNumber, Siblings, Spot};
use crate::cafe::metrics::Tally;
use crate::cafe::overtaking::Meter;
use crate::pool::Patience;
use machine::Arc;
use machine::fence_after_rmw;
use machine::random::Random;

/// A consumer's end of the mechanism.
pub(in crate::cafe) struct Getter<T> {
    hold: Hold<T>,
    /// The leaf of the tree that we took from last, or begin to look at.
    leaf: Spot,
    /// How many places it has.
    slots: u32,
    /// Places of it that we saw available and have not tried to take.
    seen: u32,
    /// Whether all its places are gone.
    used_up: bool,
    /// Leaves beside it that may have tasks.
    others: Siblings,
    /// Leaves beside it whose places are all gone, as the word above does not know yet.
    empties: u64,
    patience: Patience,
    random: Random,
    tally: Tally,
    meter: Option<Arc<Meter>>,
    /// How many tasks had been got when the call began, where overtaking is measured.
    got: u64,
}

impl<T> Getter<T> {
    pub(in crate::cafe) fn new(list: Arc<List<T>>) -> Self {
        let (random, meter) = (list.random(), list.meter.clone());
        let hold = Hold::new(list, End::Head);
        let leaf = hold.tree().spot(LeafNumber(0));
        let mut getter = Self {
            hold,
            leaf,
            slots: 0,
            seen: 0,
            used_up: false,
            others: Siblings::default(),
            empties: 0,
            patience: Patience::new(),
            random,
            tally: Tally::default(),
            meter,
            got: 0,
        };
        getter.begin();
        getter
    }

    pub(in crate::cafe) fn list(&self) -> &Arc<List<T>> {
        &self.hold.list
    }

    /// Gets a task. `None`: at one instant there was none.
    #[inline]
    pub(in crate::cafe) fn get(&mut self) -> Option<T> {
        // Our tree need not be the head's: one that was passed has nothing available.
        let seen = if self.meter.is_none() { self.take_seen() } else { None };
        let task = match seen {
            Some(task) => task,
            None => self.get_anywhere()?,
        };
        self.patience.came(1);
        self.tally.gets += 1;
        if self.tally.is_long() {
            self.tally.add_to(&self.hold.list.counters);
        }
        Some(task)
    }

    /// Gets a task that may be none of those we know of.
    #[inline(never)]
    fn get_anywhere(&mut self) -> Option<T> {
        self.begin_to_measure();
        let task = match self.take_one() {
            Some(task) => task,
            None => self.get_elsewhere()?,
        };
        self.end_measuring(1);
        Some(task)
    }

    /// Gets up to `max` tasks: what one leaf has, with one read-modify-write, and what others have. 0 with
    /// `max > 0`: at one instant there was none.
    pub(in crate::cafe) fn get_many(&mut self, max: usize, into: &mut Vec<T>) -> usize {
        self.begin_to_measure();
        let before = into.len();
        while into.len() - before < max {
            if self.take_run(max - (into.len() - before), into) > 0 || self.go_on() {
                continue;
            }
            if into.len() > before {
                if !self.go_to_task() {
                    break;
                }
            } else if let Some(task) = self.get_elsewhere() {
                into.push(task);
            } else {
                break;
            }
        }
        let got = into.len() - before;
        self.patience.came(got);
        self.tally.gets += got as u64;
        self.end_measuring(got);
        if self.tally.is_long() {
            self.tally.add_to(&self.hold.list.counters);
        }
        got
    }

    #[inline]
    fn begin_to_measure(&mut self) {
        if let Some(meter) = &self.meter {
            self.got = meter.got();
        }
    }

    #[inline]
    fn end_measuring(&self, gets: usize) {
        if let Some(meter) = &self.meter {
            meter.finish(gets);
        }
    }

    #[inline(never)]
    fn get_elsewhere(&mut self) -> Option<T> {
        while self.go_on() || self.wait_for_more() {
            if let Some(task) = self.take_one() {
                return Some(task);
            }
        }
        loop {
            if self.hold.follow() {
                self.begin();
            }
            while self.go_to_task() {
                if let Some(task) = self.take_one() {
                    return Some(task);
                }
            }
            // tail: the root showed nothing, and only then the look at the tail.
            fence_after_rmw();
            if self.hold.is_last() {
                self.tally.add_to(&self.hold.list.counters);
                return None;
            }
            if let Some(task) = self.close() {
                return Some(task);
            }
            if self.tally.get_cas.note(self.hold.pass()) {
                self.tally.passed += 1;
            } else {
                self.tally.contended += 1;
            }
            self.begin();
        }
    }

    /// Takes a task from our leaf.
    fn take_one(&mut self) -> Option<T> {
        if self.seen == 0 {
            self.look_in_time();
        }
        while self.seen != 0 {
            let slot = self.seen.trailing_zeros();
            if let Some(task) = self.take_seen() {
                if self.meter.is_some() {
                    let (stamps, place) = self.hold.tree().stamp(self.leaf.leaf, slot);
                    stamps.look(place, self.got, &mut self.tally.overtaking);
                }
                return Some(task);
            }
        }
        None
    }

    /// Takes the first task of our leaf that we saw available, if it still is; if not we have looked again, here or elsewhere.
    #[inline]
    fn take_seen(&mut self) -> Option<T> {
        if self.seen == 0 {
            return None;
        }
        let slot = self.seen.trailing_zeros();
        self.seen &= self.seen - 1;
        let tree = self.hold.tree();
        let (won, used_up) = tree.take_one(self.leaf, slot, self.slots, &mut self.tally.get_cas);
        if used_up {
            self.leave_used_up();
        }
        if !won {
            self.step_aside();
            return None;
        }
        // SAFETY: taken (I4).
        Some(unsafe { self.hold.tree().read(self.leaf, slot) })
    }

    /// Takes `places` of our leaf, which we saw available. Those that were still there are ours (I4).
    fn take(&mut self, places: u32) -> u32 {
        let tree = self.hold.tree();
        let (won, used_up) = tree.take(self.leaf, places, self.slots, &mut self.tally.get_cas);
        if used_up {
            self.leave_used_up();
        }
        won
    }

    /// All places of our leaf are gone.
    #[cold]
    fn leave_used_up(&mut self) {
        self.used_up = true;
        self.empties |= self.hold.tree().alone(self.leaf.leaf).leaves;
    }

    /// Takes up to `max` tasks from our leaf at once. How many.
    fn take_run(&mut self, max: usize, into: &mut Vec<T>) -> usize {
        if self.seen == 0 {
            self.look_in_time();
        }
        let places = lowest(self.seen, max);
        if places == 0 {
            return 0;
        }
        // Before anything is taken: it may panic.
        into.reserve(places.count_ones() as usize);
        self.seen &= !places;
        let mut won = self.take(places);
        let leaf = self.leaf;
        if won != places {
            self.step_aside();
        }
        let (tree, got) = (self.hold.tree(), won.count_ones() as usize);
        while won != 0 {
            let first = won.trailing_zeros();
            let run = first..first + (!(won >> first)).trailing_zeros().min(SLOTS - first);
            won &= !((ones(run.end) & !ones(run.start)) as u32);
            // SAFETY: taken (I4).
            unsafe { tree.read_run(leaf, run.clone(), into) };
            if self.meter.is_some() {
                for slot in run {
                    let (stamps, place) = tree.stamp(leaf.leaf, slot);
                    stamps.look(place, self.got, &mut self.tally.overtaking);
                }
            }
        }
        got
    }

    /// Closes our tree. A task is in the way: it was published before, and shown nowhere yet.
    fn close(&mut self) -> Option<T> {
        while let Err(leaf) = self.hold.tree().close(&mut self.tally.get_cas) {
            self.turn_to(leaf);
            if let Some(task) = self.take_one() {
                return Some(task);
            }
        }
        None
    }
}

/// The lowest `max` of `bits`.
fn lowest(bits: u32, max: usize) -> u32 {
    if max >= bits.count_ones() as usize {
        return bits;
    }
    let mut rest = bits;
    (0..max).for_each(|_| rest &= rest.wrapping_sub(1));
    bits & !rest
}

impl<T> Drop for Getter<T> {
    fn drop(&mut self) {
        self.tally.add_to(&self.hold.list.counters);
    }
}

#[cfg(test)]
mod tests {
    use super::lowest;

    #[test]
    fn the_lowest_bits_come_first() {
        assert_eq!(lowest(0b1011_0100, 2), 0b0001_0100);
        assert_eq!(lowest(0b1011_0100, 9), 0b1011_0100);
        assert_eq!(lowest(0, 3), 0);
        assert_eq!(lowest(u32::MAX, 32), u32::MAX);
    }
}
