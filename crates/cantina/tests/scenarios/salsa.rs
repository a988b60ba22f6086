//! SALSA in chunks of one to four tasks.

use cantina::salsa::{Consumer, Mode, Salsa, Worker};
use machine::fence::Pair;
use machine::topology::Topology;
use machine::{Arc, thread};

/// Large enough for two to a line, so that small chunks have several groups.
pub(super) type Task = [u64; 3];

pub(super) fn task(number: u64) -> Task {
    [number; 3]
}

/// The smallest pool of its kind.
pub(super) fn pool(chunk_size: usize, consumers: usize, mode: Mode) -> Salsa<Task> {
    built(chunk_size, consumers, mode, 0)
}

/// As [`pool`], of consumers that do not steal at first sight.
pub(super) fn patient_pool(chunk_size: usize, consumers: usize, mode: Mode) -> Salsa<Task> {
    built(chunk_size, consumers, mode, 1)
}

fn built(chunk_size: usize, consumers: usize, mode: Mode, patience: u32) -> Salsa<Task> {
    Salsa::builder()
        .chunk_size(chunk_size)
        .max_consumers(consumers)
        .mode(mode)
        .patience(patience)
        .spares(1)
        .table_width(2)
        .topology(Topology::mock(1, 1))
        .build()
        .unwrap()
}

pub(super) fn get(consumer: &mut Consumer<Task>) -> Option<u64> {
    let task = consumer.get()?;
    assert!(task.iter().all(|part| *part == task[0]), "a torn task: {task:?}");
    Some(task[0])
}

/// So many gets.
fn gets(consumer: &mut Consumer<Task>, count: usize) -> Vec<u64> {
    (0..count).filter_map(|_| get(consumer)).collect()
}

/// All that is left, by a consumer that comes last.
pub(super) fn rest(pool: &Salsa<Task>) -> Vec<u64> {
    let mut consumer = pool.consumer();
    std::iter::from_fn(|| get(&mut consumer)).collect()
}

pub(super) fn all_once(mut got: Vec<u64>, tasks: u64) {
    got.sort_unstable();
    assert!(got.iter().copied().eq(1..=tasks), "{got:?} of {tasks}");
}

/// A producer goes from chunk to chunk while its consumer follows.
pub(crate) fn a_consumer_follows_its_producer() {
    let pool = pool(2, 1, Mode::Fence);
    let mut consumer = pool.consumer();
    let mut producer = pool.producer();
    let puts = thread::spawn(move || (1..=3).for_each(|number| producer.put(task(number))));
    let mut got = gets(&mut consumer, 2);
    puts.join().unwrap();
    got.extend(std::iter::from_fn(|| get(&mut consumer)));
    all_once(got, 3);
}

/// An owner takes from its chunk while a thief steals it, and may steal it back.
fn an_owner_and_a_thief(mode: Mode, tasks: u64, counts: [usize; 2]) {
    let pool = pool(tasks as usize + 1, 3, mode);
    let mut owner = pool.consumer();
    let mut producer = pool.producer();
    (1..=tasks).for_each(|number| producer.put(task(number)));
    let mut thief = pool.consumer();
    let steals = thread::spawn(move || gets(&mut thief, counts[1]));
    let mut got = gets(&mut owner, counts[0]);
    got.extend(steals.join().unwrap());
    assert_eq!(got.len(), counts[0] + counts[1], "nobody finds it empty");
    got.extend(rest(&pool));
    all_once(got, tasks);
}

/// Both see each other at the boundary.
pub(crate) fn an_owner_and_a_thief_share_a_chunk() {
    an_owner_and_a_thief(Mode::Fence, 3, [1, 1]);
}

/// The owner goes on while the thief has been and gone.
pub(crate) fn a_chunk_is_stolen_back() {
    an_owner_and_a_thief(Mode::Fence, 3, [2, 1]);
}

/// The mode whose owner takes without a fence, where the machine has it.
fn hand() -> Mode {
    if Pair::best().is_asymmetric() { Mode::Asymmetric } else { Mode::Fence }
}

/// The owner is at its second task, which it takes out of its hand.
pub(crate) fn an_owner_with_a_full_hand_meets_a_thief() {
    an_owner_and_a_thief(hand(), 3, [2, 1]);
}

/// The same with a claim for each task.
pub(crate) fn an_owner_and_a_thief_claim_a_chunk() {
    an_owner_and_a_thief(Mode::Claim, 3, [1, 2]);
}

