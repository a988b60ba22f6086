//! What only the to-do tree promises.

#[path = "scenarios/leases.rs"]
mod leases;
#[path = "scenarios/max_array.rs"]
mod max_array;
#[path = "scenarios/todo_tree.rs"]
mod scenarios;

use cantina::pool::{Full, TaskPool};
use cantina::todo_tree::{Builder, Lease, Shape, TodoTree};
use std::collections::BTreeSet;
use std::error::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Builders of trees of all kinds: flat, below nodes, below several levels, of takes that are counted at once, binary, with
/// owners, over max arrays.
fn builders<T>() -> [Builder<T>; 10] {
    let wide = || TodoTree::builder().seed(1);
    [
        wide(),
        wide().widths(4, 4, 3),
        wide().widths(2, 2, 1),
        wide().widths(1, 2, 2),
        wide().widths(2, 2, 1).counts_at_once(),
        wide().shape(Shape::Binary),
        wide().leases(true),
        wide().leases(true).widths(2, 2, 1),
        wide().leases(true).shape(Shape::Binary),
        wide().shape(Shape::MaxArrays).array_values(4),
    ]
}

/// One of each kind.
fn pools<T>(capacity: usize) -> impl Iterator<Item = TodoTree<T>> {
    builders().into_iter().map(move |builder| builder.capacity(capacity).build().unwrap())
}

#[test]
fn the_scenarios_come_out_right_on_real_threads() {
    let all = scenarios::ALL.into_iter().chain(scenarios::THREES).chain(scenarios::FRAYS);
    for (name, scenario) in all.chain(leases::ALL).chain(max_array::ALL) {
        println!("{name}");
        (0..1_000).for_each(|_| scenario());
    }
}

#[test]
fn a_capacity_is_kept_to_exactly() {
    for capacity in [1, 2, 3, 5, 15, 16, 17, 33, 100, 1_000, 1_500] {
        for pool in pools(capacity) {
            assert_eq!((pool.capacity(), pool.full_slack()), (capacity, 0));
            for round in 0..3 {
                let mut worker = pool.worker();
                for task in 0..capacity {
                    assert_eq!(worker.try_put(task), Ok(()), "{task} of {capacity}, {round}");
                }
                assert_eq!(worker.try_put(9), Err(Full(9)), "{capacity}");
                assert_eq!(pool.len_hint(), capacity);
                let got: BTreeSet<usize> = worker.drain().collect();
                assert!(got.into_iter().eq(0..capacity));
                assert_eq!(pool.len_hint(), 0);
            }
        }
    }
}

#[test]
fn nonsense_is_not_built() {
    let error = |builder: Builder<u8>| builder.build().unwrap_err();
    let binary = || TodoTree::builder().shape(Shape::Binary);
    for builder in [
        TodoTree::builder().capacity(0),
        TodoTree::builder().capacity(usize::MAX),
        TodoTree::builder().capacity((1 << 28) + 1),
        binary().capacity(0),
        binary().capacity((1 << 22) + 1),
        TodoTree::builder().shape(Shape::MaxArrays).capacity((1 << 16) + 1),
    ] {
        assert_eq!(error(builder).setting, "capacity");
    }
    for (places, children, top) in [(0, 2, 1), (17, 2, 1), (1, 1, 1), (1, 65, 1), (1, 2, 0)] {
        assert_eq!(error(TodoTree::builder().widths(places, children, top)).setting, "widths");
    }
}

#[test]
fn a_full_pool_gives_every_task_back_and_counts_are_exact_afterwards() {
    const THREADS: usize = 4;
    const EACH: usize = 200;
    for pool in pools(100) {
        let storm = (0..THREADS).map(|thread| {
            let mut producer = pool.producer();
            thread::spawn(move || {
                let tasks = thread * EACH..(thread + 1) * EACH;
                tasks.filter_map(|task| producer.try_put(task).err()).collect::<Vec<_>>()
            })
        });
        let storm: Vec<_> = storm.collect();
        let back: Vec<_> = storm.into_iter().flat_map(|it| it.join().unwrap()).collect();
        assert_eq!(pool.len_hint(), 100);
        assert_eq!(back.len(), THREADS * EACH - 100);
        let all: BTreeSet<usize> =
            back.into_iter().map(Full::into_inner).chain(pool.consumer().drain()).collect();
        assert!(all.into_iter().eq(0..THREADS * EACH));
        let metrics = pool.metrics();
        assert_eq!((metrics.puts, metrics.gets, metrics.empty), (100, 100, 1));
        assert_eq!(metrics.full as usize, THREADS * EACH - 100);
        assert!(metrics.put_cas >= 200 && metrics.get_cas >= 200, "{metrics:?}");
    }
}

