//! `cantina check` from outside.

mod program;

use program::cantina;

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
    check.args(["--only", "a_task_that_panics_when_dropped_takes_no_other_with_it"]);
    let output = check.output().unwrap();
    assert!(output.status.success());
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}
