//! The state of a run, and the one decision it keeps making: who goes on.
//!
//! Nothing here switches stacks. A method that ends a turn says whether the caller must leave its
//! fibre; whose turn it is then is in `next`.

use crate::engine::access::{Access, Op};
use crate::engine::report::{Doing, Failure, Report, Standing};
use crate::engine::threads::{MAX_THREADS, Slots, Thread, ThreadId, Wait};
use crate::fibre::Fibre;
use crate::schedule::Chooser;
use crate::trace::{Choice, Trace};
use cantina_machine::random::Random;

/// Virtual nanoseconds that a step takes.
const STEP_NANOS: u64 = 10;
/// Sets the random numbers of the program apart from those of the schedule.
const PROGRAM: u64 = 0x5ca1_ab1e_0b5e_55ed;

/// Whether the caller must leave its fibre.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    Goes,
    Ends,
}

/// How a run ended, before anybody has looked at it.
pub(crate) enum Ending {
    /// The scenario returned or panicked, and nobody else can go on.
    Done,
    Deadlock,
    Budget,
}

pub(crate) struct Core {
    seed: u64,
    budget: u64,
    steps: u64,
    clock: u64,
    /// By slot.
    threads: Vec<Option<Thread>>,
    born: u32,
    current: usize,
    next: usize,
    /// Those that can go on.
    ready: Slots,
    /// Those that wait and have a deadline.
    timed: Slots,
    chooser: Chooser,
    numbers: Random,
    trace: Trace,
    scenario_ended: bool,
    ending: Option<Ending>,
    /// `std` already counted a panic on this OS thread when the run began: its count says nothing.
    panics_unknown: bool,
    /// The thread that was unwinding when it was left. There is at most one: `std` counts panics per
    /// OS thread, so while it is away the panics of others cannot be told from its own.
    unwinding_away: Option<usize>,
}

impl Core {
    pub(crate) fn new(seed: u64, budget: u64, chooser: Chooser) -> Self {
        Self {
            seed,
            budget,
            steps: 0,
            clock: 0,
            threads: Vec::new(),
            born: 0,
            current: 0,
            next: 0,
            ready: Slots::default(),
            timed: Slots::default(),
            chooser,
            numbers: Random::seeded(seed ^ PROGRAM),
            trace: Trace::default(),
            scenario_ended: false,
            ending: None,
            panics_unknown: std::thread::panicking(),
            unwinding_away: None,
        }
    }