#[test]
fn the_place_of_a_task_that_was_got_is_free_at_once() {
    for pool in pools::<usize>(40) {
        let (mut producer, mut consumer) = (pool.producer(), pool.consumer());
        producer.put_all(0..40).unwrap();
        for task in 40..400 {
            assert_eq!(producer.try_put(task), Err(Full(task)));
            assert!(consumer.get().is_some());
            assert_eq!(pool.len_hint(), 39, "{pool:?}");
            assert_eq!(producer.try_put(task), Ok(()), "{pool:?}");
        }
    }
}

#[test]
fn batches_go_by_the_block() {
    let pool = TodoTree::builder().capacity(64).build().unwrap();
    let mut worker = pool.worker();
    assert_eq!(worker.put_all(0..64).unwrap(), 64);
    let mut got = Vec::new();
    assert_eq!(worker.get_many(100, &mut got), 64);
    assert_eq!(worker.get_many(100, &mut got), 0);
    assert_eq!(worker.get_many(0, &mut got), 0);
    got.sort_unstable();
    assert!(got.into_iter().eq(0..64));
    drop(worker);
    let metrics = pool.metrics();
    assert_eq!((metrics.puts, metrics.gets), (64, 64));
    // Two for each of four blocks, on both sides.
    assert_eq!((metrics.put_cas, metrics.get_cas), (8, 8));
}

#[test]
fn a_batch_that_does_not_fit_gives_the_rest_back() {
    for pool in pools(21) {
        let mut worker = pool.worker();
        worker.put_all([100, 101]).unwrap();
        let error = worker.put_all(0..30).unwrap_err();
        assert_eq!(error.put, 19);
        assert!(error.into_inner().eq(19..30));
        assert_eq!(worker.drain().count(), 21);
        // Iterators that say too much, or nothing.
        let says_nothing = std::iter::successors(Some(0), |it| (*it < 7).then_some(it + 1));
        assert_eq!(worker.put_all(says_nothing).unwrap(), 8);
        struct Boasts(u32);
        impl Iterator for Boasts {
            type Item = u32;
            fn next(&mut self) -> Option<u32> {
                self.0 = self.0.checked_sub(1)?;
                Some(self.0)
            }
            fn size_hint(&self) -> (usize, Option<usize>) {
                (usize::MAX, None)
            }
        }
        assert_eq!(worker.put_all(Boasts(3)).unwrap(), 3);
        assert_eq!(pool.len_hint(), 11);
        assert_eq!(worker.put_all(0..10).unwrap(), 10);
        assert!(worker.try_put(0).is_err());
    }
}

#[test]
fn an_iterator_that_panics_loses_nothing_and_keeps_no_place() {
    for pool in pools(20) {
        let mut worker = pool.worker();
        let tasks = (0..20).inspect(|&task| assert_ne!(task, 7, "seven"));
        let panic = catch_unwind(AssertUnwindSafe(|| worker.put_all(tasks)));
        assert!(panic.is_err());
        assert_eq!(pool.len_hint(), 7);
        assert_eq!(worker.put_all(7..20).unwrap(), 13);
        assert!(worker.drain().collect::<BTreeSet<_>>().into_iter().eq(0..20));
    }
}

#[test]
fn what_is_left_is_dropped_once_also_when_some_of_it_panics() {
    struct Counted(Arc<AtomicUsize>, usize);
    impl Drop for Counted {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
            assert!(self.1 % 7 != 0, "drops badly");
        }
    }
    for pool in pools(40) {
        let drops = Arc::new(AtomicUsize::new(0));
        let task = |number| Counted(drops.clone(), number);
        assert!(pool.producer().put_all((1..=30).map(task)).is_ok());
        let mut consumer = pool.consumer();
        let kept: Vec<_> = (0..5).filter_map(|_| consumer.get()).collect();
        drop(pool);
        let last = AssertUnwindSafe(consumer);
        let dropped = catch_unwind(|| drop({ last }.0));
        assert_eq!(drops.load(Ordering::Relaxed), 25);
        assert!(dropped.is_err(), "the first panic is handed on");
        for task in kept.into_iter().map(AssertUnwindSafe) {
            let _ = catch_unwind(|| drop({ task }.0));
        }
    }
}

