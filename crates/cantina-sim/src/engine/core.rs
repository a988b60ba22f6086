//! A run: what its fibres do to it.
//!
//! Nothing here switches stacks. A method that may end a turn says whether the caller must leave
//! its fibre; whose turn it is then is in the table.

use crate::arena::{Arena, Exhausted, Wish};
use crate::cost::Machine;
use crate::engine::access::{Access, Op};
use crate::engine::explore::{Explore, STEP_NANOS};
use crate::engine::faults::Hit;
use crate::engine::report::Report;
use crate::engine::table::{Ending, Table};
use crate::engine::threads::{ThreadId, Wait};
use crate::engine::timed::Timed;
use crate::fibre::Fibre;
use crate::memory::place::Place;
use crate::trace::{Trace, What};
use std::alloc::Layout;
use std::ptr::NonNull;
use std::sync::Arc;

/// Whether the caller must leave its fibre.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    Goes,
    Ends,
}

/// What decides who goes on.
pub(crate) enum Pace {
    /// A schedule.
    Explore(Box<Explore>),
    /// Time.
    Timed(Box<Timed>),
}

pub(crate) struct Core {
    pub(crate) table: Table,
    pub(crate) pace: Pace,
    pub(crate) machine: Arc<Machine>,
    pub(crate) heap: Heap,
}

/// Where the program's memory comes from.
pub(crate) enum Heap {
    /// Nothing was allocated yet; so many bytes may be. Whether it is watched what is freed.
    Untouched {
        limit: usize,
        watch_freed: bool,
    },
    Arena(Arena),
    /// There is no arena for this run.
    System,
}

impl Core {
    /// One more thread, which can run.
    pub(crate) fn add(&mut self, name: Option<String>) -> (usize, ThreadId) {
        let (slot, id) = self.table.add(name);
        // The scenario shares its core with the first thread it starts: it mostly waits.
        let number = id.0.saturating_sub(1) as usize;
        let cores = self.machine.core_count();
        let core = self.machine.placed().core(number, cores, self.table.seed);
        self.table.thread(slot).core = core;
        match &mut self.pace {
            Pace::Explore(explore) => explore.add(slot),
            Pace::Timed(timed) => timed.add(&mut self.table, slot),
        }
        (slot, id)
    }

    /// Virtual nanoseconds on the current thread's clock.
    pub(crate) fn clock(&mut self) -> u64 {
        match &mut self.pace {
            Pace::Explore(explore) => {
                self.table.current().spin.act();
                explore.clock
            }
            Pace::Timed(timed) => timed.clock(&self.table),
        }
    }

    /// Binds the current thread to `core`; whether there is such a core.
    pub(crate) fn bind(&mut self, core: usize) -> bool {
        if core >= self.machine.core_count() {
            return false;
        }
        self.table.current().core = core;
        if let Pace::Timed(timed) = &mut self.pace {
            timed.bind(&self.table, core);
        }
        true
    }

    /// The current thread is about to do `access`: who goes on?
    ///
    /// It does, while it is unwinding: see [`Table::is_unwinding`].
    pub(crate) fn step(&mut self, access: Access) -> Turn {
        if !self.table.count(access) {
            return Turn::Ends;
        }
        match self.table.strike() {
            None => match &mut self.pace {
                Pace::Explore(explore) => explore.step(&mut self.table),
                Pace::Timed(timed) => timed.step(&mut self.table),
            },
            Some(Hit::Crash) => {
                let id = self.table.current().id;
                self.wake_those(|wait| matches!(wait, Wait::Join { thread, .. } if thread == id));
                self.block(Wait::Crash, None)
            }
            Some(Hit::Stall(steps)) => {
                let deadline = self.clock().saturating_add(steps.saturating_mul(STEP_NANOS));
                self.block(Wait::Stall, Some(deadline))
            }
        }
    }

    /// The current thread has run so many instructions, which is no step: who goes on?
    pub(crate) fn compute(&mut self, instructions: u64) -> Turn {
        match &mut self.pace {
            Pace::Explore(_) => Turn::Goes,
            Pace::Timed(timed) => timed.compute(&mut self.table, instructions),
        }
    }

    /// Whether steps only take time: no schedule depends on them, and nobody draws them.
    pub(crate) fn is_only_timed(&self) -> bool {
        matches!(self.pace, Pace::Timed(_)) && self.table.log.is_none()
    }

    /// The current thread asks for the line at `address` before it needs it, which is no step.
    pub(crate) fn ask_ahead(&mut self, address: usize, to_write: bool) {
        if let Pace::Timed(timed) = &mut self.pace {
            timed.ask_ahead(&self.table, address, to_write);
        }
    }

