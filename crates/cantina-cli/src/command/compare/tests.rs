//! Which values are the same, and which are not.

use super::{Comparison, Verdict};
use cantina_record::{Facts, Kind, Record, Row};
use std::slice::from_ref;

fn row(pool: &str, mops: [f64; 3]) -> Row {
    let [low, median, high] = mops;
    Row {
        experiment: "throughput".to_owned(),
        machine: "real".to_owned(),
        pool: pool.to_owned(),
        kind: Kind::Ours,
        producers: 1,
        consumers: 1,
        fields: Default::default(),
    }
    .with("mops_min", low)
    .with("mops_median", median)
    .with("mops_max", high)
}

fn record(rows: &[Row]) -> Record {
    Record { machine: Facts::new(), commit: "unknown".to_owned(), rows: rows.to_vec() }
}

fn verdicts(old: &[Row], new: &[Row]) -> Vec<Verdict> {
    let comparison = Comparison::of(&record(old), &record(new));
    comparison.lines.iter().map(|line| line.verdict).collect()
}

#[test]
fn only_what_leaves_the_noise_has_changed() {
    let old = [row("a", [9.0, 10.0, 12.0])];
    let became = |mops| verdicts(&old, &[row("a", mops)])[0];
    assert_eq!(became([9.0, 10.0, 12.0]), Verdict::Same);
    assert_eq!(became([11.9, 14.0, 15.0]), Verdict::Same, "they overlap");
    assert_eq!(became([12.1, 14.0, 15.0]), Verdict::Better);
    assert_eq!(became([7.0, 8.0, 8.9]), Verdict::Worse);
}

#[test]
fn rows_are_the_same_cell_where_all_that_sets_them_apart_is_the_same() {
    let one = row("a", [9.0, 10.0, 11.0]).with("allocator", "system").with("tasks", 5);
    let more_tasks = one.clone().with("tasks", 7);
    assert_eq!(verdicts(from_ref(&one), &[more_tasks]), [Verdict::Same]);
    let others = [
        one.clone().with("allocator", "mimalloc"),
        one.clone().with("payload_bytes", 64),
        Row { pool: "b".to_owned(), ..one.clone() },
        Row { kind: Kind::Peer, ..one.clone() },
        Row { machine: "sim:2x2".to_owned(), ..one.clone() },
        Row { consumers: 2, ..one.clone() },
        Row { experiment: "ratios".to_owned(), ..one.clone() },
    ];
    for other in others {
        let apart = verdicts(from_ref(&one), from_ref(&other));
        assert_eq!(apart, [Verdict::OnlyOld, Verdict::OnlyNew], "{other:?}");
    }
    let skipped = row("a", [1.0; 3]);
    let skipped = Row { fields: Default::default(), ..skipped }.with("skipped", "too slow");
    assert_eq!(verdicts(&[one], &[skipped]), [Verdict::OnlyOld]);
}

#[test]
fn other_cores_and_windows_that_are_too_short_are_not_compared() {
    let at = |nanos: f64, regime: &str| {
        row("a", [9.0, 10.0, 11.0]).with("ping_pong_ns", nanos).with("regime", regime)
    };
    let slower = |row: Row| {
        let row = row.with("mops_min", 1.0).with("mops_median", 1.0).with("mops_max", 1.0);
        row.with("regime_moved", false)
    };
    let became = |old: &Row, new: &Row| verdicts(from_ref(old), &[slower(new.clone())])[0];
    let (near, far) = (at(28.0, "near"), at(170.0, "far"));
    let alone = row("a", [9.0, 10.0, 11.0]).with("regime", "one-core");
    assert_eq!(became(&near, &at(30.0, "near")), Verdict::Worse);
    assert_eq!(became(&near, &far), Verdict::NotComparable);
    assert_eq!(became(&far, &at(55.0, "far")), Verdict::NotComparable, "both are far, and differ");
    assert_eq!(became(&near, &alone), Verdict::NotComparable);
    assert_eq!(became(&alone, &alone), Verdict::Worse);
    let moved = near.clone().with("regime_moved", true);
    assert_eq!(became(&moved, &near), Verdict::NotComparable);
    assert_eq!(
        became(&row("a", [9.0, 10.0, 11.0]), &near),
        Verdict::Worse,
        "nothing is known of it"
    );
    let once = near.clone().with("repetitions", 1);
    assert_eq!(became(&near, &once), Verdict::NotComparable, "its noise is not known");
    let short = near.clone().with("converged", false);
    assert_eq!(became(&near, &short), Verdict::NotComparable);
}

#[test]
fn every_way_of_telling_has_every_change() {
    let old = [row("a, \"b\"", [9.0, 10.0, 11.0]), row("same", [1.0; 3]), row("gone", [5.0; 3])];
    let new = [row("a, \"b\"", [4.0, 5.0, 6.0]), row("same", [1.0; 3]), row("come", [5.0; 3])];
    let comparison = Comparison::of(&record(&old), &record(&new));
    let table = comparison.table();
    for part in [
        "worse: 1\n  throughput 1P/1C a, \"b\"  10.0 -> 5.00 M tasks/s, 0.500 times as good\n",
        "only in the old record: 1\n  throughput 1P/1C gone",
        "only in the new record: 1\n  throughput 1P/1C come",
        "same: 1 within their noise\n",
    ] {
        assert!(table.contains(part), "{part}: {table}");
    }
    let csv = comparison.csv();
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines.len(), 1 + 4);
    let expected =
        "throughput,real,\"a, \"\"b\"\"\",ours,1,1,,mops_median,10,9,11,5,4,6,0.5,worse,";
    assert_eq!(lines[1], expected);
    let json: serde_json::Value = serde_json::from_str(&comparison.json()).unwrap();
    assert_eq!(json[0]["verdict"], "worse");
    assert_eq!(
        (&json[0]["old"]["value"], &json[2]["new"]),
        (&10.0.into(), &serde_json::Value::Null)
    );
}
