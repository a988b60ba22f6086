//! Thieves that rob each other of a chunk which a third may have stopped to take from: on the schedule that
//! would have them do so for ever, and on others.

extern crate cantina_on_sim as cantina;

use cantina::salsa::{Consumer, Mode, Salsa};
use machine::Arc;
use machine::atomic::AtomicUsize;
use machine::atomic::Ordering::Relaxed;
use machine::engine::{Memory, Op, Simulation, Slot, ThreadId};
use machine::progress::operation;
use machine::schedule::{Adversary, Schedule};
use machine::thread::{self, JoinHandle};
use machine::topology::Topology;
use machine::trace::Choice;

/// Steps of both until one of them has a task: many times as many as it takes.
const SOON: u64 = 5_000;
/// Steps in which a thief has a chunk, or has not.
const AWHILE: u64 = 100;
/// Steps in which the others are done.
const LONG: u64 = 100_000;
/// Schedules that are drawn for each step to stop at.
const SEEDS: u64 = 300;
/// The thread that begins.
const FIRST: ThreadId = ThreadId(1);
/// Own steps in which a consumer gets a task when it is alone.
const ALONE: u64 = 1_000;

/// Whoever has claimed a chunk waits, before it reads the index, until the other has claimed it too;
/// while that one gives way, the scenario has a step. Before, that goes on until it only looks.
fn each_robs_the_other() -> Schedule {
    Schedule::Adversary(Adversary::new(|view, _| {
        let is_about = |slot, op| view.about(slot).is_some_and(|about| about.op == op);
        let current = view.current();
        if current == Some(SCENARIO) && !is_about(SCENARIO, Op::Load) {
            return Some(Choice::Run(SCENARIO));
        }
        let thieves: Vec<Slot> = view.choices().filter_map(thief).collect();
        let goes_on = |slot: &Slot| thieves.contains(slot) && !is_about(*slot, Op::HeavyFence);
        let one_that_goes_on = || thieves.iter().copied().find(goes_on);
        let other = || thieves.iter().copied().find(|slot| Some(*slot) != current);
        let both_have_claimed = || other().filter(|_| current.is_some()).or(current);
        let next = current.filter(goes_on).or_else(one_that_goes_on).or_else(both_have_claimed);
        Some(Choice::Run(next.unwrap_or(SCENARIO)))
    }))
}

/// The thread of the scenario itself.
const SCENARIO: Slot = 0;

fn thief(choice: Choice) -> Option<Slot> {
    match choice {
        Choice::Run(slot) if slot != SCENARIO => Some(slot),
        _ => None,
    }
}

fn gets(mut consumer: Consumer<u64>, done: &Arc<AtomicUsize>) -> JoinHandle<Option<u64>> {
    let done = done.clone();
    thread::spawn(move || {
        let got = operation("get", || consumer.get());
        // stat: the scenario waits.
        done.fetch_add(1, Relaxed);
        got
    })
}

/// Consumers of a chunk with so many tasks whose own consumer is gone.
fn consumers_of<const CONSUMERS: usize>(tasks: u64) -> [Consumer<u64>; CONSUMERS] {
    let pool: Salsa<u64> = Salsa::builder()
        .chunk_size(8)
        .max_consumers(CONSUMERS + 1)
        .mode(Mode::Asymmetric)
        .patience(0)
        .topology(Topology::mock(1, 1))
        .build()
        .unwrap();
    let _gone = pool.consumer();
    let mut producer = pool.producer();
    (1..=tasks).for_each(|task| producer.put(task));
    [(); CONSUMERS].map(|()| pool.consumer())
}

/// One has begun to take from the chunk, perhaps; then two come. The scenario looks on, or waits.
fn robbers(looks_on: bool) {
    let [begins, one, two] = consumers_of(3);
    let _ = gets(begins, &Arc::default()).join();
    let done = Arc::default();
    let threads = [gets(one, &done), gets(two, &done)];
    // stat: until both are done.
    while looks_on && done.load(Relaxed) < threads.len() {}
    let got = threads.map(|thread| thread.join().unwrap());
    assert!(got[0].is_some() && got[1].is_some() && got[0] != got[1], "{got:?} of three");
}

/// Two come to a chunk whose owner has stolen it and won a task, and so takes the next without a claim.
fn robbers_of_a_thief() {
    let [one, two, mut owner] = consumers_of(4);
    let first = owner.get();
    let threads = [one, two, owner].map(|consumer| gets(consumer, &Arc::default()));
    let mut got = vec![first];
    got.extend(threads.map(|thread| thread.join().unwrap()));
    got.sort_unstable();
    assert!(got.iter().copied().eq((1..=4).map(Some)), "{got:?} of four");
}

/// Runs `scenario` on so many schedules, with the first thread stopped at each of its steps.
fn comes_out_right(scenario: fn(), seeds: u64, schedule: impl Fn(u64) -> Schedule) {
    for steps in 0..ALONE {
        for seed in 0..seeds {
            let simulation = Simulation::new().memory(Memory::Sequential).lock_free_within(SOON);
            let stopped = simulation.seed(seed).schedule(schedule(seed)).crash(FIRST, steps);
            let outcome = stopped.run(scenario).unwrap_or_else(|failure| panic!("{failure}"));
            if outcome.crashed.is_empty() {
                return;
            }
        }
    }
    panic!("it takes more than {ALONE} steps");
}

#[test]
fn thieves_that_rob_each_other_get_a_task_wherever_another_has_stopped() {
    comes_out_right(|| robbers(true), 1, |_| each_robs_the_other());
}

#[test]
fn two_thieves_get_a_task_each_wherever_another_has_stopped() {
    comes_out_right(
        || robbers(false),
        SEEDS,
        |seed| match seed % 2 {
            0 => Schedule::Random,
            _ => Schedule::Pct { depth: 4, length: 100 },
        },
    );
}

/// The first two stall, one after the other, the second for long. The third goes on when they do.
fn one_after_the_other() -> Schedule {
    Schedule::Adversary(Adversary::new(|view, _| {
        let threads = view.choices().filter_map(thief);
        view.current().or_else(|| threads.min()).map(Choice::Run)
    }))
}

#[test]
fn three_get_a_task_each_wherever_two_stall() {
    for (one, two) in (0..AWHILE).flat_map(|one| (0..AWHILE).map(move |two| (one, two))) {
        // The first goes on shortly before the second stalls, and so after it.
        let simulation =
            Simulation::new().memory(Memory::Sequential).schedule(one_after_the_other());
        let stalled = simulation.stall(ThreadId(1), one, two.saturating_sub(2));
        let outcome = stalled.stall(ThreadId(2), two, LONG).run(robbers_of_a_thief);
        outcome.unwrap_or_else(|failure| panic!("{failure}"));
    }
}
