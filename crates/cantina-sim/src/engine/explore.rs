//! Exploration: the schedule decides at every step what happens next.
//!
//! What can happen: a thread that can go on takes its step; the oldest store in a thread's buffer
//! becomes visible; with a hasty clock, the next deadline comes. A step takes 10 virtual
//! nanoseconds, and when everybody waits in vain the clock moves on to the next deadline by itself.
//!
//! A thread that spins on unchanged words is *idle*: it may go on, but the schedules prefer others.
//! When all that can are idle, they go round until a loop with a bound has come to it; after
//! [`ROUNDS`] without an event the next deadline comes, and if there is none it is a deadlock. And when
//! others have given way [`FAIR`] times, the idle ones have their turn: a loop with a bound comes to it.

use crate::engine::access::Op;
use crate::engine::slots::Slots;
use crate::engine::table::{Ending, Table};
use crate::engine::threads::Wait;
use crate::engine::{Memory, Turn};
use crate::memory::place::Place;
use crate::schedule::{Candidates, Chooser};
use crate::trace::{Choice, Trace, What};

/// Virtual nanoseconds that a step takes.
pub(crate) const STEP_NANOS: u64 = 10;
/// Virtual nanoseconds that a turn of a spin loop takes.
const PAUSE_NANOS: u64 = 5;
/// How often everybody may go round a spin loop while nothing happens.
const ROUNDS: u32 = 256;
/// How often those that do something may give way before those have a turn that only look.
const FAIR: u32 = 64;

pub(crate) struct Explore {
    memory: Memory,
    hasty: bool,
    chooser: Chooser,
    pub(crate) trace: Trace,
    pub(crate) clock: u64,
    /// Those that can go on.
    ready: Slots,
    /// Those that can, but spin.
    idle: Slots,
    /// Those that wait and have a deadline.
    timed: Slots,
    /// Those with stores that are not visible.
    buffered: Slots,
    /// How often everybody has gone round since something happened.
    rounds: u32,
    /// How often somebody has given way since those that spin had a turn.
    given_way: u32,
}

impl Explore {
    pub(crate) fn new(memory: Memory, hasty: bool, chooser: Chooser) -> Self {
        Self {
            memory,
            hasty,
            chooser,
            trace: Trace::default(),
            clock: 0,
            ready: Slots::default(),
            idle: Slots::default(),
            timed: Slots::default(),
            buffered: Slots::default(),
            rounds: 0,
            given_way: 0,
        }
    }

    pub(crate) fn into_chooser(self) -> Chooser {
        self.chooser
    }

    /// Whether stores are visible at once.
    pub(crate) fn is_sequential(&self) -> bool {
        self.memory == Memory::Sequential
    }

    /// The thread in `slot` is new.
    pub(crate) fn add(&mut self, slot: usize) {
        self.ready.insert(slot);
    }

    /// The current thread is about to take a step.
    pub(crate) fn step(&mut self, table: &mut Table) -> Turn {
        // Of an exchange it is seen later whether it only looked.
        let op = table.current().about.op;
        if !op.is_idle() && op != Op::Cas {
            self.rounds = 0;
            table.current().spin.act();
        }
        self.pass(table, STEP_NANOS);
        if table.is_unwinding() { Turn::Goes } else { self.choose(table, false) }
    }

    /// The current thread lets others go on.
    pub(crate) fn give_way(&mut self, table: &mut Table) -> Turn {
        let turns = table.current().about.amount;
        self.pass(table, turns.saturating_mul(PAUSE_NANOS));
        let slot = table.current;
        let thread = table.current();
        let now = |place: Place| thread.buffer.forward(place).unwrap_or_else(|| place.read());
        if thread.spin.only_waits(now) {
            thread.wait = Wait::Change;
            self.ready.remove(slot);
            self.idle.insert(slot);
        } else {
            thread.spin.reset();
            self.chooser.gave_way(slot);
            self.given_way += 1;
            if self.given_way >= FAIR {
                self.release_idle(table);
            }
        }
        self.choose(table, true)
    }

    /// The current thread waits for what its `wait` says.
    pub(crate) fn block(&mut self, table: &mut Table) -> Turn {
        self.ready.remove(table.current);
        if table.current().deadline.is_some() {
            self.timed.insert(table.current);
        }
        self.choose(table, false)
    }

    /// The current thread has ended.
    pub(crate) fn end_current(&mut self, table: &mut Table) {
        self.drain(table, table.current);
        self.ready.remove(table.current);
        table.end_current();
        let _ = self.choose(table, false);
    }

    /// The thread in `slot` can go on.
    pub(crate) fn release(&mut self, table: &mut Table, slot: usize, timed_out: bool) {
        let thread = table.thread(slot);
        if thread.wait == Wait::Change {
            thread.spin.reset();
        }
        thread.wait = Wait::Nothing;
        thread.deadline = None;
        thread.timed_out = timed_out;
        self.timed.remove(slot);
        self.idle.remove(slot);
        self.ready.insert(slot);
    }

    /// What the current thread reads at `place`.
    pub(crate) fn load(&mut self, table: &mut Table, place: Place) -> u64 {
        let thread = table.current();
        let bits = thread.buffer.forward(place).unwrap_or_else(|| place.read());
        thread.spin.load(place, bits);
        bits
    }

    /// The current thread writes `bits` at `place`.
    pub(crate) fn store(&mut self, table: &mut Table, place: Place, bits: u64) {
        let slot = table.current;
        let thread = table.current();
        if self.memory == Memory::Sequential || thread.about.op == Op::SeqCstStore {
            self.drain(table, slot);
            self.write(table, place, bits);
            return;
        }
        if thread.buffer.room() == 0 {
            self.commit(table, slot);
        }
        table.current().buffer.push(place, bits, 0);
        self.buffered.insert(slot);
    }