    /// A slot for one more thread, which can run.
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
        let thread = Thread {
            id,
            name,
            wait: Wait::Nothing,
            deadline: None,
            timed_out: false,
            about: Access::bare(Op::Start),
            fibre: None,
            exit: std::ptr::null(),
        };
        match self.threads.get_mut(slot) {
            Some(place) => *place = Some(thread),
            None => self.threads.push(Some(thread)),
        }
        self.ready.insert(slot);
        (slot, id)
    }

    pub(crate) fn thread(&mut self, slot: usize) -> &mut Thread {
        self.threads[slot].as_mut().expect("the slot of a thread that has not ended")
    }

    pub(crate) fn current(&mut self) -> &mut Thread {
        self.thread(self.current)
    }

    pub(crate) fn current_slot(&self) -> usize {
        self.current
    }

    pub(crate) fn clock(&self) -> u64 {
        self.clock
    }

    pub(crate) fn seed_for_program(&mut self) -> u64 {
        self.numbers.next_u64()
    }

    /// Whether the current thread is unwinding, as far as can be known.
    pub(crate) fn is_unwinding(&self) -> bool {
        !self.panics_unknown && self.unwinding_away.is_none() && std::thread::panicking()
    }

    /// The current thread is about to do `access`: who goes on?
    ///
    /// Not while it is unwinding: its accesses are then one step. See [`is_unwinding`](Self::is_unwinding).
    pub(crate) fn step(&mut self, access: Access) -> Turn {
        self.current().about = access;
        if !self.pass(STEP_NANOS) {
            return Turn::Ends;
        }
        if self.is_unwinding() {
            return Turn::Goes;
        }
        self.choose(false)
    }

    /// The current thread lets others go on, if there are any; `nanos` go by.
    pub(crate) fn give_way(&mut self, access: Access, nanos: u64) -> Turn {
        self.current().about = access;
        if !self.pass(nanos) {
            return Turn::Ends;
        }
        self.choose(true)
    }

    /// The current thread waits, until `deadline` at most.
    pub(crate) fn block(&mut self, wait: Wait, deadline: Option<u64>) -> Turn {
        let slot = self.current;
        let thread = self.current();
        thread.wait = wait;
        thread.deadline = deadline;
        thread.timed_out = false;
        self.ready.remove(slot);
        if deadline.is_some() {
            self.timed.insert(slot);
        }
        self.choose(false)
    }

    /// Lets the thread in `slot` go on, if it is at `on` that it waits.
    pub(crate) fn wake(&mut self, slot: usize, on: usize) {
        if let Some(Some(thread)) = self.threads.get(slot)
            && thread.wait.on() == Some(on)
        {
            self.release(slot, false);
        }
    }

    /// Lets all go on that wait at `on`.
    pub(crate) fn wake_all(&mut self, on: usize) {
        for slot in 0..self.threads.len() {
            self.wake(slot, on);
        }
    }

    /// The current thread has ended.
    pub(crate) fn end_current(&mut self) {
        let slot = self.current;
        self.scenario_ended |= slot == 0 && self.current().id == ThreadId(0);
        self.threads[slot] = None;
        self.ready.remove(slot);
        let _ = self.choose(false);
    }

    /// The scenario has panicked: the run is over.
    pub(crate) fn end_run(&mut self) {
        self.ending.get_or_insert(Ending::Done);
    }

    /// Whose turn it is, and its fibre; `None` when the run is over.
    pub(crate) fn enter(&mut self) -> Option<(usize, Box<Fibre>)> {
        if self.ending.is_some() {
            return None;
        }
        self.current = self.next;
        if self.unwinding_away == Some(self.current) {
            self.unwinding_away = None;
        }
        let fibre = self.current().fibre.take();
        Some((self.current, fibre.expect("a thread that does not run has its fibre")))
    }

    /// The current thread is about to be left.
    pub(crate) fn leave(&mut self) {
        if self.is_unwinding() {
            self.unwinding_away = Some(self.current);
        }
    }

    /// All fibres that are left.
    pub(crate) fn drain_fibres(&mut self) -> impl Iterator<Item = Box<Fibre>> {
        self.threads.iter_mut().flatten().filter_map(|thread| thread.fibre.take())
    }

    pub(crate) fn ending(&mut self) -> Ending {
        self.ending.take().expect("the run is over")
    }

    pub(crate) fn report(&mut self) -> Report {
        let standing = |thread: &Thread| Standing {
            thread: thread.id,
            name: thread.name.clone(),
            doing: match thread.wait {
                Wait::Nothing => Doing::Ready(thread.about.op),
                Wait::Join { thread, .. } => Doing::Joining(thread),
                Wait::Token { .. } => Doing::Parked,
                Wait::Lock { holder, .. } => Doing::Locking(holder),
                Wait::Sleep => Doing::Sleeping,
            },
        };
        Report {
            seed: self.seed,
            steps: self.steps,
            nanos: self.clock,
            threads: self.threads.iter().flatten().map(standing).collect(),
            trace: std::mem::take(&mut self.trace),
        }
    }

    /// Counts a step and lets time pass; whether the budget allows it.
    fn pass(&mut self, nanos: u64) -> bool {
        if self.steps == self.budget {
            self.ending.get_or_insert(Ending::Budget);
        }
        if self.ending.is_some() {
            return false;
        }
        self.steps += 1;
        self.clock += nanos;
        if !self.timed.is_empty() {
            self.release_due();
        }
        true
    }

    fn release(&mut self, slot: usize, timed_out: bool) {
        let thread = self.thread(slot);
        thread.wait = Wait::Nothing;
        thread.deadline = None;
        thread.timed_out = timed_out;
        self.timed.remove(slot);
        self.ready.insert(slot);
    }

    fn release_due(&mut self) {
        for slot in self.timed.iter() {
            if self.thread(slot).deadline.is_some_and(|deadline| deadline <= self.clock) {
                self.release(slot, true);
            }
        }
    }

    /// Picks who goes on. `yielding`: not the current thread, if there is another.
    fn choose(&mut self, yielding: bool) -> Turn {
        if self.ready.is_empty() {
            let earliest = self.timed.iter().filter_map(|slot| self.thread(slot).deadline).min();
            match earliest {
                Some(deadline) => {
                    self.clock = self.clock.max(deadline);
                    self.release_due();
                }
                None => {
                    let ending = if self.scenario_ended { Ending::Done } else { Ending::Deadlock };
                    self.ending.get_or_insert(ending);
                    return Turn::Ends;
                }
            }
        }
        let mut candidates = self.ready;
        if yielding && candidates.len() > 1 {
            candidates.remove(self.current);
        }
        self.next = match candidates.len() {
            1 => candidates.nth(0).expect("it has one member"),
            _ => {
                let slot = self.chooser.pick(&candidates);
                self.trace.push(Choice::Run(slot as u16));
                slot
            }
        };
        if self.next == self.current && self.threads[self.current].is_some() {
            Turn::Goes
        } else {
            Turn::Ends
        }
    }
}

impl Report {
    /// The failure that a run ended with, if it is one.
    pub(crate) fn failure(self, ending: Ending) -> Result<Self, Failure> {
        match ending {
            Ending::Done => Ok(self),
            Ending::Deadlock => Err(Failure::Deadlock(self)),
            Ending::Budget => Err(Failure::Budget(self)),
        }
    }
}
