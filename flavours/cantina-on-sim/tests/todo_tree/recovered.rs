//! Workers that die with tasks on leases, at any step, and others that recover these.

use crate::each_step;
use cantina::todo_tree::{Lease, Shape, TodoTree, Worker};
use machine::Arc;
use machine::atomic::AtomicU64;
use machine::atomic::Ordering::{Acquire, Release};
use machine::engine::{Simulation, ThreadId};
use machine::progress::operation;
use machine::thread;
use machine::time::Duration;
use std::iter;

const STEPS: u64 = 20_000;
/// Steps until some operation ends.
const SOON: u64 = 2_000;
const TASKS: u64 = 3;
const DIES: ThreadId = ThreadId(1);

/// Until everybody who goes on has come to an end: many times as long as that takes.
fn wait() {
    thread::sleep(Duration::from_millis(1));
}

/// A bit for each task.
fn bit(task: u64) -> u64 {
    1 << task
}

/// What a thread did: tasks that it began to move out, and those that it has.
#[derive(Default)]
struct Ledger {
    begun: AtomicU64,
    done: AtomicU64,
}

impl Ledger {
    /// Moves a task out.
    fn finish(&self, lease: Lease<u64>) {
        let task = *lease;
        self.begun.fetch_or(bit(task), Release);
        operation("complete", || lease.complete());
        self.done.fetch_or(bit(task), Release);
    }

    /// Gives a task back, moves one out, and holds on to one.
    fn work(&self, worker: &mut Worker<u64>) -> Option<Lease<u64>> {
        let back = operation("take", || worker.take_leased());
        operation("return", || drop(back));
        if let Some(lease) = operation("take", || worker.take_leased()) {
            self.finish(lease);
        }
        operation("take", || worker.take_leased())
    }
}

fn drain(worker: &mut Worker<u64>, got: &mut u64) {
    for task in iter::from_fn(|| operation("get", || worker.get())) {
        assert!(*got & bit(task) == 0, "{task} came twice");
        *got |= bit(task);
    }
}

/// What the other one does when somebody recovers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Other {
    /// It is done by then.
    Nothing,
    /// The same.
    Recovers,
    /// It takes tasks, and gives some back.
    Takes,
}

/// One dies somewhere while another takes tasks and gives some back; then the scenario recovers. How many tasks were.
fn one_dies(build: fn() -> TodoTree<u64>, other: Other) -> usize {
    let pool = build();
    let mut here = pool.worker();
    here.put_all(0..TASKS).unwrap();
    let (theirs, others) = (Arc::new(Ledger::default()), Arc::new(Ledger::default()));
    let mut dying = pool.worker();
    let dead = dying.id();
    let ledger = theirs.clone();
    thread::spawn(move || {
        let kept = ledger.work(&mut dying);
        // It stops here, if nowhere else.
        thread::sleep(Duration::from_secs(100));
        drop(kept);
    });
    let (mut second, ledger) = (pool.worker(), others.clone());
    let beside = thread::spawn(move || {
        if other != Other::Takes {
            drop(ledger.work(&mut second));
        }
        let mut recovered = 0;
        if other != Other::Nothing {
            wait();
        }
        if other == Other::Recovers {
            // SAFETY: it has crashed or sleeps for ever, and its lease is never used again.
            recovered = unsafe { operation("recover", || second.recover(dead)) };
        }
        if other != Other::Nothing {
            drop(ledger.work(&mut second));
        }
        (second.try_put(TASKS).is_ok(), recovered)
    });
    wait();
    let mut got = 0;
    if other == Other::Nothing {
        // What is not yet recovered holds up nobody.
        drain(&mut here, &mut got);
    }
    // SAFETY: as above.
    let recovered = unsafe { operation("recover", || here.recover(dead)) };
    let (has_put, by_the_other) = beside.join().unwrap();
    drain(&mut here, &mut got);
    let moved = theirs.done.load(Acquire) | others.done.load(Acquire);
    assert_eq!(theirs.done.load(Acquire) & others.done.load(Acquire), 0, "done by two");
    assert_eq!(got & moved, 0, "got and done");
    let all = (bit(TASKS) - 1) | (u64::from(has_put) << TASKS);
    // It may have died between moving one out and saying so.
    let unsaid = theirs.begun.load(Acquire) & !theirs.done.load(Acquire);
    assert_eq!(all & !got & !moved & !unsaid, 0, "lost");
    assert_eq!(here.get(), None);
    // All places but one can be used: who died in the middle of giving it back keeps it.
    pool.refresh();
    let free = pool.capacity() - 1;
    for task in 0..free {
        operation("put", || here.try_put(task as u64)).expect("it keeps one place at most");
    }
    assert_eq!(here.drain().count(), free);
    recovered + by_the_other
}

fn dies_anywhere(build: fn() -> TodoTree<u64>, gate: u64, other: Other) {
    let mut recovered = 0;
    for seed in each_step::seeds(gate, 15 * gate) {
        let simulation = Simulation::new().seed(seed).steps(STEPS).lock_free_within(SOON);
        for steps in 0.. {
            let run = simulation.clone().crash(DIES, steps);
            let outcome = run
                .run(|| one_dies(build, other))
                .unwrap_or_else(|failure| panic!("seed {seed}, dead after {steps}: {failure}"));
            recovered += outcome.value;
            if outcome.crashed.is_empty() {
                break;
            }
        }
    }
    assert!(recovered > 0, "nothing was there to be recovered");
}

