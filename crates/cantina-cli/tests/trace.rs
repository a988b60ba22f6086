//! `cantina sim trace` from outside.

mod program;

use program::{Scratch, cantina, one_line_error};
use serde_json::json;
use std::fs;
use std::process::Output;

const POOLS: [&str; 7] =
    ["locked", "ms-queue", "lbq", "treiber", "locked-stack", "ws-msq", "ws-lifo"];
const TREES: [&str; 2] = ["cafe", "cafe-wait-free"];
const CHUNKED: [&str; 4] = ["salsa", "salsa-bounded", "salsa-cas", "salsa-unbalanced"];

fn trace(scratch: &Scratch, arguments: &[&str]) -> Output {
    cantina().args(["sim", "trace"]).args(arguments).current_dir(scratch.path()).output().unwrap()
}

/// The page that these arguments make.
fn page(scratch: &Scratch, arguments: &[&str]) -> String {
    let output = trace(scratch, &[arguments, &["--overwrite"]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    fs::read_to_string(scratch.path().join("trace.html")).unwrap()
}

/// The story in a page.
fn story(page: &str) -> serde_json::Value {
    let (_, rest) = page.split_once("id=\"story\">").unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

#[test]
fn every_pool_can_be_watched() {
    let scratch = Scratch::new("trace-all");
    for pool in POOLS.into_iter().chain(CHUNKED).chain(TREES).chain(["ed-pool", "todo-tree"]) {
        let page = page(&scratch, &[pool, "--ops", "12", "--machine", "2x2"]);
        let story = story(&page);
        assert_eq!(story["threads"].as_array().unwrap().len(), 4);
        let operations = story["operations"].as_array().unwrap();
        assert_eq!(operations.len(), 12, "{pool}");
        assert!(operations.iter().all(|operation| operation["to"].is_number()), "{pool}");
        let described = story["objects"].as_array().unwrap().iter();
        let structures = described.filter(|object| object["node"] == false).count();
        let expected = match pool {
            _ if pool.starts_with("ws-") => 4,
            "ed-pool" => 8,
            // A home for each thread, and what they share.
            _ if CHUNKED.contains(&pool) => 5,
            _ => 1,
        };
        assert_eq!(structures, expected, "{pool}");
        assert!(page.contains(&format!("cantina sim trace {pool} --threads 4 --ops 12")));
        assert!(!page.contains("src=") && !page.contains("http:"), "it asks for nothing");
    }
    assert_eq!(scratch.names(), ["trace.html"]);
}

#[test]
fn its_machine_comes_from_a_file_too() {
    let scratch = Scratch::new("trace-file");
    let machine: cantina_sim::cost::Machine = "2x3".parse().unwrap();
    let path = scratch.path().join("mine.json");
    fs::write(path, serde_json::to_string(&machine).unwrap()).unwrap();
    let page = page(&scratch, &["locked", "--ops", "12", "--machine", "mine.json"]);
    assert!(
        page.contains("cantina sim trace locked --threads 4 --ops 12 --seed 1 --machine mine.json")
    );
    let output = trace(&scratch, &["locked", "--machine", "yours.json"]);
    assert!(one_line_error(&output, 2).contains("cantina calibrate"));
}

#[test]
fn what_a_queue_is_made_of_is_told() {
    let scratch = Scratch::new("trace-queue");
    let page = page(&scratch, &["ms-queue", "--ops", "20"]);
    let story = story(&page);
    let names: Vec<&str> = story["words"]
        .as_array()
        .unwrap()
        .iter()
        .map(|word| word["name"].as_str().unwrap())
        .collect();
    for name in ["head", "tail", "A.next", "B.task", "t1.hazard 1"] {
        assert!(names.contains(&name), "{names:?}");
    }
    let nodes = story["objects"].as_array().unwrap().iter().filter(|object| object["node"] == true);
    let linked = nodes.clone().filter(|node| node["linked"].is_number()).count();
    let puts = story["operations"].as_array().unwrap().iter();
    let puts =
        puts.filter(|operation| operation["name"].as_str().unwrap().starts_with("put")).count();
    assert_eq!(linked, puts + 1, "a node for each task, and the dummy");
    assert!(nodes.clone().any(|node| node["unlinked"].is_number()), "some are retired");
}

/// The values that words with this role took, in order.
fn values(story: &serde_json::Value, role: &str) -> Vec<String> {
    let words = story["words"].as_array().unwrap();
    let changes = story["changes"].as_array().unwrap().iter();
    changes
        .filter(|change| words[change[1].as_u64().unwrap() as usize]["role"] == role)
        .map(|change| change[2].as_str().map_or_else(|| change[2].to_string(), str::to_owned))
        .collect()
}

#[test]
fn chunks_are_filled_claimed_stolen_retired_and_kept() {
    let scratch = Scratch::new("trace-chunks");
    for pool in CHUNKED {
        let page = page(&scratch, &[pool, "--ops", "150", "--chunk-size", "4"]);
        assert!(page.contains("--chunk-size 4"), "the same again");
        let story = story(&page);
        let chunks = story["objects"].as_array().unwrap().iter();
        let chunks: Vec<_> = chunks.filter(|object| object["what"] == "chunk").collect();
        assert!(!chunks.is_empty() && chunks.iter().all(|chunk| chunk["groups"][0] == 4), "{pool}");
        let owners = values(&story, "o");
        let is = |test: fn(&[i64]) -> bool| {
            let read = |word: &String| {
                let numbers = word[1..].split(',').map(|number| number.parse().unwrap());
                numbers.collect::<Vec<i64>>()
            };
            owners.iter().map(read).any(|word| test(&word))
        };
        assert!(is(|word| word[2] == 1), "{pool}: none begins");
        assert!(is(|word| word[0] != word[1]), "{pool}: none is claimed");
        assert!(is(|word| word[0] == word[1] && word[0] >= 0 && word[2] == 0), "{pool}: no steal");
        assert!(is(|word| word[0] == -1 && word[3] > 0), "{pool}: none is retired");
        for role in ["h", "p", "e"] {
            let named = values(&story, role).iter().any(|value| value.starts_with('@'));
            assert!(named, "{pool}: nothing is ever in a {role}");
        }
        assert_eq!(values(&story, "s").iter().filter(|value| *value == "1").count(), 4, "{pool}");
        let counts = values(&story, "c");
        assert!(counts.iter().any(|count| count.starts_with("c4,")), "{pool}: none is full");
        let laps: Vec<_> = counts.iter().filter_map(|count| count.split(',').next_back()).collect();
        assert!(laps.contains(&"2"), "{pool}: none is used again");
    }
}

#[test]
fn trees_are_filled_shown_emptied_and_passed() {
    let scratch = Scratch::new("trace-trees");
    for (pool, what) in TREES.into_iter().zip(["tree", "binary tree"]) {
        let page = page(&scratch, &[pool, "--ops", "150", "--height", "3"]);
        assert!(page.contains("--height 3"), "the same again");
        let story = story(&page);
        let trees = story["objects"].as_array().unwrap().iter();
        let trees: Vec<_> = trees.filter(|object| object["what"] == what).collect();
        let places = |tree: &serde_json::Value| {
            tree["groups"]
                .as_array()
                .unwrap()
                .iter()
                .filter_map(|count| count.as_u64())
                .sum::<u64>()
        };
        assert!(trees.len() > 2 && trees.iter().all(|tree| places(tree) == 15), "{pool}");
        let fans = trees[0]["fans"].as_array().unwrap();
        // The root, and the words below: four of two leaves each, or those of each node.
        let expected = if pool == "cafe" { 1 + 4 } else { 1 + 15 };
        assert_eq!(fans.len(), expected, "{pool}");
        assert!(trees.iter().any(|tree| tree["unlinked"].is_number()), "{pool}: none is passed");
        let shown = values(&story, "v");
        let any = |start: &str| shown.iter().any(|value| value.starts_with(start));
        assert!(any("v1,") && any("v3,") && any("v0,"), "{pool}: {shown:?}");
        let leaves = values(&story, "f");
        assert_eq!(leaves.iter().any(|leaf| leaf == "f3,0"), pool == "cafe", "{pool}: {leaves:?}");
        assert!(values(&story, "t").iter().any(|task| task != "null"), "{pool}");
    }
}

#[test]
fn rooms_have_tickets_and_users() {
    let scratch = Scratch::new("trace-rooms");
    for (pool, what) in [("room-stack", "stack"), ("room-queue", "queue")] {
        let story = story(&page(&scratch, &[pool, "--ops", "60"]));
        let objects = story["objects"].as_array().unwrap();
        assert!(objects.iter().any(|object| object["what"] == what), "{pool}");
        // Both rooms have had tickets, also at once, and the first was opened more than once.
        let tickets = values(&story, "m");
        let any = |test: fn(&str) -> bool| tickets.iter().any(|value| test(value));
        assert!(
            any(|value| value.starts_with("m1.")) && any(|value| value.contains(",1.")),
            "{pool}: {tickets:?}"
        );
        assert!(
            any(|value| !value.starts_with("m0.")
                && !value.split(',').nth(1).unwrap().starts_with("0.")),
            "{pool}: {tickets:?}"
        );
        assert!(any(|value| value.contains(".2")), "{pool}: {tickets:?}");
        // Several were inside together, of either room, and left.
        assert!(any(|value| value.contains(";2.")) && any(|value| value.contains(";0.")), "{pool}");
        assert!(
            any(|value| value.ends_with(";1.0")) && any(|value| value.ends_with(";1.1")),
            "{pool}"
        );
        assert!(values(&story, "t").iter().any(|task| task != "null"), "{pool}");
    }
}

#[test]
fn rooms_themselves_can_be_watched_with_their_exit_code() {
    let scratch = Scratch::new("trace-houses");
    for (subject, rooms) in [("rooms", 3), ("counted-rooms", 5)] {
        let story = story(&page(&scratch, &[subject, "--ops", "40"]));
        let objects = story["objects"].as_array().unwrap();
        assert!(objects.iter().any(|object| object["what"] == "rooms"), "{subject}");
        let named = |name: &str| {
            let words = story["words"].as_array().unwrap();
            let is = |word: &&serde_json::Value| word["name"].as_str().unwrap().contains(name);
            words.iter().filter(is).count()
        };
        if subject == "rooms" {
            // Nobody joins where there is exit code: there is one inside, or a batch.
            let tickets = values(&story, "m");
            assert!(tickets.iter().any(|value| value.contains(";1.0")), "{tickets:?}");
            assert!(!tickets.iter().any(|value| value.contains(";2.0")), "{tickets:?}");
            assert_eq!((named("even gate "), named("batch")), (rooms, 1));
        } else {
            let nodes = objects.iter().filter(|object| object["what"] == "room");
            assert_eq!(nodes.count(), rooms);
            assert_eq!([named(".taken"), named(".open"), named(".left")], [rooms; 3]);
        }
        // Exit code of the first two rooms has run, and that shows.
        assert_eq!([named("exit code 0"), named("exit code 1"), named("exit code 2")], [1, 1, 0]);
        let visits = story["operations"].as_array().unwrap();
        assert_eq!(visits.len(), 40, "{subject}");
    }
}

#[test]
fn a_to_do_tree_is_told_with_its_counts() {
    let scratch = Scratch::new("trace-todo");
    let page = page(&scratch, &["todo-tree", "--ops", "40", "--height", "2"]);
    let story = story(&page);
    let tree = &story["objects"][0];
    assert_eq!(tree["what"], "to-do tree");
    // A root, two nodes, and four blocks of two places.
    assert_eq!((&tree["fans"], &tree["groups"]), (&json!([2, 2, 2]), &json!([2, 2, 2, 2])));
    let counts: Vec<u64> = values(&story, "y").iter().filter_map(|it| it.parse().ok()).collect();
    assert!(counts.iter().any(|&count| count > 1), "{counts:?}");
    let blocks: Vec<u64> = values(&story, "q").iter().filter_map(|it| it.parse().ok()).collect();
    assert!(blocks.iter().any(|word| word & 0b11 != 0 && word >> 16 > 0), "{blocks:?}");
}

#[test]
fn the_same_seed_gives_the_same_page_byte_for_byte() {
    let scratch = Scratch::new("trace-same");
    for pool in ["ms-queue", "ws-lifo", "locked", "salsa", "cafe-wait-free", "room-stack"] {
        for schedule in ["cost", "random"] {
            let run = |out: &str, surroundings: &str, seed: &str| {
                let output = cantina()
                    .args([
                        "sim",
                        "trace",
                        pool,
                        "--schedule",
                        schedule,
                        "--seed",
                        seed,
                        "--overwrite",
                        "--out",
                        out,
                    ])
                    .env("CANTINA_SURROUNDINGS", surroundings)
                    .current_dir(scratch.path())
                    .output()
                    .unwrap();
                assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
                fs::read(scratch.path().join(out)).unwrap()
            };
            let first = run("one.html", "", "5");
            let second =
                run("another-name-of-a-folder/and-of-a-file.html", &"x".repeat(5_000), "5");
            assert!(first == second, "{pool} by {schedule}");
            assert!(first != run("two.html", "", "6"), "{pool} by {schedule}");
        }
    }
}

#[test]
fn memory_without_buffers_has_no_late_stores() {
    let scratch = Scratch::new("trace-memory");
    let kinds = |memory| {
        let arguments = ["ms-queue", "--schedule", "random", "--memory", memory];
        story(&page(&scratch, &arguments))["steps"]["kinds"].as_str().unwrap().to_owned()
    };
    assert!(kinds("tso").contains('v'));
    assert!(!kinds("sequential").contains(['b', 'v']));
}

#[test]
fn bad_input_is_one_line_that_says_what_is_allowed() {
    let scratch = Scratch::new("trace-bad");
    fs::write(scratch.path().join("file"), "a file").unwrap();
    let cases: [(&[&str], &[&str]); 13] = [
        (&[], &["POOL"]),
        (&["dance"], &["no pool `dance`; allowed: ", "ms-queue"]),
        (&["locked", "--threads", "0"], &["allowed: 1 to 32"]),
        (&["locked", "--threads", "33"], &["allowed: 1 to 32"]),
        (&["locked", "--ops", "0"], &["allowed: 1 to 5000"]),
        (&["salsa", "--chunk-size", "65536"], &["allowed: 1 to 65535"]),
        (&["cafe", "--height", "5"], &["allowed: 0 to 4"]),
        (&["locked", "--machine", "0x4"], &["0x4", "has no core"]),
        (&["locked", "--schedule", "luck"], &["possible values: cost, random"]),
        (
            &["locked", "--spead"],
            &["--spead", "allowed: POOL, --threads, --ops, --chunk-size, --height, --out"],
        ),
        (&["locked", "--out", "file/below.html"], &["cannot write to `file`"]),
        (&["locked", "--out", "."], &["it is a directory; allowed: a file"]),
        (&["locked", "--out", "file"], &["there is a `file`; allowed: another --out, or --overwr"]),
    ];
    for (arguments, expected) in cases {
        let output = trace(&scratch, arguments);
        let line = one_line_error(&output, 2);
        for part in expected {
            assert!(line.contains(part), "{arguments:?}: {line:?} should say {part:?}");
        }
    }
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt;
        let name = std::ffi::OsStr::from_bytes(b"\xff");
        let mut trace = cantina();
        trace.args(["sim", "trace", "locked", "--out"]).arg(name).current_dir(scratch.path());
        let line = one_line_error(&trace.output().unwrap(), 2);
        assert!(line.contains("its name is not UTF-8; allowed: a file whose name is"), "{line}");
    }
    assert_eq!(scratch.names(), ["file"], "nothing is left behind");
    assert_eq!(fs::read_to_string(scratch.path().join("file")).unwrap(), "a file");
    assert!(trace(&scratch, &["locked", "--out", "file", "--overwrite"]).status.success());
    assert!(fs::read_to_string(scratch.path().join("file")).unwrap().contains("<html"));
}

#[test]
fn a_page_of_which_nothing_is_said_stands_beside_those_before_it() {
    let scratch = Scratch::new("trace-again");
    let arguments = ["locked", "--ops", "2", "--machine", "1x2"];
    for _ in 0..3 {
        assert!(trace(&scratch, &arguments).status.success());
    }
    assert_eq!(scratch.names(), ["trace-2.html", "trace-3.html", "trace.html"]);
}
