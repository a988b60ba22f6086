//! SALSA: steals that others undo. What the scenarios are about is counted, so that whoever runs them on many
//! schedules can say that it was come to.

use super::salsa::{Task, all_once, get, pool, task};
use cantina::salsa::{Mode, Salsa};
use machine::thread;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// What is to happen on some schedules of a scenario.
static STEPS: [(&str, &AtomicU64); 3] = [
    ("a scan undoes a claim", &UNDONE),
    ("a thief whose claim was undone makes its attempt", &ATTEMPTS),
    ("two rob each other of one task", &ROBBED),
];

/// Claims that a scan has undone.
static UNDONE: AtomicU64 = AtomicU64::new(0);
/// Tasks that a thief got although a scan had undone its claim.
static ATTEMPTS: AtomicU64 = AtomicU64::new(0);
/// Thieves that found themselves robbed by another.
static ROBBED: AtomicU64 = AtomicU64::new(0);

/// Whether `scenario` has come to what it is about; of those in this file only.
pub(crate) fn has_come_to_it(scenario: &str) -> bool {
    // stat: the runs are over.
    STEPS.iter().all(|(name, steps)| *name != scenario || steps.load(Relaxed) > 0)
}

/// Counts for the one who runs the scenario: on all schedules together.
fn count(steps: &AtomicU64, more: u64) {
    // stat: read when all schedules are over.
    steps.fetch_add(more, Relaxed);
}

/// A task is put, and a thief claims its chunk, when its owner has found nothing to take and nothing to steal,
/// and looks whether all is empty. What the thief got.
fn owner_and_thief(pool: &Salsa<Task>) -> Option<u64> {
    let (mut owner, mut thief) = (pool.consumer(), pool.consumer());
    let mut producer = pool.producer();
    producer.put(task(9));
    assert_eq!(get(&mut owner), Some(9));
    let steals = thread::spawn(move || {
        producer.put(task(1));
        get(&mut thief)
    });
    let ours = get(&mut owner);
    let theirs = steals.join().unwrap();
    all_once(ours.into_iter().chain(theirs).collect(), 1);
    theirs
}

/// The owner gets the task, or the thief.
pub(crate) fn a_scan_undoes_a_claim() {
    let pool = pool(4, 2, Mode::Fence);
    owner_and_thief(&pool);
    count(&UNDONE, pool.metrics().undone);
}

/// The owner claims the slot it has announced, as it finds another word in the place of its own: so does
/// the thief, and one of them has it.
pub(crate) fn a_thief_whose_claim_was_undone_makes_its_attempt() {
    let pool = pool(4, 2, Mode::Asymmetric);
    let theirs = owner_and_thief(&pool);
    let metrics = pool.metrics();
    let attempt = theirs.is_some() && metrics.undone > 0 && metrics.steals == 0;
    count(&ATTEMPTS, u64::from(attempt));
}

/// One task, whose consumer has left, and two that come for it.
pub(crate) fn two_rob_each_other_of_one_task() {
    let pool = pool(2, 3, Mode::Fence);
    let gone = pool.consumer();
    pool.producer().put(task(1));
    let (mut one, mut two) = (pool.consumer(), pool.consumer());
    drop(gone);
    let other = thread::spawn(move || get(&mut two));
    let ours = get(&mut one);
    let theirs = other.join().unwrap();
    drop(one);
    all_once(ours.into_iter().chain(theirs).collect(), 1);
    count(&ROBBED, pool.metrics().robbed);
}
