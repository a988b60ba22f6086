//! A list of blocks per producer. Blocks are short and freed at once.

use super::{Task, each_once, get, get_one, put};
use cantina::pool::TaskPool;
use cantina_effort::scenario::Scenario;
use cantina_lab::contender::Bags;
use machine::thread;

pub(super) const ALL: [Scenario; 8] = [
    ("a task that moves from list to list is found", moves_on),
    ("a task in a list that is new is found", found_in_a_new_list),
    ("a task that moves past a block that is gone is found", moves_past_a_block),
    ("a block is used up by two at once", two_use_up_a_block),
    ("a block goes while the one behind it goes", neighbours_go),
    ("a block goes while a newer one comes", goes_and_comes),
    ("a list that is left is gone on with", left_behind),
    ("a worker and a thief find something each", worker_and_thief),
];

type Pool<const SLOTS: usize> = Bags<Task, SLOTS>;

/// There is always a task inside: one is put into the list that the getter looks at first, then one
/// is got from the list that it looks at last.
fn moves_on() {
    let pool = Pool::<2>::retiring(1);
    let (mut mine, mut theirs) = (pool.consumer(), pool.consumer());
    let (mut first, mut last) = (pool.producer(), pool.producer());
    put(&mut first, 1);
    assert_eq!(get(&mut mine), Some(1));
    put(&mut last, 2);
    let other = thread::spawn(move || {
        put(&mut first, 3);
        // It is the second to come, and begins at the second list.
        get_one(&mut theirs)
    });
    let got = get_one(&mut mine);
    each_once([Some(1), got, other.join().unwrap()], &mut mine, 3);
}

/// The same, but the task moves to a list that was not there before.
fn found_in_a_new_list() {
    let pool = Pool::<2>::retiring(1);
    let (mut mine, mut theirs) = (pool.consumer(), pool.consumer());
    let (mut old, mut new) = (pool.producer(), pool.producer());
    put(&mut old, 1);
    let other = thread::spawn(move || {
        put(&mut new, 2);
        get_one(&mut theirs)
    });
    let got = get_one(&mut mine);
    each_once([got, other.join().unwrap()], &mut mine, 2);
}

/// The same, and all that is left to see of the task that was got is that its block is gone.
fn moves_past_a_block() {
    let pool = Pool::<2>::retiring(1);
    let (mut mine, mut theirs) = (pool.consumer(), pool.consumer());
    let (mut first, mut last) = (pool.producer(), pool.producer());
    put(&mut first, 1);
    assert_eq!(get(&mut mine), Some(1));
    (2..=4).for_each(|task| put(&mut last, task));
    assert_eq!([get(&mut theirs), get(&mut theirs)], [Some(4), Some(2)]);
    let other = thread::spawn(move || {
        put(&mut first, 5);
        let got = get(&mut theirs);
        put(&mut last, 6);
        // Before it gets that it unlinks the older block, which it has used up.
        let more = get(&mut theirs);
        assert!(got.is_some() && more.is_some(), "it was never empty");
        [got, more]
    });
    let got = get_one(&mut mine);
    let theirs = other.join().unwrap();
    each_once([1, 2, 4].map(Some).into_iter().chain([got]).chain(theirs), &mut mine, 6);
}

/// Two getters meet in a block behind the newest one.
fn two_use_up_a_block() {
    let pool = Pool::<2>::retiring(1);
    let (mut mine, mut theirs) = (pool.consumer(), pool.consumer());
    let mut producer = pool.producer();
    (1..=3).for_each(|task| put(&mut producer, task));
    let other = thread::spawn(move || [get(&mut theirs), get(&mut theirs)]);
    let got = [get(&mut mine), get(&mut mine)];
    let theirs = other.join().unwrap();
    each_once(got.into_iter().chain(theirs), &mut mine, 3);
}

/// One getter is in a block behind another one, which a second getter uses up and unlinks.
fn neighbours_go() {
    let pool = Pool::<1>::retiring(1);
    let (mut mine, mut theirs) = (pool.consumer(), pool.consumer());
    let mut producer = pool.producer();
    (1..=2).for_each(|task| put(&mut producer, task));
    // It stays at the block of 2, and 1 is behind.
    assert_eq!(get(&mut mine), Some(2));
    put(&mut producer, 3);
    assert_eq!(get(&mut theirs), Some(3));
    let other = thread::spawn(move || [get(&mut theirs), get(&mut theirs)]);
    let got = [get(&mut mine), get(&mut mine)];
    let theirs = other.join().unwrap();
    each_once([Some(2), Some(3)].into_iter().chain(got).chain(theirs), &mut mine, 3);
}

/// A getter uses up the newest block while its producer puts more.
fn goes_and_comes() {
    let pool = Pool::<1>::retiring(1);
    let mut consumer = pool.consumer();
    let mut producer = pool.producer();
    put(&mut producer, 1);
    let other = thread::spawn(move || {
        (2..=3).for_each(|task| put(&mut producer, task));
    });
    let got = [get(&mut consumer), get(&mut consumer)];
    assert!(got[0].is_some(), "it was not empty");
    other.join().unwrap();
    each_once(got, &mut consumer, 3);
}

/// A producer puts and goes while another comes, perhaps to its list.
fn left_behind() {
    let pool = Pool::<2>::retiring(1);
    let mut leaves = pool.producer();
    let other = thread::spawn(move || put(&mut leaves, 1));
    let mut comes = pool.worker();
    put(&mut comes, 2);
    let got = get(&mut comes);
    assert!(got.is_some(), "it was not empty");
    other.join().unwrap();
    each_once([got], &mut comes, 2);
}

/// A worker puts two and gets one, while another gets one.
fn worker_and_thief() {
    let pool = Pool::<1>::retiring(1);
    let (mut worker, mut thief) = (pool.worker(), pool.consumer());
    put(&mut worker, 1);
    let other = thread::spawn(move || get_one(&mut thief));
    put(&mut worker, 2);
    let got = get_one(&mut worker);
    each_once([got, other.join().unwrap()], &mut worker, 2);
}
