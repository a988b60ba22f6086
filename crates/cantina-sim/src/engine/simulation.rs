//! Settings of a run, and what comes out of it.

use crate::cost::Machine;
use crate::engine::bounds::Bounds;
use crate::engine::core::{Core, Heap, Pace};
use crate::engine::current::{self, Engine};
use crate::engine::explore::Explore;
use crate::engine::faults::{AtRandom, Faults, Hit, Planned};
use crate::engine::table::{Settings, Table};
use crate::engine::timed::Timed;
use crate::engine::{Access, Failure, Op, Standing, ThreadId};
use crate::schedule::{Chooser, Schedule};
use crate::trace::{Log, Trace};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

/// Steps after which a run is given up, unless told otherwise.
pub const DEFAULT_STEPS: u64 = 1_000_000;

/// Bytes that a program may allocate, unless told otherwise.
pub const DEFAULT_MEMORY: usize = 2 << 30;

/// What a thread sees of the stores of others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Memory {
    /// Every store, at once.
    Sequential,
    /// Total store order, as on x86: stores wait in the buffer of their processor, which reads them
    /// there, and become visible in order. Read-modify-writes, SeqCst stores and full fences empty it.
    #[default]
    Tso,
}

/// How to run a scenario.
#[derive(Clone, Debug)]
#[must_use = "nothing happens until `run`"]
pub struct Simulation {
    seed: u64,
    schedule: Schedule,
    memory: Memory,
    hasty_clock: bool,
    machine: Arc<Machine>,
    memory_limit: usize,
    watch_freed: bool,
    table: Settings,
}

/// What came out of a run.
#[derive(Clone, Debug)]
pub struct Outcome<T> {
    /// What the scenario returned.
    pub value: T,
    /// Steps taken.
    pub steps: u64,
    /// Virtual nanoseconds that passed.
    pub nanos: u64,
    /// Virtual nanoseconds in which the threads that came to their end did not sleep, all of them together. 0 where
    /// steps do not take their time.
    pub busy_nanos: u64,
    /// The threads that would have waited for ever, and those that crashed.
    pub abandoned: Vec<Standing>,
    /// The threads that crashed, and after how many of their steps.
    pub crashed: Vec<(ThreadId, u64)>,
    /// The choices made.
    pub trace: Trace,
    /// What happened, if that was asked for.
    pub log: Option<Box<Log>>,
}

/// Runs `scenario` as the first virtual thread, on the random schedule that `seed` draws.
///
/// # Panics
/// When `scenario` does, after printing the seed; and when the run ends in a [`Failure`].
pub fn run<T>(seed: u64, scenario: impl FnOnce() -> T) -> T {
    match Simulation::new().seed(seed).run(scenario) {
        Ok(outcome) => outcome.value,
        Err(Failure::Panic { report, message, payload }) => {
            eprintln!("the scenario panicked: {message} ({report})");
            resume_unwind(payload)
        }
        Err(failure) => panic!("{failure}"),
    }
}

impl Simulation {
    /// A random schedule from seed 0, of [`DEFAULT_STEPS`] at most, with store buffers.
    pub fn new() -> Self {
        Self {
            seed: 0,
            schedule: Schedule::default(),
            memory: Memory::default(),
            hasty_clock: false,
            machine: Arc::default(),
            memory_limit: DEFAULT_MEMORY,
            watch_freed: false,
            table: Settings {
                budget: DEFAULT_STEPS,
                faults: Faults::default(),
                weak_failures: true,
                bounds: Bounds::default(),
                log: false,
                halt: None,
            },
        }
    }

    /// The seed that everything random is drawn from.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The step budget.
    pub fn steps(mut self, most: u64) -> Self {
        self.table.budget = most;
        self
    }

    /// Who is asked, every few thousand steps, whether to stop: it cannot be the program, whose threads are not real ones.
    pub fn halt_when(mut self, wants: fn() -> bool) -> Self {
        self.table.halt = Some(wants);
        self
    }

    /// How it is decided what happens next.
    pub fn schedule(mut self, schedule: Schedule) -> Self {
        self.schedule = schedule;
        self
    }

    /// Whether to keep a log of all that happens.
    pub fn log(mut self, keep: bool) -> Self {
        self.table.log = keep;
        self
    }

    /// How many bytes the program may allocate at once, where the binary's allocator is
    /// [`SimAllocator`](crate::SimAllocator).
    pub fn memory_limit(mut self, bytes: usize) -> Self {
        self.memory_limit = bytes;
        self
    }

    /// Whether a run fails that reaches into memory that was freed, where the binary's allocator is
    /// [`SimAllocator`](crate::SimAllocator). If so, what is freed is not used again before much else
    /// is. Not in a timed run.
    pub fn watch_freed(mut self, watch: bool) -> Self {
        self.watch_freed = watch;
        self
    }

    /// The machine: what the program is told of it, and, in a timed run, what things cost.
    pub fn machine(mut self, machine: Machine) -> Self {
        self.machine = Arc::new(machine);
        self
    }

    /// What a thread sees of the stores of others. In a timed run, always [`Memory::Tso`].
    pub fn memory(mut self, memory: Memory) -> Self {
        self.memory = memory;
        self
    }

    /// Whether deadlines may come at any step, however far away they are: on a real machine a thread
    /// can be held up for any time. If not, they come when their time has come, or when everybody
    /// waits.
    pub fn hasty_clock(mut self, hasty: bool) -> Self {
        self.hasty_clock = hasty;
        self
    }

