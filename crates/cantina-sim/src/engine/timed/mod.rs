//! Time: whoever is earliest goes on.
//!
//! Every thread has a clock, in cycles of the machine; an access moves it to when the access is done,
//! and takes effect then. The thread with the smallest clock runs, for as long as its clock is the
//! smallest. Stores becoming visible are events in the same order, and so are deadlines.
//!
//! A thread that spins on lines that do not change sleeps until one of them does, or looks again: its loop may have a bound. After
//! many turns it looks again after twice the time each turn. Who is [interrupted](interruptions) is done later.

use crate::cost::Machine;
use crate::cost::coherence::{Coherence, Kind};
use crate::cost::line::LINE_BITS;
use crate::cost::tree::{self, NEVER, Tree};
use crate::engine::Turn;
use crate::engine::access::{Access, Op};
use crate::engine::lookout::Lookout;
use crate::engine::slots::Slots;
use crate::engine::table::{Ending, Table};
use crate::engine::threads::Wait;
use crate::memory::buffer::CAPACITY;

mod blocks;
mod interruptions;
mod stores;

use interruptions::Interruptions;

/// How often each thread may go round a spin loop while nothing else happens.
const ROUNDS: usize = 256;

pub(crate) struct Timed {
    coherence: Coherence,
    interruptions: Interruptions,
    events: Tree,
    /// By slot.
    lanes: Vec<Lane>,
    /// Those with stores that are not visible.
    buffered: Slots,
    /// Those that spin in vain.
    idle: Slots,
    /// Those that wait for a deadline.
    sleepers: Slots,
    /// Turns of spin loops since something else happened.
    rounds: usize,
    /// The time of the last event.
    latest: u64,
    /// Cycles of threads that have ended, without those in which they slept.
    busy: u64,
}

/// A thread on its core.
#[derive(Clone, Copy, Debug, Default)]
struct Lane {
    clock: u64,
    /// When it began, and later by as much as it has slept since.
    begun: u64,
    core: usize,
    lookout: Lookout,
    /// It goes on when its store buffer has room for so many.
    needs: Option<usize>,
}

fn thread_leaf(slot: usize) -> usize {
    2 * slot
}

fn buffer_leaf(slot: usize) -> usize {
    2 * slot + 1
}

impl Timed {
    pub(crate) fn new(machine: Machine, seed: u64) -> Self {
        Self {
            interruptions: Interruptions::new(machine.interrupted(), seed),
            coherence: Coherence::new(machine, seed),
            events: Tree::new(),
            lanes: Vec::new(),
            buffered: Slots::default(),
            idle: Slots::default(),
            sleepers: Slots::default(),
            rounds: 0,
            latest: 0,
            busy: 0,
        }
    }

    /// The thread in `slot` is new; the current one, if it is another, has started it.
    pub(crate) fn add(&mut self, table: &mut Table, slot: usize) {
        let core = table.thread(slot).core;
        if slot >= self.lanes.len() {
            self.lanes.resize(slot + 1, Lane::default());
        }
        let clock = if slot == table.current {
            0
        } else {
            let clock = self.lanes[table.current].clock + self.coherence.costs().wake;
            self.events.set(thread_leaf(slot), clock);
            clock
        };
        self.lanes[slot] = Lane { clock, begun: clock, core, ..Lane::default() };
        self.interruptions.add(slot, clock);
    }

    /// The current thread is bound to `core` now.
    pub(crate) fn bind(&mut self, table: &Table, core: usize) {
        self.lanes[table.current].core = core;
    }

    /// Virtual nanoseconds of the current thread's clock, which it takes time to read.
    pub(crate) fn clock(&mut self, table: &Table) -> u64 {
        let cost = self.coherence.costs().clock;
        let lane = &mut self.lanes[table.current];
        lane.lookout.act();
        lane.clock += cost;
        self.nanos(self.lanes[table.current].clock)
    }

