//! `cantina compare`: what changed from one record to another by more than the noise.
//!
//! The noise of a value is what lies between its smallest and its largest reading. Where the two ranges overlap nothing is said to have
//! changed. What was measured with cores farther apart or nearer, and what has not converged, is not compared.

mod told;

use super::{experiments, report};
use crate::args::{CompareArgs, Format};
use crate::failure::Failure;
use crate::screen;
use crate::view::{Axis, Better, Experiment, Measure};
use cantina_lab::experiment::regime::{self, Distance};
use cantina_record::{Record, Row, Value};

/// Two records, value by value.
#[derive(Debug)]
struct Comparison {
    lines: Vec<Line>,
}

/// A value that at least one of the records has.
#[derive(Debug)]
struct Line {
    key: Key,
    unit: &'static str,
    old: Option<Range>,
    new: Option<Range>,
    /// How many times better the new one is, if it can be said.
    times_better: Option<f64>,
    verdict: Verdict,
    /// Why it was not compared.
    reason: String,
}

/// What was measured. Records have the same value where they have the same key.
#[derive(Clone, Debug, PartialEq)]
struct Key {
    experiment: String,
    machine: String,
    pool: String,
    kind: &'static str,
    producers: u64,
    consumers: u64,
    /// `name value`, in the order of their names.
    parameters: Vec<String>,
    measure: &'static str,
}

/// A value between its smallest and its largest reading.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Range {
    value: f64,
    low: f64,
    high: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Better,
    Worse,
    Same,
    NotComparable,
    OnlyOld,
    OnlyNew,
}

impl Verdict {
    fn name(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::Same => "same",
            Self::NotComparable => "not comparable",
            Self::OnlyOld => "only in the old record",
            Self::OnlyNew => "only in the new record",
        }
    }
}

/// Reads both, tells what changed, and fails if something got worse.
pub(super) fn run(args: &CompareArgs) -> Result<(), Failure> {
    let (old, new) = (report::read(&args.old)?, report::read(&args.new)?);
    for fact in ["cpu", "cores", "build"] {
        let [before, now] =
            [&old, &new].map(|record| record.machine.get(fact).map(Value::to_string));
        if let (Some(before), Some(now)) = (before, now)
            && before != now
        {
            screen::warn(&format!("the records differ in {fact}: {before} and {now}"));
        }
    }
    let comparison = Comparison::of(&old, &new);
    if !comparison.lines.iter().any(|line| line.old.is_some() && line.new.is_some()) {
        return Err(Failure::BadInput(format!(
            "`{}` and `{}` have no cell in common; allowed: records of the same experiments",
            args.old.display(),
            args.new.display()
        )));
    }
    screen::show(&match args.format {
        Format::Table => comparison.table(),
        Format::Csv => comparison.csv(),
        Format::Json => comparison.json(),
    })?;
    match comparison.count(Verdict::Worse) {
        0 => Ok(()),
        worse => Err(Failure::Failed(format!("{worse} of {} got worse", comparison.lines.len()))),
    }
}

impl Comparison {
    /// All values of both: in the order of the old record, and then what only the new one has.
    fn of(old: &Record, new: &Record) -> Self {
        let (before, now) = (values(old), values(new));
        let mut lines = Vec::new();
        for (key, row, measure) in &before {
            let there = now.iter().find(|(other, ..)| other == key);
            lines.push(Line::of(key, measure, Some(row), there.map(|(_, row, _)| *row)));
        }
        for (key, row, measure) in &now {
            if !before.iter().any(|(other, ..)| other == key) {
                lines.push(Line::of(key, measure, None, Some(row)));
            }
        }
        Self { lines }
    }

    fn count(&self, verdict: Verdict) -> usize {
        self.lines.iter().filter(|line| line.verdict == verdict).count()
    }
}

