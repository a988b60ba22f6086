//! `cantina sim` from outside.

mod program;

use program::{Scratch, cantina, file, one_line_error};
use std::fs;
use std::process::Command;

/// A simulation that is over soon, into a folder of its own.
fn short_sim(scratch: &Scratch, name: &str) -> Command {
    let mut sim = cantina();
    sim.args(["sim", "throughput", "--machine", "2x2", "--threads", "1,2", "--tasks", "20"]);
    sim.args(["--seeds", "2", "--pools", "locked,ms-queue", "--out"]);
    sim.arg(scratch.path().join(name));
    sim
}

#[test]
fn the_same_seeds_give_the_same_record_byte_for_byte() {
    let scratch = Scratch::new("sim-same");
    let record = |name: &str, surroundings: &str| {
        let mut sim = short_sim(&scratch, name);
        let output = sim.env("CANTINA_SURROUNDINGS", surroundings).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        fs::read(scratch.path().join(name).join("record.json")).unwrap()
    };
    // The environment lies on the stack: another one moves everything above it. The loader draws
    // the other addresses anew each time.
    let first = record("one", "");
    assert_eq!(first, record("two", &"x".repeat(5_000)));
    let text = String::from_utf8(first).unwrap();
    assert!(text.contains("\"machine\":\"sim:2x2\""), "{text}");
}

#[test]
fn what_was_simulated_is_shown_as_such() {
    let scratch = Scratch::new("sim-shown");
    let output = short_sim(&scratch, "out").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("simulated 2x2"), "{text}");
    assert!(text.contains("ratios and shapes, never absolute times"), "{text}");
    let page = fs::read_to_string(scratch.path().join("out/report.html")).unwrap();
    assert!(page.contains("never absolute times"));
    assert!(page.contains("What is not modelled"));
    assert!(!page.contains("the operating system places"), "a note about the real machine");
}

#[test]
fn a_simulation_that_needs_too_much_memory_ends_with_one_line_and_exit_code_2() {
    let scratch = Scratch::new("sim-memory");
    let mut sim = cantina();
    // Three put, and one cannot get as fast.
    sim.args(["sim", "throughput", "--machine", "1x4", "--shape", "3P/1C", "--tasks", "1000000"]);
    sim.args(["--seeds", "1", "--pools", "treiber", "--memory-limit", "1", "--out"]);
    let output = sim.arg(scratch.path().join("out")).output().unwrap();
    let line = one_line_error(&output, 2);
    assert!(line.contains("treiber at 3P/1C with seed 1 needs more memory than 1 MB"), "{line}");
    assert!(line.contains("allowed: fewer --tasks, or a larger --memory-limit"), "{line}");
}

/// With the steps that a cell has by itself the answer is the same, and takes as many more of them to be found.
#[test]
fn as_many_threads_as_there_are_cores_are_refused_where_that_would_take_too_long() {
    let scratch = Scratch::new("sim-crowd");
    let mut sim = cantina();
    sim.args(["sim", "throughput", "--machine", "1x256", "--shape", "255P/1C"]);
    sim.args(["--pools", "ms-queue", "--most-steps", "100000000", "--out"]);
    let output = sim.arg(scratch.path().join("out")).output().unwrap();
    let line = one_line_error(&output, 2);
    assert!(line.contains("throughput 255P/1C ms-queue would take more than 1"), "{line}");
    assert!(line.contains("allowed: fewer --tasks or --seeds"), "{line}");
    assert!(output.stdout.is_empty(), "{output:?}");
    assert!(!scratch.path().join("out/record.json").exists());
}

#[test]
fn a_simulation_that_would_take_too_long_is_refused_before_it_begins() {
    let scratch = Scratch::new("sim-large");
    let sim = |most: &str| {
        let mut sim = cantina();
        sim.args(["sim", "throughput", "--machine", "1x4", "--shape", "1P/1C,3P/1C", "--tasks"]);
        sim.args(["100000", "--seeds", "1", "--pools", "salsa", "--most-steps", most, "--out"]);
        sim.arg(scratch.path().join("out")).output().unwrap()
    };
    let output = sim("100000");
    let line = one_line_error(&output, 2);
    assert!(line.contains("throughput 3P/1C salsa would take"), "{line}");
    assert!(
        line.contains("allowed: fewer --tasks or --seeds, or a larger --most-steps than 100000"),
        "{line}"
    );
    assert!(
        !String::from_utf8_lossy(&output.stderr).contains("running: "),
        "not even the small ones"
    );
    let output = sim("100000000");
    assert!(output.status.success(), "{output:?}");
    let expected = ["running: throughput 1P/1C salsa", "running: throughput 3P/1C salsa"];
    assert_eq!(running(&output), expected, "a line for each cell");
}