#[test]
fn a_leased_task_goes_back_when_its_holder_panics() {
    for pool in pools(3) {
        let mut worker = pool.worker();
        worker.put_all(["a".to_owned(), "b".to_owned()]).unwrap();
        let panic = catch_unwind(AssertUnwindSafe(|| {
            let lease = worker.take_leased().unwrap();
            assert!(lease.is_empty(), "it says something");
        }));
        assert!(panic.is_err());
        assert_eq!(pool.len_hint(), 2);
        let first = worker.take_leased().unwrap();
        let second = worker.take_leased().unwrap();
        assert!(worker.take_leased().is_none());
        assert!(format!("{first:?}").starts_with("Lease"));
        let here = first.clone();
        assert_eq!(first.into_inner(), here);
        second.complete();
        drop(worker);
        let metrics = pool.metrics();
        assert_eq!((metrics.puts, metrics.gets, metrics.returned, metrics.empty), (2, 3, 1, 1));
    }
}

#[test]
fn a_pool_whose_tasks_are_all_leased_is_full_and_empty() {
    for pool in pools(37) {
        let mut worker = pool.worker();
        worker.put_all(0..37).unwrap();
        let mut leases: Vec<_> = std::iter::from_fn(|| worker.take_leased()).collect();
        assert_eq!(leases.len(), 37);
        for _ in 0..40 {
            assert_eq!(worker.try_put(99), Err(Full(99)));
        }
        assert_eq!((worker.get(), pool.len_hint()), (None, 0));
        leases.pop().unwrap().complete();
        assert_eq!(worker.try_put(99), Ok(()));
        assert!(worker.try_put(99).is_err());
        // They outlive the ends and the pool, and what goes back is dropped with the last of them.
        drop(worker);
        drop(pool);
        drop(leases);
    }
}

/// Panics when it is copied, while it is told to.
struct Fragile(Arc<AtomicUsize>);

impl Clone for Fragile {
    fn clone(&self) -> Self {
        assert_eq!(self.0.load(Ordering::Relaxed), 0, "it breaks");
        Self(self.0.clone())
    }
}

#[test]
fn a_task_whose_copy_panics_goes_back() {
    let pool = TodoTree::builder().capacity(1).leases(true).build().unwrap();
    let breaks = Arc::new(AtomicUsize::new(1));
    let mut worker = pool.worker();
    assert!(worker.try_put(Fragile(breaks.clone())).is_ok());
    assert!(catch_unwind(AssertUnwindSafe(|| worker.take_cloned())).is_err());
    assert_eq!(worker.reclaim(worker.id()), 0, "it is back already");
    breaks.store(0, Ordering::Relaxed);
    assert!(worker.take_cloned().unwrap().complete().is_ok());
    assert_eq!(pool.len_hint(), 0);
    assert_eq!(Arc::strong_count(&breaks), 1, "the task and its copy are dropped");
}

#[test]
fn what_was_reclaimed_is_completed_by_one_and_put_back_once() {
    let pool = TodoTree::builder().capacity(2).leases(true).build().unwrap();
    let (mut slow, mut other) = (pool.consumer(), pool.worker());
    other.put_all([1, 2]).unwrap();
    let lease = slow.take_leased().unwrap();
    let mut copy = slow.take_cloned().unwrap();
    let task = *copy;
    *copy += 10;
    assert_eq!(other.reclaim(slow.id()), 1, "the lease is left alone");
    assert_eq!(other.reclaim(slow.id()), 0);
    let again = slow.take_cloned().unwrap();
    assert_eq!(*again, task, "not what was done to the copy");
    assert_eq!(copy.complete().map_err(|late| late.to_string()).unwrap_err(), LATE);
    // Its own copy, which then comes too late, although it has the same holder.
    assert_eq!(slow.reclaim(slow.id()), 1);
    drop(again);
    assert_eq!(other.get(), Some(task));
    assert_eq!((other.get(), other.try_put(3)), (None, Ok(())));
    drop(lease);
    assert_eq!(other.drain().count(), 2);
}

