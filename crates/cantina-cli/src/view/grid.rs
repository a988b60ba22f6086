//! From rows to what a table or a plot shows: panels of lines (pools) and columns (shapes, ...).
//!
//! Ours come first, then contenders, then peers; within a kind whoever does best on the whole. The
//! order and the hues are those of all panels together, so that a pool keeps them.

use super::beside::Usual;
use super::column::{Column, columns_of, sort_key};
use super::experiment::{Axis, CONVERGED, Experiment, Measure, RESERVED, SKIPPED, STEALS_BATCHES};
use super::split::Split;
use cantina_record::{Kind, Row, Value};
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// One measure of an experiment.
#[derive(Debug)]
pub(crate) struct Chart<'a> {
    /// What is shown.
    pub(crate) measure: &'a Measure,
    /// What its columns are.
    pub(crate) axis: Axis,
    /// A table and a plot each.
    pub(crate) panels: Vec<Panel<'a>>,
}

/// The rows that differ in nothing but the pool and the column.
#[derive(Debug)]
pub(crate) struct Panel<'a> {
    /// What sets it apart from the other panels: `allocator: system`. Empty where it is alone.
    pub(crate) title: String,
    /// The machine of its rows.
    pub(crate) machine: &'a str,
    /// Left to right.
    pub(crate) columns: Vec<Column>,
    /// Top to bottom.
    pub(crate) lines: Vec<Line<'a>>,
    /// Rows for a cell that was filled already. They are not shown.
    pub(crate) surplus: usize,
    /// Pools that have no line, and why.
    dropped: Vec<(&'a str, &'a str)>,
}

/// What is compared with what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    /// One task at a time.
    One,
    /// Many at a time.
    Batch,
}

/// One pool in a panel.
#[derive(Debug)]
pub(crate) struct Line<'a> {
    /// The pool.
    pub(crate) pool: &'a str,
    /// Whose it is.
    pub(crate) kind: Kind,
    /// The peer's version, where the rows tell.
    pub(crate) version: Option<&'a str>,
    /// Its number among the pools of its kind.
    pub(crate) hue: usize,
    /// One for each column.
    pub(crate) cells: Vec<Cell<'a>>,
}

/// What is known of a pool in a column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Cell<'a> {
    /// Nothing.
    Absent,
    /// Why there is nothing.
    Skipped(&'a str),
    /// A value.
    Measured(Reading<'a>),
}

/// A measured value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Reading<'a> {
    /// The value, usually a median.
    pub(crate) value: f64,
    /// The smallest and the largest reading, with the value between them.
    pub(crate) spread: Option<(f64, f64)>,
    /// Whether it is a count.
    pub(crate) whole: bool,
    /// Whether it is a value: what was simulated for too short a time is none yet.
    pub(crate) converged: bool,
    /// Whether it is of another regime than most of its column, or the cores moved meanwhile.
    pub(crate) strange: bool,
    /// Where it comes from.
    pub(crate) row: &'a Row,
}

impl Reading<'_> {
    /// Whether it may be compared with others of its column.
    pub(crate) fn is_comparable(&self) -> bool {
        self.converged && !self.strange
    }
}

impl<'a> Cell<'a> {
    /// The reading, if there is one.
    pub(crate) fn reading(self) -> Option<Reading<'a>> {
        match self {
            Self::Measured(reading) => Some(reading),
            Self::Absent | Self::Skipped(_) => None,
        }
    }
}

/// The charts of an experiment, one for each measure that any of its rows has. Rows of other
/// experiments are passed over.
pub(crate) fn charts<'a>(experiment: &'a Experiment, rows: &'a [Row]) -> Vec<Chart<'a>> {
    let rows: Vec<&Row> = rows.iter().filter(|row| row.experiment == experiment.name).collect();
    let shown = experiment
        .measures
        .iter()
        .filter(|measure| rows.iter().any(|row| row.number(measure.value).is_some()));
    shown.map(|measure| chart(experiment, measure, &rows)).collect()
}

