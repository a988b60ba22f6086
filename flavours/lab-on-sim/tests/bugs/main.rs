//! What the simulated machine is worth: bugs of five kinds, each planted in a twin, are found on some
//! schedule, shown with an interleaving that explains them, and found again when what was printed is
//! replayed. The twins without them show nothing on as many schedules.
//!
//! And the mistakes of a paper, each in a twin of its own.

mod chunk;
mod dekker;
mod figure4;
mod hunt;
mod queue;
#[path = "../recorded/mod.rs"]
mod recorded;
mod shelf;
mod stack;
mod twin;

use cantina_check::Spec;
use chunk::{Left, OneChunk};
use dekker::keep_apart;
use figure4::{Figure4, Mistake};
use hunt::{Witness, Wrong, hunt, judge};
use machine::engine::{Memory, Simulation};
use machine::schedule::Exhaustive;
use queue::{Flaw, Queue};
use recorded::Call::{Get, Put};
use recorded::{Program, play};
use shelf::Shelf;
use stack::Stack;
use twin::{Shared, Twin};

/// Steps after which a program that has some hundred hangs.
const STEPS: u64 = 20_000;

fn simulation() -> Simulation {
    Simulation::new().steps(STEPS)
}

/// What is wrong with the history of a run.
fn run(twin: impl Twin, spec: Spec, first: &[u64], program: &Program) -> Result<(), Wrong> {
    judge(&play(&Shared::new(twin), first, program), &spec)
}

fn found(simulation: &Simulation, scenario: fn() -> Result<(), Wrong>) -> Witness {
    hunt(simulation, scenario).expect("some schedule shows it")
}

fn sound(simulation: &Simulation, scenario: fn() -> Result<(), Wrong>) {
    if let Some(witness) = hunt(simulation, scenario) {
        panic!("{witness}");
    }
}

/// One gets the only task while another gets it, puts the next, and gets that.
fn a_node_comes_back(flaw: Option<Flaw>) -> Result<(), Wrong> {
    run(Queue::new(flaw), Spec::queue(), &[1], &[&[Get], &[Get, Put(2), Get]])
}

#[test]
fn a_queue_whose_nodes_come_back_is_found() {
    let witness = found(&simulation(), || a_node_comes_back(Some(Flaw::NoCounts)));
    assert!(witness.finding.contains("was got more than once"), "{witness}");
    // The exchange that should have failed.
    assert!(witness.interleaving.contains("head (line "), "{witness}");
    assert!(witness.interleaving.contains("changes 0 to 1"), "{witness}");
    sound(&simulation(), || a_node_comes_back(None));
}

/// Two that put at once.
fn two_put(stores: bool) -> Result<(), Wrong> {
    run(Stack::new(stores), Spec::stack(), &[], &[&[Put(1)], &[Put(2)]])
}

#[test]
fn a_store_instead_of_an_exchange_is_found() {
    let witness = found(&simulation(), || two_put(true));
    assert!(witness.finding.contains("something was inside"), "{witness}");
    assert!(witness.interleaving.contains("top (line "), "{witness}");
    sound(&simulation(), || two_put(false));
}

#[test]
fn a_missing_fence_is_found_where_stores_wait_in_buffers() {
    let witness = found(&simulation().memory(Memory::Tso), || keep_apart(false));
    assert_eq!(witness.finding, "both have entered");
    let late = witness.interleaving.find("from the buffer").expect("a store that waited");
    assert!(witness.interleaving[..late].contains("wants (line "), "{witness}");
    sound(&simulation(), || keep_apart(true));
}

#[test]
fn a_missing_fence_does_no_harm_where_stores_are_seen_at_once() {
    let sequential = simulation().memory(Memory::Sequential);
    let mut all = Exhaustive::new(sequential, || keep_apart(false));
    for outcome in all.by_ref() {
        assert!(outcome.unwrap().value.is_ok());
    }
    assert!(all.is_complete(), "all {} schedules", all.schedules());
}

/// Two that put where there is room for one, and then get.
fn no_room(keeps_the_lock: bool) -> Result<(), Wrong> {
    let spec = Spec::queue().bounded(1, 0);
    run(Shelf::new(keeps_the_lock), spec, &[], &[&[Put(1), Get], &[Put(2), Get]])
}

