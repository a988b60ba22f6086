//! Records and pages: written whole or not at all, and made again from a record.

mod program;

use cantina_record::Record;
use program::{Scratch, cantina, file, one_line_error, short_bench};
use std::fs;
use std::process::{Command, Stdio};
#[cfg(unix)]
use std::{
    io::{BufRead, BufReader, Read},
    os::unix::process::CommandExt,
    thread::sleep,
    time::{Duration, Instant},
};

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
    assert!(!text.contains("never absolute times"), "nothing is simulated: {text}");
    assert_whole(&scratch);
    let record = fs::read_to_string(scratch.path().join("record.json")).unwrap();
    let record = Record::from_json(&record).unwrap();
    for fact in ["cpu", "cores", "nodes", "os", "fence", "rustc", "build", "command"] {
        assert!(record.machine.get(fact).is_some(), "{fact}");
    }
    assert!(record.rows.iter().all(|row| row.number("mops_median").is_some()));
    let progress = String::from_utf8(output.stderr).unwrap();
    let told = "running: throughput 1P/1C locked (system)\n";
    assert_eq!(progress.matches(told).count(), 1, "a line for each cell: {progress}");
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
#[cfg(target_os = "linux")]
fn what_was_measured_is_written_though_it_cannot_be_shown() {
    let scratch = Scratch::new("full");
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = short(&scratch).stdout(full).output().unwrap();
    assert!(one_line_error(&output, 1).contains("standard output"));
    assert_whole(&scratch);
}

/// How long a program may take to end that was interrupted, on whatever machine: what it does takes many minutes.
#[cfg(unix)]
const SOON: Duration = Duration::from_secs(40);

/// Interrupts a program that has said what it runs, and is in the middle of it, with all that it has started. What it says at its
/// end, and its exit code.
#[cfg(unix)]
fn interrupted(mut program: Command, runs: &str) -> (String, Option<i32>) {
    program.process_group(0).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = program.spawn().unwrap();
    let mut told = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.starts_with(runs) {
        line.clear();
        assert!(told.read_line(&mut line).unwrap() > 0, "it ended before {runs}");
    }
    program::interrupt_group(&child);
    let begun = Instant::now();
    let ended = loop {
        match child.try_wait().unwrap() {
            Some(status) => break status.code(),
            None if begun.elapsed() < SOON => sleep(Duration::from_millis(20)),
            None => {
                child.kill().unwrap();
                child.wait().unwrap();
                panic!("it goes on after {runs}");
            }
        }
    };
    let mut rest = String::new();
    told.read_to_string(&mut rest).unwrap();
    (rest, ended)
}

/// Nobody asks in the middle of a run on real threads, and one of these takes minutes: only the time that there is after Ctrl-C ends it.
#[test]
#[cfg(unix)]
fn whoever_is_interrupted_in_the_middle_of_a_step_ends_all_the_same() {
    let scratch = Scratch::new("in-a-step");
    let mut bench = cantina();
    bench.args(["bench", "fib", "--quick", "--pools", "sequential", "--shape", "1P/1C"]);
    bench.args(["--repetitions", "1", "--tasks", "100000000", "--allocator", "system", "--out"]);
    bench.arg(scratch.path());
    // So many calls that each count to 10,000.
    let (told, code) = interrupted(bench, "running: fib 1P/1C sequential, work 10000");
    assert_eq!(code, Some(130));
    assert_eq!(told, "error: interrupted: nothing was written\n");
    assert!(scratch.names().is_empty());
}

/// Both halves of a bench hear the Ctrl-C of their terminal, and both have a long step behind them when their time is up.
#[test]
#[cfg(unix)]
fn a_bench_of_two_halves_says_once_that_it_was_interrupted() {
    let scratch = Scratch::new("in-a-step-of-the-other");
    let mut bench = cantina();
    bench.args(["bench", "fib", "--quick", "--pools", "sequential", "--shape", "1P/1C"]);
    bench.args(["--repetitions", "1", "--tasks", "100000000", "--allocator", "mimalloc", "--out"]);
    bench.arg(scratch.path());
    let (told, code) = interrupted(bench, "running: fib 1P/1C sequential, work 10000");
    assert_eq!(code, Some(130));
    assert_eq!(told, "error: interrupted: nothing was written\n");
    assert!(scratch.names().is_empty());
}

