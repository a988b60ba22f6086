//! Pools with one place where all meet. Those of one lane free what they can at once.

use super::{Task, each_once, get, get_one, put};
use cantina::pool::{Consumer, Producer, TaskPool};
use cantina_effort::scenario::Scenario;
use cantina_lab::contender::{Lbq, LockedStack, MsQueue, Treiber};
use machine::thread;

pub(super) const ALL: [Scenario; 14] = [
    ("a queue is never called empty with a task inside", || never_empty(MsQueue::retiring(1))),
    ("a queue is emptied by two at once", || two_get(MsQueue::retiring(1))),
    ("a queue is filled by two at once", || two_put(MsQueue::retiring(1))),
    ("a queue is helped by those who put", || helped(MsQueue::new(), false)),
    ("a queue is helped by those who get", || helped(MsQueue::new(), true)),
    ("a node comes back to a queue", || comes_back(MsQueue::retiring(1))),
    ("a stack is never called empty with a task inside", || never_empty(Treiber::retiring(1))),
    ("a stack is emptied by two at once", || two_get(Treiber::retiring(1))),
    ("a stack is filled by two at once", || two_put(Treiber::retiring(1))),
    ("a node comes back to a stack", || comes_back(Treiber::retiring(1))),
    ("two locks hold a queue together", || never_empty(Lbq::new())),
    ("a queue with two locks is emptied by two at once", || two_get(Lbq::new())),
    ("a queue with two locks is filled by two at once", || two_put(Lbq::new())),
    ("a lock holds a stack together", || never_empty(LockedStack::new())),
];

/// Two that put one and then get one: each finds one.
fn never_empty(pool: impl TaskPool<Task, Worker: 'static>) {
    let mut theirs = pool.worker();
    let other = thread::spawn(move || {
        put(&mut theirs, 1);
        get_one(&mut theirs)
    });
    let mut mine = pool.worker();
    put(&mut mine, 2);
    let got = get_one(&mut mine);
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

/// One puts; another finds it half done, and helps before it puts or gets; a third puts.
fn helped(pool: impl TaskPool<Task, Worker: 'static>, by_getting: bool) {
    let (mut first, mut second, mut third) = (pool.worker(), pool.worker(), pool.worker());
    // Their handles go later: there are enough steps as it is.
    let puts = thread::spawn(move || {
        put(&mut first, 1);
        first
    });
    let helps = thread::spawn(move || {
        if by_getting {
            return (get(&mut second), second);
        }
        put(&mut second, 3);
        (None, second)
    });
    let also_puts = thread::spawn(move || {
        put(&mut third, 2);
        third
    });
    let _first = puts.join().unwrap();
    let (got, _second) = helps.join().unwrap();
    let mut third = also_puts.join().unwrap();
    each_once([got], &mut third, if by_getting { 2 } else { 3 });
}

/// A task whose node is as long as nothing else that is allocated: when one is freed, the next gets
/// its memory.
type Long = [u64; 20];

/// One gets while another gets and puts again, in the same memory.
fn comes_back(pool: impl TaskPool<Long, Worker: 'static>) {
    let mut mine = pool.worker();
    mine.try_put([1; 20]).unwrap();
    let mut theirs = pool.worker();
    let other = thread::spawn(move || {
        let got = theirs.get();
        theirs.try_put([2; 20]).unwrap();
        got
    });
    let got = mine.get();
    let mut all: Vec<Long> = other.join().unwrap().into_iter().chain(got).collect();
    all.extend(std::iter::from_fn(|| mine.get()));
    all.sort_unstable();
    assert_eq!(all, [[1; 20], [2; 20]]);
}
