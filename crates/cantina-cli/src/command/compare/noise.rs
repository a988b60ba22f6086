//! What is noise, and what cannot be compared at all.
//!
//! Two readings of one thing differ, and two runs of one program differ by more than the readings of one run: something else was running,
//! or memory lay elsewhere. So a value has changed only where its ranges do not meet, it lies farther from the other one than either
//! range is wide, and it has changed by [`LEAST`] of what it was. Of five repetitions of one normal distribution one value in a thousand
//! changes; where only the ranges must not meet, it is one in 126. Simulated rows have no such noise, but they are called converged
//! within a tenth, and are no better known than that: [`LEAST_SIMULATED`].

use super::Verdict;
use crate::surroundings::COSTS;
use crate::view::Measure;
use cantina_lab::experiment::regime::{self, Distance};
use cantina_record::{Record, Row, Value};

/// The least part of a measured value that is a change.
const LEAST: f64 = 0.05;
/// The same of a simulated one.
const LEAST_SIMULATED: f64 = 0.10;
/// Repetitions and seeds of which a range says something; single trees and jobs call both of them runs.
const REPETITIONS: f64 = 3.0;
const SEEDS: f64 = 2.0;
const RUNS: &str = "runs";
/// Of fewer repetitions than these a range says little: a change is so many times as far.
const MANY: f64 = 5.0;
const FARTHER: f64 = 3.0;
/// The facts that make measured rows those of another machine or program, and what each tells of.
const MACHINE: [(&str, &str); 4] = [
    ("cpu", "processors"),
    ("cores", "numbers of cores"),
    ("fence", "fences"),
    ("build", "builds"),
];
/// Measured runs that take so many times as long as others are others.
const LONGER: f64 = 4.0;

/// A value between its smallest and its largest reading.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Range {
    pub(super) value: f64,
    pub(super) low: f64,
    pub(super) high: f64,
}

impl Range {
    /// What a row has of a measure, where its noise is known.
    pub(super) fn of(measure: &Measure, row: &Row) -> Option<Self> {
        let (low, high) = measure.spread?;
        let value = row.number(measure.value)?;
        let (low, high) = (row.number(low)?, row.number(high)?);
        Some(Self { value, low: low.min(value), high: high.max(value) })
    }

    fn width(self) -> f64 {
        self.high - self.low
    }
}

/// What became of a measure.
pub(super) fn judge(measure: &Measure, rows: [&Row; 2], [old, new]: [Range; 2]) -> Verdict {
    let better = measure.better;
    let overlap = old.low <= new.high && new.low <= old.high;
    let distance = (new.value - old.value).abs();
    let least = if is_simulated(rows[0]) { LEAST_SIMULATED } else { LEAST } * old.value.abs();
    let is_few = |row: &Row| {
        let count = repetitions(row).filter(|_| !is_simulated(row));
        count.is_some_and(|(count, _)| count < MANY)
    };
    let times = if rows.into_iter().any(is_few) { FARTHER } else { 1.0 };
    let width = times * old.width().max(new.width());
    let is_noise = overlap || distance <= width || distance < least;
    match (is_noise, better.prefers(new.value, old.value)) {
        (true, _) => Verdict::Same,
        (false, true) => Verdict::Better,
        (false, false) => Verdict::Worse,
    }
}

/// Why no two rows of two records can be compared, if that is so of their machines or programs.
#[derive(Debug, Default)]
pub(super) struct Apart {
    /// Of this machine.
    real: Option<String>,
    /// Of a simulated one.
    simulated: Option<String>,
}

impl Apart {
    pub(super) fn of(old: &Record, new: &Record) -> Self {
        let differ = |fact: &str| {
            let [before, now] = [old, new].map(|record| record.machine.get(fact));
            before.zip(now).filter(|(before, now)| before != now)
        };
        let named = |(fact, what): (&str, &str)| {
            differ(fact).map(|(old, new)| format!("different {what}: {old}, and {new}"))
        };
        let real: Vec<String> = MACHINE.into_iter().filter_map(named).collect();
        let real = (!real.is_empty()).then(|| real.join("; "));
        // One calibration of a machine is called like the next.
        let simulated =
            differ(COSTS).map(|_| "different costs of the simulated machine".to_owned());
        Self { real, simulated }
    }

