//! Checks on simulated schedules. One that fails is run again with a log, to show how it came about:
//! the accesses of the threads involved, where they meet.

use super::Trial;
use crate::export::OneFile;
use cantina_sim::engine::{Failure, Simulation, ThreadId};
use cantina_sim::schedule::Schedule;
use cantina_sim::trace::{Log, Trace};
use lab_on_sim::conformance::{self, Effort, Recorded};
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

/// Steps after which a run hangs.
const STEPS: u64 = 4_000_000;
/// Stalls of a run that has some, how likely each step is one, and how many steps of others it takes.
const STALLS: usize = 8;
const STALL_ONE_IN: usize = 40;
const STALL: u64 = 300;
/// How many characters of a schedule are printed; its seed says the same.
const SCHEDULE_SHOWN: usize = 2_000;
/// How many rows of an interleaving are.
const ROWS_SHOWN: usize = 200;

/// What came out wrong.
struct Found {
    text: String,
    scene: Vec<Recorded>,
    schedule: Trace,
    log: Option<Box<Log>>,
}

/// A finding, as it is shown.
struct Shown {
    text: String,
    schedule: Trace,
    log: Option<Box<Log>>,
}

/// What came of a schedule.
pub(super) enum Replayed {
    /// Nothing is wrong.
    Sound,
    /// What is wrong.
    Found(String),
    /// It is none of this program.
    Diverged,
}

/// Runs a check of a pool on the schedule of an earlier run of the same seed.
pub(super) fn replay(
    pool: &str,
    check: &str,
    seed: u64,
    schedule: &Trace,
    log: Option<&OneFile>,
) -> Replayed {
    let trials = conformance::trials();
    let trial = trials.iter().find(|trial| trial.pool == pool && trial.check == check);
    let trial = trial.expect("the caller has it from the same list");
    let simulation = simulation(seed).schedule(Schedule::Replay(schedule.clone()));
    match simulation.run(|| trial.run(&Effort::simulated(), seed)) {
        Err(Failure::Diverged(_)) => Replayed::Diverged,
        // It went on after the last choice, and nobody gave way any more.
        Err(Failure::Budget(report)) if report.trace.choices().len() > schedule.choices().len() => {
            Replayed::Diverged
        }
        Ok(_) | Err(_) => match show(&simulation, trial, seed) {
            None => Replayed::Sound,
            Some(shown) => Replayed::Found(shown.text + &write(shown.log, log)),
        },
    }
}

/// Every check of every registered pool. When one fails, all that happened goes to `log`, if there is
/// one.
pub(super) fn trials(log: Option<&OneFile>) -> Vec<Trial> {
    let each = |trial: conformance::Trial| {
        let log = log.cloned();
        Trial {
            pool: trial.pool.clone(),
            check: trial.check,
            run: Box::new(move |seed| match simulate(&trial, seed) {
                None => Ok(()),
                Some(shown) => {
                    let again = again(&trial, seed, &shown.schedule);
                    Err(shown.text + &write(shown.log, log.as_ref()) + &again)
                }
            }),
        }
    };
    conformance::trials().into_iter().map(each).collect()
}

/// Runs `trial` on the schedule that `seed` draws: a random one, or by priorities, or one on which
/// threads stall where they are. What is wrong with it, if something is.
fn simulate(trial: &conformance::Trial, seed: u64) -> Option<Shown> {
    show(&simulation(seed), trial, seed)
}

fn simulation(seed: u64) -> Simulation {
    let simulation = Simulation::new().seed(seed).steps(STEPS);
    match seed % 4 {
        0 => simulation.schedule(Schedule::Pct { depth: 3, length: 2_000 }),
        1 => simulation.random_stalls(STALLS, STALL_ONE_IN, STALL),
        _ => simulation,
    }
}

fn show(simulation: &Simulation, trial: &conformance::Trial, seed: u64) -> Option<Shown> {
    let found = run(simulation, trial, seed)?;
    let mut text = found.text.trim_end().to_owned();
    let schedule = found.schedule.to_string();
    let _ = match schedule.len() {
        0..=SCHEDULE_SHOWN => writeln!(text, "\nschedule: {schedule}"),
        _ => writeln!(text, "\nschedule: {} choices", found.schedule.choices().len()),
    };
    let again = run(&simulation.clone().log(true), trial, seed);
    let Some(again) = again.filter(|again| again.text == found.text) else {
        text.push_str("\nRun again it came out otherwise: it depends on where memory lies.\n");
        return Some(Shown { text, schedule: found.schedule, log: None });
    };
    if let Some(log) = &again.log {
        let _ = write!(text, "\n{}", interleaving(log, &again.scene));
    }
    Some(Shown { text, schedule: found.schedule, log: again.log })
}

