//! From rows to what a table or a plot shows: panels of lines (pools) and columns (shapes, ...).
//!
//! Ours come first, then contenders, then peers; within a kind whoever does best on the whole. The
//! order and the hues are those of all panels together, so that a pool keeps them.

use super::column::{Column, columns_of, sort_key};
use super::experiment::{Axis, Experiment, Measure, RESERVED};
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
    /// Where it comes from.
    pub(crate) row: &'a Row,
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
    let mut rows = rows.iter().filter(|row| row.experiment == experiment.name);
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
    for &row in rows {
        let key = split.key(row);
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, group)) => group.push(row),
            None => groups.push((key, vec![row])),
        }
    }
    // Simulated machines stand behind the real one; the sort keeps the order otherwise.
    groups.sort_by_key(|(_, group)| group[0].machine != "real");
    let mut panels: Vec<Panel> = groups
        .iter()
        .map(|(_, group)| panel(experiment.axis, measure, split.title(group[0]), group))
        .collect();
    // Who was not measured in this has no line, and a panel without lines is none.
    for panel in &mut panels {
        panel.lines.retain(|line| line.cells.iter().any(|cell| *cell != Cell::Absent));
    }
    panels.retain(|panel| !panel.lines.is_empty());
    put_in_order(&mut panels, measure);
    Chart { measure, axis: experiment.axis, panels }
}

fn panel<'a>(axis: Axis, measure: &Measure, title: String, rows: &[&'a Row]) -> Panel<'a> {
    let columns = columns_of(axis, rows);
    let mut lines: Vec<Line<'a>> = Vec::new();
    let mut surplus = 0;
    for &row in rows {
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
    Panel { title, machine: &rows[0].machine, columns, lines, surplus }
}

