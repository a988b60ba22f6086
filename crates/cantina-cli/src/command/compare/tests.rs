//! Which values are the same, and which are not.

use super::{Comparison, Verdict};
use cantina_lab::experiment::Spread;
use cantina_record::{Facts, Kind, Record, Row};
use cantina_sim::random::Random;
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
    let machine = Facts::new().with("machine_costs", "0");
    Record { machine, commit: "unknown".to_owned(), rows: rows.to_vec() }
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
    assert_eq!(became([5.0, 6.5, 8.0]), Verdict::Worse);
    assert_eq!(became([7.0, 8.0, 8.9]), Verdict::Same, "no farther than the old range is wide");
    assert_eq!(became([12.1, 13.9, 16.2]), Verdict::Same, "no farther than the new range is wide");
}

#[test]
fn what_is_known_to_five_percent_changes_by_five_and_what_is_simulated_by_ten() {
    let simulated = |row: Row| Row { machine: "sim:2x2".to_owned(), ..row };
    let became = |old: Row, new: Row| verdicts(&[old], &[new])[0];
    let at = |mops: f64| row("a", [mops * 0.999, mops, mops * 1.001]);
    assert_eq!(became(at(100.0), at(104.9)), Verdict::Same);
    assert_eq!(became(at(100.0), at(105.1)), Verdict::Better);
    assert_eq!(became(at(100.0), at(94.9)), Verdict::Worse);
    let there = |mops| simulated(at(mops));
    assert_eq!(became(there(100.0), there(109.0)), Verdict::Same);
    assert_eq!(became(there(100.0), there(91.0)), Verdict::Same);
    assert_eq!(became(there(100.0), there(111.0)), Verdict::Better);
    assert_eq!(became(there(100.0), there(89.0)), Verdict::Worse);
}

/// Repetitions of something that takes its time with a noise of some percent, as a row.
fn repeated(random: &mut Random, mops: f64, percent: f64, repetitions: usize) -> Row {
    let one = |random: &mut Random| {
        // Twelve numbers between -1/2 and 1/2: nearly normal, with a deviation of 1.
        let sum: f64 =
            (0..12).map(|_| random.below(1 << 20) as f64 / f64::from(1 << 20) - 0.5).sum();
        mops * (1.0 + sum * percent / 100.0)
    };
    let spread = Spread::of((0..repetitions).map(|_| one(random))).unwrap();
    row("a", [spread.min, spread.median, spread.max]).with("repetitions", repetitions as u64)
}

#[test]
fn two_records_of_one_distribution_are_the_same_and_a_slowdown_is_found() {
    let mut random = Random::seeded(7);
    let random = &mut random;
    for (repetitions, percent) in [(5, 1.0), (5, 3.0), (5, 6.0), (3, 3.0), (3, 6.0)] {
        let mut changed = |mops: f64| {
            let pair = |_| {
                let mut repeated = |mops| repeated(random, mops, percent, repetitions);
                verdicts(&[repeated(100.0)], &[repeated(mops)])[0]
            };
            let found: Vec<Verdict> = (0..2_000).map(pair).collect();
            assert!(mops == 100.0 || !found.contains(&Verdict::Better));
            found.iter().filter(|verdict| **verdict != Verdict::Same).count()
        };
        // By ranges that do not meet alone it would be 16 of five repetitions, and 200 of three.
        let of_one = changed(100.0);
        assert!(of_one <= 8, "{of_one} of {repetitions} with {percent} %");
        let halved = changed(50.0);
        assert!(halved > 1_600, "{halved} of {repetitions} with {percent} %");
        assert!(percent > 1.0 || changed(90.0) > 1_980);
        assert!(percent > 3.0 || repetitions < 5 || changed(80.0) > 1_900);
    }
}

#[test]
fn one_repetition_or_seed_is_never_judged() {
    let slow = || row("a", [1.0; 3]);
    let fast = || row("a", [9.0; 3]);
    let line = |old: &Row, new: &Row| {
        let line = Comparison::of(&record(from_ref(old)), &record(from_ref(new))).lines.remove(0);
        (line.verdict, line.reason)
    };
    let cases = [
        ("real", "repetitions", 1, "a single repetition: the noise is not known"),
        ("real", "repetitions", 2, "only 2 repetitions: the noise is not known"),
        ("real", "repetitions", 3, ""),
        ("sim:2x2", "seeds", 1, "a single seed: the noise is not known"),
        ("sim:2x2", "seeds", 2, ""),
        // As `density` and `write-all` count.
        ("real", "runs", 1, "a single run: the noise is not known"),
        ("real", "runs", 2, "only 2 runs: the noise is not known"),
        ("real", "runs", 3, ""),
        ("sim:2x2", "runs", 1, "a single run: the noise is not known"),
        ("sim:2x2", "runs", 2, ""),
    ];
    for (machine, field, count, reason) in cases {
        let of = |row: Row, count: u64| {
            Row { machine: machine.to_owned(), ..row }.with(field, count).with("tasks", 5)
        };
        let verdict = if reason.is_empty() { Verdict::Worse } else { Verdict::NotComparable };
        assert_eq!(line(&of(fast(), 5), &of(slow(), count)), (verdict, reason.to_owned()));
        assert_eq!(line(&of(fast(), count), &of(slow(), 5)).0, verdict);
    }
}

