//! The table of a run: its threads, whose turn it is, what was counted, and how it ended.

use crate::engine::access::{Access, Op};
use crate::engine::bounds::{Bounds, Progress};
use crate::engine::faults::{Faults, Hit};
use crate::engine::panics::Panics;
use crate::engine::report::{Doing, Standing};
use crate::engine::spin::Spin;
use crate::engine::threads::{MAX_THREADS, Operation, Thread, ThreadId, Wait};
use crate::engine::watchdog::{self, Beat};
use crate::memory::buffer::StoreBuffer;
use crate::trace::{Event, Log, What};
use cantina_machine::random::Random;
use std::sync::Arc;

/// Sets the random numbers of the program apart from those of the schedule.
const PROGRAM: u64 = 0x5ca1_ab1e_0b5e_55ed;
/// And those of the faults.
const FAULTS: u64 = 0x00fa_1150_dead_7e57;

/// One in so many weak compare-and-exchanges fails for no reason.
const WEAK_FAILURES: usize = 32;

/// How a run ended, before anybody has looked at it.
#[derive(Debug)]
pub(crate) enum Ending {
    /// The scenario returned or panicked, and nobody else can go on.
    Done,
    Deadlock,
    Budget,
    /// The replayed trace is not one of this program.
    Diverged,
    /// Too many steps without an operation that ended.
    NobodyFinishes,
    /// Too many own steps in an operation.
    TooSlow(ThreadId),
    /// The program's memory is used up.
    Memory,
    /// This one reached into memory that was freed.
    Freed(ThreadId),
    /// Somebody outside wants no more of it.
    Halted,
}

/// What a table needs to know.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) budget: u64,
    pub(crate) faults: Faults,
    pub(crate) weak_failures: bool,
    pub(crate) bounds: Bounds,
    pub(crate) log: bool,
    /// Asked now and then whether to go on no more.
    pub(crate) halt: Option<fn() -> bool>,
}

/// Steps between two such questions: well under a millisecond.
pub(crate) const ASK_EVERY: u64 = 4_096;

pub(crate) struct Table {
    pub(crate) seed: u64,
    budget: u64,
    pub(crate) steps: u64,
    /// By slot.
    threads: Vec<Option<Thread>>,
    born: u32,
    pub(crate) current: usize,
    /// Whose turn it is when the current thread is left.
    pub(crate) next: usize,
    pub(crate) ending: Option<Ending>,
    scenario_ended: bool,
    /// Random numbers for the program.
    pub(crate) numbers: Random,
    pub(crate) log: Option<Box<Log>>,
    faults: Faults,
    fault_numbers: Random,
    /// Those that crashed, and after how many of their steps.
    pub(crate) crashed: Vec<(ThreadId, u64)>,
    /// Whether weak compare-and-exchanges may fail for no reason.
    weak_failures: bool,
    progress: Progress,
    panics: Panics,
    watchdog: Option<Arc<Beat>>,
    halt: Option<fn() -> bool>,
}

impl Table {
    pub(crate) fn new(seed: u64, settings: Settings) -> Self {
        let Settings { budget, faults, weak_failures, bounds, log, halt } = settings;
        let watchdog = watchdog::current();
        watchdog.iter().for_each(|watchdog| watchdog.begin(seed));
        Self {
            seed,
            budget,
            steps: 0,
            threads: Vec::new(),
            born: 0,
            current: 0,
            next: 0,
            ending: None,
            scenario_ended: false,
            numbers: Random::seeded(seed ^ PROGRAM),
            log: log.then(Box::default),
            faults,
            fault_numbers: Random::seeded(seed ^ FAULTS),
            crashed: Vec::new(),
            weak_failures,
            progress: Progress::new(bounds),
            panics: Panics::new(),
            watchdog,
            halt,
        }
    }

    /// A slot for one more thread.
    ///
    /// # Panics
    /// When [`MAX_THREADS`] are alive.
    pub(crate) fn add(&mut self, name: Option<String>) -> (usize, ThreadId) {
        let free = self.threads.iter().position(Option::is_none);
        let slot = free.unwrap_or(self.threads.len());
        assert!(
            slot < MAX_THREADS,
            "a simulation holds {} threads besides itself",
            MAX_THREADS - 1
        );
        let id = ThreadId(self.born);
        self.born += 1;
        if let (Some(log), Some(name)) = (&mut self.log, &name) {
            log.name_thread(id, name);
        }
        let thread = Thread {
            id,
            name,
            core: 0,
            wait: Wait::Nothing,
            deadline: None,
            timed_out: false,
            about: Access::bare(Op::Start),
            steps: 0,
            cycles: 0,
            buffer: StoreBuffer::default(),
            spin: Spin::default(),
            operation: None,
            fibre: None,
            word: 0,
            exit: std::ptr::null(),
        };
        match self.threads.get_mut(slot) {
            Some(place) => *place = Some(thread),
            None => self.threads.push(Some(thread)),
        }
        (slot, id)
    }

    pub(crate) fn thread(&mut self, slot: usize) -> &mut Thread {
        self.threads[slot].as_mut().expect("the slot of a thread that has not ended")
    }

    pub(crate) fn current(&mut self) -> &mut Thread {
        self.thread(self.current)
    }

