//! Looks for a schedule on which a program comes out wrong, and shows it.

use cantina_check::{BUDGET, History, Operation, Spec, Verdict, check};
use machine::engine::{Failure, Simulation, ThreadId};
use machine::schedule::{Schedule, delay_rmw};
use machine::trace::{Log, Trace};
use std::fmt;
use std::time::Instant;

/// Schedules that a bug may hide from.
const SCHEDULES: u64 = 3_000;

/// What came out wrong.
#[derive(Debug)]
pub(crate) struct Wrong {
    text: String,
    /// What those did meanwhile that it is about.
    calls: Vec<Operation>,
}

/// What was found, and how to see it again.
#[derive(Debug)]
pub(crate) struct Witness {
    pub(crate) finding: String,
    pub(crate) seed: u64,
    /// As it was printed.
    pub(crate) schedule: String,
    pub(crate) interleaving: String,
}

/// A run that came out wrong.
struct Found {
    wrong: Wrong,
    schedule: Trace,
    log: Option<Box<Log>>,
}

/// Tries schedules of `scenario` until one comes out wrong. That one is printed, and what was printed
/// is replayed: it has to come out just as wrong.
pub(crate) fn hunt(
    simulation: &Simulation,
    scenario: fn() -> Result<(), Wrong>,
) -> Option<Witness> {
    let start = Instant::now();
    let (seed, found) = (0..SCHEDULES).find_map(|seed| {
        let simulation = simulation.clone().schedule(kind(seed)).seed(seed);
        Some((seed, run(&simulation, scenario)?))
    })?;
    let spent = start.elapsed();
    let schedule = found.schedule.to_string();
    let replay = Schedule::Replay(schedule.parse().unwrap());
    let simulation = simulation.clone().seed(seed).schedule(replay).log(true);
    let again = run(&simulation, scenario).expect("what was found is found again");
    assert_eq!(again.wrong.text, found.wrong.text);
    let log = again.log.expect("it was asked for");
    let mut excerpt = log.excerpt();
    for call in &again.wrong.calls {
        let thread = ThreadId(u32::try_from(call.thread).unwrap());
        excerpt = excerpt.call(thread, call.start, call.end, &call.action.to_string());
    }
    let interleaving = excerpt.to_string();
    let witness = Witness { finding: again.wrong.text, seed, schedule, interleaving };
    println!("found on schedule {} after {spent:?}\n{witness}", seed + 1);
    Some(witness)
}

/// Random walks, priorities, and whoever is about to exchange held back, in turn.
fn kind(seed: u64) -> Schedule {
    match seed % 3 {
        0 => Schedule::Random,
        1 => Schedule::Pct { depth: 3, length: 100 },
        _ => delay_rmw(),
    }
}

fn run(simulation: &Simulation, scenario: fn() -> Result<(), Wrong>) -> Option<Found> {
    match simulation.run(scenario) {
        Ok(outcome) => {
            let wrong = outcome.value.err()?;
            Some(Found { wrong, schedule: outcome.trace, log: outcome.log })
        }
        Err(failure) => {
            let text = told(&failure);
            let report = failure.report();
            let (schedule, log) = (report.trace.clone(), report.log.clone());
            Some(Found { wrong: text.into(), schedule, log })
        }
    }
}

/// The failure without its schedule, which is shown anyway.
fn told(failure: &Failure) -> String {
    let text = failure.to_string();
    text.split_once("\n  schedule:").map_or(text.clone(), |(before, _)| format!("{before})"))
}

/// `Err` if `history` is not that of a `spec`.
pub(crate) fn judge(history: &History, spec: &Spec) -> Result<(), Wrong> {
    match check(history, spec, BUDGET) {
        Verdict::Linearizable => Ok(()),
        Verdict::Violation(violation) => {
            Err(Wrong { text: violation.to_string(), calls: violation.scene(history) })
        }
        Verdict::Unknown { steps } => panic!("no verdict after {steps} steps"),
    }
}

impl From<String> for Wrong {
    fn from(text: String) -> Self {
        Self { text, calls: Vec::new() }
    }
}

impl fmt::Display for Witness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { finding, seed, schedule, interleaving } = self;
        write!(f, "{finding}\nseed: {seed}\nschedule: {schedule}\n\n{interleaving}")
    }
}