#[test]
fn who_comes_too_late_is_told_whatever_the_task_is() {
    let pool = TodoTree::builder().capacity(1).leases(true).build().unwrap();
    let mut worker = pool.worker();
    assert!(worker.try_put(Fragile(Arc::default())).is_ok());
    let copy = worker.take_cloned().unwrap();
    assert_eq!(worker.reclaim(worker.id()), 1);
    let late: Box<dyn Error> = Box::new(copy.complete().err().unwrap());
    assert_eq!(
        (late.to_string(), format!("{late:?}")),
        (LATE.to_owned(), "Reclaimed(..)".to_owned())
    );
}

const LATE: &str = "the task was taken over by somebody else";

#[test]
fn a_pool_with_leases_says_when_it_has_no_names_left() {
    const MOST: usize = (1 << 20) - 1;
    let pool = TodoTree::builder().capacity(4).leases(true).build().unwrap();
    let mut first = pool.worker();
    first.put_all([1, 2]).unwrap();
    (2..MOST).for_each(|_| drop(pool.consumer()));
    let mut last = pool.try_worker().expect("the last name");
    assert_ne!(first.id(), last.id());
    for _ in 0..2 {
        assert_eq!(pool.try_consumer().unwrap_err().limit, MOST);
        assert_eq!(pool.try_worker().unwrap_err().limit, MOST);
        assert_eq!(TaskPool::try_consumer(&pool).unwrap_err().limit, MOST);
    }
    assert!(catch_unwind(AssertUnwindSafe(|| pool.worker())).is_err());
    // Who has a name goes on.
    let lease = first.take_leased().unwrap();
    assert!(last.get().is_some());
    drop(lease);
    assert!(last.get().is_some());
    pool.producer().try_put(3).unwrap();
    assert_eq!(last.get(), Some(3));
}

#[test]
#[should_panic(expected = "built with leases")]
fn there_are_no_copies_without_owners() {
    let _ = TodoTree::<u32>::new().consumer().take_cloned();
}

#[test]
fn a_lease_is_shared_only_where_its_task_may_be() {
    struct Probe<T>(std::marker::PhantomData<T>);
    trait Otherwise {
        const SYNC: bool = false;
    }
    impl<T> Otherwise for Probe<T> {}
    impl<T: Sync> Probe<T> {
        const SYNC: bool = true;
    }
    const { assert!(Probe::<Lease<u8>>::SYNC) };
    const { assert!(!Probe::<Lease<std::cell::Cell<u8>>>::SYNC) };
}

#[test]
fn a_task_is_got_by_turns_although_its_consumer_likes_another_block() {
    const CAPACITY: usize = 40;
    for builder in builders().into_iter().take(5) {
        let pool = builder.capacity(CAPACITY).build().unwrap();
        pool.producer().put_all(0..10).unwrap();
        let mut worker = pool.worker();
        let mut waiting: BTreeSet<usize> = (0..10).collect();
        let mut gets = 0;
        while !waiting.is_empty() {
            worker.try_put(99).unwrap();
            waiting.remove(&worker.get().unwrap());
            gets += 1;
            assert!(gets <= 64 * CAPACITY, "{waiting:?} are passed over");
        }
    }
}

#[test]
fn counts_go_round_in_the_middle_of_everything() {
    // Max arrays do not: they only grow.
    for builder in builders().into_iter().take(9) {
        for short in [0, 1, 2, 10, 40] {
            let pool = builder.clone().capacity(21).counts_from((1 << 48) - short).build().unwrap();
            let mut worker = pool.worker();
            for _ in 0..20 {
                assert_eq!(worker.get(), None);
                assert_eq!(worker.put_all(0..21).unwrap(), 21);
                assert_eq!(worker.try_put(0), Err(Full(0)));
                assert_eq!(pool.len_hint(), 21);
                assert_eq!(worker.drain().count(), 21);
            }
        }
    }
}

#[test]
fn everything_says_what_it_is() {
    let pool = TodoTree::builder().capacity(3).build().unwrap();
    let mut worker = pool.worker();
    worker.try_put(1).unwrap();
    assert_eq!(format!("{pool:?}"), "TodoTree(1 of 3 tasks)");
    assert_eq!(format!("{worker:?}"), "Worker(1 of 3 tasks)");
    let ends = format!("{:?} {:?}", pool.producer().clone(), pool.consumer());
    assert_eq!(ends, "Producer(1 of 3 tasks) Consumer(1 of 3 tasks)");
    assert!(format!("{:?}", Builder::<u8>::clone(&TodoTree::builder())).contains("1024"));
    assert_eq!(TodoTree::<u8>::default().capacity(), 1024);
}