/// What a program has said that it runs.
fn running(output: &std::process::Output) -> Vec<String> {
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    told.lines().filter(|line| line.starts_with("running: ")).map(str::to_owned).collect()
}

#[test]
fn every_experiment_is_refused_where_it_would_take_too_long() {
    let scratch = Scratch::new("sim-refused");
    let sim = |arguments: &str| {
        let mut sim = cantina();
        sim.arg("sim").args(arguments.split_whitespace()).arg("--out");
        one_line_error(&sim.arg(scratch.path().join("out")).output().unwrap(), 2)
    };
    for (arguments, expected) in [
        ("tell --machine 1x256 --shape 255P/1C --tasks 1000000 --pools scheduler", "tell 255P/1C"),
        ("fib --machine 1x4 --threads 4 --tasks 1000000 --pools scheduler", "fib 4P/4C scheduler"),
        ("ddb --machine 1x4 --threads 4 --tasks 1000000 --pools scheduler", "ddb 4P/4C scheduler"),
        ("rooms-stack --machine 1x4 --threads 4 --tasks 1000000 --pools room-stack", "rooms-stack"),
        ("density --seeds 1000", "density"),
        ("steps --seeds 1000 --pools todo-tree", "steps"),
        ("write-all --seeds 1000", "write-all"),
    ] {
        let line = sim(&format!("{arguments} --most-steps 1000000"));
        assert!(line.contains(expected) && line.contains(" would take "), "{line}");
        assert!(line.contains("or a larger --most-steps than 1000000"), "{line}");
    }
    // What is too small to be tried has its limit all the same.
    for (arguments, expected) in [
        ("throughput --machine 1x2 --threads 1 --tasks 100 --pools locked", "fewer --tasks"),
        ("density --machine 1x1 --quick", "fewer --seeds"),
    ] {
        let line = sim(&format!("{arguments} --seeds 1 --most-steps 100"));
        assert!(line.contains("takes more than 100 steps; allowed: "), "{line}");
        assert!(line.contains(expected), "{line}");
    }
    assert!(scratch.names().is_empty() || scratch.names() == ["out"]);
}

#[test]
fn a_process_with_another_allocator_cannot_simulate() {
    let scratch = Scratch::new("sim-mimalloc");
    let output = short_sim(&scratch, "out").env("CANTINA_ALLOCATOR", "mimalloc").output().unwrap();
    assert!(one_line_error(&output, 2).contains("CANTINA_ALLOCATOR=system"));
}

#[test]
fn a_machine_comes_from_a_file_too() {
    let scratch = Scratch::new("sim-file");
    let machine: cantina_sim::cost::Machine = "2x3".parse().unwrap();
    let written = serde_json::to_string(&machine).unwrap().replace("\"2x3\"", "\"mine\"");
    let path = file(&scratch, "mine.json", &written);
    let sim = |path: &std::path::Path| {
        let mut sim = cantina();
        sim.args(["sim", "throughput", "--threads", "1,3", "--tasks", "20", "--seeds", "1"]);
        sim.args(["--pools", "locked", "--machine"]).arg(path).arg("--out");
        sim.arg(scratch.path().join("out")).output().unwrap()
    };
    assert!(sim(&path).status.success());
    let record = fs::read_to_string(scratch.path().join("out/record.json")).unwrap();
    assert!(
        record.contains("\"machine\":\"sim:mine\"") && record.contains("mine.json"),
        "{record}"
    );
    for (from, to, expected) in [
        ("\"cores\":3", "\"cores\":300", "at most 64 nodes and 256 cores"),
        ("\"cores\":3", "\"cores\":", "line 1"),
    ] {
        let path = file(&scratch, "broken.json", &written.replace(from, to));
        let line = one_line_error(&sim(&path), 2);
        assert!(line.contains(expected) && line.contains("cantina calibrate"), "{line}");
    }
    let huge = file(&scratch, "huge.json", &" ".repeat(2 << 20));
    assert!(one_line_error(&sim(&huge), 2).contains("too many for a machine"));
}

