//! The program from outside: exit codes, one-line errors, files that are whole.

mod program;

use program::{Scratch, cantina, file, one_line_error, short_bench};
use std::fs;
use std::process::Stdio;

#[test]
fn bad_input_gets_one_line_that_says_what_is_allowed_and_exit_code_2() {
    let scratch = Scratch::new("bad-input");
    let cases: [(&[&str], &[&str]); 68] = [
        (&["compare", "a", "b", "--format", "yaml"], &["possible values: table, csv, json"]),
        (&["bench-worke"], &["allowed: bench, sim, check, calibrate, report, compare, list"]),
        (&["bench", "throughputt"], &["(did you mean `throughput`?); allowed: throughput"]),
        (&["bench", "--pools", "slasa"], &["(did you mean `salsa`?); allowed: locked, "]),
        (&["sim", "ratios", "--pools", "lockd-batch"], &["(did you mean `locked-batch`?)"]),
        (&["check", "lokced"], &["(did you mean `locked`?); allowed: "]),
        (&["dance"], &["dance", "allowed: bench, sim, check, calibrate, report, compare, list"]),
        (&["bench", "dance"], &["dance", "no such experiment; allowed: throughput"]),
        (&["bench", "--threads", "0"], &["allowed: 1 to 256"]),
        (&["bench", "--threads", "100000"], &["allowed: 1 to 256"]),
        (&["bench", "--threads", "1,x"], &["allowed: 1 to 256"]),
        (&["bench", "--threads", ""], &["allowed: 1 to 256"]),
        (&["bench", "--shape", "0P/1C"], &["allowed: 1P/1C to 256P/256C"]),
        (&["bench", "--shape", "1P/100000C"], &["allowed: 1P/1C to 256P/256C"]),
        (&["bench", "--shape", "two"], &["allowed: 1P/1C to 256P/256C"]),
        (&["bench", "--tasks", "0"], &["allowed: 1 to 100000000"]),
        (&["bench", "--tasks", "99999999999999999999999"], &["allowed: 1 to 100000000"]),
        (&["bench", "--tasks", "-1"], &["-1", "allowed: EXPERIMENTS, --quick"]),
        (&["bench", "--repetitions", "1001"], &["allowed: 1 to 1000"]),
        (&["bench", "--repetitions", "many"], &["allowed: 1 to 1000"]),
        (&["bench", "--payload", "7"], &["allowed: 8, 64"]),
        (&["bench", "--pin", "maybe"], &["possible values: auto, always, never"]),
        (&["bench", "--allocator", "jemalloc"], &["possible values: system, mimalloc, both"]),
        (&["bench", "--pools", "locked,dance"], &["dance", "allowed", "locked"]),
        (&["bench", "--quik"], &["--quik", "'--quick'", "allowed: EXPERIMENTS, --quick, --out"]),
        (&["bench", "--out"], &["--out"]),
        (&["list", "all"], &["all", "allowed: --help"]),
        (&["report"], &["RECORD"]),
        (&["sim"], &["EXPERIMENT"]),
        (&["sim", "dance"], &["dance", "no such experiment; allowed: throughput"]),
        (
            &["sim", "throughput", "--machine", "0x4"],
            &["0x4", "has no core; allowed: NODESxCORES such as 4x8"],
        ),
        (&["check", "--seed", "x"], &["allowed: 0 to 18446744073709551615"]),
        (&["sim", "trace", "locked", "--seed", "x"], &["allowed: 0 to 18446744073709551615"]),
        (&["bench", "--out", "/dev/null"], &["it is a file; allowed: a directory"]),
        (&["list", "--quick"], &["--quick", "allowed: --help"]),
        (&["compare", "a"], &["NEW"]),
        (&["report", ".", "--overwrite"], &["allowed: a record.json that cantina wrote"]),
        (&["sim", "throughput", "--machine", "1000x1000"], &["at most 64 nodes and 256 cores"]),
        (&["sim", "throughput", "--machine", "paper"], &["opteron-8x4", "NODESxCORES"]),
        (&["sim", "throughput", "--machine", "1x2", "--threads", "2"], &["at most 2 threads"]),
        (&["sim", "throughput", "--machine", "4x4.json"], &["No such file", "cantina calibrate"]),
        (&["sim", "throughput", "--machine", "."], &["no machine is called", "FILE.json"]),
        (&["sim", "throughput", "--memory-limit", "0"], &["allowed: 1 to 65536"]),
        (&["sim", "throughput", "--memory-limit", "lots"], &["allowed: 1 to 65536"]),
        (&["sim", "validate", "throughput"], &["validate runs alone"]),
        (&["sim", "validate", "--threads", "2"], &["validate has its own threads"]),
        (&["sim", "validate", "--pools", "locked"], &["at least two"]),
        (&["sim", "validate", "--pools", "locked,dance"], &["dance", "allowed: locked, "]),
        (
            &["bench", "validate"],
            &["an experiment of the simulated machine, for `cantina sim`; allowed: throughput, "],
        ),
        (&["bench", "single-producer", "--threads", "2"], &["one producer", "such as 1P/4C"]),
        (&["sim", "single-producer", "--shape", "2P/1C"], &["one producer", "such as 1P/4C"]),
        (&["bench", "pollers", "--shape", "1P/2C"], &["put and get", "such as 2P/2C"]),
        (&["sim", "pollers", "--shape", "2P/1C"], &["put and get", "such as 2P/2C"]),
        (&["bench", "fib", "--shape", "2P/1C"], &["put and get", "such as 2P/2C"]),
        (&["bench", "ddb", "--payload", "8"], &["operations, not tasks", "no --payload"]),
        (&["sim", "ddb", "--pools", "tokio-mpsc"], &["tokio-mpsc", "allowed: scheduler, "]),
        (&["bench", "rooms-stack", "--shape", "1P/2C"], &["put and get", "such as 2P/2C"]),
        (&["sim", "rooms-stack", "--pools", "lbq"], &["lbq takes no part", "room-stack, "]),
        (&["bench", "chunk-size", "--pools", "lbq"], &["lbq takes no part in chunk-size", "salsa"]),
        (&["sim", "chunk-size", "--pools", "lbq"], &["lbq takes no part in chunk-size", "salsa"]),
        (&["sim", "ratios", "--machine", "1x1"], &["1P/1C does not fit", "at most 1 threads"]),
        (&["calibrate", "--out", "machine"], &["allowed: a path that ends in .json"]),
        (&["calibrate", "--out", ".json"], &["allowed: a path that ends in .json"]),
        (&["check", "dance"], &["no pool `dance`; allowed: ", "locked"]),
        (&["check", "--only", "dance"], &["no check `dance`; allowed: ", "exactly_once"]),
        (&["check", "--seconds", "0"], &["allowed: 1 to 86400"]),
        (&["check", "--rounds", "0"], &["allowed: 1 to "]),
        (&["check", "--on", "paper"], &["possible values: real, sim"]),
    ];
    for (arguments, expected) in cases {
        let output = cantina().args(arguments).current_dir(scratch.path()).output().unwrap();
        let line = one_line_error(&output, 2);
        for part in expected {
            assert!(line.contains(part), "{arguments:?}: {line:?} should say {part:?}");
        }
        assert!(output.stdout.is_empty(), "{arguments:?}");
        assert!(!line.contains("bench-worker"), "an inner matter: {line}");
    }
    assert!(scratch.names().is_empty(), "nothing is left behind: {:?}", scratch.names());
}

