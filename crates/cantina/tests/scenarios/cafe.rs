//! CAFÉ in trees of one to seven places.

#[path = "cafe_fray.rs"]
#[allow(dead_code, reason = "they are too long for loom")]
mod fray;

use cantina::cafe::{Cafe, TreeContainer};
use cantina_effort::scenario::Scenario;
#[allow(unused_imports, reason = "as above")]
pub(crate) use fray::{FRAYS, the_head_moves_back_while_trees_are_freed};
use machine::random::Random;
use machine::{Arc, thread};

/// All of them.
pub(crate) const ALL: [Scenario; 27] = [
    ("a put and a get meet in a tree", a_put_and_a_get_meet_in_a_tree),
    ("two puts meet in a tree", two_puts_meet_in_a_tree),
    ("a put and a get meet below a father", a_put_and_a_get_meet_below_a_father),
    ("a bit is shown and cleared", a_bit_is_shown_and_cleared),
    ("bits are shown and cleared on two levels", bits_are_shown_and_cleared_on_two_levels),
    ("a leaf is cleared and put to", a_leaf_is_cleared_and_put_to),
    ("a leaf is cleared and put to on two levels", a_leaf_is_cleared_and_put_to_on_two_levels),
    ("a word is cleared and put below", a_word_is_cleared_and_put_below),
    ("two puts share a leaf", two_puts_share_a_leaf),
    ("a task moves within a leaf", a_task_moves_within_a_leaf),
    ("a task moves to another leaf", a_task_moves_to_another_leaf),
    ("a task moves to another tree", a_task_moves_to_another_tree),
    ("one leaf is emptied by two", one_leaf_is_emptied_by_two),
    ("a slow producer finds its tree closed", a_slow_producer_finds_its_tree_closed),
    ("two consumers close a tree", two_consumers_close_a_tree),
    ("a batch finds its tree closed", a_batch_finds_its_tree_closed),
    ("a slow producer moves the head back", a_slow_producer_moves_the_head_back),
    ("a task moves to another binary tree", a_task_moves_to_another_binary_tree),
    ("a task moves within a binary tree", a_task_moves_within_a_binary_tree),
    ("two consumers move the head on", two_consumers_move_the_head_on),
    ("two producers append a tree", two_producers_append_a_tree),
    (
        "a put is slow while one below it comes and goes",
        a_put_is_slow_while_one_below_it_comes_and_goes,
    ),
    ("a slow producer knew where the head was", a_slow_producer_knew_where_the_head_was),
    ("a tree is freed after the last look at it", a_tree_is_freed_after_the_last_look_at_it),
    ("two ends come at the same time", two_ends_come_at_the_same_time),
    ("a slow producer knew where the tail was", a_slow_producer_knew_where_the_tail_was),
    ("a tree made in vain is used", a_tree_made_in_vain_is_used),
];

fn tree(height: u32) -> Arc<TreeContainer<u64>> {
    Arc::new(TreeContainer::builder().height(height).seed(0).build().unwrap())
}

/// Wide trees of that height: so many places to a leaf, so many children to a word.
fn wide(height: u32, places: u32, children: u32) -> Cafe<u64> {
    wide_from(0, height, places, children)
}

/// The same with random numbers from that seed.
fn wide_from(seed: u64, height: u32, places: u32, children: u32) -> Cafe<u64> {
    Cafe::builder().height(height).widths(places, children).seed(seed).build().unwrap()
}

fn binary(height: u32) -> Cafe<u64> {
    Cafe::builder().height(height).wait_free(true).seed(0).build().unwrap()
}

/// Seeds of random numbers that lead to the left child of the root, or to a child of that.
const BELOW: [u64; 2] = [0, 6];

/// Random numbers that lead the first put of a thread to another place than those of another thread.
fn random(thread: u64) -> Random {
    Random::seeded(thread)
}

/// `got` are the tasks 1 to `tasks`, each once.
fn all_once(got: impl IntoIterator<Item = u64>, tasks: u64) {
    let mut got: Vec<u64> = got.into_iter().collect();
    got.sort_unstable();
    assert!(got.iter().copied().eq(1..=tasks), "{got:?} of {tasks}");
}

fn never_empty(task: Option<u64>) -> u64 {
    task.expect("it was never empty")
}

/// Puts the tasks 1 to `tasks`.
fn fill(tree: &TreeContainer<u64>, tasks: u64) {
    let mut random = random(9);
    (1..=tasks).for_each(|task| tree.put_by(&mut random, task).expect("there is room"));
}