    /// The time on the clock of the thread in `slot`.
    pub(crate) fn clock_of(&self, slot: usize) -> u64 {
        self.lanes[slot].clock
    }

    /// The core of the thread in `slot`, or of the last one there.
    pub(crate) fn core_of(&self, slot: usize) -> usize {
        self.lanes[slot].core
    }

    /// The same in virtual nanoseconds.
    pub(crate) fn nanos_of(&self, slot: usize) -> u64 {
        self.nanos(self.lanes[slot].clock)
    }

    /// The `bytes` bytes at `start` belong on `node`, or, `None`, no longer anywhere.
    pub(crate) fn place(&mut self, start: usize, bytes: usize, node: Option<usize>) {
        match node {
            Some(node) => self.coherence.place(start, bytes, node),
            None => self.coherence.lines.unplace(start),
        }
    }

    /// Virtual nanoseconds from the first event to the last.
    pub(crate) fn end(&self) -> u64 {
        self.nanos(self.latest)
    }

    /// Virtual nanoseconds that all threads together computed, looked again or waited for memory.
    pub(crate) fn busy(&self) -> u64 {
        self.nanos(self.busy)
    }

    fn nanos(&self, cycles: u64) -> u64 {
        (u128::from(cycles) * 1_000 / u128::from(self.coherence.machine().megahertz())) as u64
    }

    fn cycles(&self, nanos: u64) -> u64 {
        let cycles = u128::from(nanos) * u128::from(self.coherence.machine().megahertz());
        (cycles / 1_000).min(tree::LATEST.into()) as u64
    }

    /// The current thread is about to take a step, and waits until it is done.
    pub(crate) fn step(&mut self, table: &mut Table) -> Turn {
        let slot = table.current;
        let access = table.current().about;
        let lane = &mut self.lanes[slot];
        lane.clock += self.coherence.costs().overhead;
        // Of an exchange it is seen later whether it only looked.
        if !access.op.is_idle() && access.op != Op::Cas {
            lane.lookout.act();
            self.rounds = 0;
        }
        if table.is_unwinding() {
            self.drain(table, slot);
            self.begin(table, slot, access);
            return Turn::Goes;
        }
        let needs = match access.op {
            op if op.drains() => CAPACITY,
            Op::Store => 1,
            Op::Write => lines(access).count().min(CAPACITY),
            _ => 0,
        };
        if table.current().buffer.room() < needs {
            self.lanes[slot].needs = Some(needs);
            return self.dispatch(table);
        }
        self.begin(table, slot, access);
        self.go_on(table)
    }

    /// The current thread has run so many instructions, and waits until they are done.
    pub(crate) fn compute(&mut self, table: &mut Table, instructions: u64) -> Turn {
        let cycles = instructions.saturating_mul(self.coherence.costs().instruction) / 100;
        let lane = &mut self.lanes[table.current];
        let done = lane.clock.max(lane.clock.saturating_add(cycles).min(tree::LATEST));
        lane.clock = self.interruptions.run_until(table.current, done);
        if table.is_unwinding() { Turn::Goes } else { self.go_on(table) }
    }

    /// The line at `address` is on its way to the current thread, which does not wait for it.
    pub(crate) fn ask_ahead(&mut self, table: &Table, address: usize, to_write: bool) {
        let Lane { clock, core, .. } = self.lanes[table.current];
        let kind = if to_write { Kind::Store } else { Kind::Load };
        let id = self.coherence.line(address, core);
        self.coherence.ask_ahead(core, id, kind, clock);
    }

