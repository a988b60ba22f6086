//! What stands in which cell, and what is compared.

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
    assert_eq!((&*system.title, &*mimalloc.title), ("allocator: system", "allocator: mimalloc"));
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
fn who_takes_no_part_is_named_in_every_panel_that_he_could_be_in() {
    const WORK: Experiment = Experiment { split: &["work", "allocator"], ..SPEED };
    let with = |work: u64, allocator: &str| {
        let row = speed(Kind::Ours, "a", (1, 1), 10.0).with("work", work);
        row.with("allocator", allocator)
    };
    let out = bare(&SPEED, Kind::Peer, "b", (1, 1)).with("skipped", "allocates nothing");
    let rows = [
        with(0, "system"),
        with(5, "system"),
        with(0, "mimalloc"),
        with(5, "mimalloc"),
        out.clone().with("allocator", "mimalloc"),
        Row { pool: "c".into(), ..out.clone() },
    ];
    let charts = charts(&WORK, &rows);
    let told = |panel: &Panel| {
        let pools: Vec<String> = panel.skipped().into_iter().flat_map(|(_, pools)| pools).collect();
        (panel.title.clone(), pools.join(" "))
    };
    let told: Vec<(String, String)> = charts[0].panels.iter().map(told).collect();
    let expected = [
        ("work: 0, allocator: system", "c"),
        ("work: 5, allocator: system", "c"),
        ("work: 0, allocator: mimalloc", "b c"),
        ("work: 5, allocator: mimalloc", "b c"),
    ];
    let expected = expected.map(|(title, pools)| (title.to_owned(), pools.to_owned()));
    assert_eq!(told, expected);
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
    assert_eq!(two.best(charts[0].measure, 2, |_| true), Some(3.0));
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
    assert_eq!(panel.best(charts[0].measure, 0, |_| true), Some(10.0));
}

#[test]
fn ours_are_compared_with_the_best_peer_where_there_are_both() {
    let rows = speeds();
    let charts = charts(&SPEED, &rows);
    let ratios = charts[0].panels[0].ours_to_peers(charts[0].measure, By::One);
    assert_eq!(ratios, [Some(50.0 / 210.0), Some(62.0 / 36.0), Some(54.0 / 33.3)]);
    assert_eq!(charts[0].panels[0].ratios(charts[0].measure).len(), 1, "nobody has batches");
}

#[test]
fn batches_are_compared_with_batches() {
    use Kind::{Ours, Peer};
    let rows = [
        speed(Ours, "a", (1, 1), 10.0),
        speed(Ours, "a-batch", (1, 1), 90.0),
        speed(Peer, "b", (1, 1), 20.0),
        speed(Peer, "b-batch", (1, 1), 30.0),
    ];
    let charts = charts(&SPEED, &rows);
    let ratios = charts[0].panels[0].ratios(charts[0].measure);
    let expected = [("best of ours / best peer", 0.5), ("the same of batches", 3.0)];
    assert_eq!(ratios, expected.map(|(name, ratio)| (name, vec![Some(ratio)])));
    let charts = self::charts(&SPEED, &rows[..3]);
    let ratios = charts[0].panels[0].ratios(charts[0].measure);
    assert_eq!(ratios, [("best of ours / best peer", vec![Some(0.5)])]);
}

#[test]
fn what_has_not_converged_neither_wins_nor_is_compared() {
    let odd = speed(Kind::Ours, "a", (1, 1), 90.0).with("converged", false);
    let rows = [
        odd,
        speed(Kind::Ours, "b", (1, 1), 10.0).with("converged", true),
        speed(Kind::Peer, "c", (1, 1), 20.0),
    ];
    let charts = charts(&SPEED, &rows);
    let (panel, measure) = (&charts[0].panels[0], charts[0].measure);
    assert!(panel.is_unsettled());
    assert_eq!(panel.winners(measure), [Some(20.0)]);
    assert_eq!(panel.ours_to_peers(measure, By::One), [Some(0.5)]);
}

