//! Recorded programs over an owner queue on many schedules; and the traps of the paper, which the schedules find.

extern crate cantina_on_sim as cantina;

#[path = "../../../crates/cantina/tests/owner_history/mod.rs"]
mod owner_history;
#[path = "../../../crates/cantina/tests/scenarios/owner_queue.rs"]
#[allow(dead_code, reason = "the others are run by `seeds`")]
mod scenarios;
mod traps;

use machine::engine::Simulation;
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

/// On how many of a thousand schedules it goes wrong.
fn wrong(scenario: impl Fn()) -> usize {
    (0..1_000).filter(|&seed| simulation(seed).run(&scenario).is_err()).count()
}

/// O2 of the paper: `deq_and_is_empty` ends ownership before the last item has been worked on.
#[test]
fn work_after_the_end_of_ownership_overlaps() {
    assert_eq!(wrong(|| traps::counted(traps::Way::Right)), 0);
    assert!(wrong(|| traps::counted(traps::Way::WorkLast)) > 0);
}

/// O3 of the paper: the order of linking and counting.
#[test]
fn an_item_that_is_counted_before_it_is_linked_is_not_found() {
    assert!(wrong(|| traps::counted(traps::Way::CountFirst)) > 0);
}

/// O3 of the paper, the other way round.
#[test]
fn an_item_that_is_unlinked_after_it_is_uncounted_has_two_owners() {
    assert!(wrong(|| traps::counted(traps::Way::UncountFirst)) > 0);
}

/// O4 of the paper: a list whose links are made in two steps has a gap that an owner runs into.
#[test]
fn a_list_with_a_gap_gives_an_owner_nothing() {
    assert!(wrong(|| traps::counted(traps::Way::Gap)) > 0);
}

/// O5 of the paper: an item whose enqueue has returned waits for a sender that has not counted its own yet.
#[test]
fn a_counted_queue_has_items_that_nobody_owns() {
    assert!(wrong(traps::an_item_is_owned_when_its_enqueue_returns) > 0);
    assert_eq!(wrong(traps::an_item_of_ours_is_owned_when_its_enqueue_returns), 0);
}

/// O9 of the paper: who fills a value owns its waiters, and so does who adds the first of them.
#[test]
fn a_value_that_does_not_count_itself_has_two_owners() {
    assert_eq!(wrong(|| traps::a_value_wakes_its_waiters(true)), 0);
    assert!(wrong(|| traps::a_value_wakes_its_waiters(false)) > 0);
}

/// O11 of the paper: an operation whose arguments are told one by one begins when the first is there. The scheduler's own
/// guard is left out by the mutant `scheduler-no-guard`.
#[test]
fn an_operation_without_a_guard_begins_too_early() {
    assert_eq!(wrong(|| traps::an_operation_begins_once(true)), 0);
    assert!(wrong(|| traps::an_operation_begins_once(false)) > 0);
}
