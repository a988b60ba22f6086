//! Several threads at small trees for a while.

use super::{Scenario, all_once, never_empty};
use cantina::cafe::{Cafe, TreeContainer};
use machine::random::Random;
use machine::{Arc, thread};

/// Longer scenarios, for schedules that are drawn.
pub(crate) const FRAYS: [Scenario; 16] = [
    ("jugglers in a tree of three", || jugglers_in_a_tree(1, 3, 1)),
    ("jugglers in a tree of seven", || jugglers_in_a_tree(2, 3, 2)),
    ("jugglers in a tree of fifteen", || jugglers_in_a_tree(3, 4, 2)),
    ("jugglers deep down in a tree of fifteen", || jugglers_deep_down(3, 8)),
    ("jugglers deep down in a tree of seven", || jugglers_deep_down(2, 4)),
    ("jugglers in a pool of binary trees of one", || jugglers(&binary_of(0), 3)),
    ("jugglers in a pool of binary trees of three", || jugglers(&binary_of(1), 3)),
    ("jugglers in a pool of wide trees of one", || jugglers(&wide_of(0, 32, 32), 3)),
    ("jugglers in one leaf", || jugglers(&wide_of(1, 32, 32), 3)),
    ("jugglers in leaves of one", || jugglers(&wide_of(2, 1, 8), 3)),
    ("jugglers in leaves of two below two levels", || jugglers(&wide_of(3, 2, 2), 3)),
    ("a long list of binary trees is freed", a_long_list_of_binary_trees_is_freed),
    ("overtaking is measured in wide trees of one", || overtaking_is_measured(0, false)),
    ("overtaking is measured in wide trees of three", || overtaking_is_measured(1, false)),
    ("overtaking is measured in binary trees of one", || overtaking_is_measured(0, true)),
    ("overtaking is measured in binary trees of three", || overtaking_is_measured(1, true)),
];

/// Pools that draw other numbers in each run.
fn wide_of(height: u32, places: u32, children: u32) -> Cafe<u64> {
    Cafe::builder().height(height).widths(places, children).build().unwrap()
}

fn binary_of(height: u32) -> Cafe<u64> {
    Cafe::builder().height(height).wait_free(true).build().unwrap()
}

/// Each thread puts before it gets, so that there is always something.
fn jugglers_in_a_tree(height: u32, threads: u64, rounds: u64) {
    let tree = Arc::new(TreeContainer::builder().height(height).build().unwrap());
    let crew: Vec<_> = (1..=threads)
        .map(|thread| {
            let tree = tree.clone();
            let mut random = Random::seeded(machine::random::seed() ^ thread);
            thread::spawn(move || {
                let tasks = (0..rounds).map(|round| thread * 10 + round);
                let (mut put, mut got) = (Vec::new(), Vec::new());
                for task in tasks {
                    if tree.put_by(&mut random, task).is_ok() {
                        put.push(task);
                        got.push(never_empty(tree.get_by(&mut random)));
                    }
                }
                (got, put)
            })
        })
        .collect();
    let (mut put, mut got) = (Vec::new(), Vec::new());
    for one in crew {
        let (their_got, their_put) = one.join().unwrap();
        put.extend(their_put);
        got.extend(their_got);
    }
    got.extend(tree.get());
    put.sort_unstable();
    got.sort_unstable();
    assert_eq!(put, got);
}

/// The upper nodes are used, and one task is left: two threads put before they get, one gets.
fn jugglers_deep_down(height: u32, used: u64) {
    let tree = Arc::new(TreeContainer::builder().height(height).build().unwrap());
    let inside = (0..used).filter(|&task| tree.put(task).is_ok()).count();
    (1..inside).for_each(|_| assert!(tree.get().is_some()));
    let numbers = |thread: u64| Random::seeded(machine::random::seed() ^ thread);
    let theirs = tree.clone();
    let gets = thread::spawn(move || theirs.get_by(&mut numbers(0)));
    let crew: Vec<_> = (1..=2)
        .map(|thread| {
            let tree = tree.clone();
            thread::spawn(move || {
                let mut random = numbers(thread);
                if tree.put_by(&mut random, 10 * thread).is_ok() {
                    never_empty(tree.get_by(&mut random));
                }
            })
        })
        .collect();
    let got = usize::from(gets.join().unwrap().is_some());
    crew.into_iter().for_each(|one| one.join().unwrap());
    let left = std::iter::from_fn(|| tree.get()).count();
    assert_eq!(got + left, inside.min(1), "got as many as were put");
}

