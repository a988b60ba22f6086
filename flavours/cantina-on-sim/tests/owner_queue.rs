//! Recorded programs over an owner queue on many schedules; and the traps of the paper, which the schedules find.

extern crate cantina_on_sim as cantina;

#[path = "../../../crates/cantina/tests/owner_history/mod.rs"]
mod owner_history;
#[path = "../../../crates/cantina/tests/scenarios/owner_queue.rs"]
#[allow(dead_code, reason = "the others are run by `seeds`")]
mod scenarios;
mod traps;

use machine::engine::{Failure, Simulation};
use machine::schedule::Schedule;

fn simulation(seed: u64) -> Simulation {
    let schedule = match seed % 2 {
        0 => Schedule::Random,
        _ => Schedule::Pct { depth: 3, length: 60 },
    };
    Simulation::new().seed(seed).schedule(schedule).steps(20_000)
}

#[test]
fn every_recorded_program_has_an_order() {
    for seed in 0..2_000 {
        let outcome = simulation(seed).run(|| owner_history::a_random_program_has_an_order(seed));
        outcome.unwrap_or_else(|failure| panic!("{failure}"));
    }
}

/// Whether it goes wrong as each of `whys` says, on some of a thousand schedules. It does not go wrong otherwise.
fn goes_wrong(whys: &[&str], scenario: impl Fn()) -> bool {
    let mut seen = vec![false; whys.len()];
    for failure in (0..1_000).filter_map(|seed| simulation(seed).run(&scenario).err()) {
        let Failure::Panic { message, .. } = failure else { panic!("{failure}") };
        let why = whys.iter().position(|why| message.contains(why));
        seen[why.unwrap_or_else(|| panic!("{message}"))] = true;
    }
    !seen.contains(&false)
}

/// Whether all is well on a thousand schedules.
fn is_right(scenario: impl Fn()) -> bool {
    goes_wrong(&[], scenario)
}

const TWO: &str = "two at work";
const NOTHING: &str = "the owner finds nothing";
const NOBODY: &str = "nobody owns it";

/// O2 of the paper: `deq_and_is_empty` ends ownership before the last item has been worked on.
#[test]
fn work_after_the_end_of_ownership_overlaps() {
    assert!(is_right(|| traps::counted(traps::Way::Right)));
    assert!(goes_wrong(&[TWO], || traps::counted(traps::Way::WorkLast)));
}

/// O3 of the paper: the order of linking and counting.
#[test]
fn an_item_that_is_counted_before_it_is_linked_is_not_found() {
    assert!(goes_wrong(&[NOTHING], || traps::counted(traps::Way::CountFirst)));
}

/// O3 of the paper, the other way round.
#[test]
fn an_item_that_is_unlinked_after_it_is_uncounted_has_two_owners() {
    assert!(goes_wrong(&[TWO], || traps::counted(traps::Way::UncountFirst)));
}

/// O4 of the paper: a list whose links are made in two steps has a gap that an owner runs into.
#[test]
fn a_list_with_a_gap_gives_an_owner_nothing() {
    assert!(goes_wrong(&[NOTHING], || traps::counted(traps::Way::Gap)));
}

/// O5 of the paper: an item whose enqueue has returned waits for a sender that has not counted its own yet.
#[test]
fn a_counted_queue_has_items_that_nobody_owns() {
    assert!(goes_wrong(&[NOBODY], traps::an_item_is_owned_when_its_enqueue_returns));
    assert!(is_right(traps::an_item_of_ours_is_owned_when_its_enqueue_returns));
}

/// O9 of the paper: who fills a value owns its waiters, and so does who adds the first of them.
#[test]
fn a_value_that_does_not_count_itself_has_two_owners() {
    assert!(is_right(|| traps::a_value_wakes_its_waiters(true)));
    let whys = ["woken before the value is there", NOTHING, TWO];
    assert!(goes_wrong(&whys, || traps::a_value_wakes_its_waiters(false)));
}

/// O11 of the paper: an operation whose arguments are told one by one begins when the first is there. The scheduler's own
/// guard is left out by the mutant `scheduler-no-guard`.
#[test]
fn an_operation_without_a_guard_begins_too_early() {
    assert!(is_right(|| traps::an_operation_begins_once(true)));
    let whys = ["begun before its arguments are there", "not begun once"];
    assert!(goes_wrong(&whys, || traps::an_operation_begins_once(false)));
}
