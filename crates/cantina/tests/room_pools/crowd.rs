//! Many more threads than cores: nobody starves, and no task is lost.

use cantina::rooms::{RoomQueue, RoomStack, WorkStack};
use machine::Arc;
use machine::atomic::AtomicUsize;
use machine::atomic::Ordering::SeqCst;
use machine::thread;
use std::ops::Add;

/// Half of them put, half of them get.
const THREADS: usize = 64;
/// How often each has to have its turn before all may stop.
const TURNS: usize = 50;
/// Tasks of a batch.
const BATCH: usize = 16;
/// Places of the queue: it is full, and empty, now and then.
const PLACES: usize = 256;

/// Tasks on a stack from which nobody takes any. There are ten times fewer when all have had their turns, for only some 2000 put before those
/// who wait to get are let in.
const FAR_TOO_MANY: usize = 1 << 24;

/// Tasks, told by what they come to: how many, their sum and the sum of their squares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Tally([u64; 3]);

impl Add for Tally {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(std::array::from_fn(|n| self.0[n].wrapping_add(other.0[n])))
    }
}

impl FromIterator<u64> for Tally {
    fn from_iter<I: IntoIterator<Item = u64>>(tasks: I) -> Self {
        let of = |task: u64| Self([1, task, task.wrapping_mul(task)]);
        tasks.into_iter().map(of).fold(Self::default(), Self::add)
    }
}

/// Each thread goes on until all have had their turns: if one starved none would come to an end. What was put is what was got, and what is left.
fn crowd<P: Clone + Send + 'static>(
    pool: &P,
    put: fn(&P, Vec<u64>) -> usize,
    get: fn(&P) -> Vec<u64>,
    batch: usize,
) {
    let satisfied = Arc::new(AtomicUsize::new(0));
    let start = |number: usize| {
        let (pool, satisfied) = (pool.clone(), satisfied.clone());
        thread::spawn(move || {
            let (mut put_all, mut got_all) = (Tally::default(), Tally::default());
            let mut next = (number as u64) << 32;
            for turn in 1.. {
                if number % 2 == 0 {
                    let tasks: Vec<u64> = (next..).take(batch).collect();
                    let many = put(&pool, tasks) as u64;
                    put_all = put_all + (next..next + many).collect();
                    next += many;
                } else {
                    got_all = got_all + get(&pool).into_iter().collect();
                }
                satisfied.fetch_add(usize::from(turn == TURNS), SeqCst);
                if satisfied.load(SeqCst) == THREADS {
                    break;
                }
            }
            (put_all, got_all)
        })
    };
    let threads: Vec<_> = (0..THREADS).map(start).collect();
    let (mut put_all, mut got_all) = (Tally::default(), Tally::default());
    for thread in threads {
        let (put, got) = thread.join().unwrap();
        (put_all, got_all) = (put_all + put, got_all + got);
    }
    let rest = std::iter::from_fn(|| Some(get(pool)).filter(|tasks| !tasks.is_empty()));
    assert_eq!(got_all + rest.flatten().collect(), put_all);
}

#[test]
fn nobody_starves_at_a_queue() {
    let queue = RoomQueue::builder().capacity(PLACES).build().unwrap();
    let put = |queue: &RoomQueue<u64>, tasks: Vec<u64>| {
        tasks.into_iter().take_while(|task| queue.enqueue(*task).is_ok()).count()
    };
    crowd(&queue, put, |queue| queue.dequeue().into_iter().collect(), 1);
}

#[test]
fn nobody_starves_at_a_queue_of_batches() {
    let queue = RoomQueue::builder().capacity(PLACES).build().unwrap();
    let put = |queue: &RoomQueue<u64>, tasks| match queue.enqueue_all(tasks) {
        Ok(put) => put,
        Err(full) => full.put,
    };
    crowd(&queue, put, |queue| several(|got| queue.dequeue_many(BATCH, got)), BATCH);
}

fn push(stack: &RoomStack<u64>, tasks: Vec<u64>) -> usize {
    assert!(stack.len_hint() < FAR_TOO_MANY, "who gets starves");
    stack.push_all(tasks)
}

#[test]
fn nobody_starves_at_a_stack() {
    crowd(&RoomStack::new(), push, |stack| stack.pop().into_iter().collect(), 1);
}

#[test]
fn nobody_starves_at_a_stack_of_batches() {
    crowd(&RoomStack::new(), push, |stack| several(|got| stack.pop_many(BATCH, got)), BATCH);
}

fn several(get: impl FnOnce(&mut Vec<u64>) -> usize) -> Vec<u64> {
    let mut got = Vec::new();
    assert_eq!(get(&mut got), got.len());
    got
}

/// Each borrows as many at once as its number says, few or none of which are left for others.
#[test]
fn all_of_a_crowd_of_workers_are_told_the_end() {
    let work = WorkStack::new();
    for round in 0..3 {
        work.push_all([8; THREADS]);
        let start = |number: usize| {
            let work = work.clone();
            thread::spawn(move || super::work::work(&work, 1 + number % 5 * 10))
        };
        let workers: Vec<_> = (0..THREADS).map(start).collect();
        let done: u64 = workers.into_iter().map(|worker| worker.join().unwrap()).sum();
        assert_eq!(done, THREADS as u64 * 511, "round {round}");
        assert_eq!((work.len_hint(), work.lent(), work.waiting()), (0, 0, 0));
    }
}