/// A simulated run asks, at each of its steps.
#[test]
#[cfg(unix)]
fn an_interrupted_simulation_ends_in_the_middle_of_a_run() {
    let scratch = Scratch::new("sim-interrupted");
    let mut sim = cantina();
    sim.args(["sim", "throughput", "--machine", "1x32", "--threads", "16", "--tasks", "1000000"]);
    sim.args(["--seeds", "1", "--pools", "ms-queue", "--memory-limit", "8192"]);
    sim.args(["--most-steps", "1000000000000000", "--out"]).arg(scratch.path());
    let (told, code) = interrupted(sim, "running: throughput 16P/16C ms-queue");
    assert_eq!(code, Some(130));
    assert_eq!(told, "error: interrupted: nothing was written\n");
    assert!(scratch.names().is_empty());
}

/// What asks between two steps: each of these is short.
#[test]
#[cfg(unix)]
fn checks_and_measurements_are_interrupted_too() {
    let scratch = Scratch::new("between-steps");
    let out = scratch.path().join("out.json").display().to_string();
    let calibrate = ["calibrate", "--out", &out];
    let check = ["check", "treiber", "--on", "sim", "--seconds", "600"];
    for arguments in [&calibrate[..], &check[..]] {
        let mut program = cantina();
        program.args(arguments);
        let child = program.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        program::interrupt(&child);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130));
        assert!(String::from_utf8_lossy(&output.stderr).contains("error: interrupted"));
        assert!(scratch.names().is_empty());
    }
}