#[test]
fn a_lock_that_is_not_released_is_found_with_those_who_wait_for_it() {
    let witness = found(&simulation(), || no_room(true));
    assert!(witness.finding.starts_with("deadlock: every thread waits"), "{witness}");
    assert!(witness.finding.contains("'main' waits for the end of thread "), "{witness}");
    // Both wait, and for the one that found no room.
    let (waits, holds) = ("in get, waits for a lock held by thread ", ["1 't1'", "2 't2'"]);
    let count = |holder| witness.finding.matches(&format!("{waits}{holder}")).count();
    assert_eq!(holds.map(count).into_iter().max(), Some(2), "{witness}");
    assert!(witness.interleaving.trim_end().ends_with("is locked already"), "{witness}");
    sound(&simulation(), || no_room(false));
}

/// Two that get from a queue with two tasks.
fn two_get(flaw: Option<Flaw>) -> Result<(), Wrong> {
    run(Queue::new(flaw), Spec::queue(), &[1, 2], &[&[Get], &[Get]])
}

#[test]
fn a_queue_whose_none_is_early_is_found() {
    let witness = found(&simulation(), || two_get(Some(Flaw::BeatenSaysEmpty)));
    assert!(witness.finding.contains("\"empty\", but at every instant of that call"), "{witness}");
    assert!(witness.interleaving.contains("the exchange fails"), "{witness}");
    assert!(witness.interleaving.contains("ends get empty"), "{witness}");
    sound(&simulation(), || two_get(None));
}

/// An owner and a thief of a chunk with three tasks.
fn a_chunk_is_stolen(left_out: Option<Left>) -> Result<(), Wrong> {
    let program: &Program = &[&[Get, Get, Get], &[Get, Get]];
    judge(&play(&OneChunk::new(left_out), &[1, 2, 3], program), &Spec::bag())
}

#[test]
fn an_owner_that_does_not_look_again_is_found() {
    let witness = found(&simulation(), || a_chunk_is_stolen(Some(Left::Look)));
    assert!(witness.finding.contains("was got more than once"), "{witness}");
    assert!(witness.interleaving.contains("owner (line "), "{witness}");
    sound(&simulation(), || a_chunk_is_stolen(None));
}

#[test]
fn a_thief_that_is_not_careful_is_found() {
    let witness = found(&simulation(), || a_chunk_is_stolen(Some(Left::CarefulSlot)));
    assert!(witness.finding.contains("was got more than once"), "{witness}");
}

#[test]
fn a_thief_that_changes_the_owner_word_once_is_found() {
    let witness = found(&simulation(), || a_chunk_is_stolen(Some(Left::SecondChange)));
    assert!(witness.finding.contains("was got more than once"), "{witness}");
}

/// A get from an empty stack, and what comes then.
fn nothing_there(mistake: Option<Mistake>) -> Result<(), Wrong> {
    run(Figure4::new(mistake), Spec::stack(), &[], &[&[Get], &[Put(1)]])
}

#[test]
fn figure_4_reads_the_place_before_the_first() {
    let witness = found(&simulation(), || nothing_there(Some(Mistake::EmptyBelowZero)));
    assert!(witness.finding.contains("999"), "{witness}");
    sound(&simulation(), || nothing_there(None));
}

/// Two that get what lies at both sides of the border between the arrays.
fn at_the_border(mistake: Option<Mistake>) -> Result<(), Wrong> {
    run(Figure4::new(mistake), Spec::stack(), &[1, 2, 3], &[&[Get], &[Get]])
}

#[test]
fn figure_4_reads_what_was_not_copied() {
    let witness = found(&simulation(), || at_the_border(Some(Mistake::BorderOffByOne)));
    assert!(witness.finding.contains("999"), "{witness}");
    sound(&simulation(), || at_the_border(None));
}

/// Two that put where one copies what the other puts, and then the array grows.
fn copied_at_once(mistake: Option<Mistake>) -> Result<(), Wrong> {
    let program: &Program = &[&[Get, Put(3)], &[Get, Put(4), Put(5)]];
    run(Figure4::new(mistake), Spec::stack(), &[1, 2], program)
}

#[test]
fn figure_4_loses_tasks_when_it_is_smaller_than_its_users() {
    let witness = found(&simulation(), || copied_at_once(Some(Mistake::SmallerThanItsUsers)));
    // What was there before is copied, and not what is being put.
    assert!(witness.finding.contains("1 was got more than once"), "{witness}");
    sound(&simulation(), || copied_at_once(None));
}

/// One that finds no room, and another that is faster.
fn no_room_again(mistake: Option<Mistake>) -> Result<(), Wrong> {
    run(Figure4::new(mistake), Spec::stack(), &[1, 2], &[&[Put(3)], &[Put(4), Put(5)]])
}

#[test]
fn figure_4_may_find_no_room_again_and_again() {
    let witness = found(&simulation(), || no_room_again(Some(Mistake::EntersAgain)));
    assert!(witness.finding.contains("full"), "{witness}");
    sound(&simulation(), || no_room_again(None));
}