/// The victim has not taken anything: the first to come are both thieves.
pub(crate) fn two_thieves_rob_each_other() {
    let pool = pool(3, 3, Mode::Fence);
    let gone = pool.consumer();
    let mut producer = pool.producer();
    (1..=2).for_each(|number| producer.put(task(number)));
    let (mut one, mut two) = (pool.consumer(), pool.consumer());
    drop(gone);
    let other = thread::spawn(move || get(&mut two));
    let mut got: Vec<u64> = get(&mut one).into_iter().collect();
    got.extend(other.join().unwrap());
    assert_eq!(got.len(), 2, "nobody finds it empty");
    all_once(got, 2);
}

/// Two consumers empty chunks of one task while the producer uses them again.
pub(crate) fn a_chunk_is_used_again_when_nobody_looks_at_it() {
    let pool = pool(1, 2, Mode::Fence);
    let mut producer = pool.producer();
    let (mut one, mut two) = (pool.consumer(), pool.consumer());
    producer.put(task(1));
    let other = thread::spawn(move || get(&mut two));
    let mut got: Vec<u64> = get(&mut one).into_iter().collect();
    producer.put(task(2));
    got.extend(other.join().unwrap());
    got.extend(gets(&mut one, 2));
    all_once(got, 2);
}

/// A worker that has put task 1 puts another before it takes one by `take`, so there always is one.
pub(super) fn juggles(
    pool: &Salsa<Task>,
    mut worker: Worker<Task>,
    take: fn(&mut Worker<Task>) -> Option<Task>,
) {
    let mut scanner = pool.consumer();
    let juggler = thread::spawn(move || {
        worker.put(task(2));
        let got = take(&mut worker);
        (worker, got.map(|task| task[0]))
    });
    let mut got: Vec<u64> = get(&mut scanner).into_iter().collect();
    assert_eq!(got.len(), 1, "there was a task all the time");
    let (worker, theirs) = juggler.join().unwrap();
    got.extend(theirs);
    drop(worker);
    got.extend(rest(pool));
    all_once(got, 2);
}

/// Nothing was got before.
fn never_empty(mode: Mode) {
    let pool = pool(2, 2, mode);
    let mut worker = pool.worker();
    worker.put(task(1));
    juggles(&pool, worker, Worker::get);
}

/// With fences.
pub(crate) fn a_pool_that_is_never_empty_never_says_so() {
    never_empty(Mode::Fence);
}

/// With claims.
pub(crate) fn a_pool_of_claims_that_is_never_empty_never_says_so() {
    never_empty(Mode::Claim);
}

/// A consumer comes while a producer puts, and one goes.
pub(crate) fn a_consumer_comes_and_one_goes() {
    let pool = Arc::new(pool(2, 2, Mode::Fence));
    let leaves = pool.consumer();
    let theirs = pool.clone();
    let comes = thread::spawn(move || get(&mut theirs.consumer()));
    let mut producer = pool.producer();
    producer.put(task(1));
    drop(leaves);
    producer.put(task(2));
    let mut got: Vec<u64> = comes.join().unwrap().into_iter().collect();
    got.extend(rest(&pool));
    all_once(got, 2);
}

/// A producer leaves a half-filled chunk, and another goes on with it, while tasks are taken from it.
pub(crate) fn a_producer_goes_on_where_another_left_off() {
    let pool = pool(3, 1, Mode::Fence);
    let mut consumer = pool.consumer();
    let theirs = pool.clone();
    let puts = thread::spawn(move || {
        theirs.producer().put(task(1));
        theirs.producer().put(task(2));
    });
    let mut got: Vec<u64> = get(&mut consumer).into_iter().collect();
    puts.join().unwrap();
    got.extend(std::iter::from_fn(|| get(&mut consumer)));
    assert_eq!(got, [1, 2]);
    assert_eq!(pool.metrics().chunks, 1);
}

/// A run of tasks is announced while a thief comes.
pub(crate) fn a_batch_meets_a_thief() {
    let pool = pool(32, 3, Mode::Fence);
    let mut owner = pool.consumer();
    let mut producer = pool.producer();
    producer.put_all((1..=3).map(task)).unwrap();
    let mut thief = pool.consumer();
    let steals = thread::spawn(move || gets(&mut thief, 1));
    let mut run = Vec::new();
    owner.get_many(2, &mut run);
    let mut got: Vec<u64> = run.into_iter().map(|task| task[0]).collect();
    got.extend(steals.join().unwrap());
    got.extend(rest(&pool));
    all_once(got, 3);
}