    /// The current thread writes what `f` makes of the word at `place`, if it makes something.
    pub(crate) fn update(
        &mut self,
        table: &mut Table,
        place: Place,
        f: &dyn Fn(u64) -> Option<u64>,
    ) -> Result<u64, u64> {
        self.drain(table, table.current);
        let old = place.read();
        let Some(new) = f(old) else {
            table.current().spin.load(place, old);
            return Err(old);
        };
        table.current().spin.act();
        self.write(table, place, new);
        Ok(old)
    }

    /// The current thread does what it was about to do, which is no access to a word.
    pub(crate) fn act(&mut self, table: &mut Table) {
        let op = table.current().about.op;
        if op == Op::HeavyFence {
            self.drain_all(table);
        } else if op.drains() {
            self.drain(table, table.current);
        }
    }

    /// Makes all stores of the thread in `slot` visible.
    fn drain(&mut self, table: &mut Table, slot: usize) {
        while self.buffered.contains(slot) {
            self.commit(table, slot);
        }
    }

    /// Makes all stores of everybody visible.
    pub(crate) fn drain_all(&mut self, table: &mut Table) {
        self.buffered.iter().for_each(|slot| self.drain(table, slot));
    }

    /// Makes the stores visible that lie between `start` and `end`, and those before them.
    pub(crate) fn clear(&mut self, table: &mut Table, start: usize, end: usize) {
        for slot in self.buffered.iter() {
            let count = table.thread(slot).buffer.until_clear_of(start, end);
            (0..count).for_each(|_| self.commit(table, slot));
        }
    }

    /// Makes the oldest store of the thread in `slot` visible.
    fn commit(&mut self, table: &mut Table, slot: usize) {
        let buffer = &mut table.thread(slot).buffer;
        let oldest = buffer.pop();
        if buffer.is_empty() {
            self.buffered.remove(slot);
        }
        if let Some((place, bits)) = oldest.and_then(|store| store.word) {
            table.record(slot, place.address(), self.clock, What::Visible { value: bits });
            self.write(table, place, bits);
        }
    }

    /// Writes to memory, which those see that spin on it.
    fn write(&mut self, table: &mut Table, place: Place, bits: u64) {
        place.write(bits);
        self.rounds = 0;
        for slot in self.idle.iter() {
            if table.thread(slot).spin.looks_at(place) {
                self.release(table, slot, false);
            }
        }
    }

    fn pass(&mut self, table: &mut Table, nanos: u64) {
        self.clock = self.clock.saturating_add(nanos);
        if !self.timed.is_empty() {
            self.release_due(table);
        }
    }

    fn release_due(&mut self, table: &mut Table) {
        for slot in self.timed.iter() {
            if table.thread(slot).deadline.is_some_and(|deadline| deadline <= self.clock) {
                self.release(table, slot, true);
            }
        }
    }

    /// Moves the clock on to the next deadline.
    fn skip(&mut self, table: &mut Table) {
        let deadline =
            |slot: usize| table.threads()[slot].as_ref().and_then(|thread| thread.deadline);
        let next = self.timed.iter().filter_map(deadline).min();
        self.clock = self.clock.max(next.unwrap_or(self.clock));
        self.release_due(table);
    }

    /// Lets what the schedule picks happen, until it is a thread's turn. `yielding`: not the current
    /// thread's, if anything else can happen.
    fn choose(&mut self, table: &mut Table, yielding: bool) -> Turn {
        loop {
            if self.ready.is_empty() && self.buffered.is_empty() && !self.rouse(table) {
                table.end_quiet();
                return Turn::Ends;
            }
            let mut ready = self.ready;
            if yielding && (ready.len() > 1 || !self.buffered.is_empty()) {
                ready.remove(table.current);
            }
            let candidates = Candidates {
                ready,
                idle: self.idle,
                buffered: self.buffered,
                deadline: self.hasty && !self.timed.is_empty(),
                current: ready.contains(table.current).then_some(table.current),
            };
            let choice = match candidates.only() {
                Some(choice) => choice,
                None => match self.chooser.pick(&candidates, table) {
                    Some(choice) => {
                        self.trace.push(choice);
                        choice
                    }
                    None => {
                        table.end(Ending::Diverged);
                        return Turn::Ends;
                    }
                },
            };
            match choice {
                Choice::Commit(slot) => self.commit(table, slot.into()),
                Choice::Deadline => self.skip(table),
                Choice::Run(slot) => {
                    let slot = slot.into();
                    if self.idle.contains(slot) {
                        self.release(table, slot, false);
                    }
                    table.next = slot;
                    let goes = slot == table.current && table.threads()[slot].is_some();
                    return if goes { Turn::Goes } else { Turn::Ends };
                }
            }
        }
    }

    /// Nobody goes on by itself: lets those go on that spin, for a loop may have a bound, then those that
    /// have a deadline. Whether there are any.
    fn rouse(&mut self, table: &mut Table) -> bool {
        if !self.idle.is_empty() && self.rounds < ROUNDS {
            self.rounds += 1;
        } else if !self.timed.is_empty() {
            self.skip(table);
        } else {
            return false;
        }
        self.release_idle(table);
        true
    }

    /// Lets those go on that spin.
    fn release_idle(&mut self, table: &mut Table) {
        self.given_way = 0;
        self.idle.iter().for_each(|slot| self.release(table, slot, false));
    }
}