#[test]
fn placements_stand_side_by_side() {
    let scratch = Scratch::new("sim-placement");
    let mut sim = cantina();
    sim.args(["sim", "placement", "--machine", "4x2", "--threads", "4", "--tasks", "50"]);
    sim.args(["--seeds", "2", "--pools", "ms-queue,ws-msq", "--out"]);
    let output = sim.arg(scratch.path().join("out")).output().unwrap();
    let told = running(&output);
    let cells = told.iter().filter(|line| !line.contains(" with ")).count();
    assert_eq!(cells, 2 * 4, "a line for each cell: {told:?}");
    assert!(told[0].starts_with("running: placement 4P/4C "), "{told:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    for part in ["local", "no affinity", "one node", "half-speed links", "ws-msq"] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn both_machines_are_compared_in_one_run() {
    let scratch = Scratch::new("sim-validate");
    let mut sim = cantina();
    sim.args(["sim", "validate", "--quick", "--machine", "1x2", "--tasks", "500", "--seeds", "1"]);
    sim.args(["--pools", "locked,locked-stack", "--out"]).arg(scratch.path().join("out"));
    let output = sim.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    // Whether they agree in a debug build is not the point: the exit code says what the table says.
    let agree = !text.contains("they do not agree") && !text.contains("inconclusive");
    assert_eq!(output.status.code(), Some(i32::from(!agree)), "{text}");
    assert!(text.contains("Ratios to locked with 1 thread(s)"), "{text}");
    let record = fs::read_to_string(scratch.path().join("out/record.json")).unwrap();
    assert!(record.contains("\"sim:1x2\"") && record.contains("\"real\""), "{record}");
}

/// What a simulation of few tasks writes: the tables and the record.
fn figures(name: &str, arguments: &[&str]) -> (String, cantina_record::Record) {
    figures_of("40", name, arguments)
}

/// The same of so many tasks for each producer.
fn figures_of(tasks: &str, name: &str, arguments: &[&str]) -> (String, cantina_record::Record) {
    let scratch = Scratch::new(name);
    let mut sim = cantina();
    sim.arg("sim").args(arguments).args(["--tasks", tasks, "--seeds", "1", "--out"]);
    let output = sim.arg(scratch.path().join("out")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let json = fs::read_to_string(scratch.path().join("out/record.json")).unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    (text, cantina_record::Record::from_json(&json).unwrap())
}

#[test]
fn ratios_and_single_producers_fill_the_machine() {
    let both = ["ratios", "single-producer", "--machine", "2x4", "--pools", "salsa,locked"];
    let (text, record) = figures("sim-shapes", &both);
    let shapes = |experiment: &str| {
        let rows = record.rows.iter().filter(|row| row.experiment == experiment);
        let rows = rows.filter(|row| row.pool == "salsa");
        rows.map(|row| (row.producers, row.consumers)).collect::<Vec<_>>()
    };
    assert_eq!(shapes("ratios"), [(1, 7), (2, 6), (4, 4), (6, 2), (7, 1)]);
    assert_eq!(shapes("single-producer"), [(1, 1), (1, 2), (1, 4), (1, 7)]);
    let heads: Vec<Vec<&str>> =
        text.lines().map(|line| line.split_whitespace().collect()).collect();
    assert!(heads.contains(&vec!["1P/7C", "2P/6C", "4P/4C", "6P/2C", "7P/1C"]), "{text}");
    for part in ["Read-modify-writes, per task got, lower is better", "Steals"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let costs = text.split("Read-modify-writes").nth(1).unwrap().split("\n\n").next().unwrap();
    assert!(costs.contains("salsa") && !costs.contains("locked"), "who counts: {text}");
    let counted = |pool: &str| {
        let mut rows = record.rows.iter().filter(move |row| row.pool == pool);
        rows.all(|row| row.number("cas_per_get").is_some())
    };
    assert_eq!([counted("salsa"), counted("locked")], [true, false]);
}

#[test]
fn chunk_sizes_and_pollers_stand_side_by_side() {
    let both = ["chunk-size", "pollers", "--quick", "--machine", "1x6", "--pools", "salsa"];
    let (_, record) = figures("sim-parameters", &both);
    let values = |field: &str| {
        let values: Vec<f64> = record.rows.iter().filter_map(|row| row.number(field)).collect();
        values
    };
    assert_eq!(values("chunk_size"), [8.0, 125.0, 1000.0]);
    assert_eq!(values("pollers"), [0.0], "four workers and four pollers are too many for six");
    let chunks = record.rows.iter().filter(|row| row.experiment == "chunk-size");
    assert!(chunks.into_iter().all(|row| (row.producers, row.consumers) == (3, 3)));
    let pollers = ["pollers", "--quick", "--machine", "1x6", "--threads", "2", "--pools", "locked"];
    let (text, record) = figures("sim-pollers", &pollers);
    let counts: Vec<_> = record.rows.iter().filter_map(|row| row.number("pollers")).collect();
    assert_eq!(counts, [0.0, 4.0], "{text}");
}

#[test]
fn a_cell_has_as_many_tasks_as_it_takes_and_the_same_each_time() {
    let scratch = Scratch::new("sim-converged");
    let record = |name: &str| {
        let mut sim = cantina();
        sim.args(["sim", "ratios", "--quick", "--machine", "1x4", "--seeds", "1"]);
        sim.args(["--pools", "locked,ws-msq", "--out"]).arg(scratch.path().join(name));
        let output = sim.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        fs::read_to_string(scratch.path().join(name).join("record.json")).unwrap()
    };
    let json = record("one");
    assert_eq!(json, record("two"));
    let record = cantina_record::Record::from_json(&json).unwrap();
    assert_eq!(record.rows.len(), 2 * 3);
    for row in &record.rows {
        let times =
            row.number("tasks").unwrap() / (4_000 * row.producers.max(row.consumers)) as f64;
        let alike =
            row.number("second_half_to_first").is_some_and(|it| (0.909..1.1001).contains(&it));
        let converged = row.fields["converged"] == true.into();
        assert!([1.0, 2.0, 4.0, 8.0].contains(&times), "{row:?}");
        assert_eq!(converged, alike, "{row:?}");
        assert!(converged || times == 8.0, "{row:?}");
    }
}

#[test]
fn where_all_of_a_run_counts_half_as_many_tasks_are_as_fast_or_it_says_so() {
    let record = |name: &str, arguments: &[&str]| {
        let scratch = Scratch::new(name);
        let mut sim = cantina();
        sim.args(["sim", "--quick", "--machine", "2x4", "--seeds", "1"]).args(arguments);
        let output = sim.arg("--out").arg(scratch.path().join("out")).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let json = fs::read_to_string(scratch.path().join("out/record.json")).unwrap();
        cantina_record::Record::from_json(&json).unwrap()
    };
    let free = record("sim-doubled", &["fairness", "--pools", "cafe,ms-queue"]);
    assert_eq!(free.rows.len(), 4);
    for row in &free.rows {
        let to_half = row.number("to_half_as_many").unwrap();
        let ranks = row.number("rank_error_to_half_as_many").unwrap();
        let converged = [to_half, ranks].iter().all(|it| (0.909..1.1001).contains(it));
        assert_eq!(row.fields["converged"], converged.into(), "{row:?}");
        assert!(converged || row.number("tasks") == Some(8.0 * 4.0 * 4_000.0), "{row:?}");
    }
    let asked = record("sim-not-doubled", &["fairness", "--pools", "cafe", "--tasks", "6"]);
    assert!(asked.rows.iter().all(|row| row.number("tasks") == Some(24.0)), "{asked:?}");
    let has = |row: &cantina_record::Row| row.fields.contains_key("converged");
    assert!(asked.rows.iter().all(has));
    let job = record("sim-job", &["fib", "--threads", "2", "--tasks", "100"]);
    assert!(!job.rows.is_empty() && !job.rows.iter().any(has), "{job:?}");
}

#[test]
fn what_was_too_short_is_no_value() {
    let pools = ["throughput", "--machine", "2x2", "--threads", "1,2", "--pools", "salsa,locked"];
    let (text, record) = figures_of("3", "sim-short", &pools);
    let is_short = |row: &cantina_record::Row| row.fields["converged"] == false.into();
    assert!(record.rows.iter().any(is_short), "{record:?}");
    assert!(text.contains("~ not converged: no value to compare with"), "{text}");
    assert!(record.rows.iter().all(|row| row.number("tasks") == Some(3.0 * row.producers as f64)));
}

#[test]
fn the_papers_ratios_stand_beside_the_simulated_ones() {
    let pools = ["throughput", "--threads", "16", "--pools", "salsa,salsa-cas"];
    // Of fewer, the window would be too short.
    let (text, _) = figures_of("64000", "sim-paper", &pools);
    for part in ["Beside the SALSA paper", "salsa-cas: 1.7 there, "] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("concurrent-bags: "), "{text}");
}

#[test]
fn heights_of_trees_stand_beside_a_queue_and_the_paper() {
    let heights = ["tree-height", "--quick", "--pools", "cafe,cafe-wait-free,ms-queue"];
    // Of few tasks, the beginning is most of the run: all trees are empty then.
    let (text, record) = figures_of("1000", "sim-heights", &heights);
    let values = |pool: &str, field: &str| {
        let rows = record.rows.iter().filter(|row| row.pool == pool);
        rows.map(|row| row.number(field)).collect::<Vec<_>>()
    };
    for pool in ["cafe", "cafe-wait-free"] {
        assert_eq!(values(pool, "height"), [0.0, 2.0, 4.0, 8.0, 12.0].map(Some));
        assert!(values(pool, "cas_failures_per_op").iter().all(Option::is_some));
    }
    assert!(
        values("cafe-wait-free", "cas_failures_per_op")[0] > Some(0.1),
        "everybody at one place"
    );
    let high = &values("cafe-wait-free", "cas_failures_per_op")[3..];
    assert!(high.iter().all(|&failures| failures < Some(0.1)), "heights 8 and 12: {high:?}");
    let best = values("cafe-wait-free", "mops_median").into_iter().flatten().fold(0.0, f64::max);
    let queue = values("ms-queue", "mops_median")[0].unwrap();
    assert!(best > 10.0 * queue, "{best} beside {queue}");
    assert_eq!(values("ms-queue", "height"), [None]);
    assert!(record.rows.iter().all(|row| (row.producers, row.consumers) == (16, 16)));
    for part in ["Read-modify-writes in vain, per put or get", "ms-queue: 30 there, "] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn nobody_is_overtaken_by_more_than_trees_promise() {
    let (text, record) = figures("sim-fairness", &["fairness", "--quick", "--machine", "2x4"]);
    let of = |pool: &'static str| record.rows.iter().filter(move |row| row.pool == pool);
    for pool in ["cafe", "cafe-wait-free"] {
        assert_eq!(of(pool).count(), 3, "{text}");
        for row in of(pool) {
            let number = |name: &str| row.number(name).unwrap();
            // In the wait-free form one more for each get that was under way.
            let more = if pool == "cafe" { 0.0 } else { 4.0 };
            assert!(number("max_overtakers") <= number("fair_within") + more, "{row:?}");
            assert!(number("rank_error_mean") <= number("max_overtakers"), "{row:?}");
            assert!(number("mops_median") > 0.0);
        }
    }
    for pool in ["salsa", "ws-msq", "ms-queue"] {
        let row = of(pool).next().unwrap();
        assert!(row.number("max_overtakers").is_some() && row.number("fair_within").is_none());
        assert!(pool != "ms-queue" || row.number("max_overtakers") == Some(0.0), "{row:?}");
    }
    for part in ["Overtakers of a task", "Overtakers that are promised", "Rank error, p99"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn lemmas_are_looked_at_from_many_seeds() {
    let scratch = Scratch::new("sim-lemmas");
    let sim = |arguments: &[&str]| {
        let mut sim = cantina();
        sim.arg("sim").args(arguments).arg("--out").arg(scratch.path().join("out"));
        sim.output().unwrap()
    };
    let output = sim(&["density", "steps", "--quick", "--machine", "2x4", "--seeds", "2"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let json = fs::read_to_string(scratch.path().join("out/record.json")).unwrap();
    let record = cantina_record::Record::from_json(&json).unwrap();
    let of = |experiment: &str, pool: &str| {
        let rows = record.rows.iter().filter(|row| row.experiment == experiment);
        rows.filter(|row| row.pool == pool).collect::<Vec<_>>()
    };
    let density = of("density", "tree-container");
    assert_eq!(density.len(), 2 * 4 * 3, "producers, leaf trials, heights");
    for row in density {
        let number = |name: &str| row.number(name).unwrap();
        assert!(number("times_bound_mean") > 1.0, "{row:?}");
        assert!(number("tasks_max") <= number("places"), "{row:?}");
    }
    for pool in ["tree-container", "cafe-wait-free"] {
        let steps = of("steps", pool);
        let heights: Vec<_> = steps.iter().filter_map(|row| row.number("height")).collect();
        assert_eq!(heights, [1.0, 2.0, 4.0, 8.0]);
        let ratios: Vec<f64> =
            steps.iter().filter_map(|row| row.number("max_to_log2_squared")).collect();
        assert!(ratios[3] > 0.0 && ratios[3] < 20.0 && ratios[3] < ratios[0], "{pool}: {ratios:?}");
    }
    for (pool, most) in
        [("todo-tree", 0.2), ("todo-tree-binary", 1.5), ("todo-tree-max-arrays", 60.0)]
    {
        let walks = of("steps", pool);
        let rows = |name: &str| walks.iter().filter_map(|row| row.number(name)).collect::<Vec<_>>();
        // Three loads on four schedules, and full trees left to chance; two numbers of workers; one or two heights.
        let heights = if pool == "todo-tree-max-arrays" { 1 } else { 2 };
        assert_eq!(walks.len(), (3 * 4 + 1) * 2 * heights, "{pool}");
        let ratios = rows("mean_to_log2_cubed");
        assert!(ratios.iter().all(|&ratio| ratio < most), "{pool}: {ratios:?}");
        let work = rows("work_to_bound");
        assert!(
            work.len() == 4 * 2 * heights && work.iter().all(|&ratio| ratio < most),
            "{work:?}"
        );
        let waits = rows("wait_max");
        assert!(waits.len() == 2 * heights && waits.iter().all(|&wait| wait < 30.0), "{waits:?}");
    }
    let refused: [(&[&str], &str); 4] = [
        (&["density", "--tasks", "5"], "density has its own threads and fills trees; allowed:"),
        (&["steps", "--threads", "2"], "steps has its own threads and fills trees; allowed:"),
        (
            &["density", "--pools", "salsa"],
            "salsa takes no part in density; allowed: tree-container",
        ),
        (&["steps", "--machine", "1x2"], "allowed: machines with at least 6 cores"),
    ];
    for (arguments, expected) in refused {
        let line = one_line_error(&sim(arguments), 2);
        assert!(line.contains(expected), "{line}");
    }
}

#[test]
fn workers_that_share_a_stack_have_the_same_nodes_however_many_they_are() {
    let arguments = ["rooms-stack", "--quick", "--machine", "2x4", "--pools", "room-stack,treiber"];
    let (text, record) = figures("sim-rooms-stack", &arguments);
    assert!(text.contains("Total work") && text.contains("processor-ns per node"), "{text}");
    let counts: Vec<_> = record.rows.iter().map(|row| (row.pool.as_str(), row.producers)).collect();
    let workers = [1, 2, 8];
    let of = |pool| workers.map(|workers| (pool, workers));
    let each = [of("room-stack"); 2].into_iter().chain([of("treiber"); 2]);
    assert_eq!(counts, each.flatten().collect::<Vec<_>>());
    assert!(record.rows.iter().all(|row| row.number("tasks") == Some(39.0)), "{:?}", record.rows);
}

#[test]
fn all_tasks_are_done_whoever_dies() {
    let scratch = Scratch::new("sim-write-all");
    let mut sim = cantina();
    sim.args(["sim", "write-all", "--quick", "--machine", "2x4", "--seeds", "5", "--out"]);
    let output = sim.arg(scratch.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let json = fs::read_to_string(scratch.path().join("record.json")).unwrap();
    let record = cantina_record::Record::from_json(&json).unwrap();
    assert_eq!(record.rows.len(), 3 * 4, "systems, and how many die");
    for row in &record.rows {
        let number = |name: &str| row.number(name).unwrap();
        assert_eq!(number("undone"), 0.0);
        assert!(number("dead_mean") > 0.5 * number("dying") || number("dying") == 0.0, "{row:?}");
        assert!(number("work_per_task") > 1.0 && number("wasted_per_task_min") >= 0.0, "{row:?}");
        // A claim is somebody's alone, until its worker has died.
        let is_wasteful = row.pool == "do-all" && number("wasted_per_task") > 0.2;
        assert!(!is_wasteful, "{row:?}");
    }
}
