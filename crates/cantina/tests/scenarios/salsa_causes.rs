//! SALSA: whoever sees what was done last sees what was done before.

use super::salsa::{all_once, get, juggles, pool, task};
use cantina::salsa::Mode;
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
fn a_put_comes_before_a_get(mode: Mode, slots: usize) {
    let pool = pool(slots, 2, mode);
    let mut worker = pool.worker();
    [9, 1].into_iter().for_each(|number| worker.put(task(number)));
    assert_eq!(worker.get(), Some(task(9)));
    juggles(&pool, worker);
}

/// It is gone by an announcement.
pub(crate) fn a_put_comes_before_an_announcement() {
    a_put_comes_before_a_get(Mode::Fence, 4);
}

/// It is gone by a claim.
pub(crate) fn a_put_comes_before_a_claim() {
    a_put_comes_before_a_get(Mode::Claim, 4);
}

/// It is gone with its chunk.
pub(crate) fn a_put_comes_before_a_retirement() {
    a_put_comes_before_a_get(Mode::Claim, 2);
}
