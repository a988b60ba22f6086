//! What only CAFÉ promises.

#[path = "scenarios/cafe.rs"]
mod scenarios;

use cantina::cafe::{Cafe, Consumer, MAX_HEIGHT, TreeContainer};
use machine::fence::Pair;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

/// Pools of trees of that height: of usual leaves, of such that small trees have all levels, and binary.
fn pools(height: u32) -> Vec<Cafe<u64>> {
    let usual = Cafe::builder().seed(1).height(height);
    let narrow = usual.clone().widths(2, 3);
    let narrowest = usual.clone().widths(1, 2);
    let binary = usual.clone().wait_free(true);
    [usual, narrow, narrowest, binary].into_iter().flat_map(|builder| builder.build()).collect()
}

#[test]
fn the_scenarios_come_out_right_on_real_threads() {
    for (name, scenario) in scenarios::ALL.into_iter().chain(scenarios::FRAYS) {
        println!("{name}");
        (0..1_000).for_each(|_| scenario());
    }
}

#[test]
fn heights_0_to_4_are_first_in_first_out() {
    let leaves = (1..=4).map(|height| Cafe::builder().height(height).build().unwrap());
    for pool in pools(0).into_iter().chain(leaves) {
        let mut worker = pool.worker();
        worker.put(0);
        worker.put_all(1..100).unwrap();
        (100..200).for_each(|task| worker.put(task));
        let mut got = vec![worker.get().unwrap()];
        worker.get_many(70, &mut got);
        got.extend(worker.drain());
        assert_eq!(got, (0..200).collect::<Vec<_>>(), "height {}", pool.height());
        assert_eq!(pool.most_overtakers(), 0);
    }
}

/// How many tasks overtake each, one thread putting and getting in a random order.
fn most_overtaken(pool: &Cafe<u64>, tasks: u64) -> u64 {
    let mut put = [pool.producer(), pool.producer(), pool.producer()];
    let mut get = [pool.consumer(), pool.consumer()];
    (0..tasks).for_each(|task| put[(task * 7 % 5 % 3) as usize].put(task));
    let got: Vec<u64> = (0..tasks).map(|turn| get[turn as usize % 2].get().unwrap()).collect();
    let mut waiting: BTreeSet<u64> = (0..tasks).collect();
    let mut overtaken = vec![0; tasks as usize];
    for task in got {
        waiting.range(..task).for_each(|&older| overtaken[older as usize] += 1);
        assert!(waiting.remove(&task));
    }
    overtaken.into_iter().max().unwrap()
}

#[test]
fn no_task_is_overtaken_by_more_than_is_promised() {
    for height in [0, 1, 2, 3, 4, 5, 6, 7, 8] {
        for pool in pools(height) {
            let (most, promised) = (most_overtaken(&pool, 2_000), pool.most_overtakers());
            assert!(most <= promised as u64, "{most} of {promised} at height {height}");
            assert!(promised < 2 << height);
        }
    }
    assert!(most_overtaken(&pools(5)[0], 500) > 0, "random leaves are in no order");
}

#[test]
fn a_producer_that_claims_ahead_overtakes_within_a_leaf() {
    // Two producers take turns. What each puts to a leaf of its own stays together.
    let got = |height, seed| {
        let pool = Cafe::builder().height(height).seed(seed).build().unwrap();
        let mut put = [pool.producer(), pool.producer()];
        [0, 0, 1, 0, 1, 0].into_iter().zip(0..).for_each(|(who, task)| put[who].put(task));
        pool.consumer().drain().collect::<Vec<u64>>()
    };
    let apart = [[0, 1, 3, 5, 2, 4], [2, 4, 0, 1, 3, 5]];
    for (height, in_one_leaf) in [(6, [0, 1, 2, 3, 4, 5]), (7, [0, 1, 3, 2, 4, 5])] {
        let all = (0..100).map(|seed| got(height, seed));
        let (meet, part): (Vec<_>, Vec<_>) = all.partition(|got| *got == in_one_leaf);
        assert!(!meet.is_empty(), "height {height}: {part:?}");
        assert!(part.iter().all(|got| apart.iter().any(|it| got == it)), "{height}: {part:?}");
    }
}

