//! A run: what its fibres do to it.
//!
//! Nothing here switches stacks. A method that may end a turn says whether the caller must leave
//! its fibre; whose turn it is then is in the table.

use crate::engine::access::{Access, Op};
use crate::engine::explore::{Explore, STEP_NANOS};
use crate::engine::faults::Hit;
use crate::engine::report::Report;
use crate::engine::table::{Ending, Table};
use crate::engine::threads::{ThreadId, Wait};
use crate::fibre::Fibre;
use crate::memory::place::Place;

/// Whether the caller must leave its fibre.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    Goes,
    Ends,
}

pub(crate) struct Core {
    pub(crate) table: Table,
    pub(crate) explore: Explore,
}

impl Core {
    /// One more thread, which can run.
    pub(crate) fn add(&mut self, name: Option<String>) -> (usize, ThreadId) {
        let (slot, id) = self.table.add(name);
        self.explore.add(slot);
        (slot, id)
    }

    pub(crate) fn clock(&mut self) -> u64 {
        self.table.current().spin.act();
        self.explore.clock
    }

    /// The current thread is about to do `access`: who goes on?
    ///
    /// It does, while it is unwinding: see [`Table::is_unwinding`].
    pub(crate) fn step(&mut self, access: Access) -> Turn {
        if !self.table.count(access) {
            return Turn::Ends;
        }
        match self.table.strike() {
            None => self.explore.step(&mut self.table),
            Some(Hit::Crash) => {
                let id = self.table.current().id;
                for slot in self
                    .table
                    .waiting(|wait| matches!(wait, Wait::Join { thread, .. } if thread == id))
                {
                    self.explore.release(&mut self.table, slot, false);
                }
                self.block(Wait::Crash, None)
            }
            Some(Hit::Stall(steps)) => {
                let deadline = self.explore.clock.saturating_add(steps.saturating_mul(STEP_NANOS));
                self.block(Wait::Stall, Some(deadline))
            }
        }
    }

    /// The current thread lets others go on, if there are any; `nanos` go by.
    pub(crate) fn give_way(&mut self, access: Access, nanos: u64) -> Turn {
        if !self.table.count(access) {
            return Turn::Ends;
        }
        self.explore.give_way(&mut self.table, nanos)
    }

    /// The current thread waits, until `deadline` at most.
    pub(crate) fn block(&mut self, wait: Wait, deadline: Option<u64>) -> Turn {
        let thread = self.table.current();
        thread.wait = wait;
        thread.deadline = deadline;
        thread.timed_out = false;
        self.explore.block(&mut self.table)
    }

    /// Lets the thread in `slot` go on, if it is at `on` that it waits.
    pub(crate) fn wake(&mut self, slot: usize, on: usize) {
        if let Some(Some(thread)) = self.table.threads().get(slot)
            && thread.wait.on() == Some(on)
        {
            self.explore.release(&mut self.table, slot, false);
        }
    }

    /// Lets all go on that wait at `on`.
    pub(crate) fn wake_all(&mut self, on: usize) {
        for slot in self.table.waiting(|wait| wait.on() == Some(on)) {
            self.explore.release(&mut self.table, slot, false);
        }
    }

    /// The current thread has ended.
    pub(crate) fn end_current(&mut self) {
        self.explore.end_current(&mut self.table);
    }

    /// What the current thread reads at `place`.
    pub(crate) fn load(&mut self, place: Place) -> u64 {
        self.explore.load(&mut self.table, place)
    }

    /// The current thread writes `bits` at `place`.
    pub(crate) fn store(&mut self, place: Place, bits: u64) {
        self.explore.store(&mut self.table, place, bits);
    }

    /// The current thread writes what `f` makes of the word at `place`, if it makes something.
    pub(crate) fn update(
        &mut self,
        place: Place,
        f: impl Fn(u64) -> Option<u64>,
    ) -> Result<u64, u64> {
        self.explore.update(&mut self.table, place, f)
    }

    /// The current thread does what it was about to do, which is not an access to a word.
    pub(crate) fn act(&mut self) {
        let op = self.table.current().about.op;
        if op == Op::HeavyFence {
            self.explore.drain_all(&mut self.table);
        } else if op.drains() {
            let slot = self.table.current;
            self.explore.drain(&mut self.table, slot);
        }
    }

    /// The memory between `start` and `end` is about to be used for something else.
    pub(crate) fn clear(&mut self, start: usize, end: usize) {
        self.explore.clear(&mut self.table, start, end);
    }

    /// Whose turn it is, and its fibre; `None` when the run is over.
    pub(crate) fn enter(&mut self) -> Option<(usize, Box<Fibre>)> {
        if self.table.ending.is_some() {
            return None;
        }
        self.table.enter();
        let fibre = self.table.current().fibre.take();
        Some((self.table.current, fibre.expect("a thread that does not run has its fibre")))
    }

    /// All fibres that are left. What was written becomes visible.
    pub(crate) fn close(&mut self) -> impl Iterator<Item = Box<Fibre>> {
        self.explore.drain_all(&mut self.table);
        self.table.threads_mut().filter_map(|thread| thread.fibre.take())
    }

    /// How it ended, and the report of it.
    pub(crate) fn report(&mut self) -> (Ending, Report) {
        let report = Report {
            seed: self.table.seed,
            steps: self.table.steps,
            nanos: self.explore.clock,
            threads: self.table.standings(),
            trace: std::mem::take(&mut self.explore.trace),
        };
        (self.table.ending.take().expect("the run is over"), report)
    }
}
