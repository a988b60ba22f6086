//! The bench with both allocators: this program, and the same program again.

mod program;

use cantina_record::{Kind, Record, Row};
use program::{Scratch, cantina, file, one_line_error};
use std::fs;
use std::io::Write;
use std::process::{Output, Stdio};

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
    let mut input = child.stdin.take().unwrap();
    writeln!(input, "{job}").unwrap();
    // It ends when nobody holds that any more.
    let output = child.wait_with_output().unwrap();
    drop(input);
    output
}

#[test]
fn pools_that_allocate_are_measured_with_both_allocators() {
    let record = record("both", "locked,kanal,rtrb", &["--shape", "1P/1C,2P/1C"]);
    let (rows, skipped): (Vec<_>, Vec<_>) =
        record.rows.iter().partition(|row| row.text("skipped").is_none());
    let cells: Vec<_> = rows
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
    let why = |row: &&Row| {
        let reason = row.text("skipped").unwrap().split(' ').take(2).collect::<Vec<_>>().join(" ");
        (row.pool.clone(), row.producers, row.text("allocator").unwrap().to_owned(), reason)
    };
    let expected = [
        ("rtrb", 2, "system", "one producer"),
        ("rtrb", 1, "mimalloc", "allocates nothing"),
        ("rtrb", 2, "mimalloc", "allocates nothing"),
    ];
    let expected = expected.map(|(pool, producers, allocator, reason)| {
        (pool.to_owned(), producers, allocator.to_owned(), reason.to_owned())
    });
    assert_eq!(skipped.iter().map(why).collect::<Vec<_>>(), expected);
    for row in rows {
        assert!(["one-core", "near", "far"].contains(&row.text("regime").unwrap()), "{row:?}");
        assert!(row.fields.contains_key("regime_moved"), "{row:?}");
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
    let job = r#"{"experiment": "throughput", "allocator": "mimalloc", "pools": ["locked"], "columns": [], "repetitions": 1, "target_ms": 1, "tasks": 1}"#;
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
    use std::time::{Duration, Instant};
    let scratch = Scratch::new("worker");
    file(&scratch, "record.json", "an old record");
    let mut bench = cantina();
    bench.args(["bench", "--pools", "locked", "--shape", "1P/1C", "--repetitions", "1000"]);
    bench.args(["--tasks", "100000", "--allocator", "mimalloc", "--overwrite", "--out"]);
    bench.arg(scratch.path());
    let child = bench.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // Only the one that was started; the worker is left to it.
    program::interrupt(&child);
    let started = Instant::now();
    // Both hold stderr: it ends when both have.
    let output = child.wait_with_output().unwrap();
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
    assert!(one_line_error(&output, 130).contains("interrupted"));
    assert_eq!(scratch.names(), ["record.json"]);
}

/// Nobody tells the worker, which is in the middle of a run of minutes.
#[test]
#[cfg(target_os = "linux")]
fn a_killed_bench_takes_its_worker_with_it() {
    use std::io::{BufRead, BufReader, Read};
    use std::process::Command;
    use std::sync::mpsc::channel;
    use std::thread::spawn;
    use std::time::Duration;
    let scratch = Scratch::new("killed");
    let mut bench = cantina();
    bench.args(["bench", "fib", "--quick", "--pools", "sequential", "--shape", "1P/1C"]);
    bench.args(["--repetitions", "1", "--tasks", "3000000", "--allocator", "mimalloc", "--out"]);
    bench.arg(scratch.path()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = bench.spawn().unwrap();
    let mut told = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("work 10000") {
        line.clear();
        assert!(told.read_line(&mut line).unwrap() > 0, "it has ended");
    }
    let pid = child.id();
    let workers = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    let (ended, is_over) = channel();
    // Both hold stderr.
    spawn(move || ended.send(told.read_to_string(&mut line)));
    if is_over.recv_timeout(Duration::from_secs(20)).is_err() {
        let _ = Command::new("kill").arg("-KILL").args(workers.split_whitespace()).status();
        panic!("the worker goes on: {workers}");
    }
}

/// Lets a thread run on the first so many of the cores that this one has. Whether there are as many.
#[cfg(target_os = "linux")]
fn confine(thread: i32, cores: usize) -> bool {
    // SAFETY: a set of bits, of which none is the empty set.
    let (mut own, mut few): (libc::cpu_set_t, libc::cpu_set_t) = unsafe { std::mem::zeroed() };
    let size = size_of::<libc::cpu_set_t>();
    // SAFETY: the set is as large as is said, and is written by the call.
    assert_eq!(unsafe { libc::sched_getaffinity(0, size, &mut own) }, 0);
    // SAFETY: the number is below the size of the set.
    let is_own = |core: &usize| unsafe { libc::CPU_ISSET(*core, &own) };
    let first: Vec<usize> = (0..libc::CPU_SETSIZE as usize).filter(is_own).take(cores).collect();
    // SAFETY: as above.
    first.iter().for_each(|&core| unsafe { libc::CPU_SET(core, &mut few) });
    // SAFETY: the set is as large as is said, and only read.
    first.len() == cores && unsafe { libc::sched_setaffinity(thread, size, &few) } == 0
}

#[test]
#[cfg(target_os = "linux")]
fn a_bench_that_gets_another_core_meanwhile_says_so() {
    use std::io::{BufRead, BufReader};
    use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
    use std::thread::{scope, sleep};
    use std::time::Duration;
    let scratch = Scratch::new("second-core");
    let mut bench = cantina();
    bench.args(["bench", "--pools", "locked", "--shape", "1P/1C", "--tasks", "1000"]);
    bench.args(["--repetitions", "1000", "--allocator", "system", "--out"]).arg(scratch.path());
    let mut bench = bench.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let told = BufReader::new(bench.stderr.take().unwrap()).lines();
    let thread = bench.id() as i32;
    if !confine(thread, 2) {
        // There is one.
        bench.kill().unwrap();
        bench.wait().unwrap();
        return;
    }
    let is_over = AtomicBool::new(false);
    let found = scope(|scope| {
        // To and fro: nobody knows when it looks, but it does so at each of a thousand runs.
        scope.spawn(|| {
            for cores in [1, 2].into_iter().cycle().take_while(|_| !is_over.load(SeqCst)) {
                confine(thread, cores);
                sleep(Duration::from_millis(20));
            }
        });
        let found = told.map(Result::unwrap).find(|line| line.contains("they were one, and are "));
        is_over.store(true, SeqCst);
        found
    });
    bench.kill().unwrap();
    bench.wait().unwrap();
    let line = found.expect("it has ended and said nothing");
    assert!(line.contains("the cores moved: ") && line.contains(" ns apart"), "{line}");
}

#[test]
fn placement_is_measured_with_threads_bound_and_not() {
    let more = ["placement", "--shape", "1P/1C", "--allocator", "system"];
    let record = record("placement", "locked", &more);
    let placements: Vec<_> = record.rows.iter().map(|row| row.text("placement").unwrap()).collect();
    assert_eq!(placements, ["bound to cores", "not bound"]);
    assert!(record.rows.iter().all(|row| row.experiment == "placement"));
}

/// One field of each row, as a number.
fn numbers(record: &Record, field: &str) -> Vec<Option<f64>> {
    record.rows.iter().map(|row| row.number(field)).collect()
}

#[test]
fn the_limit_of_one_to_one_stands_beside_the_pools() {
    let more = ["--shape", "1P/1C", "--payload", "8,64", "--allocator", "system"];
    let record = record("stream", "stream,rtrb", &more);
    let kinds: Vec<_> = record.rows.iter().map(|row| (row.pool.as_str(), row.kind)).collect();
    let both = [("stream", Kind::Contender), ("rtrb", Kind::Peer)];
    assert_eq!(kinds, [both, both].concat());
    assert!(record.rows.iter().all(|row| row.number("mops_median") > Some(0.0)));
}

#[test]
fn a_single_producer_shows_what_a_task_costs_consumers() {
    let more = ["single-producer", "--shape", "1P/1C,1P/3C", "--allocator", "system"];
    let record = record("single-producer", "salsa,salsa-cas,locked", &more);
    for row in &record.rows {
        assert_eq!(row.experiment, "single-producer");
        assert_eq!(row.number("cas_per_get").is_some(), row.pool != "locked", "{row:?}");
        assert_eq!(row.number("steals").is_some(), row.pool != "locked", "{row:?}");
    }
    let cas = record.rows.iter().find(|row| row.pool == "salsa-cas").unwrap();
    assert!(cas.number("cas_per_get") >= Some(1.0), "one per task: {cas:?}");
}

#[test]
fn ratios_share_out_the_same_threads() {
    let record = record("ratios", "locked", &["ratios", "--quick", "--allocator", "system"]);
    let shapes: Vec<_> = record.rows.iter().map(|row| (row.producers, row.consumers)).collect();
    assert_eq!(shapes, [(1, 7), (4, 4), (7, 1)]);
}

#[test]
fn chunks_of_each_size_are_measured() {
    let more = ["chunk-size", "--quick", "--shape", "1P/1C", "--allocator", "system"];
    let record = record("chunk-size", "salsa,salsa-bounded", &more);
    let sizes = [8.0, 125.0, 1000.0].map(Some);
    assert_eq!(numbers(&record, "chunk_size"), [sizes, sizes].concat());
}

#[test]
fn bounded_pools_are_measured_with_the_same_capacity() {
    let more = ["capacity", "--quick", "--allocator", "system"];
    let pools =
        "todo-tree,todo-tree-batch,room-queue,crossbeam-arrayqueue,crossbeam-channel-bounded";
    let record = record("capacity", pools, &more);
    assert_eq!(numbers(&record, "capacity"), [Some(4096.0); 5]);
    assert!(record.rows.iter().all(|row| (row.producers, row.consumers) == (4, 4)));
}

#[test]
fn workers_are_measured_with_pollers_and_without_and_by_both_allocators() {
    let record = record("pollers", "locked,salsa", &["pollers", "--quick", "--threads", "2"]);
    let counts = [Some(0.0), Some(2.0)];
    assert_eq!(numbers(&record, "pollers"), [counts; 4].concat());
    assert!(record.rows.iter().all(|row| (row.producers, row.consumers) == (2, 2)));
}

#[test]
fn trees_of_each_height_are_measured_and_a_queue_beside_them() {
    let more = ["tree-height", "--quick", "--shape", "1P/1C", "--allocator", "system"];
    let record = record("tree-height", "cafe,ms-queue", &more);
    let heights = [Some(0.0), Some(2.0), Some(4.0), Some(8.0), Some(12.0), None];
    assert_eq!(numbers(&record, "height"), heights);
    let failures = numbers(&record, "cas_failures_per_op");
    assert!(failures.iter().zip(heights).all(|(rate, height)| rate.is_some() == height.is_some()));
}

#[test]
fn overtaking_is_measured_beside_peers() {
    let more = ["fairness", "--quick", "--shape", "2P/2C", "--allocator", "system"];
    let record = record("fairness", "cafe,ws-msq,crossbeam-segqueue", &more);
    let heights = [Some(0.0), Some(4.0), Some(12.0), None, None];
    assert_eq!(numbers(&record, "height"), heights);
    let promised = [Some(0.0), Some(0.0), Some(8190.0), None, None];
    assert_eq!(numbers(&record, "fair_within"), promised);
    let most = numbers(&record, "max_overtakers");
    assert!(
        most.iter().zip(promised).all(|(most, promised)| promised.is_none() || *most <= promised)
    );
    assert_eq!([most[0], most[1], most[4]], [Some(0.0); 3], "queues");
    assert!(numbers(&record, "rank_error_p99").iter().all(Option::is_some));
}

#[test]
fn trees_are_filled_and_steps_are_left_to_the_simulated_machine() {
    let scratch = Scratch::new("density");
    let bench = |arguments: &[&str]| {
        let mut bench = cantina();
        bench.arg("bench").args(arguments).arg("--out").arg(scratch.path()).output().unwrap()
    };
    let output = bench(&["density", "--quick", "--repetitions", "3"]);
    assert!(output.status.success(), "{output:?}");
    let json = fs::read_to_string(scratch.path().join("record.json")).unwrap();
    let record = Record::from_json(&json).unwrap();
    assert_eq!(record.rows.len(), 2 * 4 * 3, "producers, leaf trials, heights");
    assert!(numbers(&record, "tasks_mean").iter().all(|mean| *mean >= Some(1.0)));
    let refused: [(&[&str], &str); 3] = [
        (
            &["steps"],
            "an experiment of the simulated machine, for `cantina sim`; allowed: throughput",
        ),
        (&["density", "--threads", "2"], "density has its own threads and fills trees; allowed:"),
        (&["density", "--pools", "locked"], "locked takes no part in density; allowed:"),
    ];
    for (arguments, expected) in refused {
        let line = one_line_error(&bench(arguments), 2);
        assert!(line.contains(expected), "{line}");
    }
}

#[test]
fn workers_share_trees_on_each_stack() {
    let more = ["rooms-stack", "--quick", "--threads", "2", "--allocator", "system"];
    let pools = "room-stack,unshared,crossbeam-segqueue";
    let record = record("rooms-stack", pools, &more);
    // Two amounts of work, and two that can be shared.
    let (rows, skipped): (Vec<_>, Vec<_>) =
        record.rows.iter().partition(|row| row.text("skipped").is_none());
    assert_eq!(rows.len(), 2 * 2);
    let unshared = |row: &&&Row| {
        (row.pool.as_str(), row.text("skipped")) == ("unshared", Some("one worker only"))
    };
    assert_eq!(skipped.iter().filter(unshared).count(), 2);
    let percent = |row: &Row| row.number("work_percent");
    assert!(record.rows.iter().all(|row| [Some(40.0), Some(600.0)].contains(&percent(row))));
    for row in rows {
        let nodes = row.number("tasks").unwrap();
        assert_eq!(nodes % 3.0, 0.0, "low trees: {row:?}");
        let (work, rate) = (row.number("work_ns_per_node"), row.number("mops_median"));
        let workers = row.producers as f64;
        assert!((work.unwrap() * rate.unwrap() / workers - 1e3).abs() < 1e-6, "{row:?}");
    }
}
