//! Pools of one lane, and the locked ones.

use super::{Scenario, Task, central, each_once, get, put};
use cantina::pool::TaskPool;
use cantina_lab::contender::ms_queue::Queue;
use cantina_lab::contender::treiber::Stack;
use cantina_lab::contender::{Lbq, LockedStack};
use machine::thread;

pub(super) const ALL: [Scenario; 10] = [
    ("a queue is never called empty with a task inside", || never_empty(central::<Queue<Task>>())),
    ("a queue is emptied by two at once", || two_get(central::<Queue<Task>>())),
    ("a queue is filled by two at once", || two_put(central::<Queue<Task>>())),
    ("a stack is never called empty with a task inside", || never_empty(central::<Stack<Task>>())),
    ("a stack is emptied by two at once", || two_get(central::<Stack<Task>>())),
    ("a stack is filled by two at once", || two_put(central::<Stack<Task>>())),
    ("two locks hold a queue together", || never_empty(Lbq::new())),
    ("two locks empty a queue", || two_get(Lbq::new())),
    ("two locks fill a queue", || two_put(Lbq::new())),
    ("a lock holds a stack together", || never_empty(LockedStack::new())),
];

/// Two that put one and then get one: each finds one.
fn never_empty(pool: impl TaskPool<Task, Worker: 'static>) {
    let mut theirs = pool.worker();
    let other = thread::spawn(move || {
        put(&mut theirs, 1);
        let got = get(&mut theirs);
        assert!(got.is_some(), "it was never empty");
        got
    });
    let mut mine = pool.worker();
    put(&mut mine, 2);
    let got = get(&mut mine);
    assert!(got.is_some(), "it was never empty");
    each_once([got, other.join().unwrap()], &mut mine, 2);
}

/// Two that get, and get again, from a pool with two tasks.
fn two_get(pool: impl TaskPool<Task, Worker: 'static>) {
    let mut mine = pool.worker();
    (1..=2).for_each(|task| put(&mut mine, task));
    let mut theirs = pool.worker();
    let other = thread::spawn(move || [get(&mut theirs), get(&mut theirs)]);
    let got = [get(&mut mine), get(&mut mine)];
    let theirs = other.join().unwrap();
    each_once(got.into_iter().chain(theirs), &mut mine, 2);
}

/// Two that put into an empty pool, and one of them gets what it finds.
fn two_put(pool: impl TaskPool<Task, Worker: 'static>) {
    let mut theirs = pool.worker();
    let other = thread::spawn(move || (1..=2).for_each(|task| put(&mut theirs, task)));
    let mut mine = pool.worker();
    let early = get(&mut mine);
    put(&mut mine, 3);
    let got = get(&mut mine);
    assert!(got.is_some(), "it was not empty");
    other.join().unwrap();
    each_once([early, got], &mut mine, 3);
}
