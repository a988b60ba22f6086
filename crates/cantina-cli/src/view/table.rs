//! An experiment's results as text: a row per pool, a column per shape.
//!
//! Readable without colour. Where the terminal is too narrow the spreads go first, then the columns
//! are laid out in several blocks.

use super::beside;
use super::experiment::{Experiment, Measure};
use super::grid::{Cell, Chart, Panel, charts, constants};
use super::number::{field, short};
use super::paper::comparisons;
use cantina_record::{Kind, Row};
use console::measure_text_width;
use std::fmt::Write;

/// Between two columns.
const GAP: usize = 2;

/// All tables of an experiment, each with its heading. `width` is the terminal's, if there is one.
pub(crate) fn tables(experiment: &Experiment, rows: &[Row], width: Option<usize>) -> String {
    let mut text = String::new();
    for chart in charts(experiment, rows) {
        for panel in &chart.panels {
            heading(&mut text, experiment, &chart, panel);
            body(&mut text, chart.measure, panel, width.unwrap_or(usize::MAX));
            text.push('\n');
        }
    }
    for comparison in comparisons(experiment, rows) {
        let _ = writeln!(text, "{}", printable(&comparison.heading));
        for line in &comparison.lines {
            let _ = writeln!(text, "  {line}");
        }
        let _ = writeln!(text, "{}\n", comparison.why);
    }
    let constants = constants(experiment, rows);
    if !constants.is_empty() {
        let facts: Vec<String> = constants
            .iter()
            .map(|(name, value)| format!("{name} {}", printable(field(value))))
            .collect();
        let _ = writeln!(text, "In every cell: {}.\n", facts.join(", "));
    }
    if let Some(sentence) = beside::regimes(experiment, rows) {
        let _ = writeln!(text, "{sentence}\n");
    }
    text
}

/// What the marks mean of those that are not compared.
pub(super) const UNSETTLED: &str = "~ not converged: no value to compare with";
pub(super) const STRANGE: &str = "! not in the regime of most of its column, or measured while the cores moved: no value to compare with";

/// What simulated numbers are worth.
pub(crate) const SIMULATED: &str =
    "Simulated numbers claim rankings, ratios and shapes, never absolute times.";

/// What the numbers of a record are worth, if something has to be said.
pub(crate) fn caveat(rows: &[Row]) -> String {
    match rows.iter().any(|row| row.machine != "real") {
        true => format!("{SIMULATED}\n\n"),
        false => String::new(),
    }
}

/// A text from a record, with nothing in it that moves the cursor or changes colours.
fn printable(text: impl ToString) -> String {
    text.to_string().replace(char::is_control, "\u{fffd}")
}

fn heading(text: &mut String, experiment: &Experiment, chart: &Chart, panel: &Panel) {
    let Measure { title, unit, better, .. } = chart.measure;
    let _ = write!(text, "{}", experiment.title);
    if *title != experiment.title {
        let _ = write!(text, ": {title}");
    }
    let _ = write!(text, ", {unit}, {}", better.hint());
    if !panel.title.is_empty() {
        let _ = write!(text, " ({})", printable(&panel.title));
    }
    text.push('\n');
}

fn body(text: &mut String, measure: &Measure, panel: &Panel, width: usize) {
    let entries = Entries::new(measure, panel);
    let spreads = entries.names + entries.width(true, 0..panel.columns.len()) <= width;
    let mut from = 0;
    while from < panel.columns.len() {
        let mut to = from + 1;
        while to < panel.columns.len()
            && entries.names + entries.width(spreads, from..to + 1) <= width
        {
            to += 1;
        }
        entries.block(text, panel, spreads, from..to);
        from = to;
    }
    let mut legend = Vec::new();
    if panel.winners(measure).iter().any(Option::is_some) {
        legend.push("* the best of its column");
    }
    match (measure.spread.is_some(), spreads) {
        (true, true) => legend.push("± the larger distance to the smallest or largest reading"),
        (true, false) => legend.push("the spreads do not fit in here: see the record"),
        (false, _) => {}
    }
    if panel.is_unsettled() {
        legend.push(UNSETTLED);
    }
    if panel.has_strangers() {
        legend.push(STRANGE);
    }
    if !legend.is_empty() {
        let _ = writeln!(text, "{}", legend.join("; "));
    }
    if let Some(line) = panel.stealing() {
        let _ = writeln!(text, "- {}", printable(line));
    }
    for (reason, places) in panel.skipped() {
        let _ = writeln!(text, "- {}: {}", printable(places.join(", ")), printable(reason));
    }
    if panel.surplus > 0 {
        let _ = writeln!(text, "{} further rows for the same cells are not shown", panel.surplus);
    }
}