/// Both threads put before they get, beside the root's task that is there already.
pub(crate) fn a_put_and_a_get_meet_in_a_tree() {
    let tree = tree(1);
    fill(&tree, 1);
    let theirs = tree.clone();
    let other = thread::spawn(move || theirs.get_by(&mut random(1)));
    tree.put_by(&mut random(2), 2).expect("there is room");
    let mine = never_empty(tree.get_by(&mut random(3)));
    let got = [Some(mine), other.join().unwrap(), tree.get_by(&mut random(4))];
    all_once(got.into_iter().flatten(), 2);
    assert_eq!(tree.get_by(&mut random(8)), None);
}

/// One on each side, and each puts before it gets.
pub(crate) fn two_puts_meet_in_a_tree() {
    let tree = tree(1);
    fill(&tree, 1);
    assert_eq!(tree.get_by(&mut random(0)), Some(1));
    let theirs = tree.clone();
    let other = thread::spawn(move || {
        let put = theirs.put_by(&mut random(1), 1).is_ok();
        (put, theirs.get_by(&mut random(5)))
    });
    let put = tree.put_by(&mut random(2), 2).is_ok();
    let mine = tree.get_by(&mut random(3));
    let (theirs_put, theirs) = other.join().unwrap();
    assert!(!put || mine.is_some() || theirs.is_some());
    assert!(!(put && theirs_put) || mine.is_some() && theirs.is_some(), "it was never empty");
    let left = std::iter::from_fn(|| tree.get_by(&mut random(4)));
    let got: Vec<u64> = left.chain(mine).chain(theirs).collect();
    assert_eq!(got.len(), usize::from(put) + usize::from(theirs_put), "{got:?}");
}

/// A tree of height 2 whose upper nodes are used: what is below has a father that is not the root.
pub(crate) fn a_put_and_a_get_meet_below_a_father() {
    let tree = tree(2);
    fill(&tree, 4);
    let upper: Vec<u64> = (0..3).filter_map(|_| tree.get_by(&mut random(7))).collect();
    let theirs = tree.clone();
    let other = thread::spawn(move || theirs.get_by(&mut random(1)));
    let put = tree.put_by(&mut random(2), 5).is_ok();
    let mine = tree.get_by(&mut random(3));
    assert!(!put || mine.is_some(), "it was never empty");
    let got = [mine, other.join().unwrap(), tree.get_by(&mut random(4))];
    all_once(got.into_iter().flatten().chain(upper), 4 + u64::from(put));
    assert_eq!(tree.get_by(&mut random(8)), None);
}

/// One task is there; one thread gets, and may clear its bit, while the other puts and gets.
fn shown_and_cleared(pool: &Cafe<u64>) {
    pool.producer().put(1);
    let mut theirs = pool.consumer();
    let other = thread::spawn(move || theirs.get());
    let mut here = pool.worker();
    here.put(2);
    let mine = never_empty(here.get());
    let got = [Some(mine), other.join().unwrap(), here.get()];
    all_once(got.into_iter().flatten(), 2);
}

/// Three leaves below the root.
pub(crate) fn a_bit_is_shown_and_cleared() {
    shown_and_cleared(&wide(1, 2, 3));
}

/// Two leaves below each word.
pub(crate) fn bits_are_shown_and_cleared_on_two_levels() {
    shown_and_cleared(&wide(1, 1, 2));
}

/// A leaf was emptied and its bit left: one thread clears it, the other puts to the leaf again and gets.
fn cleared_and_put_to(pool: &Cafe<u64>) {
    let mut here = pool.worker();
    here.put(0);
    assert_eq!(here.get(), Some(0));
    let (mut theirs, mut elsewhere) = (pool.consumer(), pool.consumer());
    let other = thread::spawn(move || theirs.get());
    here.put(1);
    // Not at the leaf, so that it needs the bit.
    let mine = elsewhere.get();
    let got = [mine, other.join().unwrap(), here.get()];
    assert!(got[..2].iter().flatten().count() == 1, "put, and got by nobody: {got:?}");
    all_once(got.into_iter().flatten(), 1);
}

/// Two leaves below the root.
pub(crate) fn a_leaf_is_cleared_and_put_to() {
    // A seed with which the last consumer begins with the other leaf.
    cleared_and_put_to(&wide_from(1, 2, 4, 3));
}

/// Four leaves below two words.
pub(crate) fn a_leaf_is_cleared_and_put_to_on_two_levels() {
    // A seed with which the last consumer begins with another leaf.
    cleared_and_put_to(&wide_from(3, 3, 4, 2));
}