#[test]
fn a_dead_ones_leases_are_recovered_wherever_it_died_in_blocks() {
    let build =
        || TodoTree::builder().capacity(4).widths(2, 2, 4).leases(true).seed(0).build().unwrap();
    for other in [Other::Nothing, Other::Recovers, Other::Takes] {
        dies_anywhere(build, 40, other);
    }
}

#[test]
fn a_dead_ones_leases_are_recovered_wherever_it_died_in_a_binary_tree() {
    let build = || {
        TodoTree::builder().capacity(5).shape(Shape::Binary).leases(true).seed(0).build().unwrap()
    };
    for other in [Other::Nothing, Other::Recovers, Other::Takes] {
        dies_anywhere(build, 20, other);
    }
}

/// One has copies of two tasks, completes one of them, and dies somewhere. The scenario reclaims what it can, and then recovers.
fn one_dies_with_copies(build: fn() -> TodoTree<u64>) -> usize {
    let pool = build();
    let mut here = pool.worker();
    here.put_all(0..TASKS).unwrap();
    let theirs = Arc::new(Ledger::default());
    let mut dying = pool.worker();
    let dead = dying.id();
    let ledger = theirs.clone();
    thread::spawn(move || {
        let (first, kept) = (dying.take_cloned(), dying.take_cloned());
        if let Some(copy) = first {
            ledger.begun.fetch_or(bit(*copy), Release);
            if let Ok(task) = operation("complete", || copy.complete()) {
                ledger.done.fetch_or(bit(task), Release);
            }
        }
        // It stops here, if nowhere else.
        thread::sleep(Duration::from_secs(100));
        drop(kept);
    });
    wait();
    let reclaimed = operation("reclaim", || here.reclaim(dead));
    let mut got = 0;
    drain(&mut here, &mut got);
    // SAFETY: it sleeps for longer than this takes, or is dead.
    let recovered = unsafe { operation("recover", || here.recover(dead)) };
    drain(&mut here, &mut got);
    let moved = theirs.done.load(Acquire);
    assert_eq!(got & moved, 0, "got and done");
    let unsaid = theirs.begun.load(Acquire) & !moved;
    assert_eq!((bit(TASKS) - 1) & !got & !moved & !unsaid, 0, "lost");
    assert_eq!(here.get(), None);
    reclaimed + recovered
}

#[test]
fn a_dead_ones_copies_are_reclaimed_or_recovered_wherever_it_died() {
    let build =
        || TodoTree::builder().capacity(4).widths(2, 2, 4).leases(true).seed(0).build().unwrap();
    let mut back = 0;
    for seed in each_step::seeds(4, 200) {
        for steps in 0.. {
            let simulation = Simulation::new().seed(seed).steps(STEPS).lock_free_within(SOON);
            let outcome = simulation
                .crash(DIES, steps)
                .run(|| one_dies_with_copies(build))
                .unwrap_or_else(|failure| panic!("seed {seed}, dead after {steps}: {failure}"));
            back += outcome.value;
            if outcome.crashed.is_empty() {
                break;
            }
        }
    }
    assert!(back > 20, "{back}");
}

const RECOVERS: ThreadId = ThreadId(2);
/// Steps of others, of ten nanoseconds each, for which who recovers stalls: longer than two waits.
const LONG: u64 = 400_000;

/// One puts its task back and dies, another recovers it and stalls, and the scenario gets it meanwhile: once.
fn got_meanwhile() -> bool {
    let pool = TodoTree::builder().capacity(2).shape(Shape::Binary).leases(true).seed(0);
    let pool = pool.build().unwrap();
    let mut here = pool.worker();
    here.try_put(1).unwrap();
    let mut dying = pool.worker();
    let dead = dying.id();
    thread::spawn(move || {
        drop(dying.take_leased());
        thread::sleep(Duration::from_secs(100));
    });
    wait();
    let mut recovers = pool.worker();
    // SAFETY: it has crashed, or sleeps for ever.
    let recovers = thread::spawn(move || unsafe { recovers.recover(dead) });
    wait();
    let meanwhile = here.get().is_some();
    recovers.join().unwrap();
    let later = here.drain().count();
    assert_eq!(usize::from(meanwhile) + later, 1);
    meanwhile
}

#[test]
fn a_task_that_is_got_while_somebody_recovers_it_is_got_once() {
    let mut meanwhile = 0;
    for seed in each_step::seeds(1, 50) {
        for dies in 0.. {
            let mut has_died = false;
            for stalls in 0..30 {
                let simulation = Simulation::new().seed(seed).steps(8 * LONG).crash(DIES, dies);
                let outcome = simulation.stall(RECOVERS, stalls, LONG).run(got_meanwhile);
                let outcome = outcome
                    .unwrap_or_else(|it| panic!("dead after {dies}, stalled after {stalls}: {it}"));
                has_died |= !outcome.crashed.is_empty();
                meanwhile += usize::from(outcome.value);
            }
            if !has_died {
                break;
            }
        }
    }
    assert!(meanwhile > 20, "{meanwhile}");
}
