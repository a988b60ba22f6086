//! A comparison as text, as CSV and as JSON.

use super::noise::Range;
use super::{Comparison, Line, Verdict};
use crate::view::{SIMULATED, short};
use serde_json::{Value, json};
use std::fmt::Write;

/// The columns of the CSV.
const COLUMNS: &str = "experiment,machine,pool,kind,producers,consumers,parameters,measure,old,old_min,\
    old_max,new,new_min,new_max,times_better,verdict,reason";

/// What is worth reading, in this order.
const TOLD: [Verdict; 5] =
    [Verdict::Worse, Verdict::Better, Verdict::NotComparable, Verdict::OnlyOld, Verdict::OnlyNew];

impl Comparison {
    /// What changed, what could not be compared, and how many values are the same.
    pub(super) fn table(&self) -> String {
        let mut text = String::new();
        let width = self.lines.iter().map(|line| line.place().chars().count()).max().unwrap_or(0);
        for verdict in TOLD {
            let lines: Vec<&Line> = self.lines.iter().filter(|it| it.verdict == verdict).collect();
            if lines.is_empty() {
                continue;
            }
            let _ = writeln!(text, "{}: {}", verdict.name(), lines.len());
            for line in lines {
                let place = line.place();
                let row = format!("  {place:width$}  {}", line.outcome());
                let _ = writeln!(text, "{}", row.trim_end());
            }
        }
        let _ = writeln!(text, "same: {} within their noise", self.count(Verdict::Same));
        if !self.without_noise.is_empty() {
            let names = self.without_noise.join(", ");
            let _ = writeln!(text, "not compared, since only the median is known: {names}");
        }
        if self.lines.iter().any(|line| line.key.machine != "real") {
            text.push_str(&format!("{SIMULATED}\n"));
        }
        text
    }

    /// A line for each value, below the names of the columns.
    pub(super) fn csv(&self) -> String {
        let mut text = format!("{COLUMNS}\n");
        for line in &self.lines {
            let key = &line.key;
            let number = |number: Option<f64>| number.map_or(String::new(), |it| it.to_string());
            let three = |range: Option<Range>| {
                let parts = range.map(|range| [range.value, range.low, range.high]);
                [0, 1, 2].map(|at| number(parts.map(|parts| parts[at])))
            };
            let mut cells = vec![
                key.experiment.clone(),
                key.machine.clone(),
                key.pool.clone(),
                key.kind.to_owned(),
                key.producers.to_string(),
                key.consumers.to_string(),
                key.parameters.join("; "),
                key.measure.to_owned(),
            ];
            cells.extend(three(line.old).into_iter().chain(three(line.new)));
            cells.push(number(line.times_better));
            cells.extend([line.verdict.name().to_owned(), line.reason.clone()]);
            let cells: Vec<String> = cells.iter().map(|cell| quoted(cell)).collect();
            let _ = writeln!(text, "{}", cells.join(","));
        }
        text
    }

    /// An array with an object for each value.
    pub(super) fn json(&self) -> String {
        let range = |range: Option<Range>| {
            range.map(|it| json!({ "value": it.value, "min": it.low, "max": it.high }))
        };
        let object = |line: &Line| {
            let key = &line.key;
            json!({
                "experiment": key.experiment,
                "machine": key.machine,
                "pool": key.pool,
                "kind": key.kind,
                "producers": key.producers,
                "consumers": key.consumers,
                "parameters": key.parameters,
                "measure": key.measure,
                "old": range(line.old),
                "new": range(line.new),
                "times_better": line.times_better,
                "verdict": line.verdict.name(),
                "reason": Some(&line.reason).filter(|reason| !reason.is_empty()),
            })
        };
        format!("{:#}\n", Value::Array(self.lines.iter().map(object).collect()))
    }
}

impl Line {
    /// Which value it is.
    fn place(&self) -> String {
        let key = &self.key;
        let mut place =
            format!("{} {}P/{}C {}", key.experiment, key.producers, key.consumers, key.pool);
        let machine = (key.machine != "real").then(|| key.machine.clone());
        for part in machine.iter().chain(&key.parameters) {
            let _ = write!(place, ", {part}");
        }
        place.replace(char::is_control, "\u{fffd}")
    }

    /// What became of it.
    fn outcome(&self) -> String {
        let value = |range: Option<Range>| range.map_or_else(String::new, |it| short(it.value));
        match (self.verdict, self.times_better) {
            (Verdict::OnlyOld, _) => format!("{} {}", value(self.old), self.unit),
            (Verdict::OnlyNew, _) => format!("{} {}", value(self.new), self.unit),
            (Verdict::NotComparable, _) => self.reason.clone(),
            (_, times) => {
                let times =
                    times.map_or(String::new(), |it| format!(", {} times as good", short(it)));
                format!("{} -> {} {}{times}", value(self.old), value(self.new), self.unit)
            }
        }
    }
}

/// A cell of CSV.
fn quoted(cell: &str) -> String {
    match cell.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell.to_owned(),
    }
}
