//! The numbers of a paper beside those of a record.

use super::beside::Usual;
use super::experiment::{Experiment, Paper};
use super::grid::{Chart, Line, Panel, Reading, charts};
use super::number::short;
use cantina_record::Row;

/// What a paper says and what these rows say, for one panel of them.
#[derive(Debug, PartialEq)]
pub(super) struct Comparison {
    /// Whose numbers they are.
    pub(super) heading: String,
    /// A pool: what the paper says, and what came out here.
    pub(super) lines: Vec<String>,
    /// Why they may differ.
    pub(super) why: &'static str,
}

/// A comparison for each paper and each panel that has the paper's own pool and another in the paper's shape.
pub(super) fn comparisons(experiment: &Experiment, rows: &[Row]) -> Vec<Comparison> {
    let charts = charts(experiment, rows);
    let Some(chart) = charts.first() else { return Vec::new() };
    let panels = |paper| chart.panels.iter().filter_map(move |panel| compare(paper, chart, panel));
    experiment.papers.iter().flat_map(panels).collect()
}

fn compare(paper: &Paper, chart: &Chart<'_>, panel: &Panel<'_>) -> Option<Comparison> {
    let (producers, consumers) = paper.shape;
    // Of a pool the best column counts, and not all columns need be of one regime.
    let all = panel.lines.iter().flat_map(|line| readings(paper, line)).map(|cell| cell.row);
    let usual = Usual::of(all);
    let value = |pool: &str| {
        let line = panel.lines.iter().find(|line| line.pool == pool)?;
        let there = readings(paper, line).into_iter().filter(|cell| usual.admits(cell.row));
        let better = chart.measure.better;
        let best = |best, value| if better.prefers(value, best) { value } else { best };
        there.map(|cell| cell.value).reduce(best)
    };
    let own = value(paper.pool)?;
    let line = |(other, there): &(&str, &str)| {
        let here = chart.measure.better.ratio(own, value(other)?);
        here.is_finite().then(|| format!("{other}: {there} there, {} here", short(here)))
    };
    let lines: Vec<String> = paper.times.iter().filter_map(line).collect();
    let place = if panel.title.is_empty() { "this machine" } else { &panel.title };
    let heading = format!(
        "Beside {}: how many times better {} is at {producers}P/{consumers}C ({place}) than",
        paper.source, paper.pool
    );
    (!lines.is_empty()).then_some(Comparison { heading, lines, why: paper.why })
}

/// What may be compared of a pool, in the paper's shape.
fn readings<'a>(paper: &Paper, line: &Line<'a>) -> Vec<Reading<'a>> {
    let cells = line.cells.iter().filter_map(|cell| cell.reading());
    let there = |cell: &Reading<'_>| (cell.row.producers, cell.row.consumers) == paper.shape;
    cells.filter(|cell| cell.is_comparable() && there(cell)).collect()
}

#[cfg(test)]
mod tests {
    use super::comparisons;
    use crate::view::experiment::{Experiment, Paper};
    use crate::view::samples::{HEIGHT, SPEED, bare, height, speed, speeds};
    use cantina_record::Kind::{Contender, Ours};
    use cantina_record::Row;

    const PAPER: Paper = Paper {
        source: "the paper",
        shape: (2, 2),
        pool: "locked",
        times: &[("treiber", "20"), ("absent", "3")],
        why: "It was another machine.",
    };
    const TOLD: Experiment = Experiment { papers: &[PAPER], ..SPEED };

    #[test]
    fn what_a_paper_says_stands_beside_what_came_out() {
        let all = comparisons(&TOLD, &speeds());
        let [one] = &all[..] else { panic!("{all:?}") };
        assert_eq!(one.lines, ["treiber: 20 there, 6.67 here"]);
        assert!(one.heading.ends_with("better locked is at 2P/2C (this machine) than"), "{one:?}");
        assert_eq!(one.why, "It was another machine.");
        assert!(
            crate::view::tables(&TOLD, &speeds(), None)
                .contains("than\n  treiber: 20 there, 6.67 here\nIt was another machine.\n")
        );
    }

    #[test]
    fn without_both_pools_in_the_shape_there_is_nothing_to_compare() {
        assert_eq!(comparisons(&SPEED, &speeds()), []);
        let elsewhere = [
            speed(Ours, "locked", (1, 1), 1.0),
            speed(Contender, "treiber", (1, 1), 2.0),
            speed(Ours, "locked", (2, 2), 1.0),
        ];
        assert_eq!(comparisons(&TOLD, &elsewhere), []);
    }

    #[test]
    fn where_there_is_a_parameter_the_best_value_of_it_counts() {
        const TALL: Paper = Paper { shape: (2, 2), pool: "a", times: &[("b", "30")], ..PAPER };
        const TOLD: Experiment = Experiment { papers: &[TALL], ..HEIGHT };
        let without = bare(&HEIGHT, Contender, "b", (2, 2)).with("max_overtakers", 12);
        let rows = [height("a", 0, 9), height("a", 4, 3), height("a", 8, 6), without.clone()];
        let all = comparisons(&TOLD, &rows);
        assert_eq!(all[0].lines, ["b: 30 there, 4.00 here"]);
        let elsewhere = [height("a", 0, 9), Row { producers: 1, ..without }];
        assert_eq!(comparisons(&TOLD, &elsewhere), []);
    }

    #[test]
    fn rows_of_two_regimes_are_no_ratio() {
        let row = |kind, pool, mops, regime: &str| {
            speed(kind, pool, (2, 2), mops).with("regime", regime).with("regime_moved", false)
        };
        let (near, far) =
            (row(Ours, "locked", 62.0, "near"), row(Contender, "treiber", 9.3, "far"));
        let third = row(Ours, "third", 1.0, "near");
        assert_eq!(comparisons(&TOLD, &[near.clone(), far.clone()]), []);
        assert_eq!(comparisons(&TOLD, &[near.clone(), far, third.clone()]), []);
        let treiber = row(Contender, "treiber", 9.3, "near");
        let moved = treiber.clone().with("regime_moved", true);
        assert_eq!(comparisons(&TOLD, &[near.clone(), moved, third]), []);
        let lines = &comparisons(&TOLD, &[near, treiber])[0].lines;
        assert_eq!(*lines, ["treiber: 20 there, 6.67 here"]);
    }

    #[test]
    fn the_best_values_of_two_regimes_are_no_ratio() {
        const TALL: Paper = Paper { shape: (2, 2), pool: "a", times: &[("b", "30")], ..PAPER };
        const TOLD: Experiment = Experiment { papers: &[TALL], ..HEIGHT };
        let row = |pool, at, overtakers, regime: &str| {
            height(pool, at, overtakers).with("regime", regime).with("regime_moved", false)
        };
        // Each column is of one regime: the far one is not that of most.
        let rows = [
            row("a", 4, 6, "near"),
            row("b", 4, 12, "near"),
            row("c", 4, 12, "near"),
            row("a", 8, 2, "far"),
            row("b", 8, 10, "far"),
        ];
        assert_eq!(comparisons(&TOLD, &rows)[0].lines, ["b: 30 there, 2.00 here"]);
    }

    #[test]
    fn a_pool_that_stands_still_is_no_ratio() {
        let rows = [speed(Ours, "locked", (2, 2), 1.0), speed(Contender, "treiber", (2, 2), 0.0)];
        assert_eq!(comparisons(&TOLD, &rows), []);
    }
}