#[test]
#[cfg(unix)]
fn arguments_that_are_no_text_get_one_line_too() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let scratch = Scratch::new("no-text");
    let (word, option) = (OsStr::from_bytes(b"\xff"), OsStr::from_bytes(b"--\xff"));
    let before: [&[&str]; 12] = [
        &[],
        &["bench"],
        &["bench", "--pools"],
        &["bench", "--shape"],
        &["bench", "--tasks"],
        &["sim"],
        &["sim", "throughput", "--machine"],
        &["sim", "trace"],
        &["check"],
        &["check", "--schedule"],
        &["list"],
        &["compare", "--format"],
    ];
    for words in before {
        for typed in [word, option] {
            let mut program = cantina();
            let output = program.args(words).arg(typed).current_dir(scratch.path()).output();
            let line = one_line_error(&output.unwrap(), 2);
            assert!(line.contains("allowed: ") || line.contains("possible values: "), "{line}");
        }
    }
    for words in [&["report"][..], &["compare", "a"]] {
        let output = cantina().args(words).arg(word).current_dir(scratch.path()).output().unwrap();
        assert!(one_line_error(&output, 2).contains("allowed: a record.json"), "{words:?}");
    }
    assert!(scratch.names().is_empty(), "{:?}", scratch.names());
}

