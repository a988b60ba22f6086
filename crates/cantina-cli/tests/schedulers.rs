//! The experiments of schedulers, run as a user would.

mod program;

use cantina_record::{Record, Row};
use program::{Scratch, cantina};
use std::fs;

/// What a short run writes: the tables and the record.
fn run(name: &str, arguments: &[&str]) -> (String, Record) {
    let scratch = Scratch::new(name);
    let output = cantina().args(arguments).arg("--out").arg(scratch.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let json = fs::read_to_string(scratch.path().join("record.json")).unwrap();
    (String::from_utf8(output.stdout).unwrap(), Record::from_json(&json).unwrap())
}

/// Who has a number in `field` with so many workers.
fn have(record: &Record, field: &str, workers: u64) -> Vec<String> {
    let rows = record.rows.iter().filter(|row| row.consumers == workers);
    rows.filter(|row| row.number(field).is_some()).map(|row| row.pool.clone()).collect()
}

const SHORT: [&str; 6] = ["--repetitions", "1", "--tasks", "100", "--allocator", "system"];

#[test]
fn fib_is_measured_with_work_and_without_beside_others() {
    let pools = "scheduler,sequential,forte";
    let arguments = ["bench", "fib", "--quick", "--pools", pools];
    let (text, record) = run("fib", &[&arguments[..], &SHORT].concat());
    // Two amounts of work: with one worker all three, with two all but the one that has no workers.
    let skipped = record.rows.iter().filter(|row| row.text("skipped").is_some());
    let skipped: Vec<_> = skipped.map(|row| (row.pool.as_str(), row.consumers)).collect();
    assert_eq!(skipped, [("sequential", 2); 2], "one worker only");
    assert_eq!(record.rows.len() - skipped.len(), 2 * 3 + 2 * 2);
    assert_eq!(have(&record, "ns_median", 1).len(), 6);
    for field in ["speed_up", "waste_ratio", "utilisation_percent"] {
        assert_eq!(have(&record, field, 2).len(), 4, "{field}");
    }
    assert_eq!(have(&record, "steals", 2), ["scheduler"; 2]);
    let work: Vec<Option<f64>> = record.rows.iter().map(|row| row.number("work")).collect();
    assert_eq!(work[..2], [Some(0.0), Some(10_000.0)]);
    assert!(record.rows.iter().all(|row| row.number("payload_bytes").is_none()));
    for part in ["Time, ns per call", "Waste ratio", "(work: 10000)"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn the_database_tells_what_its_workers_did() {
    let (text, record) = run(
        "ddb",
        &[&["bench", "ddb", "--pools", "scheduler,scheduler-telling,xtra"][..], &SHORT].concat(),
    );
    let counted = have(&record, "busiest_worker_percent", 2);
    assert_eq!(counted, ["scheduler", "scheduler-telling"]);
    assert_eq!(have(&record, "steals_per_unit", 2), counted);
    assert!(have(&record, "mops_median", 2).contains(&"xtra".to_owned()), "{text}");
    assert!(text.contains("Throughput, M messages/s"), "{text}");
}

#[test]
fn a_unit_is_told_beside_a_channel() {
    let (_, record) =
        run("tell", &[&["bench", "tell", "--pools", "scheduler,std-mpsc"][..], &SHORT].concat());
    let of = |row: &Row| (row.pool.clone(), row.producers);
    let rows: Vec<(String, u64)> = record.rows.iter().map(of).collect();
    for pool in ["scheduler", "std-mpsc"] {
        assert!(rows.contains(&(pool.to_owned(), 1)) && rows.contains(&(pool.to_owned(), 2)));
    }
    assert!(record.rows.iter().all(|row| row.number("utilisation_percent").is_none()));
}

#[test]
fn simulated_schedulers_fill_the_machine_and_are_the_same_each_time() {
    let arguments =
        ["sim", "fib", "ddb", "tell", "--machine", "2x4", "--tasks", "200", "--seeds", "1"];
    let (text, record) = run("sim-schedulers", &arguments);
    let workers = |experiment: &str| {
        let rows = record.rows.iter().filter(|row| row.experiment == experiment);
        let rows = rows.filter(|row| row.pool == "scheduler" && row.number("work") != Some(0.0));
        rows.map(|row| row.consumers).collect::<Vec<_>>()
    };
    // With two amounts of work.
    assert_eq!(workers("ddb"), [1, 2, 4, 8, 1, 2, 4, 8]);
    assert_eq!(workers("fib"), workers("ddb"));
    for row in record.rows.iter().filter(|row| row.experiment == "ddb") {
        let told = ["hot_moves_per_1000", "moves_per_1000", "lost_percent"];
        assert!(told.iter().all(|field| row.number(field).is_some()), "{row:?}");
        let units = ["moved_units_percent", "most_moved_unit_percent"];
        assert!(units.iter().all(|field| row.number(field).is_some()), "{row:?}");
        let shares = ["idlest", "lower_quartile", "median", "upper_quartile", "busiest"]
            .map(|which| row.number(&format!("{which}_worker_percent")));
        assert!(shares[1..4].iter().all(|share| share.is_some() == (row.consumers > 2)));
        let shares: Vec<_> = shares.into_iter().flatten().collect();
        assert!(shares.is_sorted(), "{row:?}");
    }
    let fib = record.rows.iter().filter(|row| row.experiment == "fib");
    for row in fib {
        let number = |field: &str| row.number(field).unwrap();
        // Threads are at least as busy as what there is to compute.
        assert!(number("busy_ns") >= number("work") * 1_000.0 / 2_300.0, "{row:?}");
        assert!(number("speed_up") <= row.consumers as f64 * 1.05, "{row:?}");
        assert_eq!(row.number("tasks"), Some(200.0));
    }
    let with_work = |row: &&Row| row.number("work") == Some(10_000.0) && row.consumers == 4;
    let faster = record.rows.iter().find(with_work).unwrap().number("speed_up");
    assert!(faster > Some(2.0), "{faster:?}");
    let (again, second) = run("sim-schedulers-again", &arguments);
    assert_eq!(record.rows, second.rows);
    assert_eq!(text.lines().count(), again.lines().count());
}