/// Every value of a record of which the noise is known, each key once.
fn values(record: &Record) -> Vec<(Key, &Row, &'static Measure)> {
    let mut values: Vec<(Key, &Row, &Measure)> = Vec::new();
    for row in &record.rows {
        let known = experiments().iter().find(|each| each.name == row.experiment);
        let Some(experiment) = known else { continue };
        for measure in experiment.measures {
            let key = Key::of(experiment, measure, row);
            if range(measure, row).is_some() && values.iter().all(|(known, ..)| *known != key) {
                values.push((key, row, measure));
            }
        }
    }
    values
}

fn range(measure: &Measure, row: &Row) -> Option<Range> {
    let (low, high) = measure.spread?;
    let value = row.number(measure.value)?;
    let (low, high) = (row.number(low)?, row.number(high)?);
    Some(Range { value, low: low.min(value), high: high.max(value) })
}

impl Key {
    fn of(experiment: &Experiment, measure: &Measure, row: &Row) -> Self {
        let axis = match experiment.axis {
            Axis::Field { name, .. } => Some(name),
            Axis::Shape | Axis::Workers => None,
        };
        let names = experiment.split.iter().copied().chain(axis);
        let parameter = |name: &str| {
            let value = row.fields.get(name)?;
            Some(format!("{} {value}", name.replace('_', " ")))
        };
        let mut parameters: Vec<String> = names.filter_map(parameter).collect();
        parameters.sort();
        parameters.dedup();
        Self {
            experiment: row.experiment.clone(),
            machine: row.machine.clone(),
            pool: row.pool.clone(),
            kind: crate::view::kind_name(row.kind),
            producers: row.producers,
            consumers: row.consumers,
            parameters,
            measure: measure.value,
        }
    }
}

impl Line {
    fn of(key: &Key, measure: &Measure, old: Option<&Row>, new: Option<&Row>) -> Self {
        let reason = old.zip(new).and_then(|(old, new)| obstacle(old, new));
        let [before, now] = [old, new].map(|row| row.and_then(|row| range(measure, row)));
        let verdict = match (before, now) {
            (Some(_), None) => Verdict::OnlyOld,
            (None, _) => Verdict::OnlyNew,
            _ if reason.is_some() => Verdict::NotComparable,
            (Some(before), Some(now)) => judge(measure.better, before, now),
        };
        let times = before.zip(now).map(|(old, new)| measure.better.ratio(new.value, old.value));
        Self {
            key: key.clone(),
            unit: measure.unit,
            old: before,
            new: now,
            times_better: times.filter(|times| times.is_finite() && reason.is_none()),
            verdict,
            reason: reason.unwrap_or_default(),
        }
    }
}

/// What became of a value.
fn judge(better: Better, old: Range, new: Range) -> Verdict {
    let overlap = old.low <= new.high && new.low <= old.high;
    match (overlap, better.prefers(new.value, old.value)) {
        (true, _) => Verdict::Same,
        (false, true) => Verdict::Better,
        (false, false) => Verdict::Worse,
    }
}

/// Why two rows cannot be compared, if they cannot.
fn obstacle(old: &Row, new: &Row) -> Option<String> {
    let both = [old, new];
    if both.iter().any(|row| row.fields.get("converged") == Some(&Value::Flag(false))) {
        return Some("not converged".to_owned());
    }
    if both.iter().any(|row| regime::has_moved(row)) {
        return Some("the cores moved meanwhile".to_owned());
    }
    let is_real = |row: &&Row| row.machine == "real";
    if both.iter().filter(|row| is_real(row)).any(|row| row.number("repetitions") == Some(1.0)) {
        return Some("a single repetition: the noise is not known".to_owned());
    }
    let distance =
        |row: &Row| Distance { ping_pong: row.number(regime::PING_PONG), contended_add: None };
    let is_known =
        |row: &&Row| row.text(regime::FIELD).is_some() || row.number(regime::PING_PONG).is_some();
    let [before, now] = both.map(distance);
    let differ = both.iter().all(is_known) && now.has_moved(before);
    differ.then(|| format!("different regimes: cores {before}, and {now}"))
}

#[cfg(test)]
mod tests;
