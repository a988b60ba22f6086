//! `cantina check` from outside.

mod program;

use program::{Scratch, cantina, file, one_line_error};

#[test]
fn a_sound_pool_is_checked_on_both_machines_and_nothing_is_found() {
    let mut check = cantina();
    check.args(["check", "locked", "--only", "histories_of_small_programs_are_linearizable"]);
    let output = check.args(["--seed", "7", "--rounds", "3"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
    assert!(text.contains("real: 3 runs of 1 checks"), "{text}");
    assert!(text.contains("sim: 3 runs of 1 checks"), "{text}");
    assert!(text.ends_with("Nothing found, from seed 7 on.\n"), "{text}");
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn panics_that_the_checks_plant_are_not_shown() {
    let mut check = cantina();
    check.args(["check", "locked", "--rounds", "1", "--seconds", "60"]);
    check.args(["--only", "tasks_that_panic_when_dropped_take_no_other_with_them"]);
    let output = check.output().unwrap();
    assert!(output.status.success());
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_log_replaces_nothing_unless_that_is_said() {
    let scratch = Scratch::new("log");
    std::fs::write(scratch.path().join("log"), "an old log").unwrap();
    let check = |more: &[&str]| {
        let mut check = cantina();
        check.args(["check", "locked", "--on", "sim", "--rounds", "1", "--seed", "7"]);
        check.args(["--only", "tasks_that_panic_when_dropped_take_no_other_with_them"]);
        check.args(more).current_dir(scratch.path()).output().unwrap()
    };
    let expected = "there is a `log`; allowed: another --log, or --overwrite";
    assert!(one_line_error(&check(&["--log", "log"]), 2).contains(expected));
    let none = check(&["--overwrite"]);
    assert!(one_line_error(&none, 2).contains("--log"), "{none:?}");
}

#[test]
fn a_schedule_is_taken_as_text_and_as_a_file() {
    let scratch = Scratch::new("schedule");
    file(&scratch, "short.txt", "\n");
    file(&scratch, "broken.txt", "0 x");
    let check = |arguments: &[&str]| {
        let mut check = cantina();
        check.args(["check", "locked", "--only"]);
        check.arg("tasks_that_panic_when_dropped_take_no_other_with_them");
        check.args(arguments).current_dir(scratch.path()).output().unwrap()
    };
    // After its last choice whoever runs goes on, and nobody waits here for long.
    for schedule in ["", "@short.txt"] {
        let output = check(&["--seed", "7", "--schedule", schedule]);
        assert!(output.status.success(), "{output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.starts_with("Nothing found: locked passes tasks_that_panic"), "{text}");
    }
    let refused: [(&[&str], &str); 7] = [
        (&["--seed", "7", "--schedule", "9*5"], "the schedule is not one of locked, tasks_that"),
        (
            &["--seed", "7", "--schedule", "dance"],
            "not a choice of a schedule: \"dance\"; allowed:",
        ),
        (&["--seed", "7", "--schedule", "0*99999999999"], "more than a run has; allowed:"),
        (&["--seed", "7", "--schedule", "@broken.txt"], "`broken.txt`: not a choice of a schedule"),
        (&["--seed", "7", "--schedule", "@absent.txt"], "No such file"),
        (&["--schedule", "0"], "--seed"),
        (&["salsa", "--seed", "7", "--schedule", "0"], "allowed: one POOL"),
    ];
    for (arguments, expected) in refused {
        let line = one_line_error(&check(arguments), 2);
        assert!(line.contains(expected), "{arguments:?}: {line}");
    }
}
