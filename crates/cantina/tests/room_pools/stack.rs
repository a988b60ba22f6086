//! The stack.

use super::{drops_all, fragile};
use cantina::pool::TaskPool;
use cantina::rooms::RoomStack;
use machine::Arc;
use machine::atomic::AtomicUsize;

#[test]
fn it_is_last_in_first_out_across_chunks() {
    for first in [1, 2, 64] {
        let stack = RoomStack::builder().first_chunk(first).build().unwrap();
        for many in [0, 1, 2, 3, 7, 8, 500] {
            assert_eq!(stack.push_all(0..many), many);
            (many..many + 5).for_each(|task| stack.push(task));
            let mut got = Vec::new();
            assert_eq!(stack.pop_many(many + 2, &mut got), many + 2);
            got.extend(std::iter::from_fn(|| stack.pop()));
            assert!(got.into_iter().eq((0..many + 5).rev()));
            assert_eq!((stack.pop(), stack.len_hint()), (None, 0));
        }
    }
}

#[test]
fn a_burst_is_given_back() {
    let stack = RoomStack::new();
    let first = stack.metrics();
    assert_eq!((first.tasks, first.capacity), (0, 0));
    stack.push_all(0..1_000_000_u64);
    let full = stack.metrics();
    assert!(full.tasks == 1_000_000 && (1_000_000..2_100_000).contains(&full.capacity), "{full:?}");
    let mut got = Vec::new();
    while stack.pop_many(1_000, &mut got) > 0 {
        let now = stack.metrics();
        assert!(now.capacity <= 4 * now.tasks + 3 * 256, "{now:?}");
    }
    assert_eq!(got.len(), 1_000_000);
    assert_eq!(stack.metrics().capacity, 3 * 256);
}

#[test]
fn a_stack_that_sways_frees_nothing() {
    let stack = RoomStack::builder().first_chunk(4).build().unwrap();
    stack.push_all(0..13);
    let places = stack.metrics().capacity;
    for _ in 0..10 {
        stack.pop_many(5, &mut Vec::new());
        stack.push_all(0..5);
        assert_eq!(stack.metrics().capacity, places);
    }
}

#[test]
fn a_stack_that_sways_widely_frees_less_and_less_and_then_all() {
    let stack = RoomStack::builder().first_chunk(4).build().unwrap();
    let mut freed = 0;
    for _ in 0..100 {
        stack.push_all(0..1_000);
        let places = stack.metrics().capacity;
        while stack.pop_many(100, &mut Vec::new()) > 0 {}
        freed += usize::from(stack.metrics().capacity < places);
    }
    assert!((1..=3).contains(&freed), "{freed} times");
    for _ in 0..1_100 {
        assert_eq!(stack.pop(), None);
    }
    assert_eq!(stack.metrics().capacity, 3 * 4);
}

#[test]
fn what_is_left_is_dropped_once_whatever_panics() {
    let drops = Arc::new(AtomicUsize::new(0));
    let stack = RoomStack::builder().first_chunk(2).build().unwrap();
    stack.push_all(fragile(20, &drops));
    drops_all(stack, &drops, 20);
}

#[test]
fn an_iterator_that_panics_has_put_what_it_gave() {
    let stack = RoomStack::new();
    let inner = stack.clone();
    let tasks = (0..9).inspect(move |task| {
        inner.push(*task);
        let _ = inner.pop();
        assert!(*task < 5, "enough");
    });
    let push = std::panic::AssertUnwindSafe(|| stack.push_all(tasks));
    assert!(std::panic::catch_unwind(push).is_err());
    assert!(stack.consumer().drain().eq((0..5).rev()));
}

#[test]
fn large_tasks_and_none_at_all() {
    let stack = RoomStack::new();
    let large = |n: u64| [n; 1_000];
    stack.push_all((0..5).map(large));
    assert_eq!(stack.metrics().capacity, 7);
    assert_eq!(stack.pop(), Some(large(4)));
    let stack = RoomStack::new();
    stack.push_all([(); 1_000]);
    let mut got = Vec::new();
    assert_eq!(stack.pop_many(5_000, &mut got), 1_000);
    assert_eq!(stack.pop(), None);
}

#[test]
fn a_first_chunk_is_a_power_of_two() {
    for tasks in [0, 3, 1 << 17, usize::MAX] {
        let error = RoomStack::<u8>::builder().first_chunk(tasks).build().unwrap_err();
        assert_eq!(error.setting, "first_chunk");
    }
    let stack = RoomStack::builder().first_chunk(1 << 16).limit(1).build().unwrap();
    stack.push(1);
    assert_eq!(stack.metrics().capacity, 1 << 16);
}

#[test]
fn its_ends_are_those_of_a_pool() {
    let stack = RoomStack::new();
    let (mut put, mut worker) = (TaskPool::producer(&stack), TaskPool::worker(&stack));
    assert_eq!(put.put_all(0..2_000).unwrap(), 2_000);
    put.clone().try_put(2_000).unwrap();
    worker.extend([2_001]);
    assert_eq!(worker.get(), Some(2_001));
    let mut get = TaskPool::try_consumer(&stack).unwrap();
    assert!(get.drain().eq((0..=2_000).rev()));
    assert_eq!(format!("{stack:?} {worker:?}"), "RoomStack(0 tasks) Worker(0 tasks)");
}