/// The parameters that are the same in every row of an experiment: neither measured values nor the
/// fields that have a meaning of their own.
pub(crate) fn constants<'a>(experiment: &Experiment, rows: &'a [Row]) -> Vec<(&'a str, &'a Value)> {
    let measured = |name: &str| {
        experiment.measures.iter().any(|measure| {
            let spread = measure.spread.is_some_and(|(low, high)| low == name || high == name);
            measure.value == name || spread
        })
    };
    let parameter = |name: &str| !measured(name) && !RESERVED.contains(&name);
    let is_measured = |row: &&Row| row.experiment == experiment.name && row.text(SKIPPED).is_none();
    let mut rows = rows.iter().filter(is_measured);
    let Some(first) = rows.next() else { return Vec::new() };
    let mut constants: Vec<_> = first.fields.iter().filter(|(name, _)| parameter(name)).collect();
    for row in rows {
        constants.retain(|(name, value)| row.fields.get(*name) == Some(value));
    }
    constants.into_iter().map(|(name, value)| (name.as_str(), value)).collect()
}

fn chart<'a>(experiment: &'a Experiment, measure: &'a Measure, rows: &[&'a Row]) -> Chart<'a> {
    let split = Split::new(experiment, rows);
    let mut groups: Vec<(Vec<String>, Vec<&Row>)> = Vec::new();
    // Why somebody has no values is said in each panel in which he could have some.
    let is_everywhere = |row: &&&Row| row.text(SKIPPED).is_some() && split.is_open(row);
    for &row in rows.iter().filter(|row| !is_everywhere(row)) {
        let key = split.key(row);
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, group)) => group.push(row),
            None => groups.push((key, vec![row])),
        }
    }
    for &row in rows.iter().filter(is_everywhere) {
        let panels = groups.iter_mut().filter(|(key, _)| split.admits(key, row));
        panels.for_each(|(_, group)| group.push(row));
    }
    // Simulated machines stand behind the real one; the sort keeps the order otherwise.
    groups.sort_by_key(|(_, group)| group[0].machine != "real");
    let mut panels: Vec<Panel> = groups
        .iter()
        .map(|(_, group)| panel(experiment.axis, measure, split.title(group[0]), group))
        .collect();
    // Who was not measured in this has no line, and a panel without lines is none.
    for panel in &mut panels {
        panel.lines.retain(|line| line.cells.iter().any(|cell| cell.reading().is_some()));
    }
    panels.retain(|panel| !panel.lines.is_empty());
    put_in_order(&mut panels, measure);
    Chart { measure, axis: experiment.axis, panels }
}

fn panel<'a>(axis: Axis, measure: &Measure, title: String, rows: &[&'a Row]) -> Panel<'a> {
    let machine = &rows[0].machine;
    let is_measured = |row: &Row| {
        let same = |other: &&Row| other.pool == row.pool && other.kind == row.kind;
        rows.iter().copied().filter(same).any(|other| other.text(SKIPPED).is_none())
    };
    let mut dropped: Vec<(&str, &str)> = Vec::new();
    for row in rows.iter().filter(|row| !is_measured(row)) {
        let reason = (row.pool.as_str(), row.text(SKIPPED).unwrap_or_default());
        if !dropped.contains(&reason) {
            dropped.push(reason);
        }
    }
    let rows: Vec<&Row> = rows.iter().copied().filter(|row| is_measured(row)).collect();
    let columns = columns_of(axis, &rows);
    let mut lines: Vec<Line<'a>> = Vec::new();
    let mut surplus = 0;
    for row in rows {
        let at = match lines.iter().position(|line| line.pool == row.pool && line.kind == row.kind)
        {
            Some(at) => at,
            None => {
                lines.push(Line {
                    pool: &row.pool,
                    kind: row.kind,
                    version: None,
                    hue: 0,
                    cells: vec![Cell::Absent; columns.len()],
                });
                lines.len() - 1
            }
        };
        let line = &mut lines[at];
        line.version = line.version.or(row.text("version"));
        let key = sort_key(axis, row);
        let column = columns.iter().position(|column| column.key == key);
        let cell = &mut line.cells[column.expect("columns_of has a column for every row")];
        if *cell == Cell::Absent {
            *cell = cell_of(measure, row);
        } else {
            surplus += 1;
        }
    }
    (0..columns.len()).for_each(|column| tell_strangers(&mut lines, column));
    Panel { title, machine, columns, lines, surplus, dropped }
}

