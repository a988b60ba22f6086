//! The putting side.

use super::List;
use super::hold::{End, Hold};
use super::leaf::{SLOTS, ones};
use super::presence::Shown;
use super::tree::{LeafNumber, Spot, Tree};
use crate::cafe::metrics::Tally;
use crate::cafe::overtaking::Meter;
use machine::atomic::Ordering::{Acquire, Release};
use machine::random::Random;
use machine::{Arc, thread};
use std::ops::Range;
use std::ptr;

/// A producer's end of the mechanism.
pub(in crate::cafe) struct Putter<T> {
    hold: Hold<T>,
    /// The leaf of the tree that we fill.
    leaf: Spot,
    /// That the words above it showed its tasks when we last put one there.
    shown: Option<Shown>,
    /// Places of it that are ours to fill (I2).
    places: Range<u32>,
    /// How many to ask for next, if not as many as a leaf has are wanted.
    ahead: u32,
    random: Random,
    tally: Tally,
    meter: Option<Arc<Meter>>,
}

impl<T> Putter<T> {
    pub(in crate::cafe) fn new(list: Arc<List<T>>) -> Self {
        let (mut random, meter) = (list.random(), list.meter.clone());
        let hold = Hold::new(list, End::Tail);
        let leaf = any_leaf(hold.tree(), &mut random);
        Self {
            hold,
            leaf,
            shown: None,
            places: 0..0,
            ahead: 1,
            random,
            tally: Tally::default(),
            meter,
        }
    }

    pub(in crate::cafe) fn list(&self) -> &Arc<List<T>> {
        &self.hold.list
    }

    /// Puts `task`.
    #[inline]
    pub(in crate::cafe) fn put(&mut self, task: T) {
        let put = if self.places.is_empty() || self.meter.is_some() || !self.hold.is_last() {
            Err(task)
        } else {
            self.put_here(task)
        };
        if let Err(task) = put {
            self.put_anywhere(task);
        }
        self.tally.puts += 1;
        self.report_now_and_then();
    }

    /// Puts `task` to the next place that is ours, or gives it back: our leaf is closed.
    #[inline]
    fn put_here(&mut self, task: T) -> Result<(), T> {
        let (tree, slot) = (self.hold.tree(), self.places.start);
        // SAFETY: claimed, and published below (I2).
        unsafe { tree.write(self.leaf, slot, task) };
        if tree.publish(self.leaf, 1 << slot, &mut self.shown, &mut self.tally.put_cas) {
            self.places.start += 1;
            return Ok(());
        }
        // SAFETY: closed, so it stayed ours (I3).
        let task = unsafe { tree.read(self.leaf, slot) };
        self.send_away();
        Err(task)
    }

    /// Puts `task` where there is a place.
    #[inline(never)]
    fn put_anywhere(&mut self, task: T) {
        if let Some(meter) = &self.meter {
            meter.begin(1);
        }
        let mut task = task;
        loop {
            self.get_ready(1);
            let slot = self.places.start;
            match self.put_here(task) {
                Ok(()) => return self.leave_stamps(slot..slot + 1),
                Err(back) => task = back,
            }
        }
    }

    /// Puts all of `tasks`, in order, up to 32 of them with one read-modify-write that publishes them.
    pub(in crate::cafe) fn put_run(&mut self, tasks: &mut Vec<T>) {
        if let Some(meter) = &self.meter {
            meter.begin(tasks.len());
        }
        while !tasks.is_empty() {
            let wanted = u32::try_from(tasks.len()).unwrap_or(SLOTS).min(SLOTS);
            let run = self.claim(wanted);
            let (tree, leaf) = (self.hold.tree(), self.leaf);
            // SAFETY: claimed, and published below (I2).
            unsafe { tree.write_run(leaf, run.clone(), tasks.drain(..run.len())) };
            let places = (ones(run.end) & !ones(run.start)) as u32;
            if tree.publish(leaf, places, &mut self.shown, &mut self.tally.put_cas) {
                self.tally.puts += run.len() as u64;
                self.leave_stamps(run);
            } else {
                // SAFETY: closed all at once, so they stayed ours (I3).
                let back = run.map(|slot| unsafe { tree.read(leaf, slot) });
                tasks.splice(0..0, back);
                self.send_away();
            }
        }
        self.report_now_and_then();
    }

    /// Leaves beside the tasks of `run` in our leaf what tells later who was put after them, if that is measured.
    fn leave_stamps(&self, run: Range<u32>) {
        let Some(meter) = &self.meter else { return };
        for slot in run {
            let (stamps, place) = self.hold.tree().stamp(self.leaf.leaf, slot);
            stamps.leave(place, meter);
        }
    }

    /// Sees to it that places of our leaf are ours, in the tail's tree: at least one, better `wanted`.
    fn get_ready(&mut self, wanted: u32) {
        if self.hold.follow() {
            self.begin();
        }
        while self.places.is_empty() {
            self.claim_ahead(wanted);
        }
    }

