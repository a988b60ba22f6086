//! A lane per consumer.

use super::{Task, each_once, get, get_one, put};
use cantina::pool::TaskPool;
use cantina_effort::scenario::Scenario;
use cantina_lab::contender::lane::Lane;
use cantina_lab::contender::ms_queue::Queue;
use cantina_lab::contender::stealing::{Setup, Stealing};
use cantina_lab::contender::treiber::Stack;
use machine::{Topology, thread};

pub(super) const ALL: [Scenario; 8] = [
    ("a task that moves from queue to queue is found", moves_on::<Queue<Task>>),
    ("a task in a queue that is new is found", found_in_a_new_lane::<Queue<Task>>),
    ("a queue that is left is emptied by others", left_behind::<Queue<Task>>),
    ("a queue before there are consumers", before_consumers::<Queue<Task>>),
    ("a task that moves from stack to stack is found", moves_on::<Stack<Task>>),
    ("a task in a stack that is new is found", found_in_a_new_lane::<Stack<Task>>),
    ("a stack that is left is emptied by others", left_behind::<Stack<Task>>),
    ("a stack before there are consumers", before_consumers::<Stack<Task>>),
];

fn pool<L: Lane>(consumers: usize) -> Stealing<L> {
    Stealing::with(Setup { topology: Topology::mock(1, 2), consumers, batch: 1 })
}

/// There is always a task inside: one is put into the lane that the getter looks at first, then one
/// is got from the lane that it looks at last.
fn moves_on<L: Lane<Task = Task> + 'static>() {
    let pool = pool::<L>(2);
    let mut mine = pool.worker();
    let mut theirs = pool.worker();
    put(&mut theirs, 1);
    // It feeds the first consumer.
    let mut feeds_mine = pool.producer();
    let other = thread::spawn(move || {
        put(&mut feeds_mine, 2);
        get_one(&mut theirs)
    });
    let got = get_one(&mut mine);
    each_once([got, other.join().unwrap()], &mut mine, 2);
}

/// The same, but the task moves to a lane that was not there before.
fn found_in_a_new_lane<L: Lane<Task = Task> + 'static>() {
    let pool = pool::<L>(3);
    let mut theirs = pool.worker();
    put(&mut theirs, 1);
    let mut mine = pool.worker();
    let also_theirs = pool.clone();
    let other = thread::spawn(move || {
        let mut new = also_theirs.worker();
        put(&mut new, 2);
        get_one(&mut theirs)
    });
    let got = get_one(&mut mine);
    let theirs = other.join().unwrap();
    each_once([got, theirs], &mut mine, 2);
}

/// A worker puts and goes while another comes, perhaps to its seat.
fn left_behind<L: Lane<Task = Task> + 'static>() {
    let pool = pool::<L>(2);
    let mut leaves = pool.worker();
    let other = thread::spawn(move || put(&mut leaves, 1));
    let mut comes = pool.worker();
    let got = get(&mut comes);
    other.join().unwrap();
    each_once([got], &mut comes, 1);
}

/// Two producers put, and nobody is there yet.
fn before_consumers<L: Lane<Task = Task> + 'static>() {
    let pool = pool::<L>(1);
    let theirs = pool.clone();
    let other = thread::spawn(move || put(&mut theirs.producer(), 1));
    put(&mut pool.producer(), 2);
    other.join().unwrap();
    each_once([], &mut pool.worker(), 2);
}