    /// Those that have not ended, by slot.
    pub(crate) fn threads(&self) -> &[Option<Thread>] {
        &self.threads
    }

    pub(crate) fn threads_mut(&mut self) -> impl Iterator<Item = &mut Thread> {
        self.threads.iter_mut().flatten()
    }

    /// The slots of those that wait for something for which `f` holds.
    pub(crate) fn waiting(&self, f: impl Fn(Wait) -> bool) -> Vec<usize> {
        let waits = |(slot, thread): (usize, &Option<Thread>)| {
            thread.as_ref().filter(|thread| f(thread.wait)).map(|_| slot)
        };
        self.threads.iter().enumerate().filter_map(waits).collect()
    }

    /// The current thread has ended.
    pub(crate) fn end_current(&mut self) {
        self.scenario_ended |= self.current().id == ThreadId(0);
        self.threads[self.current] = None;
    }

    /// The run is over, unless it was before.
    pub(crate) fn end(&mut self, ending: Ending) {
        self.ending.get_or_insert(ending);
    }

    /// Nobody can go on any more.
    pub(crate) fn end_quiet(&mut self) {
        self.end(if self.scenario_ended { Ending::Done } else { Ending::Deadlock });
    }

    /// Counts a step of the current thread, which is about to do `access`; whether the run goes on.
    pub(crate) fn count(&mut self, access: Access) -> bool {
        self.current().about = access;
        if self.steps >= self.budget {
            self.end(Ending::Budget);
        }
        if self.steps % ASK_EVERY == ASK_EVERY - 1 && self.halt.is_some_and(|wants| wants()) {
            self.end(Ending::Halted);
        }
        if self.ending.is_some() {
            return false;
        }
        self.steps += 1;
        let step = self.steps;
        let thread = self.threads[self.current].as_mut().expect("the current thread");
        if let Some(watchdog) = &self.watchdog {
            watchdog.step(step, thread.id);
        }
        thread.steps += 1;
        if let Some(ending) = self.progress.judge(thread, step) {
            self.end(ending);
        }
        self.ending.is_none()
    }

    /// What happens to the current thread before its step.
    pub(crate) fn strike(&mut self) -> Option<Hit> {
        let Thread { id, steps, .. } = *self.current();
        let hit = self.faults.strike(id, steps - 1, &mut self.fault_numbers)?;
        if hit == Hit::Crash {
            self.crashed.push((id, steps - 1));
            self.progress.crash(self.threads[self.current].as_ref().expect("the current thread"));
        }
        Some(hit)
    }

    /// Whether a weak compare-and-exchange fails for no reason.
    pub(crate) fn fails_weakly(&mut self) -> bool {
        self.weak_failures && self.fault_numbers.one_in(WEAK_FAILURES)
    }

    /// The current thread begins an operation; the one it is in, if any, is put aside.
    pub(crate) fn begin(&mut self, name: &str) -> Option<Operation> {
        let thread = self.threads[self.current].as_mut().expect("the current thread");
        self.progress.begin(thread, name, self.steps)
    }

    /// The current thread ends its operation and is back in `outer`.
    pub(crate) fn finish(&mut self, outer: Option<Operation>) {
        let thread = self.threads[self.current].as_mut().expect("the current thread");
        self.progress.finish(thread, outer, self.steps);
    }

    /// The thread in `slot` has done something, at the word at `address` if that is not 0.
    pub(crate) fn record(&mut self, slot: usize, address: usize, nanos: u64, what: What) {
        let Some(thread) = self.threads[slot].as_ref() else { return };
        if let Some(log) = &mut self.log {
            let Thread { id, cycles, about: Access { op, .. }, .. } = *thread;
            let event = Event { step: self.steps, nanos, thread: id, word: None, what, cycles, op };
            log.push(address, event);
        }
    }

    /// Whether the current thread is unwinding, as far as can be known.
    pub(crate) fn is_unwinding(&self) -> bool {
        self.panics.is_unwinding()
    }

    /// The thread in `next` is the current one now.
    pub(crate) fn enter(&mut self) {
        self.current = self.next;
        self.panics.enter(self.current);
    }

    /// The current thread is about to be left.
    pub(crate) fn leave(&mut self) {
        self.panics.leave(self.current);
    }

    /// Where everybody stands.
    pub(crate) fn standings(&self) -> Vec<Standing> {
        let standing = |thread: &Thread| Standing {
            thread: thread.id,
            name: thread.name.clone(),
            operation: thread.operation.as_ref().map(|operation| operation.name.clone()),
            doing: match thread.wait {
                Wait::Nothing => Doing::Ready(thread.about.op),
                Wait::Join { thread, .. } => Doing::Joining(thread),
                Wait::Token { .. } => Doing::Parked,
                Wait::Lock { holder, .. } => Doing::Locking(holder),
                Wait::Sleep => Doing::Sleeping,
                Wait::Change => Doing::Spinning,
                Wait::Stall => Doing::Stalled,
                Wait::Crash => Doing::Crashed(thread.about.op),
            },
        };
        self.threads.iter().flatten().map(standing).collect()
    }
}

impl Drop for Table {
    fn drop(&mut self) {
        self.watchdog.iter().for_each(|watchdog| watchdog.end());
    }
}
