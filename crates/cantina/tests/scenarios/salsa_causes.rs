//! SALSA: whoever sees what was done last sees what was done before.

use super::salsa::{Task, all_once, get, juggles, pool, task};
use cantina::salsa::{Mode, Worker};
use machine::thread;

/// A consumer finds a task by nothing but its header, and wins it.
pub(crate) fn a_claimed_task_is_whole() {
    let pool = pool(2, 1, Mode::Claim);
    let mut consumer = pool.consumer();
    let mut producer = pool.producer();
    let puts = thread::spawn(move || producer.put(task(1)));
    let mut got: Vec<u64> = get(&mut consumer).into_iter().collect();
    puts.join().unwrap();
    got.extend(get(&mut consumer));
    all_once(got, 1);
}

/// A thief is robbed by the consumer whose home the chunk has, and still gets its task.
pub(crate) fn a_robbed_thief_gets_a_whole_task() {
    let pool = pool(2, 2, Mode::Claim);
    let mut worker = pool.worker();
    let mut thief = pool.consumer();
    let steals = thread::spawn(move || get(&mut thief));
    worker.put(task(1));
    let mut got: Vec<u64> = worker.get().map(|task| task[0]).into_iter().collect();
    got.extend(steals.join().unwrap());
    all_once(got, 1);
}

/// A thief that has stolen a chunk from another thief goes on where that one would have.
pub(crate) fn a_thief_begins_where_another_did() {
    let pool = pool(4, 3, Mode::Fence);
    let mut owner = pool.consumer();
    let mut producer = pool.producer();
    (1..=3).for_each(|number| producer.put(task(number)));
    let mut got: Vec<u64> = get(&mut owner).into_iter().collect();
    let (mut one, mut two) = (pool.consumer(), pool.consumer());
    let other = thread::spawn(move || get(&mut two));
    got.extend(get(&mut one));
    got.extend(other.join().unwrap());
    all_once(got, 3);
}

/// A worker puts a task and takes one from a chunk of `slots` that it has begun: whoever sees that one
/// gone sees the other.
fn a_put_comes_before_a_get(mode: Mode, slots: usize, get: fn(&mut Worker<Task>) -> Option<Task>) {
    let pool = pool(slots, 2, mode);
    let mut worker = pool.worker();
    [9, 1].into_iter().for_each(|number| worker.put(task(number)));
    assert_eq!(worker.get(), Some(task(9)));
    juggles(&pool, worker, get);
}

/// It is gone by an announcement.
pub(crate) fn a_put_comes_before_an_announcement() {
    a_put_comes_before_a_get(Mode::Fence, 4, Worker::get);
}

/// It is gone by a claim.
pub(crate) fn a_put_comes_before_a_claim() {
    a_put_comes_before_a_get(Mode::Claim, 4, Worker::get);
}

/// It is gone by a claim of a run.
pub(crate) fn a_put_comes_before_a_claim_of_a_run() {
    a_put_comes_before_a_get(Mode::Claim, 4, |worker| {
        let mut run = Vec::new();
        worker.get_many(1, &mut run);
        run.pop()
    });
}

/// It is gone with its chunk.
pub(crate) fn a_put_comes_before_a_retirement() {
    a_put_comes_before_a_get(Mode::Claim, 2, Worker::get);
}

/// A thief has an index in the chunk that it steals, from an earlier life of it, that is past all there is
/// now: whoever finds the thief to be the owner goes by the new one, and does not take the chunk for
/// exhausted.
pub(crate) fn an_index_of_an_earlier_life_is_not_in_force() {
    let pool = pool(4, 3, Mode::Fence);
    let mut first = pool.consumer();
    // The first and the last of four put to the first home.
    let [mut producer, _, _, mut other_producer] = [(); 4].map(|()| pool.producer());
    (1..=4).for_each(|number| producer.put(task(number)));
    let mut leaves = pool.consumer();
    assert_eq!([get(&mut leaves), get(&mut leaves)], [Some(1), Some(2)]);
    drop(leaves);
    assert_eq!([get(&mut first), get(&mut first)], [Some(3), Some(4)]);
    let (mut thief, mut other) = (pool.consumer(), pool.consumer());
    (1..=2).for_each(|number| producer.put(task(number)));
    assert_eq!(pool.metrics().chunks, 1, "the chunk is used again");
    // Another one is left open, so this one ends where it is.
    other_producer.put(task(3));
    drop((other_producer, producer));
    let comes = thread::spawn(move || get(&mut other));
    let mut got: Vec<u64> = get(&mut thief).into_iter().collect();
    got.extend(comes.join().unwrap());
    assert_eq!(got.len(), 2, "nobody finds it empty");
    got.extend(std::iter::from_fn(|| get(&mut first)));
    all_once(got, 3);
}