    /// Moves the clock of the thread in `slot` to when its access is done.
    fn begin(&mut self, table: &mut Table, slot: usize, access: Access) {
        let Lane { clock, core, .. } = self.lanes[slot];
        let costs = self.coherence.costs();
        let done = match access.op {
            Op::Load if table.thread(slot).buffer.has(access.address) => clock + costs.l1,
            Op::Load => self.touch(core, access.address, Kind::Load, clock),
            Op::Read => lines(access)
                .map(|address| self.touch(core, address, Kind::Load, clock))
                .fold(clock, u64::max),
            Op::Store => clock + costs.store,
            Op::Write => {
                let stores = costs.store * lines(access).count() as u64;
                // What the store buffer cannot take is written through.
                lines(access)
                    .skip(CAPACITY)
                    .map(|address| self.touch(core, address, Kind::Store, clock))
                    .fold(clock + stores, u64::max)
            }
            Op::SeqCstStore | Op::Rmw | Op::Cas | Op::Lock | Op::Unlock | Op::Park | Op::Unpark => {
                self.touch(core, access.address, Kind::Rmw, clock)
            }
            Op::Fence | Op::HeavyFence => {
                let heavy = if access.op == Op::Fence { 0 } else { costs.heavy };
                clock + costs.fence + heavy
            }
            Op::Spawn => clock + costs.spawn,
            Op::Work => clock.max(clock.saturating_add(access.amount).min(tree::LATEST)),
            Op::Sleep => clock + costs.park,
            Op::Start | Op::LightFence | Op::Join | Op::Spin | Op::Yield | Op::End => clock,
        };
        self.lanes[slot].clock = self.interruptions.run_until(slot, done);
        table.thread(slot).cycles = done - clock;
    }

    fn touch(&mut self, core: usize, address: usize, kind: Kind, now: u64) -> u64 {
        let id = self.coherence.line(address, core);
        self.coherence.access(core, id, kind, now)
    }

    /// The current thread goes on, if it is the earliest.
    fn go_on(&mut self, table: &mut Table) -> Turn {
        let leaf = thread_leaf(table.current);
        let clock = self.lanes[table.current].clock;
        if tree::key(clock, leaf) < self.events.first() {
            self.latest = self.latest.max(clock);
            return Turn::Goes;
        }
        self.events.set(leaf, clock);
        self.dispatch(table)
    }

    /// Lets the earliest events happen, until it is a thread's turn.
    fn dispatch(&mut self, table: &mut Table) -> Turn {
        loop {
            let first = self.events.first();
            if first == NEVER {
                table.end_quiet();
                return Turn::Ends;
            }
            let (time, leaf) = tree::event(first);
            self.latest = self.latest.max(time);
            let slot = leaf / 2;
            if leaf == buffer_leaf(slot) {
                self.commit(table, slot, time);
                continue;
            }
            self.events.clear(leaf);
            let before = std::mem::replace(&mut self.lanes[slot].clock, time);
            let waited = table.thread(slot).wait != Wait::Nothing;
            match table.thread(slot).wait {
                Wait::Nothing => {}
                Wait::Change => {
                    if self.is_in_vain(table) {
                        table.end(Ending::Deadlock);
                        return Turn::Ends;
                    }
                    self.rouse(table, slot);
                }
                _ => {
                    self.lanes[slot].begun += time.saturating_sub(before);
                    self.sleepers.remove(slot);
                    let thread = table.thread(slot);
                    thread.wait = Wait::Nothing;
                    thread.deadline = None;
                    thread.timed_out = true;
                }
            }
            let goes_on = if waited { self.interruptions.waited_until(slot, time) } else { time };
            if goes_on > time {
                self.lanes[slot].clock = goes_on;
                self.events.set(leaf, goes_on);
                continue;
            }
            table.next = slot;
            return if slot == table.current { Turn::Goes } else { Turn::Ends };
        }
    }

    /// Whether all that can happen are turns of spin loops, for quite a while now.
    fn is_in_vain(&mut self, table: &Table) -> bool {
        self.rounds += 1;
        if self.rounds <= ROUNDS * self.idle.len() {
            return false;
        }
        self.rounds = 0;
        let runs = table.threads().iter().flatten().any(|thread| thread.wait == Wait::Nothing);
        !runs && self.sleepers.is_empty()
    }