/// Marks those of a column that are not of its usual regime.
fn tell_strangers(lines: &mut [Line<'_>], column: usize) {
    let readings = lines.iter().filter_map(|line| line.cells[column].reading());
    let usual = Usual::of(readings.map(|reading| reading.row));
    for line in lines {
        if let Cell::Measured(reading) = &mut line.cells[column] {
            reading.strange = !usual.admits(reading.row);
        }
    }
}

fn cell_of<'a>(measure: &Measure, row: &'a Row) -> Cell<'a> {
    let Some(value) = row.number(measure.value) else {
        return row.text(SKIPPED).map_or(Cell::Absent, Cell::Skipped);
    };
    let spread = measure.spread.and_then(|(low, high)| {
        let (low, high) = (row.number(low)?, row.number(high)?);
        Some((low.min(value), high.max(value)))
    });
    let whole = matches!(row.fields.get(measure.value), Some(Value::Whole(_)));
    let converged = row.fields.get(CONVERGED) != Some(&Value::Flag(false));
    Cell::Measured(Reading { value, spread, whole, converged, strange: false, row })
}

/// Sorts the lines of all panels alike and gives them their hues.
fn put_in_order(panels: &mut [Panel], measure: &Measure) {
    // For each pool, the sum and the number of its places in the columns, 0 the first and 1 the last.
    let mut places: BTreeMap<(Kind, String), (f64, u32)> = BTreeMap::new();
    for panel in panels.iter() {
        for column in 0..panel.columns.len() {
            let value = |line: &Line| line.cells[column].reading().map(|reading| reading.value);
            let all: Vec<f64> = panel.lines.iter().filter_map(value).collect();
            for line in &panel.lines {
                let place = places.entry((line.kind, line.pool.to_owned())).or_default();
                if let Some(own) = value(line) {
                    let ahead =
                        all.iter().filter(|&&other| measure.better.prefers(other, own)).count();
                    place.0 += ahead as f64 / all.len() as f64;
                    place.1 += 1;
                }
            }
        }
    }
    let mean = |&(sum, count): &(f64, u32)| if count == 0 { 1.0 } else { sum / f64::from(count) };
    let mut order: Vec<((Kind, String), f64)> =
        places.iter().map(|(pool, place)| (pool.clone(), mean(place))).collect();
    order.sort_by(|(a, x), (b, y)| {
        a.0.cmp(&b.0).then(x.partial_cmp(y).unwrap_or(Ordering::Equal)).then(a.1.cmp(&b.1))
    });
    let rank = |line: &Line| {
        order.iter().position(|((kind, pool), _)| *kind == line.kind && pool == line.pool)
    };
    let first_of = |kind| order.iter().position(|((other, _), _)| *other == kind);
    for panel in panels {
        panel.lines.sort_by_key(|line| rank(line));
        for line in &mut panel.lines {
            line.hue = rank(line).zip(first_of(line.kind)).map_or(0, |(at, first)| at - first);
        }
    }
}