/// One task is there. One thread gets it and finds no more, so it clears the bit of the word above, while the other puts
/// to a leaf below the same word.
pub(crate) fn a_word_is_cleared_and_put_below() {
    // A seed with which the last consumer begins with another leaf.
    let pool = wide_from(0, 1, 1, 2);
    let mut here = pool.producer();
    here.put(1);
    let (mut theirs, mut elsewhere) = (pool.consumer(), pool.consumer());
    let other = thread::spawn(move || [theirs.get(), theirs.get()]);
    here.put(2);
    let mine = elsewhere.get();
    let got: Vec<u64> = other.join().unwrap().into_iter().chain([mine]).flatten().collect();
    assert!(mine.is_some() || got.len() == 2, "put, and got by nobody: {got:?}");
    all_once(got.into_iter().chain(pool.consumer().get()), 2);
}

/// Both put to the same leaf, below a word below the root, and one of them gets.
pub(crate) fn two_puts_share_a_leaf() {
    // The seed with which the first two producers begin with the same one of four leaves.
    let pool = wide_from(7, 3, 4, 2);
    let mut theirs = pool.producer();
    let mut here = pool.worker();
    let other = thread::spawn(move || theirs.put(1));
    here.put(2);
    let mine = never_empty(here.get());
    other.join().unwrap();
    all_once([Some(mine), here.get()].into_iter().flatten(), 2);
}

/// One task is there. The other thread puts one elsewhere before it gets.
fn a_task_moves(pool: &Cafe<u64>) {
    pool.producer().put(1);
    let mut theirs = pool.worker();
    let other = thread::spawn(move || {
        theirs.put(2);
        theirs.get()
    });
    let mine = never_empty(pool.consumer().get());
    let theirs = never_empty(other.join().unwrap());
    all_once([mine, theirs], 2);
}

/// The leaf's words are the root.
pub(crate) fn a_task_moves_within_a_leaf() {
    a_task_moves(&wide(1, 32, 32));
}

/// Leaves of one place.
pub(crate) fn a_task_moves_to_another_leaf() {
    a_task_moves(&wide(1, 1, 3));
}

/// Trees of one place.
pub(crate) fn a_task_moves_to_another_tree() {
    a_task_moves(&wide(0, 32, 32));
}

/// Binary trees of one place.
pub(crate) fn a_task_moves_to_another_binary_tree() {
    a_task_moves(&binary(0));
}

/// From the root to one side, or from one side to the other.
pub(crate) fn a_task_moves_within_a_binary_tree() {
    a_task_moves(&binary(1));
}

/// The leaf's word is the root.
pub(crate) fn one_leaf_is_emptied_by_two() {
    shown_and_cleared(&wide(1, 32, 32));
}

/// Each tree has one place, and one producer is slow to fill it while the other goes on and gets.
fn a_slow_producer(pool: &Cafe<u64>) {
    // One that is left behind in the first tree.
    let mut late = pool.consumer();
    let mut theirs = pool.producer();
    let other = thread::spawn(move || theirs.put(1));
    let mut here = pool.worker();
    here.put(2);
    let first = never_empty(here.get());
    other.join().unwrap();
    all_once([Some(first), late.get(), here.get(), here.get()].into_iter().flatten(), 2);
}

/// It puts elsewhere.
pub(crate) fn a_slow_producer_finds_its_tree_closed() {
    a_slow_producer(&wide(0, 32, 32));
}

/// Two trees of one place are full; both consumers pass the first.
fn two_consumers(pool: &Cafe<u64>) {
    pool.producer().extend([1, 2]);
    let mut theirs = pool.consumer();
    let other = thread::spawn(move || theirs.get());
    let mine = never_empty(pool.consumer().get());
    let theirs = never_empty(other.join().unwrap());
    all_once([mine, theirs], 2);
}

/// They close it.
pub(crate) fn two_consumers_close_a_tree() {
    two_consumers(&wide(0, 32, 32));
}

/// A batch that is larger than a tree.
pub(crate) fn a_batch_finds_its_tree_closed() {
    let pool = wide(0, 32, 32);
    let mut theirs = pool.producer();
    let other = thread::spawn(move || theirs.extend([1, 2]));
    let mut here = pool.worker();
    here.put(3);
    let mut got = vec![never_empty(here.get())];
    other.join().unwrap();
    got.extend(here.drain());
    let order = |task| got.iter().position(|&it| it == task);
    assert!(order(1) < order(2), "first in, first out: {got:?}");
    all_once(got, 3);
}

