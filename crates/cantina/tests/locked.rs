//! What the locked pool promises beyond the conformance suite.

use cantina::locked::{BATCH, Locked};
use cantina::pool::BuildError;
use std::sync::Arc;

#[test]
fn tasks_come_out_in_the_order_they_went_in() {
    let pool = Locked::new();
    let (mut put, mut get) = (pool.producer(), pool.consumer());
    put.put(0);
    put.extend(1..200);
    assert_eq!(put.clone().put_all(200..300).unwrap(), 100);
    assert!(get.drain().eq(0..300));
    assert_eq!(get.get(), None);
}

#[test]
fn counts_are_kept() {
    let pool = Locked::new();
    let mut worker = pool.worker();
    worker.extend(0..10);
    assert_eq!(worker.get(), Some(0));
    let metrics = pool.metrics();
    assert_eq!((metrics.puts, metrics.gets, pool.len_hint()), (10, 1, 9));
}

#[test]
fn a_burst_is_given_back() {
    let pool = Locked::builder().build().unwrap();
    let mut worker = pool.worker();
    worker.extend(0..1_000_000_u64);
    assert!(pool.metrics().capacity >= 1_000_000);
    assert!(worker.drain().eq(0..1_000_000));
    assert!(pool.metrics().capacity <= 2_048, "{:?}", pool.metrics());
    worker.extend(0..1_000_000);
    worker.get_many(1_000_000, &mut Vec::new());
    assert!(pool.metrics().capacity <= 2_048, "{:?}", pool.metrics());
}

#[test]
fn room_can_be_made_beforehand_unless_there_is_not_that_much() {
    let pool = Locked::<u64>::builder().reserve(5_000).build().unwrap();
    assert!(pool.metrics().capacity >= 5_000);
    let error: BuildError = Locked::<u64>::builder().reserve(usize::MAX).build().unwrap_err();
    assert_eq!(error.setting, "reserve");
    assert!(error.to_string().contains("fits into memory"), "{error}");
}

#[test]
fn an_iterator_may_use_the_pool_it_feeds() {
    let pool = Locked::new();
    let mut inner = pool.worker();
    let tasks = (0..3 * BATCH).inspect(|&task| {
        inner.put(task);
        assert!(inner.get().is_some());
    });
    assert_eq!(pool.producer().put_all(tasks).unwrap(), 3 * BATCH);
    assert_eq!(pool.len_hint(), 3 * BATCH);
}

#[test]
fn an_iterator_that_panics_has_put_what_it_gave() {
    let pool = Locked::new();
    let mut put = pool.producer();
    let tasks = (0..BATCH + 10).inspect(|&task| assert!(task < BATCH + 5, "enough"));
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| put.put_all(tasks)));
    assert!(result.is_err());
    assert!(pool.consumer().drain().eq(0..BATCH + 5));
}

#[test]
fn a_drain_stays_done() {
    let pool = Locked::new();
    let (mut put, mut get) = (pool.producer(), pool.consumer());
    let mut drain = get.drain();
    assert_eq!(drain.next(), None);
    put.put(1);
    assert_eq!(drain.next(), None);
    assert_eq!(get.get(), Some(1));
}

#[test]
fn debug_says_how_many_and_never_waits() {
    let pool = Locked::new();
    let mut worker = pool.worker();
    worker.put(Arc::new(()));
    assert_eq!(format!("{pool:?} {worker:?}"), "Locked(1 tasks) Worker(1 tasks)");
    let (put, get) = (pool.producer(), pool.consumer());
    assert_eq!(format!("{put:?} {get:?}"), "Producer(1 tasks) Consumer(1 tasks)");
}

#[test]
fn tasks_may_borrow() {
    let words = ["wash up".to_owned(), "dry".to_owned()];
    let pool = Locked::new();
    std::thread::scope(|scope| {
        let mut put = pool.producer();
        let words = &words;
        scope.spawn(move || words.iter().for_each(|word| put.put(word.as_str())));
    });
    assert!(pool.consumer().drain().eq(["wash up", "dry"]));
}