    /// The current thread lets others go on.
    pub(crate) fn give_way(&mut self, table: &mut Table) -> Turn {
        let slot = table.current;
        let Access { op, amount, .. } = table.current().about;
        let costs = self.coherence.costs();
        let turn = if op == Op::Yield { costs.give_up } else { costs.pause.saturating_mul(amount) };
        let lane = &mut self.lanes[slot];
        lane.clock += costs.overhead + turn;
        let turns = lane.lookout.give_way(&mut self.coherence.lines);
        if turns == 0 {
            lane.lookout.reset();
            lane.clock = self.interruptions.run_until(slot, lane.clock);
            return self.go_on(table);
        }
        for id in lane.lookout.lines() {
            self.coherence.lines.get(id).watched = true;
        }
        // The first turn is paid.
        self.events.set(thread_leaf(slot), lane.clock + turn * (turns - 1));
        table.current().wait = Wait::Change;
        self.idle.insert(slot);
        self.dispatch(table)
    }

    /// The current thread waits for what its `wait` says.
    pub(crate) fn block(&mut self, table: &mut Table) -> Turn {
        let slot = table.current;
        let park = self.coherence.costs().park;
        if table.current().wait.on().is_some() {
            self.lanes[slot].clock += park;
        }
        if let Some(deadline) = table.current().deadline {
            let clock = self.lanes[slot].clock;
            let deadline = self.cycles(deadline).max(clock);
            self.events.set(thread_leaf(slot), deadline);
            self.sleepers.insert(slot);
        }
        self.dispatch(table)
    }

    /// What whoever takes a lock loses while others look at it again and again.
    pub(crate) fn lock_watched(&self) -> u64 {
        self.coherence.costs().lock_watched
    }

    /// The current thread lets the one in `slot` go on, which costs both something.
    pub(crate) fn release(&mut self, table: &mut Table, slot: usize) {
        let costs = self.coherence.costs();
        let (unpark, wake) = (costs.unpark, costs.wake);
        let waker = &mut self.lanes[table.current];
        waker.clock += unpark;
        let from = waker.clock + wake;
        let lane = &mut self.lanes[slot];
        lane.begun += from.saturating_sub(lane.clock);
        lane.clock = self.interruptions.waited_until(slot, lane.clock.max(from));
        self.events.set(thread_leaf(slot), lane.clock);
        self.sleepers.remove(slot);
        let thread = table.thread(slot);
        thread.wait = Wait::Nothing;
        thread.deadline = None;
        thread.timed_out = false;
    }

    /// The current thread has ended; its stores are visible.
    pub(crate) fn end_current(&mut self, table: &mut Table) {
        self.drain(table, table.current);
        let Lane { clock, begun, .. } = self.lanes[table.current];
        self.busy += clock.saturating_sub(begun);
        table.end_current();
        let _ = self.dispatch(table);
    }

    /// Everybody else who computes loses time.
    fn interrupt(&mut self, table: &mut Table) {
        let cost = self.coherence.costs().interrupt;
        for slot in 0..self.lanes.len() {
            let thread = table.threads().get(slot).and_then(Option::as_ref);
            let runs = thread.is_some_and(|thread| thread.wait == Wait::Nothing);
            if slot != table.current && runs && self.lanes[slot].needs.is_none() {
                self.lanes[slot].clock += cost;
                self.events.set(thread_leaf(slot), self.lanes[slot].clock);
            }
        }
    }

    /// The thread in `slot` looks again.
    fn rouse(&mut self, table: &mut Table, slot: usize) {
        self.idle.remove(slot);
        self.lanes[slot].lookout.reset();
        table.thread(slot).wait = Wait::Nothing;
    }
}

/// The lines that the plain data of `access` lies on.
fn lines(access: Access) -> impl Iterator<Item = usize> {
    let end = access.address + access.amount as usize;
    let first = access.address >> LINE_BITS;
    let last = if access.amount == 0 { first } else { end.div_ceil(1 << LINE_BITS) };
    (first..last).map(|number| number << LINE_BITS)
}