#[test]
fn of_few_runs_a_range_says_as_little_as_of_few_repetitions() {
    let old = row("a", [9.0, 10.0, 11.0]).with("runs", 3);
    let became = |count: u64| {
        let new = row("a", [15.0, 15.5, 16.0]).with("runs", count);
        verdicts(&[old.clone().with("runs", count)], &[new])[0]
    };
    assert_eq!(became(3), Verdict::Same, "less than three times as far as it is wide");
    assert_eq!(became(5), Verdict::Better);
}

#[test]
fn single_trees_are_of_other_numbers_of_seeds_too() {
    let row = |runs: u64| {
        let row = Row { machine: "sim:2x2".to_owned(), ..row("a", [1.0; 3]) };
        record(&[row.with("runs", runs)])
    };
    let warnings = |old, new| Comparison::of(&row(old), &row(new)).warnings;
    assert_eq!(warnings(20, 30), ["1 value(s) are of other numbers of seeds"]);
    assert_eq!(warnings(20, 20), [""; 0]);
}

#[test]
fn other_lengths_are_not_compared_where_they_make_a_difference() {
    let at = |machine: &str, tasks: u64, mops: f64| {
        let row = Row { machine: machine.to_owned(), ..row("a", [mops; 3]) };
        row.with("tasks", tasks).with("seeds", 5).with("repetitions", 5)
    };
    let compare = |old: Row, new: Row| {
        let comparison = Comparison::of(&record(&[old]), &record(&[new]));
        (comparison.lines[0].verdict, comparison.warnings)
    };
    // Measured runs are of one length where they take as long.
    assert_eq!(compare(at("real", 1_000, 10.0), at("real", 500, 5.0)), (Verdict::Worse, vec![]));
    let (verdict, warnings) = compare(at("real", 1_000, 10.0), at("real", 100_000, 5.0));
    assert_eq!(verdict, Verdict::NotComparable);
    let expected = "1 of 1 value(s) are of other lengths, such as 1000 tasks, and 100000";
    assert_eq!(warnings, [expected]);
    let there = |tasks, mops| at("sim:2x2", tasks, mops);
    assert_eq!(compare(there(1_000, 10.0), there(2_000, 5.0)).0, Verdict::NotComparable);
    assert_eq!(compare(there(1_000, 10.0), there(1_000, 5.0)).0, Verdict::Worse);
    let converged = |tasks, mops| there(tasks, mops).with("converged", true);
    let (verdict, warnings) = compare(converged(1_000, 10.0), converged(2_000, 5.0));
    assert_eq!((verdict, warnings.len()), (Verdict::Worse, 1));
    let (verdict, warnings) = compare(there(1_000, 10.0), there(1_000, 5.0).with("seeds", 2));
    assert_eq!(verdict, Verdict::Worse);
    assert_eq!(warnings, ["1 value(s) are of other numbers of seeds"]);
}

#[test]
fn other_commands_are_warned_of_and_what_is_gone_is_counted() {
    let of = |command: &str, rows: &[Row]| Record {
        machine: Facts::new().with("cpu", "one").with("command", command),
        ..record(rows)
    };
    let old = of("bench throughput", &[row("a", [1.0; 3]), row("b", [1.0; 3])]);
    let new = of("bench throughput --quick", &[row("a", [1.0; 3])]);
    let comparison = Comparison::of(&old, &new);
    let expected = [
        "the records differ in command: bench throughput and bench throughput --quick",
        "1 value(s) are in the old record only",
    ];
    assert_eq!(comparison.warnings, expected);
    assert_eq!(Comparison::of(&old, &old).warnings, [""; 0]);
}

