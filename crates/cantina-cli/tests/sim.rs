//! `cantina sim` from outside.

mod program;

use program::{Scratch, cantina};
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
    let page = fs::read_to_string(scratch.path().join("out/report.html")).unwrap();
    assert!(page.contains("never absolute times"));
    assert!(page.contains("What is not modelled"));
    assert!(!page.contains("the operating system places"), "a note about the real machine");
}
