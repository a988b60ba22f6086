//! The schedule on which the paper's tree says that it is empty, and is not.
//!
//! One thread takes the only task and stalls while it counts the root's children. Another puts a task to the one child,
//! which ends, then one to the other child, and dies before it has counted that. A third takes this one and dies before
//! it has counted that. Then the first goes on, with one child as it was before and the other as it is now: as many
//! taken as put. All steps to stall and to die at are tried, so this does not depend on how many a call takes.

use cantina::todo_tree::{Shape, TodoTree};
use machine::Arc;
use machine::atomic::AtomicBool;
use machine::atomic::Ordering::{Acquire, Release};
use machine::engine::{Simulation, ThreadId};
use machine::thread;
use machine::time::Duration;
use std::ops::Range;

const TAKES_FIRST: ThreadId = ThreadId(1);
const PUTS: ThreadId = ThreadId(2);
const TAKES_LAST: ThreadId = ThreadId(3);

/// Steps of one get, until it has begun to count and before it is done with it.
const IN_A_GET: Range<u64> = 4..20;
/// Steps of a put, the whole of it.
const IN_THE_SECOND_PUT: Range<u64> = 12..40;
/// Steps of others, of ten nanoseconds each, for which the first one stalls: longer than all waits.
const LONG: u64 = 1_000_000;
const SEEDS: Range<u64> = 0..8;

/// A millisecond is many times as long as what the others do.
fn wait() {
    thread::sleep(Duration::from_millis(1));
}

/// Whether the first thread has said "empty" although the task 2 was there all the time.
fn forgets(seed: u64) -> bool {
    let pool = TodoTree::builder().capacity(2).shape(Shape::Binary).seed(seed).build().unwrap();
    pool.producer().try_put(1).unwrap();
    let has_ended = Arc::new(AtomicBool::new(false));
    let (seen, mut first) = (has_ended.clone(), pool.consumer());
    let takes_first = thread::spawn(move || {
        let _ = first.get();
        seen.load(Acquire) && first.get().is_none()
    });
    wait();
    let mut producer = pool.producer();
    thread::spawn(move || {
        if producer.try_put(2).is_ok() {
            has_ended.store(true, Release);
            let _ = producer.try_put(3);
        }
    });
    wait();
    let mut last = pool.consumer();
    thread::spawn(move || last.get());
    wait();
    let says_empty = takes_first.join().unwrap();
    pool.refresh();
    let is_there = pool.consumer().drain().any(|task| task == 2);
    says_empty && is_there
}

#[test]
fn a_put_that_has_ended_is_not_forgotten_whoever_stalls_and_dies() {
    let mut all_stopped = 0;
    for seed in SEEDS {
        for (stall, puts) in IN_A_GET.flat_map(|it| IN_THE_SECOND_PUT.map(move |puts| (it, puts))) {
            for takes in IN_A_GET {
                let simulation = Simulation::new().steps(4 * LONG).stall(TAKES_FIRST, stall, LONG);
                let simulation = simulation.crash(PUTS, puts).crash(TAKES_LAST, takes);
                let outcome = simulation.run(|| forgets(seed)).unwrap_or_else(|it| panic!("{it}"));
                assert!(
                    !outcome.value,
                    "stalled after {stall}, dead after {puts} and {takes}, seed {seed}: wrong empty"
                );
                all_stopped += usize::from(outcome.crashed.len() == 2);
            }
        }
    }
    assert!(all_stopped > 1_000, "{all_stopped}");
}