#[test]
fn a_pool_is_as_fair_as_it_is_told_to_be() {
    let height = |tasks| Cafe::<u64>::builder().fair_within(tasks).build().unwrap().height();
    let expected = [(0, 4), (31, 4), (32, 5), (95, 5), (96, 6), (253, 6), (254, 7), (8_190, 12)];
    for (tasks, expected) in expected {
        assert_eq!(height(tasks), expected, "within {tasks}");
    }
    assert_eq!((height(72_190), height(72_191), height(usize::MAX)), (15, 16, 16));
    let binary = |tasks| Cafe::<u64>::builder().fair_within(tasks).wait_free(true).build().unwrap();
    assert_eq!((binary(72_191).height(), binary(131_070).height()), (15, 16));
    assert_eq!([0, 1, 2, 30].map(|tasks| binary(tasks).height()), [0, 0, 1, 4]);
    let pool = Cafe::<u64>::new();
    assert_eq!(pool.height(), 12);
    pool.fair_within(10).unwrap();
    assert_eq!((pool.height(), pool.most_overtakers()), (4, 0));
    pool.fair_within(100).unwrap();
    assert_eq!((pool.height(), pool.most_overtakers()), (6, 96));
    pool.fair_within(usize::MAX).unwrap();
    assert_eq!(pool.most_overtakers(), 72_191);
    assert_eq!(binary(usize::MAX).most_overtakers(), 131_070);
}

#[test]
fn a_new_height_is_that_of_the_trees_to_come() {
    let pool = Cafe::builder().height(1).build().unwrap();
    let (mut put, mut get) = (pool.producer(), pool.consumer());
    put.put_all(0..3_u64).unwrap();
    pool.set_height(0).unwrap();
    put.put_all(3..20).unwrap();
    let got: Vec<u64> = get.drain().collect();
    assert!(got[..3].iter().all(|&task| task < 3), "the first tree comes first: {got:?}");
    assert_eq!(got[3..], (3..20).collect::<Vec<_>>(), "then each its own");
    pool.set_height(5).unwrap();
    put.put_all(20..300).unwrap();
    assert_eq!(get.drain().count(), 280);
    assert!(pool.set_height(MAX_HEIGHT + 1).is_err());
    assert_eq!(pool.height(), 5);
}

#[test]
fn nonsense_is_refused_with_what_is_allowed() {
    let refused = |builder: cantina::cafe::Builder<u64>| builder.build().unwrap_err().to_string();
    let builder = Cafe::<u64>::builder;
    assert_eq!(refused(builder().height(17)), "height cannot be 17: 0 to 16");
    assert_eq!(refused(builder().height(u32::MAX)), "height cannot be 4294967295: 0 to 16");
    assert_eq!(refused(builder().leaf_trials(0)), "leaf_trials cannot be 0: at least 1");
    let refused =
        |builder: cantina::cafe::TreeBuilder<u64>| builder.build().unwrap_err().to_string();
    let builder = TreeContainer::<u64>::builder;
    assert_eq!(refused(builder().height(17)), "height cannot be 17: 0 to 16");
    assert_eq!(refused(builder().leaf_trials(0)), "leaf_trials cannot be 0: at least 1");
}

#[test]
fn large_tasks_have_low_trees_unless_told_otherwise() {
    assert_eq!(Cafe::<[u8; 128]>::new().height(), 12);
    assert_eq!(Cafe::<[u8; 4096]>::new().height(), 7);
    assert_eq!(Cafe::<()>::new().height(), 12);
    assert_eq!(Cafe::<[u8; 1 << 17]>::new().height(), 2);
}

#[test]
fn every_height_keeps_every_task() {
    for height in 0..=16 {
        for pool in pools(height) {
            let (mut put, mut get) = (pool.producer(), pool.consumer());
            let tasks = 3 * (2 << height.min(13));
            put.put_all(0..tasks).unwrap();
            assert_eq!(pool.len_hint(), tasks as usize);
            (tasks..tasks + 100).for_each(|task| put.put(task));
            let mut got: Vec<u64> = Vec::new();
            while get.get_many(1_000, &mut got) > 0 {}
            got.sort_unstable();
            assert_eq!(got, (0..tasks + 100).collect::<Vec<_>>(), "height {height}");
            assert_eq!(pool.len_hint(), 0);
        }
    }
}

#[test]
fn a_drained_burst_leaves_a_constant_number_of_trees() {
    // Small trees, and some that are large.
    for (height, tasks, spare) in
        [(0, 20_000, 8), (2, 20_000, 8), (9, 20_000, 8), (10, 200_000, 32)]
    {
        let pool = Cafe::builder().height(height).build().unwrap();
        let (mut put, mut get) = (pool.producer(), pool.consumer());
        put.put_all(0..tasks).unwrap();
        let most = pool.metrics().trees;
        assert!(most as u64 >= tasks / (2 << height), "{most} at height {height}");
        assert_eq!(get.drain().count() as u64, tasks);
        drop((put, get));
        let metrics = pool.metrics();
        assert!(metrics.trees <= 8 + spare + 2, "{metrics:?}");
        assert_eq!((metrics.puts, metrics.gets), (tasks, tasks));
        assert_eq!(metrics.trees_appended, metrics.trees_passed, "{metrics:?}");
    }
}