/// Every cell as text, measured.
struct Entries {
    /// The width of the pools' names.
    names: usize,
    /// By line, then by column: a value and its spread.
    cells: Vec<Vec<(String, String)>>,
    /// How the best of ours stands to the best peer, where there are both.
    ratios: Vec<(&'static str, Vec<String>)>,
    /// By column: the width of the values and of the spreads.
    widths: Vec<(usize, usize)>,
}

impl Entries {
    fn new(measure: &Measure, panel: &Panel) -> Self {
        let best = panel.winners(measure);
        let entry = |(cell, best): (&Cell, &Option<f64>)| match cell {
            Cell::Absent => (String::new(), String::new()),
            Cell::Skipped(_) => ("-".to_owned(), String::new()),
            Cell::Measured(reading) => {
                let mark = match reading {
                    _ if !reading.converged => "~",
                    _ if reading.strange => "!",
                    _ if Some(reading.value) == *best => "*",
                    _ => "",
                };
                let spread = reading.spread_text().unwrap_or_default();
                (format!("{mark}{}", reading.value_text()), spread)
            }
        };
        let cells: Vec<Vec<_>> = panel
            .lines
            .iter()
            .map(|line| line.cells.iter().zip(&best).map(entry).collect())
            .collect();
        let text = |ratio: Option<f64>| ratio.map_or(String::new(), short);
        let ratios = panel.ratios(measure).into_iter();
        let ratios: Vec<(_, Vec<String>)> =
            ratios.map(|(name, ratios)| (name, ratios.into_iter().map(text).collect())).collect();
        let named = panel.lines.iter().map(|line| 2 + measure_text_width(&printable(line.pool)));
        let names = named.chain(ratios.iter().map(|(name, _)| name.len())).max().unwrap_or(0);
        let widths = panel.columns.iter().enumerate().map(|(at, column)| {
            let values = cells.iter().map(|line| line[at].0.len());
            let values = values.chain(ratios.iter().map(|(_, ratios)| ratios[at].len())).max();
            let spreads = cells.iter().map(|line| measure_text_width(&line[at].1)).max();
            let value = values.unwrap_or(0).max(measure_text_width(&printable(&column.label)));
            (value, spreads.unwrap_or(0))
        });
        Self { names, widths: widths.collect(), cells, ratios }
    }

    /// The width of some columns, each with the gap before it.
    fn width(&self, spreads: bool, columns: std::ops::Range<usize>) -> usize {
        let of = |&(value, spread): &(usize, usize)| {
            GAP + value + if spreads && spread > 0 { 1 + spread } else { 0 }
        };
        self.widths[columns].iter().map(of).sum()
    }

    fn block(
        &self,
        text: &mut String,
        panel: &Panel,
        spreads: bool,
        columns: std::ops::Range<usize>,
    ) {
        let none = String::new();
        let line = |text: &mut String, name: &str, entries: &[(&String, &String)]| {
            let mut line = format!("{name}{:1$}", "", self.names - measure_text_width(name));
            for ((value, spread), &(wide, wider)) in
                entries.iter().zip(&self.widths[columns.clone()])
            {
                let pad = wide - measure_text_width(value) + GAP;
                let _ = write!(line, "{:pad$}{value}", "");
                if spreads && wider > 0 {
                    let _ = write!(line, " {spread}{:1$}", "", wider - measure_text_width(spread));
                }
            }
            text.push_str(line.trim_end());
            text.push('\n');
        };
        let labels: Vec<String> =
            panel.columns[columns.clone()].iter().map(|column| printable(&column.label)).collect();
        line(text, "", &labels.iter().map(|label| (label, &none)).collect::<Vec<_>>());
        let mut kind = None;
        for (at, pool) in panel.lines.iter().enumerate() {
            if kind.replace(pool.kind) != Some(pool.kind) {
                let _ = writeln!(text, "{}", kind_name(pool.kind));
            }
            let cells: Vec<_> =
                self.cells[at][columns.clone()].iter().map(|(v, s)| (v, s)).collect();
            line(text, &format!("  {}", printable(pool.pool)), &cells);
        }
        for (name, ratios) in &self.ratios {
            let ratios: Vec<_> =
                ratios[columns.clone()].iter().map(|ratio| (ratio, &none)).collect();
            line(text, name, &ratios);
        }
    }
}

/// What the pools of a kind are called together.
pub(crate) fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Ours => "ours",
        Kind::Contender => "contenders",
        Kind::Peer => "peers",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::samples::{HEIGHT, SPEED, height, speed, speeds};

