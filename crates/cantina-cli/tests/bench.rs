//! The bench with both allocators: this program, and the same program again.

mod program;

use cantina_record::{Kind, Record};
use program::{Scratch, cantina, file, one_line_error};
use std::fs;
use std::io::Write;
use std::process::{Command, Output, Stdio};

/// What a bench of these pools, with few tasks, records.
fn record(name: &str, pools: &str, more: &[&str]) -> Record {
    let scratch = Scratch::new(name);
    let mut bench = cantina();
    bench.args(["bench", "--pools", pools, "--repetitions", "1", "--tasks", "1000"]).args(more);
    let output = bench.arg("--out").arg(scratch.path()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let json = fs::read_to_string(scratch.path().join("record.json")).unwrap();
    Record::from_json(&json).unwrap()
}

/// What the worker answers to `job`.
fn worker(job: &str, allocator: &str) -> Output {
    let mut worker = cantina();
    worker.arg("bench-worker").env("CANTINA_ALLOCATOR", allocator);
    worker.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = worker.spawn().unwrap();
    child.stdin.take().unwrap().write_all(job.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

#[test]
fn pools_that_allocate_are_measured_with_both_allocators() {
    let record = record("both", "locked,kanal,rtrb", &["--shape", "1P/1C,2P/1C"]);
    let cells: Vec<_> = record
        .rows
        .iter()
        .map(|row| (row.pool.as_str(), row.producers, row.text("allocator").unwrap()))
        .collect();
    let expected = [
        ("locked", 1, "system"),
        ("kanal", 1, "system"),
        ("rtrb", 1, "system"),
        ("locked", 2, "system"),
        ("kanal", 2, "system"),
        ("locked", 1, "mimalloc"),
        ("kanal", 1, "mimalloc"),
        ("locked", 2, "mimalloc"),
        ("kanal", 2, "mimalloc"),
    ];
    assert_eq!(cells, expected);
    for row in &record.rows {
        assert_eq!(row.experiment, "throughput");
        assert_eq!(row.kind == Kind::Peer, row.text("version").is_some());
        for field in ["mops_median", "mops_min", "mops_max", "put_mops_median"] {
            assert!(row.number(field).is_some_and(|value| value > 0.0), "{field}: {row:?}");
        }
        let counts = [("tasks", 1000.0), ("repetitions", 1.0), ("payload_bytes", 8.0)];
        for (field, count) in counts {
            assert_eq!(row.number(field), Some(count), "{field}");
        }
        assert!(row.number("discarded").is_some() && row.number("disturbed").is_some());
    }
}

#[test]
fn long_tasks_are_measured_when_asked_for() {
    let shape = ["--shape", "1P/1C", "--payload", "8,64", "--allocator", "mimalloc"];
    let record = record("payload", "rtrb", &shape);
    let sizes: Vec<_> = record.rows.iter().map(|row| row.number("payload_bytes")).collect();
    assert_eq!(sizes, [Some(8.0), Some(64.0)]);
    assert!(record.rows.iter().all(|row| row.text("allocator") == Some("mimalloc")));
}

#[test]
fn a_worker_takes_only_jobs_for_its_allocator() {
    let job = r#"{"allocator": "mimalloc", "pools": ["locked"], "columns": [], "repetitions": 1, "target_ms": 1, "tasks": 1}"#;
    let line = one_line_error(&worker(job, "system"), 2);
    assert!(line.contains("set CANTINA_ALLOCATOR=mimalloc"), "{line}");
    let output = worker(job, "mimalloc");
    assert!(output.status.success(), "{output:?}");
    assert_eq!(output.stdout, b"{\"rows\":[]}\n");
    let line = one_line_error(&worker("nonsense", "system"), 2);
    assert!(line.contains("not a job"), "{line}");
}

#[test]
#[cfg(unix)]
fn an_interrupted_bench_takes_its_worker_with_it() {
    use std::thread::sleep;
    use std::time::{Duration, Instant};
    let scratch = Scratch::new("worker");
    file(&scratch, "record.json", "an old record");
    let mut bench = cantina();
    bench.args(["bench", "--pools", "locked", "--shape", "1P/1C", "--repetitions", "1000"]);
    bench.args(["--tasks", "100000", "--allocator", "mimalloc", "--out"]).arg(scratch.path());
    let child = bench.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    sleep(Duration::from_millis(700));
    // Only the one that was started; the worker is left to it.
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let started = Instant::now();
    // Both hold stderr: it ends when both have.
    let output = child.wait_with_output().unwrap();
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
    assert!(one_line_error(&output, 130).contains("interrupted"));
    assert_eq!(scratch.names(), ["record.json"]);
}
