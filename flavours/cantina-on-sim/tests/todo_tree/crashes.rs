//! Threads that die in the middle of everything: all but one, at any of their steps.

use crate::each_step;
use cantina::todo_tree::{Shape, TodoTree};
use machine::Arc;
use machine::atomic::AtomicU64;
use machine::atomic::Ordering::{Acquire, Release};
use machine::engine::{Simulation, ThreadId};
use machine::progress::operation;
use machine::{thread, time};
use std::iter;

/// Steps after which a run hangs: those that are left would wait for the dead.
const STEPS: u64 = 20_000;
/// Steps of the one that is left until one of its operations ends.
const SOON: u64 = 2_000;
/// Tasks that are inside before.
const FIRST: u64 = 2;
/// What each thread that dies does: puts a task, gets one, puts another.
const TASKS: u64 = 2;

/// What a thread has done, written after each call: tasks that it has put, and those that it has got, a bit for each.
#[derive(Default)]
struct Ledger {
    put: AtomicU64,
    got: AtomicU64,
}

fn add(word: &AtomicU64, task: u64) {
    word.fetch_or(1 << task, Release);
}

/// Bits of all tasks of a thread that dies.
fn all_of(thread: u64) -> u64 {
    (0..TASKS).map(|number| 1 << task_of(thread, number)).sum()
}

/// The task of that number of a thread: those that are inside before come first.
fn task_of(thread: u64, number: u64) -> u64 {
    FIRST + thread * TASKS + number
}

/// So many threads that die somewhere, and the scenario, which puts, gets, and then drains all there is.
fn with_dead(build: fn() -> TodoTree<u64>, dead: u64) {
    let pool = build();
    let mut here = pool.worker();
    here.put_all(0..FIRST).unwrap();
    let ledgers: Vec<Arc<Ledger>> = (0..dead).map(|_| Arc::default()).collect();
    let others: Vec<_> =
        (0..dead).map(|thread| (thread, ledgers[thread as usize].clone())).collect();
    for (number, ledger) in others {
        let mut worker = pool.worker();
        thread::spawn(move || {
            if operation("put", || worker.try_put(task_of(number, 0))).is_ok() {
                add(&ledger.put, task_of(number, 0));
            }
            if let Some(task) = operation("get", || worker.get()) {
                add(&ledger.got, task);
            }
            if operation("put", || worker.put_all([task_of(number, 1)])).is_ok() {
                add(&ledger.put, task_of(number, 1));
            }
        });
    }
    let own = task_of(dead, 0);
    let mut got = 0;
    let mut keep = |task: u64| {
        assert!(got & 1 << task == 0, "{task} came twice");
        got |= 1 << task;
    };
    let has_put = operation("put", || here.try_put(own)).is_ok();
    operation("get", || here.get()).into_iter().for_each(&mut keep);
    // The others may go on while this one drains: it stops when there is nothing, and they have ended or died.
    thread::yield_now();
    for _ in 0..3 {
        iter::from_fn(|| operation("get", || here.get())).for_each(&mut keep);
        thread::sleep(time::Duration::from_millis(1));
    }
    // What the dead had put, and not counted, comes to light.
    pool.refresh();
    iter::from_fn(|| operation("get", || here.get())).for_each(&mut keep);
    let put_by_all = ledgers.iter().fold((1 << FIRST) - 1, |all, it| all | it.put.load(Acquire));
    let expected = put_by_all | u64::from(has_put) << own;
    let theirs = ledgers.iter().fold(0, |all, it| all | it.got.load(Acquire));
    assert_eq!(got & theirs, 0, "got by two");
    let lost = (expected & !got & !theirs).count_ones();
    assert!(u64::from(lost) <= dead, "{lost} lost: more than the dead had in their hands");
    let put_at_all = (0..dead).fold(expected, |all, thread| all | all_of(thread));
    assert_eq!(got & !put_at_all, 0, "never put");
    // Room for all but what the dead have in their hands: a put each, or a get each.
    let free = pool.capacity() as u64 - dead;
    for _ in 0..free {
        operation("put", || here.try_put(own)).expect("the dead keep one place each");
    }
    assert_eq!(here.drain().count() as u64, free);
}

/// Runs it with so many threads stopped after all combinations of numbers of their steps, or after so many of a hundred.
fn die_anywhere(dead: u32, of_a_hundred: u64, build: fn() -> TodoTree<u64>) {
    // There are many more combinations of three.
    for seed in each_step::seeds(2, if dead > 2 { 1 } else { 8 }) {
        let simulation = Simulation::new().seed(seed).steps(STEPS).lock_free_within(SOON);
        each_step::die(&simulation, dead, of_a_hundred, move || with_dead(build, dead.into()));
    }
}

fn blocks() -> TodoTree<u64> {
    TodoTree::builder().capacity(8).widths(2, 2, 4).seed(0).build().unwrap()
}

fn below_nodes() -> TodoTree<u64> {
    TodoTree::builder().capacity(8).widths(2, 2, 2).seed(0).build().unwrap()
}