#[test]
fn passed_binary_trees_are_freed() {
    let kinds = [Pair::best(), Pair::symmetric()];
    for (height, fences) in
        [0, 2, 5, 9].into_iter().flat_map(|height| kinds.map(|kind| (height, kind)))
    {
        let builder = Cafe::builder().height(height).wait_free(true).fences(fences);
        let pool = builder.build().unwrap();
        let _idle = (pool.producer(), pool.consumer());
        let (mut put, mut get) = (pool.producer(), pool.consumer());
        put.put_all(0..5_000_u64).unwrap();
        assert_eq!(get.drain().count(), 5_000);
        for task in 0..5_000 {
            put.put(task);
            assert_eq!(get.get(), Some(task));
        }
        assert!(pool.metrics().trees <= 20, "{:?}", pool.metrics());
    }
}

#[test]
fn idle_and_leaked_ends_keep_a_tree_each_and_no_task() {
    static LEAKED: Mutex<Vec<Consumer<u64>>> = Mutex::new(Vec::new());
    let pool = Cafe::builder().height(1).build().unwrap();
    let _idle: Vec<_> = (0..5).map(|_| pool.producer()).collect();
    let mut put = pool.producer();
    put.put_all(0..10_u64).unwrap();
    let mut leaked = pool.consumer();
    let first = leaked.get().unwrap();
    LEAKED.lock().unwrap().push(leaked);
    let mut get = pool.consumer();
    let mut got: Vec<u64> = get.drain().collect();
    got.push(first);
    assert_eq!(got.into_iter().collect::<BTreeSet<_>>(), (0..10).collect());
    for task in 0..10_000 {
        put.put(task);
        assert_eq!(get.get(), Some(task));
    }
    assert!(pool.metrics().trees <= 7 + 8 + 8 + 1, "{:?}", pool.metrics());
}

#[test]
fn a_batch_is_published_at_once() {
    let pool = Cafe::builder().height(5).seed(3).build().unwrap();
    let (mut put, mut get) = (pool.producer(), pool.consumer());
    put.put_all(0..32_u64).unwrap();
    let mut got = Vec::new();
    assert_eq!(get.get_many(64, &mut got), 32);
    assert_eq!(get.get_many(0, &mut got), 0);
    assert_eq!(get.get_many(1, &mut got), 0);
}

#[test]
fn a_batch_as_large_as_a_leaf_goes_to_one_leaf() {
    for (height, most) in [(8, 3.6), (12, 3.2)] {
        let pool = Cafe::builder().height(height).seed(3).build().unwrap();
        let (mut put, mut get) = (pool.producer(), pool.consumer());
        // One alone is before them, and trees have a place less than so many leaves would have.
        put.put(0_u64);
        let mut got = Vec::new();
        for batch in 0..2_000 {
            put.put_all(32 * batch..32 * (batch + 1)).unwrap();
            assert!(get.get_many(32, &mut got) > 0);
        }
        assert_eq!(got.len() + get.drain().count(), 1 + 32 * 2_000);
        drop(put);
        // A claim, the tasks, the bit above.
        let per_batch = pool.metrics().put_cas as f64 / 2_000.0;
        assert!(per_batch < most, "height {height}: {per_batch}");
    }
}

#[test]
fn a_batch_is_got_with_one_read_modify_write() {
    let pools = [4, 8, 12].map(|height| Cafe::builder().height(height).seed(3).build().unwrap());
    // One tree of one leaf, and many of many leaves: used-up ones are told of together, and trees are passed.
    for (pool, batch, batches, most) in
        [(&pools[0], 31, 1, 1.0), (&pools[1], 32, 2_000, 1.8), (&pools[2], 32, 2_000, 1.8)]
    {
        pool.producer().put_all(0..batch * batches).unwrap();
        let (mut get, mut got, mut calls) = (pool.consumer(), Vec::new(), 0);
        while (got.len() as u64) < batch * batches {
            calls += 1;
            assert!(get.get_many(batch as usize, &mut got) > 0);
        }
        drop(get);
        let per_call = pool.metrics().get_cas as f64 / f64::from(calls);
        let height = pool.height();
        assert!(
            per_call <= most && calls <= 2 * batches as u32,
            "height {height}: {per_call}, {calls}"
        );
    }
}

