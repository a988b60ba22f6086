//! SALSA: what goes from one end to another through a home.

use super::salsa::{all_once, get, pool, rest, task};
use cantina::salsa::Mode;
use machine::thread;

/// A thief puts the chunk that it has emptied by, and a producer fills it again.
pub(crate) fn a_spare_chunk_is_filled_by_another() {
    let pool = pool(1, 2, Mode::Fence);
    let (_owner, mut thief) = (pool.consumer(), pool.consumer());
    let (mut puts_to_owner, mut puts_to_thief) = (pool.producer(), pool.producer());
    puts_to_owner.put(task(1));
    let steals = thread::spawn(move || get(&mut thief));
    puts_to_thief.put(task(2));
    let mut got: Vec<u64> = steals.join().unwrap().into_iter().collect();
    got.extend(rest(&pool));
    all_once(got, 2);
}

/// Two producers come and go, and the second goes on where the first left off, or does not meet it.
pub(crate) fn two_producers_fill_a_chunk() {
    let pool = pool(4, 1, Mode::Fence);
    pool.producer().put(task(1));
    let theirs = pool.clone();
    let puts = thread::spawn(move || theirs.producer().put(task(2)));
    pool.producer().put(task(3));
    puts.join().unwrap();
    all_once(rest(&pool), 3);
}

/// One consumer leaves, and another takes its place: it counts on from where that one left off.
pub(crate) fn a_consumer_counts_on() {
    let pool = pool(3, 2, Mode::Fence);
    let mut leaves = pool.consumer();
    // Its hazard pointers are for the next to come, who so need not wait for those of the one that leaves.
    drop(pool.consumer());
    let mut producer = pool.producer();
    (1..=2).for_each(|number| producer.put(task(number)));
    let theirs = pool.clone();
    let comes = thread::spawn(move || get(&mut theirs.consumer()));
    let mut got: Vec<u64> = get(&mut leaves).into_iter().collect();
    drop(leaves);
    got.extend(comes.join().unwrap());
    all_once(got, 2);
    assert_eq!(pool.metrics().gets, 2, "when all have gone the numbers are exact");
}

/// Two consumers come at once: each has a home of its own.
pub(crate) fn two_consumers_come_at_once() {
    let pool = pool(3, 2, Mode::Fence);
    let mut producer = pool.producer();
    (1..=2).for_each(|number| producer.put(task(number)));
    let theirs = pool.clone();
    let other = thread::spawn(move || {
        let mut consumer = theirs.consumer();
        let got = get(&mut consumer);
        (consumer, got)
    });
    let mut consumer = pool.consumer();
    let ours = get(&mut consumer);
    let (other, theirs) = other.join().unwrap();
    assert!(pool.try_consumer().is_err(), "both seats are taken");
    drop((consumer, other));
    all_once(ours.into_iter().chain(theirs).collect(), 2);
}
