//! One balancer with one slot, and two queues.

use super::{Task, each_once, get, get_one, put};
use cantina::pool::TaskPool;
use cantina_effort::scenario::Scenario;
use cantina_lab::contender::EdPool;
use cantina_lab::contender::ed_pool::Setup;
use machine::thread;

pub(super) const ALL: [Scenario; 4] = [
    ("a put and a get meet in a prism", a_put_and_a_get_meet),
    ("two puts meet in a prism", two_puts_meet),
    ("two gets meet in a prism", two_gets_meet),
    ("a task that moves from leaf to leaf is found", moves_on),
];

fn pool() -> EdPool<Task> {
    EdPool::with(Setup { depth: 1, slots: 1, patience: 2 })
}

/// It is handed over, or left in a queue.
fn a_put_and_a_get_meet() {
    let pool = pool();
    let mut theirs = pool.consumer();
    let other = thread::spawn(move || get(&mut theirs));
    put(&mut pool.producer(), 1);
    each_once([other.join().unwrap()], &mut pool.consumer(), 1);
}

/// Each goes on with its own task.
fn two_puts_meet() {
    let pool = pool();
    let mut theirs = pool.producer();
    let other = thread::spawn(move || put(&mut theirs, 1));
    let mut mine = pool.worker();
    put(&mut mine, 2);
    let got = get_one(&mut mine);
    other.join().unwrap();
    each_once([got], &mut mine, 2);
}

/// There is a task for each.
fn two_gets_meet() {
    let pool = pool();
    let mut mine = pool.worker();
    put(&mut mine, 1);
    put(&mut mine, 2);
    let mut theirs = pool.consumer();
    let other = thread::spawn(move || get(&mut theirs));
    let got = get(&mut mine);
    let theirs = other.join().unwrap();
    assert!(got.is_some() && theirs.is_some(), "it was never empty");
    each_once([got, theirs], &mut mine, 2);
}

/// There is always a task inside.
fn moves_on() {
    let pool = pool();
    let (mut mine, mut theirs) = (pool.worker(), pool.worker());
    // A get without a put: from now on gets come first to the queue that the next put goes to.
    assert_eq!(get(&mut mine), None);
    put(&mut theirs, 1);
    let other = thread::spawn(move || {
        put(&mut theirs, 2);
        get_one(&mut theirs)
    });
    let got = get_one(&mut mine);
    each_once([got, other.join().unwrap()], &mut mine, 2);
}