#[test]
fn other_costs_other_builds_and_other_binding_are_not_compared() {
    let there = |row: Row| Row { machine: "sim:calibrated".to_owned(), ..row }.with("seeds", 5);
    let of = |fact: &str, value: &str| Record {
        machine: Facts::new().with(fact, value),
        ..record(&[row("a", [1.0; 3]), there(row("a", [1.0; 3]))])
    };
    let verdicts = |old: &Record, new: &Record| {
        let lines = Comparison::of(old, new).lines;
        lines.into_iter().map(|line| (line.verdict, line.reason)).collect::<Vec<_>>()
    };
    let same = || (Verdict::Same, String::new());
    let no = |why: &str| (Verdict::NotComparable, why.to_owned());
    let costs = no("different costs of the simulated machine");
    let (one, other) = (of("machine_costs", "1"), of("machine_costs", "2"));
    assert_eq!(verdicts(&one, &one), [same(), same()]);
    assert_eq!(verdicts(&one, &other), [same(), costs]);
    let (debug, release) = (of("build", "debug"), of("build", "release"));
    assert_eq!(verdicts(&debug, &release), [no("different builds: debug, and release"), same()]);
    let silent = Comparison::of(&one, &release).warnings;
    let expected = "not both records say what things cost on the simulated machine (machine_costs)";
    assert_eq!(silent, [expected]);
    assert!(!Comparison::of(&one, &one).warnings.contains(&expected.to_owned()));
    let bound = |pinned: bool| record(&[row("a", [1.0; 3]).with("pinned", pinned)]);
    assert_eq!(verdicts(&bound(true), &bound(true)), [same()]);
    let apart = no("different threads: bound to cores, and not bound to cores");
    assert_eq!(verdicts(&bound(true), &bound(false)), [apart]);
}

#[test]
fn another_processor_number_of_cores_or_fence_is_not_compared() {
    let there = Row { machine: "sim:2x2".to_owned(), ..row("a", [1.0; 3]) };
    let rows = [row("a", [1.0; 3]), there];
    let of = |cpu: &str, cores: u64, fence: &str| {
        let machine = Facts::new().with("cpu", cpu).with("cores", cores).with("fence", fence);
        Record { machine: machine.with("machine_costs", "0"), ..record(&rows) }
    };
    let compare = |new: &Record| {
        let comparison = Comparison::of(&of("one", 2, "asymmetric"), new);
        let [real, simulated] = &comparison.lines[..] else { panic!("{comparison:?}") };
        assert_eq!(simulated.verdict, Verdict::Same, "what is simulated is so on any machine");
        (real.verdict, real.reason.clone())
    };
    let apart = |why: &str| (Verdict::NotComparable, why.to_owned());
    assert_eq!(compare(&of("one", 2, "asymmetric")), (Verdict::Same, String::new()));
    let other = apart("different processors: one, and other");
    assert_eq!(compare(&of("other", 2, "asymmetric")), other);
    assert_eq!(compare(&of("one", 4, "asymmetric")), apart("different numbers of cores: 2, and 4"));
    let weaker = apart("different fences: asymmetric, and symmetric");
    assert_eq!(compare(&of("one", 2, "symmetric")), weaker);
    let all = "different processors: one, and other; different numbers of cores: 2, and 4";
    assert_eq!(compare(&of("other", 4, "asymmetric")), apart(all));
    // An old record may not say it.
    assert_eq!(compare(&record(&rows)), (Verdict::Same, String::new()));
}

#[test]
fn a_table_with_simulated_values_says_what_they_are_worth() {
    let told = |machine: &str| {
        let row = Row { machine: machine.to_owned(), ..row("a", [1.0; 3]) };
        Comparison::of(&record(from_ref(&row)), &record(from_ref(&row))).table()
    };
    assert!(told("sim:2x2").ends_with(
        "noise\nSimulated numbers claim rankings, ratios and shapes, never absolute times.\n"
    ));
    assert!(!told("real").contains("imulated"));
}

#[test]
fn that_nothing_could_be_compared_is_no_success() {
    let at =
        |nanos: f64| row("a", [9.0, 10.0, 11.0]).with("ping_pong_ns", nanos).with("regime", "x");
    let apart = Comparison::of(&record(&[at(28.0)]), &record(&[at(170.0)]));
    let expected = "different regimes: cores 28.0 ns apart (near), and 170 ns apart (far)";
    assert_eq!(apart.nothing_compared().as_deref(), Some(expected));
    let same = Comparison::of(&record(&[at(28.0)]), &record(&[at(28.0)]));
    assert_eq!(same.nothing_compared(), None);
}

#[test]
fn what_has_no_noise_is_said_not_to_be_compared() {
    let row = row("a", [9.0, 10.0, 11.0]).with("cas_per_get", 1.5);
    let row = Row { experiment: "single-producer".to_owned(), ..row };
    let comparison = Comparison::of(&record(from_ref(&row)), &record(from_ref(&row)));
    assert_eq!(comparison.without_noise, ["read-modify-writes of single-producer"]);
    let expected = "same: 1 within their noise\nnot compared, since only the median is known: \
                    read-modify-writes of single-producer\n";
    assert_eq!(comparison.table(), expected);
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