    #[test]
    fn a_table_has_a_row_per_pool_and_a_column_per_shape() {
        let expected = "\
Speed, M tasks/s, higher is better
                          1P/1C       2P/2C       1P/3C
ours
  locked                   50.0 ±20%  *62.0 ±20%  *54.0 ±20%
contenders
  treiber                              9.30 ±20%
peers
  ring                     *210 ±20%      -
  channel                  25.0 ±20%   36.0 ±20%   33.3 ±20%
best of ours / best peer  0.238        1.72        1.62
* the best of its column; ± the larger distance to the smallest or largest reading
- ring 2P/2C: one producer and one consumer only

";
        assert_eq!(tables(&SPEED, &speeds(), None), expected);
        assert_eq!(tables(&SPEED, &speeds(), Some(60)), expected, "it just fits");
    }

    #[test]
    fn a_narrow_terminal_gets_no_spreads() {
        let expected = "\
Speed, M tasks/s, higher is better
                          1P/1C  2P/2C  1P/3C
ours
  locked                   50.0  *62.0  *54.0
contenders
  treiber                         9.30
peers
  ring                     *210      -
  channel                  25.0   36.0   33.3
best of ours / best peer  0.238   1.72   1.62
* the best of its column; the spreads do not fit in here: see the record
- ring 2P/2C: one producer and one consumer only

";
        assert_eq!(tables(&SPEED, &speeds(), Some(59)), expected);
    }

    #[test]
    fn a_very_narrow_terminal_gets_the_columns_in_blocks() {
        let table = tables(&SPEED, &speeds(), Some(40));
        let heads: Vec<&str> = table.lines().filter(|line| line.ends_with('C')).collect();
        let heads: Vec<&str> = heads.iter().map(|line| line.trim()).collect();
        assert_eq!(heads, ["1P/1C  2P/2C", "1P/3C"]);
        let tiny = tables(&SPEED, &speeds(), Some(1));
        assert_eq!(tiny.lines().filter(|line| line.ends_with('C')).count(), 3);
    }

    #[test]
    fn counts_have_no_decimals_and_the_smallest_is_marked() {
        let rows = [height("cafe", 4, 40), height("todo-tree", 4, 3)];
        let expected = "\
Tree height: Overtakers, tasks, lower is better
              4
ours
  todo-tree  *3
  cafe       40
* the best of its column

In every cell: height 4.

";
        assert_eq!(tables(&HEIGHT, &rows, None), expected);
    }

    #[test]
    fn what_has_not_converged_is_marked() {
        let rows = [
            speed(Kind::Ours, "a", (1, 1), 50.0).with("converged", false),
            speed(Kind::Ours, "b", (1, 1), 25.0).with("converged", true),
        ];
        let table = tables(&SPEED, &rows, None);
        assert!(table.contains("~50.0") && !table.contains('*'), "{table}");
        assert!(table.contains("~ not converged"), "{table}");
        assert!(!tables(&SPEED, &rows[1..], None).contains('~'));
    }

    #[test]
    fn what_was_measured_in_another_regime_is_marked() {
        let row = |pool, mops, regime: &str| {
            let row = speed(Kind::Ours, pool, (1, 1), mops).with("regime", regime);
            row.with("regime_moved", false)
        };
        let rows = [row("a", 50.0, "near"), row("b", 25.0, "far"), row("c", 12.0, "far")];
        let table = tables(&SPEED, &rows, None);
        assert!(table.contains("!50.0") && table.contains("*25.0"), "{table}");
        assert!(table.contains("; ! not in the regime of most of its column"), "{table}");
        assert!(!tables(&SPEED, &rows[1..], None).contains('!'));
        let moved = [rows[1].clone().with("regime_moved", true), rows[2].clone()];
        let table = tables(&SPEED, &moved, None);
        assert!(table.contains("!25.0") && !table.contains('*'), "{table}");
    }

    #[test]
    fn who_is_alone_is_not_the_best() {
        let expected = "\
Tree height: Overtakers, tasks, lower is better
         4
ours
  cafe  40

In every cell: height 4.

";
        assert_eq!(tables(&HEIGHT, &[height("cafe", 4, 40)], None), expected);
    }

    #[test]
    fn a_hostile_name_cannot_reach_the_terminal() {
        let rows = [speed(Kind::Ours, "a\x1b[2J\nb", (1, 1), 1.0).with("note", "\x07")];
        let table = tables(&SPEED, &rows, None);
        assert!(table.contains("a\u{fffd}[2J\u{fffd}b"), "{table}");
        assert!(table.contains("note \u{fffd}"), "{table}");
        assert!(!table.contains(['\x1b', '\x07']), "{table}");
    }

    #[test]
    fn an_experiment_without_rows_has_no_table() {
        assert_eq!(tables(&SPEED, &[], None), "");
        assert_eq!(tables(&HEIGHT, &speeds(), None), "");
    }
}