#[test]
fn consumers_that_meet_part() {
    for seed in 0..20 {
        let pool = Cafe::builder().height(9).seed(seed).build().unwrap();
        pool.producer().put_all(0..1_023_u64).unwrap();
        let (mut one, mut other) = (pool.consumer(), pool.consumer());
        let mut got = BTreeSet::new();
        while let (Some(task), another) = (one.get(), other.get()) {
            got.extend([task].into_iter().chain(another));
        }
        assert!(got.into_iter().eq(0..1_023));
        drop((one, other));
        let contended = pool.metrics().contended;
        assert!(contended < 128, "seed {seed}: in each other's way {contended} times");
    }
}

#[test]
fn what_an_iterator_gave_before_it_panicked_is_put() {
    let pool = Cafe::builder().height(2).build().unwrap();
    let mut put = pool.producer();
    let bad = (0..50_u64).inspect(|&task| assert!(task < 40, "on purpose"));
    assert!(catch_unwind(AssertUnwindSafe(|| put.put_all(bad))).is_err());
    put.put(99);
    let got: BTreeSet<u64> = pool.consumer().drain().collect();
    assert_eq!(got, (0..40).chain([99]).collect());
}

#[test]
fn debug_says_something_and_blocks_nobody() {
    let pool = Cafe::<u64>::new();
    let ends = (pool.producer(), pool.consumer(), pool.worker());
    let text = format!("{pool:?} {ends:?} {:?}", Cafe::<u64>::builder());
    assert!(text.contains("Cafe") && text.contains("leaf_trials"), "{text}");
    let tree = TreeContainer::<u64>::new();
    let text = format!("{tree:?} {:?}", TreeContainer::<u64>::builder());
    assert!(text.contains("TreeContainer") && text.contains("TreeBuilder"), "{text}");
}

fn tree(height: u32, seed: u64) -> TreeContainer<u64> {
    TreeContainer::builder().height(height).seed(seed).build().unwrap()
}

#[test]
fn a_tree_container_is_used_once() {
    for height in 0..8 {
        let tree = tree(height, 5);
        let put = (0..).take_while(|&task| tree.put(task).is_ok()).count() as u64;
        assert!(put >= 1 && put <= tree.places() as u64);
        let mut got: Vec<u64> = std::iter::from_fn(|| tree.get()).collect();
        got.sort_unstable();
        assert_eq!(got, (0..put).collect::<Vec<_>>());
        assert!(tree.is_empty());
        if put == tree.places() as u64 {
            assert_eq!(tree.put(9).unwrap_err().into_inner(), 9, "full for ever");
        }
    }
}

#[test]
fn a_put_may_find_a_place_after_another_one_found_none() {
    for (seed, height) in (0..10).flat_map(|seed| [(seed, 6), (seed, 9)]) {
        let tree = tree(height, seed);
        let put = (0..).take_while(|&task| tree.put(task).is_ok()).count() as u64;
        assert!(put < tree.places() as u64, "height {height}, seed {seed}: no place is left");
        let later = (0..1_000).filter(|&task| tree.put(put + task).is_ok()).count() as u64;
        assert!(later > 0, "height {height}, seed {seed}: full after {put}, and for ever");
        assert_eq!(std::iter::from_fn(|| tree.get()).count() as u64, put + later);
    }
}

#[test]
fn a_tree_container_is_dense_whether_or_not_tasks_are_got_meanwhile() {
    for (seed, get_between) in [(1, false), (2, true), (3, false), (4, true)] {
        let tree = tree(12, seed);
        let mut put = 0;
        while tree.put(put).is_ok() {
            put += 1;
            assert!(!get_between || tree.get().is_some());
        }
        // Lemma 1 with k = 3.
        assert!(f64::from(put as u32) >= (5.0_f64 / 6.0 * 12.0).exp2(), "{put} tasks");
    }
}

#[test]
fn a_tree_container_hands_every_task_over_once() {
    for (height, seed) in (0..40).flat_map(|seed| [(1, seed), (3, seed), (7, seed)]) {
        let tree = Arc::new(tree(height, seed));
        let threads = [0, 100].map(|first| {
            let tree = tree.clone();
            thread::spawn(move || {
                let (mut put, mut got) = (0, Vec::new());
                for task in first..first + 50 {
                    put += usize::from(tree.put(task).is_ok());
                    got.extend(tree.get());
                }
                (put, got)
            })
        });
        let [(one, mut got), (two, theirs)] = threads.map(|thread| thread.join().unwrap());
        got.extend(theirs);
        got.extend(std::iter::from_fn(|| tree.get()));
        let count = got.len();
        assert_eq!(count, one + two);
        assert_eq!(got.into_iter().collect::<BTreeSet<_>>().len(), count);
    }
}

