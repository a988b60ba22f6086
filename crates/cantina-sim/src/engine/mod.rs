//! The engine: virtual threads on one OS thread, and whose turn it is.
//!
//! [`run`] is the short form, [`Simulation`] the one with settings. A scenario is the first virtual
//! thread; it starts others with [`thread::spawn`](crate::thread::spawn). Each access to something
//! shared is a step, before which somebody else may go on. The schedule and the seed decide who, and
//! nothing else does: the same seed gives the same run.
//!
//! # The end of a run
//! A run ends when the scenario has returned and no other thread can go on. Those that still wait
//! are abandoned, as at the end of a process: their stacks are reused and nothing on them is dropped.
//! The same happens to all of them when a run fails.
//!
//! # Panics
//! A panic unwinds its virtual thread and comes out of `join`, as with `std`; a panic of the scenario
//! ends the run. `std` counts panics per OS thread and could not tell whose they are if threads
//! were switched while one unwinds. So a thread that unwinds keeps its turn, unless it waits for
//! something; while it waits, [`panicking`](crate::thread::panicking) is false on all others.
//! A run that ends while a thread unwinds leaves `std`'s count where it was.
//!
//! # Outside a run
//! The facade works outside a run too, for statics, constructors and drops: memory is memory, the
//! clock stands still, and what would wait for another thread panics.

mod access;
mod core;
pub(crate) mod current;
mod report;
pub(crate) mod threads;

pub use access::Op;
pub use report::{Doing, Failure, Report, Standing};
pub use threads::{MAX_THREADS, ThreadId};

pub(crate) use access::Access;

use crate::schedule::{Chooser, Schedule};
use crate::trace::Trace;
use core::Core;
use current::Engine;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Steps after which a run is given up, unless told otherwise.
pub const DEFAULT_STEPS: u64 = 1_000_000;

/// How to run a scenario.
#[derive(Clone, Debug)]
#[must_use = "nothing happens until `run`"]
pub struct Simulation {
    seed: u64,
    steps: u64,
    schedule: Schedule,
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
    /// The threads that would have waited for ever.
    pub abandoned: Vec<Standing>,
    /// The choices made.
    pub trace: Trace,
}

/// Runs `scenario` as the first virtual thread, on the random schedule that `seed` draws.
///
/// # Panics
/// When `scenario` does, after printing the seed; and when the run ends in a [`Failure`].
pub fn run<T>(seed: u64, scenario: impl FnOnce() -> T) -> T {
    match Simulation::new().seed(seed).run(scenario) {
        Ok(outcome) => outcome.value,
        Err(failure @ Failure::Panic { .. }) => {
            eprintln!("{failure}");
            let Failure::Panic { payload, .. } = failure else { unreachable!("it was matched") };
            resume_unwind(payload)
        }
        Err(failure) => panic!("{failure}"),
    }
}

impl Simulation {
    /// A random schedule from seed 0, of [`DEFAULT_STEPS`] at most.
    pub fn new() -> Self {
        Self { seed: 0, steps: DEFAULT_STEPS, schedule: Schedule::default() }
    }

    /// The seed that everything random is drawn from.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The step budget.
    pub fn steps(mut self, most: u64) -> Self {
        self.steps = most;
        self
    }

    /// How the next thread is chosen.
    pub fn schedule(mut self, schedule: Schedule) -> Self {
        self.schedule = schedule;
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
        let chooser = Chooser::new(&self.schedule, self.seed);
        let engine = Engine::new(Core::new(self.seed, self.steps, chooser));
        let mut returned = None;
        engine.drive(|| {
            let result = catch_unwind(AssertUnwindSafe(scenario));
            if result.is_err() {
                current::end_run();
            }
            returned = Some(result);
        });
        let mut core = engine.into_core();
        let ending = core.ending();
        let report = core.report();
        match returned {
            Some(Err(payload)) => {
                let message = report::message(&*payload);
                Err(Failure::Panic { report, message, payload })
            }
            Some(Ok(value)) => report.failure(ending).map(|report| Outcome {
                value,
                steps: report.steps,
                nanos: report.nanos,
                abandoned: report.threads,
                trace: report.trace,
            }),
            None => Err(report.failure(ending).expect_err("the scenario has not ended")),
        }
    }
}

impl Default for Simulation {
    fn default() -> Self {
        Self::new()
    }
}
