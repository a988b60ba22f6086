//! What is said to be wait-free ends within so many own steps, whatever the others do; CAFÉ has a [test of its own](../progress).
//!
//! A bound is also tight: some schedule takes a fair part of it.

extern crate cantina_on_sim as cantina;

use cantina::handoff::handoff;
use cantina::reclaim::Domain;
use cantina::salsa::Salsa;
use cantina::todo_tree::max_array::BoundedMaxArray;
use cantina_effort::rounds;
use machine::atomic::AtomicPtr;
use machine::atomic::Ordering::AcqRel;
use machine::engine::{Failure, Simulation};
use machine::progress::operation;
use machine::schedule::{Schedule, crowd, delay_rmw};
use machine::{Arc, thread};
use std::ptr::NonNull;

/// Threads beside the scenario.
const OTHERS: u64 = 3;
/// A bound is no more than so many times what a call takes on the worst schedule.
const LOOSE: u64 = 3;

fn schedule(seed: u64) -> Schedule {
    match seed % 6 {
        0 => Schedule::Random,
        1 => delay_rmw(),
        2 => crowd(2),
        3 => crowd(3),
        4 => Schedule::RoundRobin { quantum: 1 + seed / 6 % 7 },
        _ => Schedule::Pct { depth: 3 + (seed / 6 % 4) as usize, length: 400 },
    }
}

/// Every operation of `scenario` ends within `most` own steps on all schedules, and takes a fair part of that on one.
fn ends_within(most: u64, scenario: fn()) {
    let late = |seed, most| {
        let simulation = Simulation::new().seed(seed).schedule(schedule(seed));
        simulation.wait_free_within(most).run(scenario).err()
    };
    let seeds = || 0..rounds(1_000, 100_000);
    if let Some(failure) = seeds().find_map(|seed| late(seed, most)) {
        panic!("within {most}: {failure}");
    }
    let is_slow = |failure| matches!(failure, Some(Failure::TooSlow { .. }));
    let tight = seeds().any(|seed| is_slow(late(seed, most / LOOSE)));
    assert!(tight, "all calls take far less than {most}");
}

/// Does `f` on so many threads and here, each with its number.
fn together(f: impl Fn(u64) + Clone + Send + 'static) {
    let others: Vec<_> = (1..=OTHERS)
        .map(|number| {
            let f = f.clone();
            thread::spawn(move || f(number))
        })
        .collect();
    f(0);
    others.into_iter().for_each(|other| other.join().unwrap());
}

/// One to look at or to exchange, and one that the end takes to go.
#[test]
fn a_task_is_handed_off_within_three_steps() {
    ends_within(3, || {
        let (giver, taker) = handoff();
        let takers: Vec<_> = (0..OTHERS)
            .map(|_| {
                let taker = taker.clone();
                thread::spawn(move || operation("take", || taker.take()))
            })
            .collect();
        operation("give", || giver.give(1));
        let took = takers.into_iter().filter_map(|taker| taker.join().unwrap()).count();
        assert!(took + usize::from(taker.take().is_some()) == 1);
    });
}

/// Digits of each number of the max arrays here.
const DIGITS: u64 = 3;

/// For each digit of the first number the look at a switch, and all digits of the second, to read twice and to raise; these once more in the end.
#[test]
fn a_bounded_max_array_is_raised_and_scanned_within_a_product_of_digits() {
    ends_within(DIGITS * (3 * DIGITS + 1) + DIGITS, || {
        let array = Arc::new(BoundedMaxArray::new(1 << DIGITS, 1 << DIGITS));
        together(move |number| {
            let value = 1 + 2 * number;
            operation("first", || array.raise_first(value));
            operation("second", || array.raise_second(value));
            let (first, second) = operation("scan", || array.scan());
            assert!(first >= value && second >= value);
        });
    });
}

/// Nodes that a participant gathers.
const BATCH: u64 = 4;
const SLOTS: u64 = 2;

/// # Safety
/// It is from a box, and used no more.
unsafe fn free(node: NonNull<u64>) {
    // SAFETY: the caller's.
    drop(unsafe { Box::from_raw(node.as_ptr()) });
}

/// A fence, the newest record, and of each record its announcements, its list and its link; the list of the caller's.
#[test]
fn a_node_is_retired_within_a_look_at_each_announcement() {
    ends_within(4 + (OTHERS + 1) * (SLOTS + 1), || {
        // SAFETY: nodes are boxes, and may be freed anywhere.
        let domain: Domain<u64, { SLOTS as usize }> = unsafe { Domain::new(BATCH as usize, free) };
        let shared = Arc::new((domain, AtomicPtr::new(Box::into_raw(Box::new(0)))));
        let theirs = shared.clone();
        together(move |number| {
            let (domain, source) = &*theirs;
            // SAFETY: it leaves before the domain goes.
            let mut participant = unsafe { domain.join() };
            for turn in 0..=BATCH {
                participant.protect(0, source);
                let new = Box::into_raw(Box::new(10 * number + turn));
                let old = NonNull::new(source.swap(new, AcqRel)).expect("there is always one");
                // SAFETY: the swap has unlinked it.
                operation("retire", || unsafe { participant.retire(domain, old) });
            }
            // SAFETY: the domain it joined.
            unsafe { participant.leave(domain) };
        });
        // SAFETY: nobody else is left.
        drop(unsafe { Box::from_raw(shared.1.swap(std::ptr::null_mut(), AcqRel)) });
    });
}

/// Consumers that a producer may have to ask for a chunk.
const CONSUMERS: u64 = OTHERS;

/// A put that begins a chunk asks each consumer in turn whether it has a spare one and a place for it, and gives it a new one in the end; what
/// is allocated is there at once in a simulation.
#[test]
fn a_task_is_put_to_salsa_within_so_many_steps_for_each_consumer() {
    ends_within(25 + 22 * CONSUMERS, || {
        let pool = Salsa::builder().chunk_size(2).patience(0).build().unwrap();
        together(move |number| {
            if number < CONSUMERS {
                let mut consumer = pool.consumer();
                (0..6).for_each(|_| {
                    let _ = consumer.get();
                });
            } else {
                let mut producer = pool.producer();
                (0..8).for_each(|task| operation("put", || producer.put(task)));
            }
        });
    });
}

/// Who needs a place where others do, too, tries each of a segment once.
#[test]
fn a_task_is_put_to_salsa_within_so_many_steps_where_all_want_places_of_one_table() {
    ends_within(90, || {
        let pool = Salsa::builder().chunk_size(1).patience(0).build().unwrap();
        let consumer = pool.consumer();
        together(move |_| {
            let mut producer = pool.producer();
            (0..8).for_each(|task| operation("put", || producer.put(task)));
        });
        drop(consumer);
    });
}
