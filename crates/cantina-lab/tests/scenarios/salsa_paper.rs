//! SALSA as its paper has it: who takes what from a chunk that is stolen. Threads and the simulator run
//! these; a get has too many steps for loom.

use cantina::pool::{Consumer, Producer, TaskPool};
use cantina_effort::scenario::Scenario;
use cantina_lab::contender::SalsaPaper;
use cantina_lab::contender::salsa_paper::{Setup, Worker};
use machine::fence::Pair;
use machine::{Topology, thread};

pub(crate) const ALL: [Scenario; 7] = [
    ("two consumers want the tasks of one chunk", || fight(2, 12, 12, 0)),
    ("a chunk is stolen while it is filled", || fight(2, 12, 1, 11)),
    ("three consumers rob each other of a chunk", || fight(3, 12, 2, 10)),
    ("a worker's own put is seen by a thief", own_put),
    ("a task that moves from chunk to chunk is found", moves_on),
    ("a thief is robbed, and the owner goes on", robbed_thief),
    ("a task that moves there and back is found", moves_there_and_back),
];

// The tasks are numbers: one that is taken twice is to be counted, not to be freed twice.
fn pool(chunk: usize, pair: Pair) -> SalsaPaper<u64> {
    SalsaPaper::with(Setup { topology: Topology::mock(1, 2), consumers: 4, chunk, pair })
}

fn put(producer: &mut impl Producer<u64>, task: u64) {
    assert!(producer.try_put(task).is_ok(), "there is always room");
}

/// Asserts that these, with those that are left, are the tasks up to `last`, each once.
fn each_once(mut got: Vec<u64>, pool: &SalsaPaper<u64>, last: u64) {
    let mut left = pool.consumer();
    got.extend(std::iter::from_fn(|| left.get()));
    got.sort_unstable();
    assert!(got.iter().copied().eq(1..=last), "each task once: {got:?}");
}

/// Consumers at a chunk of so many tasks: some are there before, some are put meanwhile.
fn fight(consumers: usize, chunk: usize, before: u64, meanwhile: u64) {
    let pool = pool(chunk, Pair::best());
    let ends: Vec<_> = (0..consumers).map(|_| pool.consumer()).collect();
    let mut producer = pool.producer();
    (1..=before).for_each(|task| put(&mut producer, task));
    let threads: Vec<_> =
        ends.into_iter().map(|mut end| thread::spawn(move || [end.get(), end.get()])).collect();
    (before + 1..=before + meanwhile).for_each(|task| put(&mut producer, task));
    let got = threads.into_iter().flat_map(|thread| thread.join().unwrap()).flatten().collect();
    each_once(got, &pool, before + meanwhile);
}

/// A worker gets what it has just put, with full fences on both sides: the task may be in its store buffer
/// when a thief looks at the slot.
fn own_put() {
    let pool = pool(3, Pair::symmetric());
    let [mut owner, mut thief]: [Worker<u64>; 2] = [(); 2].map(|()| pool.worker());
    put(&mut owner, 1);
    let other = thread::spawn(move || [thief.get(), thief.get()]);
    put(&mut owner, 2);
    let got = [owner.get(), owner.get()];
    let got = got.into_iter().chain(other.join().unwrap()).flatten().collect();
    each_once(got, &pool, 2);
}

/// There is always a task inside: one is put into a chunk that the getter looks at first, then one is got
/// from a chunk that it looks at last.
fn moves_on() {
    let pool = pool(2, Pair::best());
    let mut mine = pool.worker();
    let mut theirs = pool.worker();
    let (mut first, mut last) = (pool.producer(), pool.producer());
    put(&mut first, 1);
    assert_eq!(mine.get(), Some(1), "it was put");
    put(&mut last, 2);
    let other = thread::spawn(move || {
        put(&mut first, 3);
        let got = theirs.get();
        assert!(got.is_some(), "it was never empty");
        got
    });
    let got = mine.get();
    assert!(got.is_some(), "it was never empty");
    let got = [Some(1), got, other.join().unwrap()].into_iter().flatten().collect();
    each_once(got, &pool, 3);
}

/// A thief is robbed by one more, that gets again when the thief is done; the owner may be under way all
/// the time.
pub(crate) fn robbed_thief() {
    let pool = pool(12, Pair::best());
    let [mut owner, mut thief, mut robber] = [(); 3].map(|()| pool.consumer());
    let mut producer = pool.producer();
    (1..=6).for_each(|task| put(&mut producer, task));
    let first = owner.get();
    let takes = thread::spawn(move || owner.get());
    let steals = thread::spawn(move || thief.get());
    let robbed = robber.get();
    let got = [first, robbed, steals.join().unwrap(), robber.get(), takes.join().unwrap()];
    each_once(got.into_iter().flatten().collect(), &pool, 6);
}

/// There is always a task inside, and nobody begins or steals a chunk on its way: two workers put and get at
/// their own. The getter between them looks at the second first when it steals, and at the first when it
/// asks whether all is empty.
pub(crate) fn moves_there_and_back() {
    let pool = pool(12, Pair::best());
    let [mut one, mut getter, mut two] = [(); 3].map(|()| pool.worker());
    for (task, worker) in [(1, &mut one), (2, &mut two)] {
        put(worker, task);
        assert_eq!(worker.get(), Some(task), "it was put");
    }
    put(&mut one, 3);
    let gets = thread::spawn(move || getter.get());
    put(&mut two, 4);
    let there = one.get();
    let back = thread::spawn(move || {
        put(&mut one, 5);
        two.get()
    });
    let got = gets.join().unwrap();
    assert!(got.is_some(), "it was never empty");
    let got = [Some(1), Some(2), there, back.join().unwrap(), got];
    each_once(got.into_iter().flatten().collect(), &pool, 5);
}