#[test]
#[cfg(unix)]
fn an_interrupted_bench_leaves_what_was_there() {
    let scratch = Scratch::new("interrupted");
    file(&scratch, "record.json", "an old record");
    file(&scratch, "report.html", "an old page");
    let mut bench = cantina();
    bench.args(["bench", "--pools", "locked", "--shape", "1P/1C", "--repetitions", "1000"]);
    bench.args(["--tasks", "100000", "--allocator", "system", "--overwrite", "--out"]);
    bench.arg(scratch.path());
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
fn a_new_run_replaces_an_old_one_only_where_that_is_said() {
    let scratch = Scratch::new("again");
    file(&scratch, "record.json", "an old record");
    file(&scratch, "report.html", "an old page");
    let mut sim = cantina();
    sim.args(["sim", "throughput", "--machine", "1x2", "--tasks", "20", "--out"])
        .arg(scratch.path());
    for mut refused in [short(&scratch), sim] {
        let output = refused.output().unwrap();
        let line = one_line_error(&output, 2);
        assert!(line.contains("there is a record.json in"), "{line}");
        assert!(line.contains("allowed: another --out, or --overwrite"), "{line}");
        assert!(output.stdout.is_empty(), "before anything is measured: {output:?}");
    }
    assert_eq!(fs::read_to_string(scratch.path().join("record.json")).unwrap(), "an old record");
    assert!(short(&scratch).arg("--overwrite").output().unwrap().status.success());
    assert_whole(&scratch);
}

#[test]
fn without_a_word_each_run_has_a_folder_of_its_own() {
    let scratch = Scratch::new("numbered");
    let run = |more: &[&str]| {
        let output = short_bench().args(more).current_dir(scratch.path()).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(run(&[]).contains("cantina-out/record.json"));
    let first = fs::read(scratch.path().join("cantina-out/record.json")).unwrap();
    assert!(run(&[]).contains("cantina-out-2/record.json"));
    assert!(run(&[]).contains("cantina-out-3/record.json"));
    assert_eq!(fs::read(scratch.path().join("cantina-out/record.json")).unwrap(), first);
    assert!(run(&["--overwrite"]).contains("cantina-out/record.json"));
    assert_eq!(scratch.names(), ["cantina-out", "cantina-out-2", "cantina-out-3"]);
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

    // A page beside its record is made anew, one elsewhere may be another record's.
    file(&scratch, "else/where/report.html", "another page");
    let again = |arguments: &[&str]| {
        let mut report = cantina();
        report.args(["report", "record.json"]).args(arguments).current_dir(scratch.path());
        report.output().unwrap()
    };
    assert!(again(&[]).status.success());
    let line = one_line_error(&again(&["--out", "else/where"]), 2);
    assert!(line.contains("there is a report.html in `else/where`; allowed: another --out, or"));
    assert_eq!(page("else/where"), "another page");
    assert!(again(&["--out", "else/where", "--overwrite"]).status.success());
    assert_eq!(page("."), page("else/where"));
}

#[test]
fn the_page_of_another_record_is_replaced_only_where_that_is_said() {
    let scratch = Scratch::new("report-of-another");
    let report = |arguments: &[&str]| {
        let mut report = cantina();
        report.arg("report").args(arguments).current_dir(scratch.path()).output().unwrap()
    };
    let page = || fs::read_to_string(scratch.path().join("report.html")).unwrap();
    file(&scratch, "old.json", SAMPLE);
    assert!(report(&["old.json"]).status.success(), "there is none yet");
    file(&scratch, "report.html", "the page of record.json");
    let line = one_line_error(&report(&["old.json"]), 2);
    assert!(line.contains("there is a report.html in `.`; allowed: another --out, or --overwrite"));
    assert_eq!(page(), "the page of record.json");
    assert!(report(&["old.json", "--overwrite"]).status.success());
    assert!(page().starts_with("<!DOCTYPE html>"));
    file(&scratch, "record.json", SAMPLE);
    assert!(report(&["record.json"]).status.success(), "it is its own");
}

#[test]
fn two_records_are_compared_and_the_exit_code_tells() {
    let scratch = Scratch::new("compare");
    let spread = |low: f64, value: f64, high: f64| {
        let all = format!("\"mops_median\": {value}, \"mops_min\": {low}, \"mops_max\": {high}");
        let sample = SAMPLE.replace("\"mops_median\": 50.5", &all);
        sample.replace(
            "\"mops_median\": 210",
            "\"mops_median\": 210, \"mops_min\": 200, \"mops_max\": 220",
        )
    };
    file(&scratch, "old.json", &spread(49.0, 50.5, 51.0));
    file(&scratch, "same.json", &spread(50.0, 52.5, 55.0));
    file(&scratch, "slow.json", &spread(19.0, 20.0, 21.0));
    file(&scratch, "empty.json", &SAMPLE.replace("throughput", "unheard-of"));
    let regime = |nanos: &str| {
        let fields = format!("\"ping_pong_ns\": {nanos}, \"mops_median\"");
        spread(49.0, 50.5, 51.0).replace("\"mops_median\"", &fields)
    };
    file(&scratch, "near.json", &regime("28"));
    file(&scratch, "far.json", &regime("170"));
    let compare = |arguments: &[&str]| {
        let mut compare = cantina();
        compare.arg("compare").args(arguments).current_dir(scratch.path()).output().unwrap()
    };
    let output = compare(&["old.json", "same.json"]);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "same: 2 within their noise\n");
    let output = compare(&["old.json", "slow.json"]);
    assert!(one_line_error(&output, 1).contains("1 of 2 got worse"));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("locked  50.5 -> 20.0 M tasks/s, 0.396 times as good"), "{text}");
    let csv = compare(&["old.json", "slow.json", "--format", "csv"]);
    assert_eq!((csv.status.code(), csv.stdout.split(|&it| it == b'\n').count()), (Some(1), 4));
    let json = compare(&["slow.json", "old.json", "--format", "json"]);
    assert!(json.status.success());
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(json[0]["verdict"], "better");
    for (arguments, expected) in [
        (["old.json", "absent.json"], "allowed: a record.json"),
        (["old.json", "empty.json"], "no cell in common"),
        (["near.json", "far.json"], "nothing could be compared: different regimes: cores 28.0 ns"),
    ] {
        assert!(one_line_error(&compare(&arguments), 2).contains(expected));
    }
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
