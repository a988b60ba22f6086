//! Consumers of SALSA that fight over a chunk or two, for longer than a model can try it all.

use super::salsa::{Task, all_once, get, pool, task};
use cantina::salsa::{Consumer, Mode, Salsa};
use machine::atomic::AtomicBool;
use machine::atomic::Ordering::Relaxed;
use machine::{Arc, thread};

/// Several gets. Nothing is put any more: once one of them has found nothing, none that begins later
/// finds something.
fn fight(consumer: &mut Consumer<Task>, gets: usize, over: &AtomicBool) -> Vec<u64> {
    let one = |_| {
        // stat: the schedule decides.
        let was_over = over.load(Relaxed);
        let got = get(consumer);
        assert!(!was_over || got.is_none(), "a task in a pool that was empty: {got:?}");
        if got.is_none() {
            // stat: as above.
            over.store(true, Relaxed);
        }
        got
    };
    (0..gets).filter_map(one).collect()
}

/// So many consumers fight over one chunk that the first of them owns. Who takes what is seen by all.
fn fray(mode: Mode, slots: usize, tasks: u64, gets: &[usize]) {
    let pool = pool(slots, gets.len(), mode);
    let mut consumers: Vec<Consumer<Task>> = gets.iter().map(|_| pool.consumer()).collect();
    let mut producer = pool.producer();
    (1..=tasks).for_each(|number| producer.put(task(number)));
    let over = Arc::new(AtomicBool::new(false));
    let threads: Vec<_> = consumers
        .drain(1..)
        .zip(&gets[1..])
        .map(|(mut consumer, &gets)| {
            let over = over.clone();
            thread::spawn(move || {
                let got = fight(&mut consumer, gets, &over);
                (consumer, got)
            })
        })
        .collect();
    let mut got = fight(&mut consumers[0], gets[0], &over);
    for thread in threads {
        let (consumer, theirs) = thread.join().unwrap();
        consumers.push(consumer);
        got.extend(theirs);
    }
    got.extend(std::iter::from_fn(|| get(&mut consumers[0])));
    all_once(got, tasks);
}

/// Two, and three tasks: time enough to steal it back, and again.
pub(crate) fn two_fight_over_a_chunk() {
    fray(Mode::Fence, 4, 3, &[4, 4]);
}

/// Two, and a chunk that they empty.
pub(crate) fn two_fight_over_a_full_chunk() {
    fray(Mode::Asymmetric, 3, 3, &[4, 4]);
}

/// Three, and two tasks: one of them always looks on.
pub(crate) fn three_fight_over_a_chunk() {
    fray(Mode::Fence, 3, 2, &[2, 2, 2]);
}

/// Three, and three tasks.
pub(crate) fn three_fight_over_more() {
    fray(Mode::Asymmetric, 4, 3, &[3, 3, 3]);
}

/// Two that take runs of two fight over four tasks.
pub(crate) fn runs_meet() {
    let pool = pool(32, 3, Mode::Fence);
    let mut owner = pool.consumer();
    let mut producer = pool.producer();
    producer.put_all((1..=5).map(task)).unwrap();
    let mut thief = pool.consumer();
    let runs = |consumer: &mut Consumer<Task>| {
        let mut got = Vec::new();
        (0..3).for_each(|_| {
            consumer.get_many(2, &mut got);
        });
        got.into_iter().map(|task| task[0]).collect::<Vec<u64>>()
    };
    let steals = thread::spawn(move || runs(&mut thief));
    let mut got = runs(&mut owner);
    got.extend(steals.join().unwrap());
    got.extend(std::iter::from_fn(|| get(&mut owner)));
    all_once(got, 5);
}

/// One task there always is: it moves from a place that a scan has not come to, to one that it has
/// left. With `begun`, that place is a chunk; otherwise a chunk is new there; without `known`, the home
/// is new too.
fn a_task_moves(known: bool, begun: bool) {
    let pool: Salsa<Task> = super::salsa::patient_pool(4, 4, Mode::Fence);
    let pool = Arc::new(pool);
    // Boxes, for loom's threads have small stacks.
    let mut to = known.then(|| Box::new(pool.worker()));
    let mut from = Box::new(pool.worker());
    let mut scanner = pool.consumer();
    if let Some(to) = to.as_mut().filter(|_| begun) {
        to.put(task(9));
        assert_eq!(to.get(), Some(task(9)));
    }
    // The first one is gone: who is patient does not steal a chunk that its owner has begun.
    [8, 1].into_iter().for_each(|number| from.put(task(number)));
    assert_eq!(from.get(), Some(task(8)));
    let theirs = pool.clone();
    let mover = thread::spawn(move || {
        let mut to = to.unwrap_or_else(|| Box::new(theirs.worker()));
        to.put(task(2));
        let got = from.get().map(|task| task[0]);
        (to, from, got)
    });
    let mut got: Vec<u64> = get(&mut scanner).into_iter().collect();
    assert_eq!(got.len(), 1, "there was a task all the time");
    let (to, from, theirs) = mover.join().unwrap();
    got.extend(theirs);
    drop((to, from));
    got.extend(std::iter::from_fn(|| get(&mut scanner)));
    all_once(got, 2);
}

/// Into a chunk that was there.
pub(crate) fn a_task_moves_to_a_chunk_that_was_looked_at() {
    a_task_moves(true, true);
}

/// Into a chunk that was not.
pub(crate) fn a_task_moves_to_a_new_chunk() {
    a_task_moves(true, false);
}

/// To a consumer that was not.
pub(crate) fn a_task_moves_to_a_new_home() {
    a_task_moves(false, false);
}

/// A scan has looked at a chunk and at one more when the first gets its last task, is emptied, and is
/// freed, for its consumer goes.
pub(crate) fn a_chunk_goes_between_two_looks() {
    let pool = pool(2, 3, Mode::Fence);
    let mut workers = [pool.worker(), pool.worker()];
    for worker in &mut workers {
        worker.put(task(9));
        assert_eq!(worker.get(), Some(task(9)));
    }
    let mut scanner = pool.consumer();
    let [mut goes, stays] = workers;
    let other = thread::spawn(move || {
        goes.put(task(1));
        goes.get().map(|task| task[0])
    });
    let mut got: Vec<u64> = get(&mut scanner).into_iter().collect();
    got.extend(other.join().unwrap());
    drop(stays);
    got.extend(std::iter::from_fn(|| get(&mut scanner)));
    all_once(got, 1);
}