/// It leads the consumers back.
pub(crate) fn a_slow_producer_moves_the_head_back() {
    a_slow_producer(&binary(0));
}

/// They move the head.
pub(crate) fn two_consumers_move_the_head_on() {
    two_consumers(&binary(0));
}

/// Both find the first tree full.
pub(crate) fn two_producers_append_a_tree() {
    let pool = binary(0);
    let (mut theirs, mut here) = (pool.producer(), pool.worker());
    here.put(1);
    let other = thread::spawn(move || theirs.put(2));
    here.put(3);
    other.join().unwrap();
    all_once([here.get(), here.get(), here.get(), here.get()].into_iter().flatten(), 3);
}

/// A node is taken and not filled yet. A task below it comes, and goes with its bits, and then the node is filled.
pub(crate) fn a_put_is_slow_while_one_below_it_comes_and_goes() {
    let tree = tree(2);
    fill(&tree, 1);
    assert_eq!(tree.get_by(&mut random(0)), Some(1));
    let theirs = tree.clone();
    // Numbers with which both come to the same child of the root, and whoever is second to a child of that.
    let other = thread::spawn(move || theirs.put_by(&mut random(BELOW[0]), 1).is_ok());
    assert!(tree.put_by(&mut random(BELOW[1]), 2).is_ok());
    let mine = never_empty(tree.get_by(&mut random(3)));
    assert!(other.join().unwrap());
    all_once(
        [Some(mine), tree.get_by(&mut random(4)), tree.get_by(&mut random(5))]
            .into_iter()
            .flatten(),
        2,
    );
}

/// Its second put is slow; the head that it knows from the first one has moved on by two trees meanwhile.
pub(crate) fn a_slow_producer_knew_where_the_head_was() {
    let pool = binary(0);
    let mut theirs = pool.producer();
    theirs.put(1);
    let mut here = pool.worker();
    let other = thread::spawn(move || theirs.put(2));
    let mut got = vec![never_empty(here.get())];
    for task in [3, 4] {
        here.put(task);
        got.push(never_empty(here.get()));
    }
    other.join().unwrap();
    all_once(got.into_iter().chain(here.drain()), 4);
}

/// One gets from the first tree, and the other passes it.
pub(crate) fn a_tree_is_freed_after_the_last_look_at_it() {
    let pool = binary(0);
    pool.producer().extend([1, 2, 3, 4]);
    // Of high trees few are passed before some are freed. None is appended here.
    pool.set_height(9).unwrap();
    let (mut theirs, mut here) = (pool.consumer(), pool.consumer());
    // The one who gets comes first on the first schedules.
    let other = thread::spawn(move || theirs.drain().take(4).collect::<Vec<u64>>());
    let mine = here.get();
    all_once(other.join().unwrap().into_iter().chain(mine), 4);
}

/// Each has a record of its own, which the other one finds.
pub(crate) fn two_ends_come_at_the_same_time() {
    let pool = binary(0);
    let theirs = pool.clone();
    let other = thread::spawn(move || theirs.producer().put(1));
    pool.producer().put(2);
    other.join().unwrap();
    all_once(pool.consumer().drain(), 2);
}

/// It comes when the other one has filled and emptied three trees behind the first, and is about to free some. The first
/// tree has a place that nobody has found.
pub(crate) fn a_slow_producer_knew_where_the_tail_was() {
    let builder = Cafe::builder().height(1).leaf_trials(1).wait_free(true);
    let pool: Cafe<u64> = builder.seed(0).build().unwrap();
    let (mut theirs, mut here) = (pool.producer(), pool.worker());
    let other = thread::spawn(move || theirs.put(1));
    let mut tasks = 1;
    while pool.metrics().trees < 4 {
        tasks += 1;
        here.put(tasks);
    }
    // Of high trees few are passed before some are freed.
    pool.set_height(9).unwrap();
    let mut got: Vec<u64> = here.drain().take(tasks as usize).collect();
    other.join().unwrap();
    got.extend(here.drain());
    all_once(got, tasks);
}

/// Both find the first tree full, and one of them is slower to append another.
pub(crate) fn a_tree_made_in_vain_is_used() {
    let pool = wide(0, 32, 32);
    let (mut theirs, mut here) = (pool.producer(), pool.producer());
    here.put(1);
    let other = thread::spawn(move || theirs.put(2));
    here.put(3);
    here.put(4);
    other.join().unwrap();
    all_once(pool.consumer().drain(), 4);
}