fn counted_at_once() -> TodoTree<u64> {
    let builder = TodoTree::builder().capacity(8).widths(2, 2, 1).counts_at_once();
    builder.seed(0).build().unwrap()
}

fn binary() -> TodoTree<u64> {
    TodoTree::builder().capacity(7).shape(Shape::Binary).seed(0).build().unwrap()
}

fn owned() -> TodoTree<u64> {
    TodoTree::builder().capacity(8).widths(2, 2, 4).leases(true).seed(0).build().unwrap()
}

#[test]
fn all_but_one_may_die_anywhere_in_blocks() {
    die_anywhere(2, 100, blocks);
}

#[test]
fn all_but_one_may_die_anywhere_below_nodes() {
    die_anywhere(2, 100, below_nodes);
}

#[test]
fn all_but_one_may_die_anywhere_where_takes_are_counted_at_once() {
    die_anywhere(2, 50, counted_at_once);
}

#[test]
fn all_but_one_may_die_anywhere_in_a_binary_tree() {
    die_anywhere(2, 15, binary);
}

#[test]
fn all_but_one_may_die_anywhere_with_owners() {
    die_anywhere(2, 100, owned);
}

#[test]
fn three_of_four_may_die_anywhere_in_blocks() {
    die_anywhere(3, 10, blocks);
}

#[test]
fn three_of_four_may_die_anywhere_where_takes_are_counted_at_once() {
    die_anywhere(3, 2, counted_at_once);
}

#[test]
fn three_of_four_may_die_anywhere_with_owners() {
    die_anywhere(3, 4, owned);
}

/// So many threads, all but the scenario's die somewhere.
fn die_at_random(threads: usize, seeds: u64, build: fn() -> TodoTree<u64>) {
    let (mut dead, mut runs) = (0, 0);
    let mortal = threads - 1;
    for seed in each_step::seeds(seeds, 20 * seeds) {
        let simulation = Simulation::new().seed(seed).steps(10 * STEPS).lock_free_within(SOON);
        let simulation = simulation.random_crashes(mortal, 30);
        let outcome = simulation.run(|| with_dead(build, mortal as u64));
        dead += outcome.unwrap_or_else(|it| panic!("{threads} threads: {it}")).crashed.len();
        runs += 1;
    }
    assert!(2 * dead >= runs * mortal, "{dead} dead of {mortal} in {runs} runs");
}

#[test]
fn threads_that_die_at_random_in_a_large_tree_hold_up_nobody() {
    die_at_random(3, 500, || {
        TodoTree::builder().capacity(100).widths(4, 4, 3).seed(1).build().unwrap()
    });
}

#[test]
fn many_threads_that_die_at_random_in_a_large_tree_hold_up_nobody() {
    for threads in [8, 16] {
        die_at_random(threads, 40, || {
            TodoTree::builder().capacity(500).widths(4, 4, 3).seed(1).build().unwrap()
        });
        die_at_random(threads, 40, || {
            let builder = TodoTree::builder().capacity(200).widths(2, 4, 3).counts_at_once();
            builder.seed(1).build().unwrap()
        });
        die_at_random(threads, 40, || {
            TodoTree::builder().capacity(1_000).leases(true).seed(1).build().unwrap()
        });
        die_at_random(threads, 10, || {
            TodoTree::builder().capacity(100).shape(Shape::Binary).seed(1).build().unwrap()
        });
    }
}

/// How often a producer is refused before it finds the place of a task that somebody gets who dies after so many steps, if
/// at all; and whether it died. After `refresh`, if that is wanted.
fn refused(steps: u64, refresh: bool) -> (Option<usize>, bool) {
    let simulation = Simulation::new().steps(STEPS).crash(ThreadId(1), steps);
    let outcome = simulation.run(|| {
        let builder = TodoTree::builder().capacity(4).shape(Shape::Binary);
        let pool = builder.seed(0).build().unwrap();
        let mut producer = pool.producer();
        producer.put_all(0..4).unwrap();
        let mut consumer = pool.consumer();
        thread::spawn(move || consumer.get());
        thread::sleep(time::Duration::from_millis(1));
        if refresh {
            pool.refresh();
        }
        (0..40).position(|_| producer.try_put(9).is_ok())
    });
    let outcome = outcome.unwrap_or_else(|failure| panic!("dead after {steps}: {failure}"));
    (outcome.value, !outcome.crashed.is_empty())
}

#[test]
fn a_producer_finds_the_room_of_the_dead() {
    let mut found_late = 0;
    for steps in 0.. {
        let (refusals, has_died) = refused(steps, false);
        // It had given its place back, and died before it had counted that.
        found_late += usize::from(refusals.is_some_and(|refusals| refusals > 0));
        // Counted again, it is found at once.
        let at_once = refused(steps, true).0;
        assert_eq!(at_once, refusals.map(|_| 0), "dead after {steps}");
        if !has_died {
            assert_eq!(refusals, Some(0), "nobody died, and there is room");
            break;
        }
    }
    assert!(found_late > 0, "room that the counts do not know of is found all the same");
}