fn jugglers(pool: &Cafe<u64>, threads: u64) {
    let crew: Vec<_> = (0..threads)
        .map(|thread| {
            let mut worker = pool.worker();
            thread::spawn(move || {
                let juggle = |round| {
                    worker.put(2 * thread + round);
                    never_empty(worker.get())
                };
                [1, 2].map(juggle)
            })
        })
        .collect();
    let got: Vec<u64> = crew.into_iter().flat_map(|one| one.join().unwrap()).collect();
    all_once(got, 2 * threads);
    assert_eq!(pool.consumer().get(), None);
}

/// So many trees that some are freed while others look at them.
pub(crate) fn a_long_list_of_binary_trees_is_freed() {
    let pool = binary_of(0);
    let crew: Vec<_> = (0..3_u64)
        .map(|thread| {
            let mut worker = pool.worker();
            thread::spawn(move || {
                let juggle = |round| {
                    worker.put(30 * thread + round);
                    never_empty(worker.get())
                };
                (1..=30).map(juggle).collect::<Vec<u64>>()
            })
        })
        .collect();
    let got: Vec<u64> = crew.into_iter().flat_map(|one| one.join().unwrap()).collect();
    all_once(got, 90);
    // Whoever was held up kept trees from being freed; now nobody is.
    let mut worker = pool.worker();
    for task in 0..20 {
        worker.put(task);
        never_empty(worker.get());
    }
    assert!(pool.metrics().trees <= 20, "{:?}", pool.metrics());
}

/// A producer is slow, and leads the head back to where others are about to free trees.
pub(crate) fn the_head_moves_back_while_trees_are_freed() {
    let pool = binary_of(0);
    let mut theirs = pool.producer();
    let other = thread::spawn(move || theirs.put(1));
    let mut here = pool.worker();
    (2..=5).for_each(|task| here.put(task));
    // Of high trees few are passed before some are freed.
    pool.set_height(9).unwrap();
    let got: Vec<u64> = (2..=5).map(|_| never_empty(here.get())).collect();
    other.join().unwrap();
    all_once(got.into_iter().chain(here.drain()), 5);
}

/// Nobody is seen to be overtaken by more than the pool promises.
fn overtaking_is_measured(height: u32, wait_free: bool) {
    let builder = Cafe::builder().height(height).wait_free(wait_free).measure_overtaking(true);
    let pool: Cafe<u64> = builder.build().unwrap();
    pool.producer().extend([1, 2]);
    let producers = [3, 5].map(|first| {
        let mut end = pool.producer();
        thread::spawn(move || (first..first + 2).for_each(|task| end.put(task)))
    });
    let consumers = [(); 2].map(|()| {
        let mut end = pool.consumer();
        thread::spawn(move || [(); 3].map(|()| end.get()))
    });
    producers.into_iter().for_each(|one| one.join().unwrap());
    let got: Vec<_> = consumers.into_iter().flat_map(|one| one.join().unwrap()).collect();
    let rest: Vec<u64> = pool.consumer().drain().collect();
    all_once(got.into_iter().flatten().chain(rest), 6);
    let overtaking = pool.metrics().overtaking.unwrap();
    // In the wait-free form one more for each get that was under way.
    let most = pool.most_overtakers() as u64 + if wait_free { 2 } else { 0 };
    assert!(overtaking.tasks == 6 && overtaking.most <= most, "{overtaking:?}");
}