    /// One to `wanted` places, to be filled and published (I2).
    fn claim(&mut self, wanted: u32) -> Range<u32> {
        self.get_ready(wanted);
        let first = self.places.start;
        self.places.start = self.places.end.min(first + wanted);
        first..self.places.start
    }

    /// Asks for more places than are wanted now, the more the longer we go on: what we do not fill nobody does.
    fn claim_ahead(&mut self, wanted: u32) {
        let tree = self.hold.tree();
        if self.places.end == tree.slots_of(self.leaf.leaf) {
            // We had its last place.
            tree.mark_full(self.leaf.leaf);
            return self.look_for_room(self.leaf.leaf);
        }
        if self.places.end > 0 && wanted == SLOTS {
            // A leaf of its own for as many tasks as a leaf has, if there is one; what is left of this one is for others.
            let LeafNumber(leaf) = self.leaf.leaf;
            return self.look_for_room(LeafNumber((leaf + 1) % tree.frame().leaves()));
        }
        let ahead = self.ahead.min(tree.frame().ahead()).max(wanted);
        self.places = tree.claim(self.leaf.leaf, ahead, &mut self.tally.put_cas);
        self.ahead = if wanted == SLOTS { 1 } else { SLOTS.min(2 * self.ahead) };
        if self.places.is_empty() {
            self.look_for_room(self.leaf.leaf);
        }
    }

    /// Begins with a random leaf of a tree that is new to us.
    fn begin(&mut self) {
        let leaf = any_leaf(self.hold.tree(), &mut self.random);
        self.turn_to(leaf);
    }

    /// Turns to a leaf of which nothing is ours, and nothing known, and asks for the one behind it.
    fn turn_to(&mut self, leaf: Spot) {
        (self.leaf, self.shown, self.places) = (leaf, None, 0..0);
        let LeafNumber(number) = leaf.leaf;
        self.hold.tree().expect_room(LeafNumber(number + 1));
    }

    /// Our leaf is closed.
    fn send_away(&mut self) {
        self.places = 0..0;
        self.tally.sent_away += 1;
    }

    /// Another leaf, or another tree.
    #[cold]
    #[inline(never)]
    fn look_for_room(&mut self, start: LeafNumber) {
        self.tally.contended += 1;
        match self.hold.tree().leaf_with_room(start) {
            Some(leaf) => self.turn_to(self.hold.tree().spot(leaf)),
            None => self.grow(),
        }
        if self.hold.follow() {
            self.begin();
        }
    }

    /// Moves the tail behind a tree that is full, and appends another if there is none.
    fn grow(&mut self) {
        let mut next = self.hold.tree().next();
        if next.is_null() {
            next = self.append();
        }
        let moved = self.tally.put_cas.note(self.hold.move_tail(next));
        self.tally.contended += u64::from(!moved);
    }

    /// Links a new tree behind ours, unless somebody else has; the one that is there.
    fn append(&mut self) -> *mut Tree<T> {
        let new = match self.spare_tree() {
            Ok(tree) => Box::into_raw(tree),
            Err(there) => return there,
        };
        let next = &self.hold.tree().next;
        // next: the new tree, or the one that is there.
        let linked = next.compare_exchange(ptr::null_mut(), new, Release, Acquire);
        self.tally.put_cas.note(linked.is_ok());
        match linked {
            Ok(_) => {
                self.tally.appended += 1;
                new
            }
            Err(there) => {
                self.tally.contended += 1;
                // SAFETY: from a box, and nobody else has seen it.
                self.hold.list.keep(unsafe { Box::from_raw(new) });
                there
            }
        }
    }

    /// A private tree, or the one that somebody else has linked behind ours.
    fn spare_tree(&self) -> Result<Box<Tree<T>>, *mut Tree<T>> {
        let list = &self.hold.list;
        let mut spare = list.spare_tree();
        if spare.is_none() && list.is_ahead() {
            // Memory that is new costs more than a turn of somebody who gives some back.
            thread::yield_now();
            let there = self.hold.tree().next();
            if !there.is_null() {
                return Err(there);
            }
            spare = list.spare_tree();
        }
        Ok(spare.unwrap_or_else(|| list.new_tree()))
    }

    #[inline]
    fn report_now_and_then(&mut self) {
        if self.tally.is_long() {
            self.tally.add_to(&self.hold.list.counters);
        }
    }
}

/// A random leaf of `tree`, where others are not.
fn any_leaf<T>(tree: &Tree<T>, random: &mut Random) -> Spot {
    let any = random.below(tree.frame().leaves() as usize) as u32;
    tree.spot(tree.leaf_to_begin(LeafNumber(any)))
}

impl<T> Drop for Putter<T> {
    fn drop(&mut self) {
        self.tally.add_to(&self.hold.list.counters);
    }
}