    fn why(&self, row: &Row) -> Option<String> {
        if is_simulated(row) { self.simulated.clone() } else { self.real.clone() }
    }
}

/// Why two rows cannot be compared, if they cannot.
pub(super) fn obstacle(apart: &Apart, old: &Row, new: &Row) -> Option<String> {
    let both = [old, new];
    if let Some(why) = apart.why(old) {
        return Some(why);
    }
    if let [Some(Value::Flag(before)), Some(Value::Flag(now))] =
        both.map(|row| row.fields.get("pinned"))
        && before != now
    {
        let name = |pinned: bool| if pinned { "bound to cores" } else { "not bound to cores" };
        return Some(format!("different threads: {}, and {}", name(*before), name(*now)));
    }
    if both.iter().any(|row| row.fields.get("converged") == Some(&Value::Flag(false))) {
        return Some("not converged".to_owned());
    }
    if both.iter().any(|row| regime::has_moved(row)) {
        return Some("the cores moved meanwhile".to_owned());
    }
    let least = if is_simulated(old) { SEEDS } else { REPETITIONS };
    let mut counts = both.into_iter().filter_map(repetitions);
    if let Some((few, what)) = counts.find(|(count, _)| *count < least) {
        let few = match few {
            1.0 => format!("a single {what}"),
            few => format!("only {few} {what}s"),
        };
        return Some(format!("{few}: the noise is not known"));
    }
    // What has converged is the same with any number of tasks.
    let has_converged = |row: &&Row| row.fields.contains_key("converged");
    if let Some((before, now)) = lengths(old, new).filter(|_| !both.iter().all(has_converged)) {
        return Some(format!("different lengths: {before} tasks, and {now}"));
    }
    let distance =
        |row: &Row| Distance { ping_pong: row.number(regime::PING_PONG), contended_add: None };
    let is_known =
        |row: &&Row| row.text(regime::FIELD).is_some() || row.number(regime::PING_PONG).is_some();
    let [before, now] = both.map(distance);
    let differ = both.iter().all(is_known) && now.has_moved(before);
    differ.then(|| format!("different regimes: cores {before}, and {now}"))
}

fn is_simulated(row: &Row) -> bool {
    row.machine != "real"
}

/// How often a row was measured, or from how many seeds, and what one of them is called.
fn repetitions(row: &Row) -> Option<(f64, &'static str)> {
    let own = if is_simulated(row) { ("seeds", "seed") } else { ("repetitions", "repetition") };
    let count = |(field, one)| Some((row.number(field)?, one));
    count(own).or_else(|| count((RUNS, "run")))
}

/// The tasks of two rows, where one run was longer than the other. A measured one has as many as take a certain time, and another number
/// of them is no other length by itself.
pub(super) fn lengths(old: &Row, new: &Row) -> Option<(f64, f64)> {
    let [before, now] = [old, new].map(|row| row.number("tasks"));
    let (before, now) = (before?, now?);
    if before == now {
        return None;
    }
    let time = |row: &Row, tasks: f64| Some(tasks / row.number("mops_median")?);
    let is_other = match (time(old, before), time(new, now)) {
        (Some(then), Some(now)) if !is_simulated(old) => now.max(then) > now.min(then) * LONGER,
        _ => true,
    };
    is_other.then_some((before, now))
}

/// Whether two simulated rows are of other numbers of seeds.
pub(super) fn has_other_seeds(old: &Row, new: &Row) -> bool {
    let [before, now] = [old, new].map(|row| repetitions(row).filter(|_| is_simulated(row)));
    before.zip(now).is_some_and(|((before, _), (now, _))| before != now)
}