/// Of these, in one column: who is strange, the winner, and ours to peers.
fn judged(rows: &[Row]) -> (Vec<&str>, Option<f64>, Option<f64>) {
    let charts = charts(&SPEED, rows);
    let (panel, measure) = (&charts[0].panels[0], charts[0].measure);
    let is_strange = |line: &&Line<'_>| line.cells[0].reading().unwrap().strange;
    let mut strange: Vec<&str> =
        panel.lines.iter().filter(is_strange).map(|line| line.pool).collect();
    strange.sort_unstable();
    assert_eq!(panel.has_strangers(), !strange.is_empty());
    (strange, panel.winners(measure)[0], panel.ours_to_peers(measure, By::One)[0])
}

#[test]
fn what_was_measured_in_another_regime_neither_wins_nor_is_compared() {
    let row = |kind, pool, mops, regime: &str| {
        speed(kind, pool, (1, 1), mops).with("regime", regime).with("regime_moved", false)
    };
    let (ours, peer) = (Kind::Ours, Kind::Peer);
    let mut rows = vec![
        row(ours, "a", 90.0, "near"),
        row(ours, "b", 10.0, "far"),
        row(peer, "c", 20.0, "far"),
        row(peer, "d", 70.0, "near").with("regime_moved", true),
    ];
    assert_eq!(judged(&rows), (vec!["a", "d"], Some(20.0), Some(0.5)));
    // Moved in the usual regime.
    rows[1] = rows[1].clone().with("regime_moved", true);
    rows.push(row(peer, "e", 5.0, "far"));
    assert_eq!(judged(&rows), (vec!["a", "b", "d"], Some(20.0), None));
    // One near row over a far one is no ratio, whichever of them is there first.
    for (one, other) in [("near", "far"), ("far", "near")] {
        let even = [row(ours, "a", 90.0, one), row(peer, "c", 20.0, other)];
        assert_eq!(judged(&even), (vec!["a", "c"], None, None), "as many of each");
    }
    // Nothing is known of an old row.
    let bare = [speed(ours, "a", (1, 1), 90.0), speed(peer, "c", (1, 1), 20.0)];
    assert_eq!(judged(&bare), (vec![], Some(90.0), Some(4.5)));
}

#[test]
fn each_column_has_a_regime_of_its_own() {
    let row = |kind, pool, shape, mops, regime: &str| {
        speed(kind, pool, shape, mops).with("regime", regime).with("regime_moved", false)
    };
    let rows = [
        row(Kind::Ours, "a", (1, 1), 90.0, "near"),
        row(Kind::Peer, "b", (1, 1), 30.0, "near"),
        row(Kind::Ours, "a", (2, 2), 10.0, "far"),
        row(Kind::Peer, "b", (2, 2), 20.0, "far"),
    ];
    let charts = charts(&SPEED, &rows);
    let (panel, measure) = (&charts[0].panels[0], charts[0].measure);
    assert!(!panel.has_strangers());
    assert_eq!(panel.ours_to_peers(measure, By::One), [Some(3.0), Some(0.5)]);
}

#[test]
fn who_drops_out_of_a_table_is_named_with_the_reason() {
    let out = |pool: &str, reason: &str| {
        let row = bare(&SPEED, Kind::Peer, pool, (1, 1)).with("skipped", reason);
        row.with("allocator", "mimalloc")
    };
    let rows = [
        speed(Kind::Ours, "a", (2, 2), 10.0).with("allocator", "mimalloc").with("tasks", 7),
        out("ring", "allocates nothing"),
        out("other", "left out"),
        out("stack", "allocates nothing"),
    ];
    let charts = charts(&SPEED, &rows);
    let [panel] = &charts[0].panels[..] else { panic!("{charts:?}") };
    assert_eq!((pools(panel), labels(panel)), (vec!["a"], vec!["2P/2C"]));
    let expected = [("allocates nothing", vec!["ring", "stack"]), ("left out", vec!["other"])];
    let expected =
        expected.map(|(reason, pools)| (reason, pools.iter().map(ToString::to_string).collect()));
    assert_eq!(panel.skipped(), expected);
    assert!(constants(&SPEED, &rows).iter().any(|(name, _)| *name == "tasks"));
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
    let ratios = charts[0].panels[0].ours_to_peers(charts[0].measure, By::One);
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