fn cell_of<'a>(measure: &Measure, row: &'a Row) -> Cell<'a> {
    let Some(value) = row.number(measure.value) else {
        return row.text("skipped").map_or(Cell::Absent, Cell::Skipped);
    };
    let spread = measure.spread.and_then(|(low, high)| {
        let (low, high) = (row.number(low)?, row.number(high)?);
        Some((low.min(value), high.max(value)))
    });
    let whole = matches!(row.fields.get(measure.value), Some(Value::Whole(_)));
    Cell::Measured(Reading { value, spread, whole, row })
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
    /// The best value of a column, of one kind or of all.
    pub(crate) fn best(&self, measure: &Measure, column: usize, kind: Option<Kind>) -> Option<f64> {
        let lines = self.lines.iter().filter(|line| kind.is_none_or(|kind| line.kind == kind));
        let values = lines.filter_map(|line| line.cells[column].reading()).map(|cell| cell.value);
        values.reduce(|best, value| if measure.better.prefers(value, best) { value } else { best })
    }

    /// The best value of each column in which there is a choice: what is to be marked.
    pub(crate) fn winners(&self, measure: &Measure) -> Vec<Option<f64>> {
        let contested = |column: usize| {
            self.lines.iter().filter(|line| line.cells[column].reading().is_some()).count() > 1
        };
        let winner = |column| self.best(measure, column, None).filter(|_| contested(column));
        (0..self.columns.len()).map(winner).collect()
    }

    /// How the best of ours stands to the best peer, column by column, where there are both. Above
    /// 1 ours is better.
    pub(crate) fn ours_to_peers(&self, measure: &Measure) -> Vec<Option<f64>> {
        let ratio = |column| {
            let ours = self.best(measure, column, Some(Kind::Ours))?;
            let peer = self.best(measure, column, Some(Kind::Peer))?;
            Some(measure.better.ratio(ours, peer)).filter(|ratio| ratio.is_finite())
        };
        (0..self.columns.len()).map(ratio).collect()
    }

    /// Why cells are empty: the reason, and the cells it holds for.
    pub(crate) fn skipped(&self) -> Vec<(&str, Vec<String>)> {
        let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
        for line in &self.lines {
            for (cell, column) in line.cells.iter().zip(&self.columns) {
                let Cell::Skipped(reason) = *cell else { continue };
                let place = format!("{} {}", line.pool, column.label);
                match reasons.iter_mut().find(|(known, _)| *known == reason) {
                    Some((_, places)) => places.push(place),
                    None => reasons.push((reason, vec![place])),
                }
            }
        }
        reasons
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::samples::{HEIGHT, SPEED, bare, height, speed, speeds};

    fn labels<'a>(panel: &'a Panel) -> Vec<&'a str> {
        panel.columns.iter().map(|column| column.label.as_str()).collect()
    }

    fn pools<'a>(panel: &Panel<'a>) -> Vec<&'a str> {
        panel.lines.iter().map(|line| line.pool).collect()
    }

    #[test]
    fn ours_come_first_then_contenders_then_peers_the_better_ones_before() {
        let rows = speeds();
        let charts = charts(&SPEED, &rows);
        let [chart] = &charts[..] else { panic!("{charts:?}") };
        let [panel] = &chart.panels[..] else { panic!("{charts:?}") };
        assert_eq!(pools(panel), ["locked", "treiber", "ring", "channel"]);
        assert_eq!(panel.lines.iter().map(|line| line.hue).collect::<Vec<_>>(), [0, 0, 0, 1]);
        assert_eq!(labels(panel), ["1P/1C", "2P/2C", "1P/3C"]);
        assert_eq!(panel.title, "");
    }

    #[test]
    fn every_value_of_a_split_field_gets_a_panel_and_a_pool_keeps_its_hue() {
        let fast = |pool, mops| speed(Kind::Ours, pool, (1, 1), mops);
        let rows = [
            fast("a", 10.0).with("allocator", "system"),
            fast("b", 20.0).with("allocator", "system"),
            fast("b", 30.0).with("allocator", "mimalloc"),
        ];
        let charts = charts(&SPEED, &rows);
        let [system, mimalloc] = &charts[0].panels[..] else { panic!("{charts:?}") };
        assert_eq!(
            (&*system.title, &*mimalloc.title),
            ("allocator: system", "allocator: mimalloc")
        );
        assert_eq!(pools(system), ["b", "a"]);
        assert_eq!(system.lines[0].hue, mimalloc.lines[0].hue);
    }

    #[test]
    fn a_row_without_a_field_that_is_always_the_same_belongs_to_the_others() {
        let with = speed(Kind::Ours, "a", (1, 1), 10.0).with("allocator", "system");
        let without = bare(&SPEED, Kind::Ours, "a", (2, 2)).with("skipped", "too slow");
        let rows = [with, without];
        let charts = charts(&SPEED, &rows);
        assert_eq!(charts[0].panels.len(), 1);
        assert_eq!(charts[0].panels[0].skipped(), [("too slow", vec!["a 2P/2C".to_owned()])]);
    }

    #[test]
    fn a_simulated_machine_has_a_panel_behind_the_real_one() {
        let real = speed(Kind::Ours, "a", (1, 1), 10.0);
        let simulated = Row { machine: "sim:opteron-8x4".into(), ..real.clone() };
        let rows = [simulated.clone(), real];
        let titles = |rows: &[Row]| -> Vec<String> {
            charts(&SPEED, rows)[0].panels.iter().map(|panel| panel.title.clone()).collect()
        };
        assert_eq!(titles(&rows), ["this machine", "simulated opteron-8x4"]);
        assert_eq!(titles(&[simulated]), ["simulated opteron-8x4"], "even where it is alone");
    }

    #[test]
    fn a_parameter_makes_columns_and_the_shape_panels() {
        let wide = Row { producers: 8, consumers: 8, ..height("cafe", 4, 1) };
        let rows = [height("cafe", 12, 3), height("cafe", 4, 40), height("cafe", 8, 9), wide];
        let charts = charts(&HEIGHT, &rows);
        assert_eq!(charts.len(), 1, "a measure that no row has is not shown");
        let [two, eight] = &charts[0].panels[..] else { panic!("{charts:?}") };
        assert_eq!((&*two.title, &*eight.title), ("2P/2C", "8P/8C"));
        assert_eq!(labels(two), ["4", "8", "12"]);
        assert_eq!(two.best(charts[0].measure, 2, None), Some(3.0));
    }

    #[test]
    fn who_was_not_measured_in_something_has_no_line_there() {
        let rows = [height("a", 2, 7).with("cas_per_get", 0.5), height("b", 2, 9)];
        let charts = charts(&HEIGHT, &rows);
        let [overtakers, cas] = &charts[..] else { panic!("{charts:?}") };
        assert_eq!(pools(&overtakers.panels[0]), ["a", "b"]);
        assert_eq!(pools(&cas.panels[0]), ["a"]);
    }

    #[test]
    fn a_second_row_for_a_cell_is_counted_and_not_shown() {
        let rows = [speed(Kind::Ours, "a", (1, 1), 10.0), speed(Kind::Ours, "a", (1, 1), 20.0)];
        let charts = charts(&SPEED, &rows);
        let panel = &charts[0].panels[0];
        assert_eq!(panel.surplus, 1);
        assert_eq!(panel.best(charts[0].measure, 0, None), Some(10.0));
    }

    #[test]
    fn ours_are_compared_with_the_best_peer_where_there_are_both() {
        let rows = speeds();
        let charts = charts(&SPEED, &rows);
        let ratios = charts[0].panels[0].ours_to_peers(charts[0].measure);
        assert_eq!(ratios, [Some(50.0 / 210.0), Some(62.0 / 36.0), Some(54.0 / 33.3)]);
    }

    #[test]
    fn only_a_contest_has_a_winner() {
        let rows = [speed(Kind::Ours, "a", (1, 1), 10.0), speed(Kind::Ours, "a", (2, 2), 10.0)];
        let more = [&rows[..], &[speed(Kind::Peer, "b", (2, 2), 5.0)]].concat();
        let charts = charts(&SPEED, &more);
        assert_eq!(charts[0].panels[0].winners(charts[0].measure), [None, Some(10.0)]);
    }

    #[test]
    fn where_less_is_better_half_is_twice_as_good() {
        let peer = Row { kind: Kind::Peer, ..height("peer", 4, 40) };
        let none = Row { kind: Kind::Peer, ..height("peer", 8, 0) };
        let rows = [height("cafe", 4, 20), peer, height("cafe", 8, 0), none];
        let charts = charts(&HEIGHT, &rows);
        let ratios = charts[0].panels[0].ours_to_peers(charts[0].measure);
        assert_eq!(ratios, [Some(2.0), None], "nothing against nothing is no ratio");
    }

    #[test]
    fn the_spread_holds_the_value() {
        let odd = bare(&SPEED, Kind::Ours, "a", (1, 1))
            .with("mops_median", 10.0)
            .with("mops_min", 11.0)
            .with("mops_max", 9.0);
        let rows = [odd];
        let charts = charts(&SPEED, &rows);
        let reading = charts[0].panels[0].lines[0].cells[0].reading().unwrap();
        assert_eq!(reading.spread, Some((10.0, 10.0)));
    }

    #[test]
    fn what_is_the_same_in_every_row_is_said_once() {
        let fast = |pool, tasks: u64| {
            let row = speed(Kind::Ours, pool, (1, 1), 10.0).with("tasks", tasks);
            row.with("payload_bytes", 8).with("discarded", 0).with("version", "1.0")
        };
        let rows = [fast("a", 7), fast("b", 7)];
        let names = |rows: &[Row]| -> Vec<String> {
            constants(&SPEED, rows).iter().map(|(name, _)| (*name).to_owned()).collect()
        };
        assert_eq!(names(&rows), ["payload_bytes", "tasks"], "and no measured value");
        assert_eq!(names(&[fast("a", 7), fast("b", 8)]), ["payload_bytes"]);
        assert!(names(&[]).is_empty());
    }
}
