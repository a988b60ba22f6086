//! `cantina compare`: what changed from one record to another by more than the [noise].
//!
//! What was measured on another processor or number of cores, with another fence, with cores farther apart or nearer, with threads bound
//! to cores and not, or by another build, what was simulated at other costs, what has not converged, what is of another length, and what was run once, is not
//! compared; nor are values of which only the median is known. All of that is said.

mod noise;
mod told;

use super::{experiments, report};
use crate::args::{CompareArgs, Format};
use crate::failure::Failure;
use crate::screen;
use crate::surroundings::COSTS;
use crate::view::{Axis, Experiment, Measure};
use cantina_record::{Record, Row, Value};
use noise::{Apart, Range, judge, obstacle};

/// How many reasons are named where nothing was compared.
const REASONS: usize = 4;

/// Two records, value by value.
#[derive(Debug)]
struct Comparison {
    lines: Vec<Line>,
    /// Of which measures both records have values, and no noise.
    without_noise: Vec<String>,
    /// What else is to be known of the two.
    warnings: Vec<String>,
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

/// Reads both, tells what changed, and fails if something got worse, or nothing could be compared.
pub(super) fn run(args: &CompareArgs) -> Result<(), Failure> {
    let (old, new) = (report::read(&args.old)?, report::read(&args.new)?);
    let comparison = Comparison::of(&old, &new);
    let refuse = |why: String| {
        let (old, new) = (args.old.display(), args.new.display());
        Err(Failure::BadInput(format!("`{old}` and `{new}` {why}")))
    };
    if !comparison.lines.iter().any(|line| line.old.is_some() && line.new.is_some()) {
        return refuse(
            "have no cell in common; allowed: records of the same experiments".to_owned(),
        );
    }
    comparison.warnings.iter().for_each(|line| screen::warn(line));
    screen::show(&match args.format {
        Format::Table => comparison.table(),
        Format::Csv => comparison.csv(),
        Format::Json => comparison.json(),
    })?;
    if let Some(reasons) = comparison.nothing_compared() {
        return refuse(format!(
            "differ in how they were measured, nothing could be compared: {reasons}; allowed: \
             records of the same command in the same regime"
        ));
    }
    match comparison.count(Verdict::Worse) {
        0 => Ok(()),
        worse => Err(Failure::Failed(format!("{worse} of {} got worse", comparison.lines.len()))),
    }
}

impl Comparison {
    /// All values of both: in the order of the old record, and then what only the new one has.
    fn of(old: &Record, new: &Record) -> Self {
        let (before, now) = (values(old), values(new));
        let apart = Apart::of(old, new);
        let mut lines = Vec::new();
        for (key, row, measure) in &before {
            let there = now.iter().find(|(other, ..)| other == key);
            lines.push(Line::of(&apart, key, measure, Some(row), there.map(|(_, row, _)| *row)));
        }
        for (key, row, measure) in &now {
            if !before.iter().any(|(other, ..)| other == key) {
                lines.push(Line::of(&apart, key, measure, None, Some(row)));
            }
        }
        let warnings = warnings(old, new, &before, &now, &lines);
        Self { lines, without_noise: without_noise(old, new), warnings }
    }

    /// Why no value was compared, if none was.
    fn nothing_compared(&self) -> Option<String> {
        let is_compared =
            |line: &Line| [Verdict::Better, Verdict::Worse, Verdict::Same].contains(&line.verdict);
        if self.lines.iter().any(is_compared) {
            return None;
        }
        let mut reasons: Vec<&str> = Vec::new();
        for line in self.lines.iter().filter(|line| line.verdict == Verdict::NotComparable) {
            if !reasons.contains(&line.reason.as_str()) {
                reasons.push(&line.reason);
            }
        }
        let more = reasons.len().saturating_sub(REASONS);
        let more = (more > 0).then(|| format!(", and {more} more"));
        reasons.truncate(REASONS);
        Some(reasons.join(", ") + &more.unwrap_or_default())
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
            if Range::of(measure, row).is_some() && values.iter().all(|(known, ..)| *known != key) {
                values.push((key, row, measure));
            }
        }
    }
    values
}

/// What both records have that is never compared.
fn without_noise(old: &Record, new: &Record) -> Vec<String> {
    let mut names = Vec::new();
    for experiment in experiments() {
        for measure in experiment.measures {
            let is_bare = |row: &Row| {
                row.experiment == experiment.name
                    && row.number(measure.value).is_some()
                    && Range::of(measure, row).is_none()
            };
            if [old, new].iter().all(|record| record.rows.iter().any(is_bare)) {
                names.push(format!("{} of {}", measure.title.to_lowercase(), experiment.name));
            }
        }
    }
    names
}

/// What a reader should know before he believes a comparison.
fn warnings(
    old: &Record,
    new: &Record,
    before: &[(Key, &Row, &'static Measure)],
    now: &[(Key, &Row, &'static Measure)],
    lines: &[Line],
) -> Vec<String> {
    let mut warnings = Vec::new();
    for fact in ["cpu", "cores", "fence", "build", "command"] {
        let [before, now] = [old, new].map(|record| record.machine.get(fact).map(Value::to_string));
        if let (Some(before), Some(now)) = (before, now)
            && before != now
        {
            warnings.push(format!("the records differ in {fact}: {before} and {now}"));
        }
    }
    let is_simulated = lines
        .iter()
        .any(|line| line.key.machine != "real" && line.old.is_some() && line.new.is_some());
    if is_simulated && [old, new].iter().any(|record| record.machine.get(COSTS).is_none()) {
        warnings.push(format!(
            "not both records say what things cost on the simulated machine ({COSTS})"
        ));
    }
    let common = || {
        before.iter().filter_map(|(key, old, _)| {
            now.iter().find(|(other, ..)| other == key).map(|(_, new, _)| (*old, *new))
        })
    };
    let lengths: Vec<_> = common().filter_map(|(old, new)| noise::lengths(old, new)).collect();
    if let [(before, now), ..] = lengths[..] {
        let (some, all) = (lengths.len(), common().count());
        warnings.push(format!(
            "{some} of {all} value(s) are of other lengths, such as {before} tasks, and {now}"
        ));
    }
    let seeds = common().filter(|(old, new)| noise::has_other_seeds(old, new)).count();
    if seeds > 0 {
        warnings.push(format!("{seeds} value(s) are of other numbers of seeds"));
    }
    let gone = lines.iter().filter(|line| line.verdict == Verdict::OnlyOld).count();
    if gone > 0 {
        warnings.push(format!("{gone} value(s) are in the old record only"));
    }
    warnings
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
    fn of(
        apart: &Apart,
        key: &Key,
        measure: &Measure,
        old: Option<&Row>,
        new: Option<&Row>,
    ) -> Self {
        let reason = old.zip(new).and_then(|(old, new)| obstacle(apart, old, new));
        let [before, now] = [old, new].map(|row| row.and_then(|row| Range::of(measure, row)));
        let both = old.zip(new).zip(before.zip(now));
        let verdict = match both {
            None if before.is_some() => Verdict::OnlyOld,
            None => Verdict::OnlyNew,
            Some(_) if reason.is_some() => Verdict::NotComparable,
            Some(((old, new), (before, now))) => judge(measure, [old, new], [before, now]),
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

#[cfg(test)]
mod tests;