    /// The current thread reaches for `address`: the run is over if that is watched and was freed.
    pub(crate) fn reach(&mut self, address: usize) -> Turn {
        let freed = matches!(&self.heap, Heap::Arena(arena) if arena.is_freed(address));
        if !freed || self.table.is_unwinding() {
            return Turn::Goes;
        }
        let thread = self.table.current().id;
        self.table.end(Ending::Freed(thread));
        Turn::Ends
    }

    /// The current thread lets others go on, if there are any.
    pub(crate) fn give_way(&mut self, access: Access) -> Turn {
        if !self.table.count(access) {
            return Turn::Ends;
        }
        match &mut self.pace {
            Pace::Explore(explore) => explore.give_way(&mut self.table),
            Pace::Timed(timed) => timed.give_way(&mut self.table),
        }
    }

    /// The current thread waits, until `deadline` at most.
    pub(crate) fn block(&mut self, wait: Wait, deadline: Option<u64>) -> Turn {
        let thread = self.table.current();
        thread.wait = wait;
        thread.deadline = deadline;
        thread.timed_out = false;
        match &mut self.pace {
            Pace::Explore(explore) => explore.block(&mut self.table),
            Pace::Timed(timed) => timed.block(&mut self.table),
        }
    }

    /// Lets the thread in `slot` go on, if it is at `on` that it waits.
    pub(crate) fn wake(&mut self, slot: usize, on: usize) {
        if let Some(Some(thread)) = self.table.threads().get(slot)
            && thread.wait.on() == Some(on)
        {
            self.release(slot);
        }
    }

    /// Lets those go on that wait for the lock at `on`: all of them where a schedule decides who gets
    /// it, one where time does.
    pub(crate) fn unlock(&mut self, on: usize) {
        match &self.pace {
            Pace::Explore(_) => self.wake_those(|wait| wait.on() == Some(on)),
            Pace::Timed(timed) => {
                let waiting = self.table.waiting(|wait| wait.on() == Some(on));
                let longest = waiting.into_iter().min_by_key(|&slot| timed.clock_of(slot));
                longest.into_iter().for_each(|slot| self.release(slot));
            }
        }
    }

    fn wake_those(&mut self, f: impl Fn(Wait) -> bool) {
        self.table.waiting(f).into_iter().for_each(|slot| self.release(slot));
    }

    fn release(&mut self, slot: usize) {
        match &mut self.pace {
            Pace::Explore(explore) => explore.release(&mut self.table, slot, false),
            Pace::Timed(timed) => timed.release(&mut self.table, slot),
        }
    }

    /// How often it pays to look at a lock again before going to sleep.
    pub(crate) fn lock_spins(&self) -> usize {
        match &self.pace {
            Pace::Explore(_) => 0,
            Pace::Timed(_) => 100,
        }
    }

    /// What whoever takes a lock loses while others look at it again and again: cycles.
    pub(crate) fn lock_watched(&self) -> u64 {
        match &self.pace {
            Pace::Explore(_) => 0,
            Pace::Timed(timed) => timed.lock_watched(),
        }
    }

    /// The current thread has ended.
    pub(crate) fn end_current(&mut self) {
        match &mut self.pace {
            Pace::Explore(explore) => explore.end_current(&mut self.table),
            Pace::Timed(timed) => timed.end_current(&mut self.table),
        }
    }

    /// Puts what the current thread has done into the log, if there is one.
    pub(crate) fn record(&mut self, address: usize, what: impl FnOnce() -> What) {
        if self.table.log.is_some() {
            let nanos = match &self.pace {
                Pace::Explore(explore) => explore.clock,
                Pace::Timed(timed) => timed.nanos_of(self.table.current),
            };
            self.table.record(self.table.current, address, nanos, what());
        }
    }

    /// What the current thread reads at `place`.
    pub(crate) fn load(&mut self, place: Place) -> u64 {
        let value = match &mut self.pace {
            Pace::Explore(explore) => explore.load(&mut self.table, place),
            Pace::Timed(timed) => timed.load(&mut self.table, place),
        };
        self.record(place.address(), || What::Load { value });
        value
    }

    /// The current thread writes `bits` at `place`.
    pub(crate) fn store(&mut self, place: Place, bits: u64) {
        let at_once = match &self.pace {
            Pace::Explore(explore) => explore.is_sequential(),
            Pace::Timed(_) => false,
        } || self.table.current().about.op == Op::SeqCstStore;
        self.record(place.address(), || match at_once {
            true => What::Store { value: bits },
            false => What::Buffered { value: bits },
        });
        match &mut self.pace {
            Pace::Explore(explore) => explore.store(&mut self.table, place, bits),
            Pace::Timed(timed) => timed.store(&mut self.table, place, bits),
        }
    }