impl Panel<'_> {
    /// The best value of a column, of those lines.
    fn best(
        &self,
        measure: &Measure,
        column: usize,
        among: impl Fn(&Line<'_>) -> bool,
    ) -> Option<f64> {
        let lines = self.lines.iter().filter(|line| among(line));
        let cells = lines.filter_map(|line| line.cells[column].reading());
        let values = cells.filter(|cell| cell.is_comparable()).map(|cell| cell.value);
        values.reduce(|best, value| if measure.better.prefers(value, best) { value } else { best })
    }

    /// The best value of each column in which there is a choice: what is to be marked.
    pub(crate) fn winners(&self, measure: &Measure) -> Vec<Option<f64>> {
        let contested = |column: usize| {
            let cells = self.lines.iter().filter_map(|line| line.cells[column].reading());
            cells.filter(|cell| cell.is_comparable()).count() > 1
        };
        let winner = |column| self.best(measure, column, |_| true).filter(|_| contested(column));
        (0..self.columns.len()).map(winner).collect()
    }

    /// How the best of ours stands to the best peer, column by column, where there are both: those that move one task at a
    /// time, or those that move many. Above 1 ours is better.
    pub(crate) fn ours_to_peers(&self, measure: &Measure, by: By) -> Vec<Option<f64>> {
        let best =
            |column, kind| self.best(measure, column, |line| line.kind == kind && line.by() == by);
        let ratio = |column| {
            let (ours, peer) = (best(column, Kind::Ours)?, best(column, Kind::Peer)?);
            Some(measure.better.ratio(ours, peer)).filter(|ratio| ratio.is_finite())
        };
        (0..self.columns.len()).map(ratio).collect()
    }

    /// The ratios there are, each with what it is called.
    pub(crate) fn ratios(&self, measure: &Measure) -> Vec<(&'static str, Vec<Option<f64>>)> {
        let both = [(By::One, "best of ours / best peer"), (By::Batch, "the same of batches")];
        let ratios = both.map(|(by, name)| (name, self.ours_to_peers(measure, by)));
        let is_there = |(_, ratios): &(_, Vec<Option<f64>>)| ratios.iter().any(Option::is_some);
        ratios.into_iter().filter(is_there).collect()
    }

    /// Whether something is shown that is no value yet.
    pub(crate) fn is_unsettled(&self) -> bool {
        self.has(|reading| !reading.converged)
    }

    /// Whether something is shown that is not of the usual regime of its column.
    pub(crate) fn has_strangers(&self) -> bool {
        self.has(|reading| reading.converged && reading.strange)
    }

    fn has(&self, is_so: impl Fn(&Reading<'_>) -> bool) -> bool {
        let mut cells = self.lines.iter().flat_map(|line| &line.cells);
        cells.any(|cell| cell.reading().is_some_and(|reading| is_so(&reading)))
    }

    /// What is to be said of those who are called for one task at a time and steal many, if there are some.
    pub(crate) fn stealing(&self) -> Option<String> {
        let steals = |cell: &Cell| {
            let row = cell.reading().map(|reading| reading.row);
            row.and_then(|row| row.fields.get(STEALS_BATCHES)) == Some(&Value::Flag(true))
        };
        let lines = self.lines.iter().filter(|line| line.cells.iter().any(steals));
        let names: Vec<&str> = lines.map(|line| line.pool).collect();
        let what = "called for one task at a time, and steal many: compare with batches, too";
        (!names.is_empty()).then(|| format!("{}: {what}", names.join(", ")))
    }

    /// Why cells are empty and pools have no line: the reason, and the places it holds for.
    pub(crate) fn skipped(&self) -> Vec<(&str, Vec<String>)> {
        let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
        let mut note = |reason, place| match reasons.iter_mut().find(|(known, _)| *known == reason)
        {
            Some((_, places)) => places.push(place),
            None => reasons.push((reason, vec![place])),
        };
        for line in &self.lines {
            let mut of_line: Vec<(&str, String)> = Vec::new();
            for (cell, column) in line.cells.iter().zip(&self.columns) {
                let Cell::Skipped(reason) = *cell else { continue };
                match of_line.iter_mut().find(|(known, _)| *known == reason) {
                    Some((_, place)) => *place += &format!(" {}", column.label),
                    None => of_line.push((reason, format!("{} {}", line.pool, column.label))),
                }
            }
            of_line.into_iter().for_each(|(reason, place)| note(reason, place));
        }
        self.dropped.iter().for_each(|&(pool, reason)| note(reason, pool.to_owned()));
        reasons
    }
}

impl Line<'_> {
    /// What it moves.
    fn by(&self) -> By {
        if self.pool.ends_with("-batch") { By::Batch } else { By::One }
    }
}

#[cfg(test)]
mod tests;