    /// Whether weak compare-and-exchanges may fail for no reason, as they do on some processors.
    /// They may, rarely, unless told otherwise.
    pub fn weak_failures(mut self, allowed: bool) -> Self {
        self.table.weak_failures = allowed;
        self
    }

    /// Stops `thread` for ever after `steps` of its steps.
    pub fn crash(mut self, thread: ThreadId, steps: u64) -> Self {
        self.table.faults.planned.push(Planned { thread, after: steps, hit: Hit::Crash });
        self
    }

    /// Stops `thread` after `steps` of its steps, for the time of `pause` steps of others.
    pub fn stall(mut self, thread: ThreadId, steps: u64, pause: u64) -> Self {
        self.table.faults.planned.push(Planned { thread, after: steps, hit: Hit::Stall(pause) });
        self
    }

    /// Stops at most `most` threads for ever, each step of each with a chance of one in `one_in`.
    ///
    /// # Panics
    /// When `one_in` is 0.
    pub fn random_crashes(mut self, most: usize, one_in: usize) -> Self {
        assert!(one_in > 0, "a chance of one in none");
        self.table.faults.at_random.push(AtRandom { most, one_in, hit: Hit::Crash });
        self
    }

    /// Stops threads for the time of `pause` steps of others, at most `most` times, each step of each
    /// with a chance of one in `one_in`.
    ///
    /// # Panics
    /// When `one_in` is 0.
    pub fn random_stalls(mut self, most: usize, one_in: usize, pause: u64) -> Self {
        assert!(one_in > 0, "a chance of one in none");
        self.table.faults.at_random.push(AtRandom { most, one_in, hit: Hit::Stall(pause) });
        self
    }

    /// Fails the run when `steps` steps go by in [operations](crate::progress::operation) and none of
    /// them ends.
    pub fn lock_free_within(mut self, steps: u64) -> Self {
        self.table.bounds.lock_free = Some(steps);
        self
    }

    /// Fails the run when a thread takes more than `steps` own steps in one
    /// [operation](crate::progress::operation).
    pub fn wait_free_within(mut self, steps: u64) -> Self {
        self.table.bounds.wait_free = Some(steps);
        self
    }

    /// Runs `scenario` as the first virtual thread.
    ///
    /// # Errors
    /// See [`Failure`].
    ///
    /// # Panics
    /// Inside a simulation.
    pub fn run<T>(&self, scenario: impl FnOnce() -> T) -> Result<Outcome<T>, Failure> {
        self.run_with(Chooser::new(&self.schedule, self.seed), scenario).0
    }

    /// Runs `scenario` as the first virtual thread, by time: whoever is earliest goes on, and what
    /// things cost on the machine decides who that is. Schedules, the hasty clock and failures of weak
    /// exchanges have no part in it.
    ///
    /// # Errors
    /// See [`Failure`].
    ///
    /// # Panics
    /// Inside a simulation.
    pub fn run_timed<T>(&self, scenario: impl FnOnce() -> T) -> Result<Outcome<T>, Failure> {
        let timed = Timed::new(Machine::clone(&self.machine), self.seed);
        self.clone().weak_failures(false).run_at(Pace::Timed(Box::new(timed)), scenario).0
    }

    /// Runs `scenario` with `chooser`, and gives it back.
    pub(crate) fn run_with<T>(
        &self,
        chooser: Chooser,
        scenario: impl FnOnce() -> T,
    ) -> (Result<Outcome<T>, Failure>, Chooser) {
        let explore = Explore::new(self.memory, self.hasty_clock, chooser);
        let (result, pace) = self.run_at(Pace::Explore(Box::new(explore)), scenario);
        match pace {
            Pace::Explore(explore) => (result, explore.into_chooser()),
            Pace::Timed(_) => unreachable!("the pace that went in comes out"),
        }
    }

    fn run_at<T>(
        &self,
        pace: Pace,
        scenario: impl FnOnce() -> T,
    ) -> (Result<Outcome<T>, Failure>, Pace) {
        let table = Table::new(self.seed, self.table.clone());
        let engine = Engine::new(Core {
            table,
            pace,
            machine: self.machine.clone(),
            heap: Heap::Untouched { limit: self.memory_limit, watch_freed: self.watch_freed },
        });
        let mut returned = None;
        engine.drive(|| {
            let result = catch_unwind(AssertUnwindSafe(scenario));
            match result {
                Ok(_) => current::step(Access::bare(Op::End)),
                Err(_) => current::end_run(),
            }
            returned = Some(result);
        });
        let mut core = engine.into_core();
        let (ending, report) = core.report();
        let crashed = std::mem::take(&mut core.table.crashed);
        let busy_nanos = match &core.pace {
            Pace::Explore(_) => 0,
            Pace::Timed(timed) => timed.busy(),
        };
        let result = match returned {
            Some(Err(payload)) => Err(Failure::of_panic(report, payload)),
            Some(Ok(value)) => report.judge(ending).map(|report| Outcome {
                value,
                steps: report.steps,
                nanos: report.nanos,
                busy_nanos,
                abandoned: report.threads,
                crashed,
                trace: report.trace,
                log: report.log,
            }),
            None => Err(report.judge(ending).expect_err("the scenario has not ended")),
        };
        (result, core.pace)
    }
}

impl Default for Simulation {
    fn default() -> Self {
        Self::new()
    }
}