    /// The current thread writes what `f` makes of the word at `place`, if it makes something.
    pub(crate) fn update(
        &mut self,
        place: Place,
        f: &dyn Fn(u64) -> Option<u64>,
    ) -> Result<u64, u64> {
        let result = match &mut self.pace {
            Pace::Explore(explore) => explore.update(&mut self.table, place, f),
            Pace::Timed(timed) => timed.update(&mut self.table, place, f),
        };
        self.record(place.address(), || What::update(result, place));
        result
    }

    /// The current thread does what it was about to do, which is no access to a word.
    pub(crate) fn act(&mut self) {
        let Access { op, address, .. } = self.table.current().about;
        self.record(address, || What::Did(op));
        match &mut self.pace {
            Pace::Explore(explore) => explore.act(&mut self.table),
            Pace::Timed(timed) => timed.act(&mut self.table),
        }
    }

    /// The memory between `start` and `end` is about to be used for something else.
    pub(crate) fn clear(&mut self, start: usize, end: usize) {
        match &mut self.pace {
            Pace::Explore(explore) => explore.clear(&mut self.table, start, end),
            Pace::Timed(timed) => timed.clear(&mut self.table, start, end),
        }
    }

    /// The `bytes` bytes at `start` belong on `node`, or, `None`, no longer anywhere.
    pub(crate) fn place(&mut self, start: usize, bytes: usize, node: Option<usize>) {
        if let Pace::Timed(timed) = &mut self.pace {
            timed.place(start, bytes, node);
        }
    }

    /// A block for the current thread, on the node of its core if the machine says nothing else; `None`
    /// if the system is to give it.
    pub(crate) fn allocate(&mut self, layout: Layout) -> Result<Option<NonNull<u8>>, Exhausted> {
        if let Heap::Untouched { limit, watch_freed } = self.heap {
            // Without costs there is no point in more than one node, and one heap.
            let (nodes, cores, timed) = match self.pace {
                Pace::Explore(_) => (1, 1, false),
                Pace::Timed(_) => (self.machine.nodes(), self.machine.core_count(), true),
            };
            let arena = Arena::new(nodes, cores, timed, limit);
            let watch =
                |arena: Arena| if watch_freed && !timed { arena.watch_freed() } else { arena };
            self.heap = arena.map(watch).map_or(Heap::System, Heap::Arena);
        }
        let Heap::Arena(arena) = &mut self.heap else { return Ok(None) };
        let wish = match &mut self.pace {
            Pace::Explore(_) => Wish { core: 0, node: 0 },
            Pace::Timed(timed) => timed.wish(&self.table),
        };
        let block = arena.allocate(layout, wish)?;
        if let Pace::Timed(timed) = &mut self.pace {
            timed.charge_block(&self.table, &block);
        }
        Ok(Some(block.start))
    }

    /// A block is given back that may be the arena's.
    pub(crate) fn free(&mut self, start: usize, layout: Layout) {
        self.clear(start, start + layout.size());
        let core = match &self.pace {
            Pace::Explore(_) => 0,
            // It may have ended: what it leaves behind is freed in its name.
            Pace::Timed(timed) => timed.core_of(self.table.current),
        };
        let owner = match &mut self.heap {
            Heap::Arena(arena) => arena.free(start, layout, core),
            Heap::Untouched { .. } | Heap::System => None,
        };
        if let Pace::Timed(timed) = &mut self.pace {
            timed.charge_free(&self.table, start, owner);
        }
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
        match &mut self.pace {
            Pace::Explore(explore) => explore.drain_all(&mut self.table),
            Pace::Timed(timed) => timed.drain_all(&mut self.table),
        }
        self.table.threads_mut().filter_map(|thread| thread.fibre.take())
    }

    /// How it ended, and the report of it.
    pub(crate) fn report(&mut self) -> (Ending, Report) {
        let (nanos, trace) = match &mut self.pace {
            Pace::Explore(explore) => (explore.clock, std::mem::take(&mut explore.trace)),
            Pace::Timed(timed) => (timed.end(), Trace::default()),
        };
        let report = Report {
            seed: self.table.seed,
            steps: self.table.steps,
            nanos,
            threads: self.table.standings(),
            trace,
            log: self.table.log.take(),
        };
        (self.table.ending.take().expect("the run is over"), report)
    }
}