#[test]
fn what_is_left_is_dropped_once() {
    static DROPS: AtomicUsize = AtomicUsize::new(0);
    struct Counted(#[allow(dead_code, reason = "so that it has a size")] u64);
    impl Drop for Counted {
        fn drop(&mut self) {
            DROPS.fetch_add(1, Ordering::Relaxed);
        }
    }
    let tree = TreeContainer::builder().height(3).seed(0).build().unwrap();
    let put = (0..10).filter(|&task| tree.put(Counted(task)).is_ok()).count();
    drop((tree.get(), tree.get()));
    assert_eq!(DROPS.swap(0, Ordering::Relaxed), 2 + 10 - put);
    drop(tree);
    assert_eq!(DROPS.swap(0, Ordering::Relaxed), put - 2);
    let pool = Cafe::builder().height(2).build().unwrap();
    pool.producer().extend((0..100).map(Counted));
    drop(pool.consumer().get());
    assert_eq!(DROPS.swap(0, Ordering::Relaxed), 1);
    drop(pool);
    assert_eq!(DROPS.swap(0, Ordering::Relaxed), 99);
}

#[test]
fn who_is_alone_does_no_read_modify_write_in_vain() {
    for height in [0, 2, 6] {
        for pool in pools(height) {
            let (mut put, mut get) = (pool.producer(), pool.consumer());
            for round in 0..40 {
                (0..round).for_each(|task| put.put(task));
                assert_eq!(get.drain().count() as u64, round);
            }
            drop((put, get));
            let metrics = pool.metrics();
            assert_eq!(metrics.failed_cas_per_task(), Some(0.0), "{metrics:?}");
            assert!(metrics.put_cas >= metrics.puts, "a place is taken: {metrics:?}");
            assert!(metrics.get_cas >= metrics.gets, "a task is taken: {metrics:?}");
        }
    }
    assert_eq!(Cafe::<u64>::new().metrics().failed_cas_per_task(), None);
}

#[test]
fn overtaking_is_measured_where_that_is_asked_for() {
    assert_eq!(Cafe::<u64>::new().metrics().overtaking, None);
    for height in [0, 1, 2, 3, 5, 6] {
        let usual = Cafe::builder().seed(3).height(height).measure_overtaking(true);
        for builder in [usual.clone(), usual.clone().wait_free(true), usual.clone().widths(2, 3)] {
            let Ok(pool) = builder.build() else { continue };
            let most = most_overtaken(&pool, 500);
            let measured = pool.metrics().overtaking.unwrap();
            assert_eq!((measured.tasks, measured.most), (500, most), "height {height}");
            assert!(measured.mean().unwrap() <= most as f64);
            assert!(height > 0 || measured.sum == 0);
        }
    }
}

#[test]
fn batches_are_measured_too_and_trees_that_are_used_again() {
    for wait_free in [false, true] {
        let builder = Cafe::builder().height(3).wait_free(wait_free).measure_overtaking(true);
        let pool = builder.build().unwrap();
        let (mut put, mut get) = (pool.producer(), pool.consumer());
        for round in 0..50_u64 {
            put.put_all(0..10 + round).unwrap();
            let mut got = Vec::new();
            while get.get_many(7, &mut got) > 0 {}
            assert_eq!(got.len() as u64, 10 + round);
        }
        drop((put, get));
        let metrics = pool.metrics();
        let measured = metrics.overtaking.unwrap();
        assert_eq!(measured.tasks, metrics.gets);
        assert!(measured.most <= pool.most_overtakers() as u64, "{measured:?}");
    }
}

#[test]
fn threads_see_nobody_overtaken_by_more_than_is_promised() {
    for (height, wait_free) in [(0, false), (2, false), (6, false), (0, true), (2, true)] {
        let builder = Cafe::builder().height(height).wait_free(wait_free);
        let pool = builder.measure_overtaking(true).build().unwrap();
        thread::scope(|scope| {
            for _ in 0..2 {
                let (mut put, mut get) = (pool.producer(), pool.consumer());
                scope.spawn(move || (0..2_000_u64).for_each(|task| put.put(task)));
                scope.spawn(move || {
                    let got = (0..5_000).filter(|_| get.get().is_some()).count();
                    assert!(got <= 4_000);
                });
            }
        });
        let mut rest = pool.consumer();
        rest.drain().for_each(drop);
        drop(rest);
        let measured = pool.metrics().overtaking.unwrap();
        // In the wait-free form one more for each get that was under way.
        let most = pool.most_overtakers() as u64 + if wait_free { 2 } else { 0 };
        assert!(measured.tasks == 4_000 && measured.most <= most, "{height}: {measured:?}");
    }
}
