//! Records and pages: written whole or not at all, and made again from a record.

mod program;

use cantina_record::Record;
use program::{Scratch, cantina, file, one_line_error, short_bench};
use std::fs;
use std::process::{Command, Stdio};

const SAMPLE: &str = r#"{"schema": 1, "machine": {"cpu": "some"}, "commit": "0123abc", "rows": [
  {"experiment": "throughput", "machine": "real", "pool": "locked", "kind": "ours", "producers": 1, "consumers": 1, "mops_median": 50.5},
  {"experiment": "throughput", "machine": "real", "pool": "rtrb", "kind": "peer", "producers": 1, "consumers": 1, "mops_median": 210}
]}"#;

fn short(scratch: &Scratch) -> Command {
    let mut bench = short_bench();
    bench.arg("--out").arg(scratch.path());
    bench
}

fn assert_whole(scratch: &Scratch) {
    assert_eq!(scratch.names(), ["record.json", "report.html"]);
    let record = fs::read_to_string(scratch.path().join("record.json")).unwrap();
    let record = Record::from_json(&record).unwrap();
    assert!(!record.rows.is_empty());
    let page = fs::read_to_string(scratch.path().join("report.html")).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"));
}

#[test]
fn a_bench_prints_a_table_and_writes_a_record_and_a_page() {
    let scratch = Scratch::new("bench");
    let output = short(&scratch).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("1P/1C") && text.contains("locked"), "{text}");
    assert_whole(&scratch);
    let record = fs::read_to_string(scratch.path().join("record.json")).unwrap();
    let record = Record::from_json(&record).unwrap();
    for fact in ["cpu", "cores", "nodes", "os", "fence", "rustc", "build", "command"] {
        assert!(record.machine.get(fact).is_some(), "{fact}");
    }
    assert!(record.rows.iter().all(|row| row.number("mops_median").is_some()));
    let progress = String::from_utf8(output.stderr).unwrap();
    assert!(!progress.contains('%') && !progress.contains('\r'), "no bar in a pipe: {progress}");
}

#[test]
fn a_closed_pipe_does_not_keep_the_files_from_being_written() {
    let scratch = Scratch::new("pipe");
    let mut child = short(&scratch).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(!String::from_utf8_lossy(&output.stderr).contains("panicked"), "{output:?}");
    assert_whole(&scratch);
}

#[test]
#[cfg(unix)]
fn an_interrupted_bench_leaves_what_was_there() {
    let scratch = Scratch::new("interrupted");
    file(&scratch, "record.json", "an old record");
    file(&scratch, "report.html", "an old page");
    let mut bench = cantina();
    bench.args(["bench", "--pools", "locked", "--shape", "1P/1C", "--repetitions", "1000"]);
    bench.args(["--tasks", "100000", "--allocator", "system", "--out"]).arg(scratch.path());
    let child = bench.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    program::interrupt(&child);
    let output = child.wait_with_output().unwrap();
    assert!(one_line_error(&output, 130).contains("interrupted"));
    assert_eq!(scratch.names(), ["record.json", "report.html"]);
    for (name, contents) in [("record.json", "an old record"), ("report.html", "an old page")] {
        assert_eq!(fs::read_to_string(scratch.path().join(name)).unwrap(), contents);
    }
}

#[test]
fn a_new_run_replaces_an_old_one() {
    let scratch = Scratch::new("again");
    file(&scratch, "record.json", "an old record");
    file(&scratch, "report.html", "an old page");
    assert!(short(&scratch).output().unwrap().status.success());
    assert_whole(&scratch);
}

#[test]
fn a_page_is_made_again_beside_its_record_or_elsewhere() {
    let scratch = Scratch::new("report");
    let record = file(&scratch, "record.json", SAMPLE);
    let output = cantina().arg("report").arg(&record).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("rtrb"));
    assert_whole(&scratch);
    assert_eq!(fs::read_to_string(&record).unwrap(), SAMPLE, "the record stays as it is");

    let elsewhere = scratch.path().join("else/where");
    let mut report = cantina();
    report.args(["report", "record.json", "--out"]).arg(&elsewhere).current_dir(scratch.path());
    assert!(report.output().unwrap().status.success());
    let page =
        |folder| fs::read_to_string(scratch.path().join(folder).join("report.html")).unwrap();
    assert_eq!(page("."), page("else/where"), "the same record gives the same page");
}

#[test]
fn a_record_that_is_none_is_refused_and_the_old_page_stays() {
    let scratch = Scratch::new("nonsense");
    file(&scratch, "report.html", "an old page");
    let other = SAMPLE.replace("\"schema\": 1", "\"schema\": 2");
    let nameless = SAMPLE.replace("\"pool\": \"rtrb\", ", "");
    let cases: [(&str, &[u8], &str); 6] = [
        ("empty.json", b"", "not a record"),
        ("text.json", b"hello", "not a record"),
        ("binary.json", b"\xff\xfe\x00", "UTF-8"),
        ("other.json", other.as_bytes(), "a record of schema 2; this program knows schema 1"),
        ("nameless.json", nameless.as_bytes(), "missing field `pool`"),
        ("endless.json", &b"[".repeat(100_000), "recursion limit"),
    ];
    for (name, contents, expected) in cases {
        let path = scratch.path().join(name);
        fs::write(&path, contents).unwrap();
        let output = cantina().arg("report").arg(&path).output().unwrap();
        let line = one_line_error(&output, 2);
        assert!(line.contains(name) && line.contains(expected), "{line}");
    }
    for missing in [scratch.path().join("absent.json"), scratch.path().to_owned()] {
        let output = cantina().arg("report").arg(&missing).output().unwrap();
        assert!(one_line_error(&output, 2).contains("allowed: a record.json"));
    }
    let page = fs::read_to_string(scratch.path().join("report.html")).unwrap();
    assert_eq!(page, "an old page");
}