#[test]
fn a_directory_that_cannot_be_written_to_is_noticed_before_anything_is_measured() {
    let scratch = Scratch::new("directory");
    file(&scratch, "file", "a file");
    fs::create_dir_all(scratch.path().join("occupied/report.html")).unwrap();
    let cases = [
        ("file", "it is a file"),
        ("file/below", ""),
        ("occupied", "a directory called report.html"),
    ];
    for (out, reason) in cases {
        let mut bench = short_bench();
        bench.args(["--out", out]).current_dir(scratch.path());
        let output = bench.output().unwrap();
        assert!(output.stdout.is_empty(), "{output:?}");
        let line = one_line_error(&output, 2);
        assert!(line.contains(out) && line.contains(reason), "{line}");
        assert!(line.contains("allowed: a directory"), "{line}");
    }
    assert_eq!(fs::read_to_string(scratch.path().join("file")).unwrap(), "a file");
}

#[test]
#[cfg(unix)]
fn a_read_only_directory_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = Scratch::new("read-only");
    let locked = scratch.path().join("locked");
    fs::create_dir(&locked).unwrap();
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o555)).unwrap();
    if fs::write(locked.join("probe"), "").is_ok() {
        // Somebody for whom there are no read-only directories.
        return;
    }
    let output = short_bench().arg("--out").arg(&locked).output().unwrap();
    assert!(one_line_error(&output, 2).contains("allowed: a directory"));
}

#[test]
#[cfg(target_os = "linux")]
fn a_directory_in_which_nobody_can_create_a_file_is_refused() {
    let output = short_bench().args(["--out", "/proc"]).output().unwrap();
    assert!(one_line_error(&output, 2).contains("cannot write to `/proc`"));
}

#[test]
fn help_and_version_are_no_errors() {
    for argument in ["--help", "--version", "help"] {
        let output = cantina().arg(argument).output().unwrap();
        assert!(output.status.success(), "{argument}");
        assert!(!output.stdout.is_empty() && output.stderr.is_empty(), "{argument}");
    }
    for arguments in [&[][..], &["--help"]] {
        let help = cantina().args(arguments).output().unwrap();
        assert!(help.status.success() && help.stderr.is_empty(), "{help:?}");
        let text = String::from_utf8_lossy(&help.stdout);
        assert!(text.contains("bench") && text.contains("list"), "{text}");
        assert!(!text.contains("worker"), "it is an inner matter");
    }
}

#[test]
fn the_list_names_what_there_is() {
    let output = cantina().arg("list").output().unwrap();
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    for part in ["Pools\n", "  locked ", "Schedulers\n", "Peers\n", "Experiments\n", "Machines\n"] {
        assert!(text.contains(part), "{text}");
    }
    for name in [
        "throughput",
        "ratios",
        "single-producer",
        "placement",
        "chunk-size",
        "capacity",
        "pollers",
        "rooms-stack",
        "fib",
    ] {
        assert!(text.contains(&format!("\n  {name} ")), "{name}: {text}");
    }
    for batch in ["locked-batch", "salsa-batch", "ms-queue-batch", "st3-batch"] {
        assert!(text.contains(&format!("\n  {batch} ")), "{batch}: {text}");
    }
    let contenders = text.split("Contenders\n").nth(1).unwrap().split("\n\n").next().unwrap();
    assert!(contenders.contains("  stream "), "nobody's crate: {text}");
}

#[test]
fn the_list_names_everybody_whom_an_experiment_takes() {
    let output = cantina().arg("list").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let is_listed = |name: &str| text.contains(&format!("\n  {name} "));
    let experiments = text.split("Experiments\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let names = experiments.lines().map(|line| line.trim().split(' ').next().unwrap());
    for experiment in names.filter(|name| *name != "validate") {
        let mut taken = 0;
        for machine in ["bench", "sim"] {
            let output = cantina().args([machine, experiment, "--pools", "?"]).output().unwrap();
            let line = one_line_error(&output, 2);
            let Some((_, allowed)) = line.split_once("no pool is called `?`; allowed: ") else {
                continue;
            };
            for name in allowed.split(", ") {
                assert!(is_listed(name), "{machine} {experiment} takes {name}");
                taken += 1;
            }
        }
        assert!(taken > 0, "{experiment}");
    }
}

#[test]
fn a_closed_pipe_ends_it_quietly() {
    for arguments in [&["list"][..], &["--help"], &["bench", "--help"]] {
        let mut child = cantina()
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // Nobody reads, not even the first line.
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        assert!(output.stderr.is_empty(), "{arguments:?}: {output:?}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_behind_standard_output_is_a_failure() {
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let child = cantina().arg("list").stdout(full).stderr(Stdio::piped()).spawn().unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(one_line_error(&output, 1).contains("standard output"));
}