/// What to type for the same schedule again. One that is too long to be printed goes into a file.
fn again(trial: &conformance::Trial, seed: u64, schedule: &Trace) -> String {
    let (pool, check, text) = (&trial.pool, trial.check, schedule.to_string());
    let typed = match text.len() {
        0..=SCHEDULE_SHOWN => format!("'{text}'"),
        _ => {
            let name = format!("cantina-schedule-{pool}-{check}-{seed}");
            match keep(Path::new(""), &name, &(text + "\n")) {
                Ok(path) => format!("@{}", path.display()),
                Err(error) => return format!("\nCannot write {name}.txt: {error}\n"),
            }
        }
    };
    format!(
        "\nOn that schedule: cantina check {pool} --only {check} --seed {seed} --schedule {typed}\n"
    )
}

/// Writes a schedule to `NAME.txt`, or where another one is there, which is somebody's finding, to the first of `NAME-2.txt`,
/// `NAME-3.txt` and so on that is free.
fn keep(folder: &Path, name: &str, schedule: &str) -> io::Result<PathBuf> {
    for number in 1.. {
        let number = if number == 1 { String::new() } else { format!("-{number}") };
        let path = folder.join(format!("{name}{number}.txt"));
        match File::create_new(&path) {
            Ok(mut file) => return file.write_all(schedule.as_bytes()).map(|()| path),
            Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
            Err(_) if fs::read_to_string(&path).is_ok_and(|there| there == schedule) => {
                return Ok(path);
            }
            Err(_) => {}
        }
    }
    unreachable!("there is always a number more")
}

fn run(simulation: &Simulation, trial: &conformance::Trial, seed: u64) -> Option<Found> {
    match simulation.run(|| trial.run(&Effort::simulated(), seed)) {
        Ok(outcome) => {
            let (text, scene) = match (outcome.value, outcome.abandoned.as_slice()) {
                (Ok(()), []) => return None,
                (Ok(()), left) => {
                    (format!("{}\nthreads that never ended: {left:?}", trial.name()), Vec::new())
                }
                (Err(failure), _) => (failure.to_string(), failure.finding.scene().to_vec()),
            };
            Some(Found { text, scene, schedule: outcome.trace, log: outcome.log })
        }
        Err(failure) => {
            let text = format!("{} with seed {seed}\n{}", trial.name(), without_schedule(&failure));
            let report = failure.report();
            let (schedule, log) = (report.trace.clone(), report.log.clone());
            Some(Found { text, scene: Vec::new(), schedule, log })
        }
    }
}

/// The failure without its schedule, which has a place of its own and may be long.
fn without_schedule(failure: &Failure) -> String {
    let text = failure.to_string();
    text.split_once("\n  schedule:").map_or(text.clone(), |(before, _)| format!("{before})"))
}

/// How the calls of `scene` got in each other's way; without any, what happened last.
fn interleaving(log: &Log, scene: &[Recorded]) -> String {
    let mut excerpt = log.excerpt().rows(ROWS_SHOWN);
    for Recorded { by, operation } in scene {
        let (start, end) = (operation.start, operation.end);
        if let Some(thread) = thread_of(log, by, start, end) {
            excerpt = excerpt.call(thread, start, end, &operation.action.to_string());
        }
    }
    let what = match scene {
        [] => "What happened last, where threads meet",
        _ => "What happened meanwhile, where threads meet",
    };
    format!("{what}:\n{excerpt}")
}

/// The thread of this name that did something between the two times.
fn thread_of(log: &Log, name: &str, start: u64, end: Option<u64>) -> Option<ThreadId> {
    let meanwhile = start..=end.unwrap_or(u64::MAX);
    let mut events = log.events().iter().filter(|event| meanwhile.contains(&event.nanos));
    let is_it = |thread: ThreadId| log.thread(thread) == format!("{thread} '{name}'");
    events.find(|event| is_it(event.thread)).map(|event| event.thread)
}

/// Writes all of `log` to `file`, if there is one; what to say about it.
fn write(log: Option<Box<Log>>, file: Option<&OneFile>) -> String {
    let (Some(log), Some(file)) = (log, file) else {
        return "\nWith --log FILE: every access of that run.\n".to_owned();
    };
    match file.write(&log.to_string()) {
        Ok(path) => format!("\nEvery access of that run: {}\n", path.display()),
        Err(failure) => format!("\n{failure}\n"),
    }
}

#[cfg(test)]
mod tests;
