//! `put_all` and `get_many`: what they promise beyond many single calls.

use super::account::balance;
use super::case::Case;
use super::finding::{Finding, ensure, same};
use super::must;
use cantina::pool::{Consumer, Producer, TaskPool};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Batches around the sizes where buffers are full.
const SIZES: [usize; 9] = [0, 1, 2, 5, 63, 64, 65, 128, 200];

/// Room that a `Vec` may have beyond what is in it, by growing as it does.
const SPARE: usize = 64;

pub(super) fn batches_of_every_size_are_put_whole(case: &Case) -> Result<(), Finding> {
    for size in sizes(case) {
        let pool = case.pool();
        let (mut worker, mut producer) = (pool.worker(), pool.producer());
        let put = if size % 2 == 0 {
            worker.put_all(0..size as u64).ok()
        } else {
            producer.put_all((0..size as u64).collect::<Vec<_>>()).ok()
        };
        same("what `put_all` says", Some(size), put)?;
        balance(0..size as u64, must::drain(&mut worker, &case.watch)?)?;
    }
    Ok(())
}

pub(super) fn a_batch_whose_iterator_panics_loses_nothing(case: &Case) -> Result<(), Finding> {
    for size in sizes(case) {
        let pool = case.pool();
        let mut producer = pool.producer();
        let panics = std::iter::from_fn(|| resume_unwind(Box::new("the iterator's panic")));
        let tasks = (0..size as u64).chain(panics);
        let outcome = catch_unwind(AssertUnwindSafe(|| producer.put_all(tasks).is_ok()));
        ensure(outcome.is_err(), "`put_all` to pass the iterator's panic on", "it did not")?;
        let got = must::drain(&mut pool.consumer(), &case.watch)?;
        let when = format!("after the iterator gave {size} tasks and panicked");
        balance(0..size as u64, got).map_err(|finding| finding.of(when))?;
        must::put(&mut producer, 0)?;
    }
    Ok(())
}

pub(super) fn the_iterator_of_a_batch_may_use_the_pool(case: &Case) -> Result<(), Finding> {
    for size in sizes(case) {
        let size = size / 2;
        let pool = case.pool();
        let (mut producer, mut other) = (pool.producer(), pool.worker());
        let (mut also_put, mut got) = (0, Vec::new());
        let tasks = (0..size as u64).inspect(|task| {
            // Handles come, work and go meanwhile. What does not fit is not put.
            let mut passing = pool.worker();
            also_put += u64::from(passing.try_put(1_000 + also_put).is_ok());
            got.extend(if task % 2 == 0 { passing.get() } else { other.get() });
        });
        let put = producer.put_all(tasks).map_err(|_| {
            Finding::new(format!("room for {size} tasks beside {size} others"), "`Full`")
        })?;
        same("what `put_all` says", size, put)?;
        got.extend(must::drain(&mut other, &case.watch)?);
        balance((0..size as u64).chain(1_000..1_000 + also_put), got)?;
    }
    Ok(())
}

pub(super) fn an_iterator_that_promises_too_much_does_no_harm(case: &Case) -> Result<(), Finding> {
    /// Says that it will never end.
    struct Boaster(std::ops::Range<u64>);
    impl Iterator for Boaster {
        type Item = u64;
        fn next(&mut self) -> Option<u64> {
            self.0.next()
        }
        fn size_hint(&self) -> (usize, Option<usize>) {
            (usize::MAX, None)
        }
    }
    let pool = case.pool();
    let tasks = case.room.min(5) as u64;
    let put = pool.producer().put_all(Boaster(0..tasks)).ok();
    same("what `put_all` says", Some(tasks as usize), put)?;
    balance(0..tasks, must::drain(&mut pool.consumer(), &case.watch)?)
}

pub(super) fn a_batch_is_got_up_to_its_maximum_and_appended(case: &Case) -> Result<(), Finding> {
    let pool = case.pool();
    let (mut producer, mut consumer) = (pool.producer(), pool.consumer());
    let before = [7_000, 7_001];
    let mut into = before.to_vec();
    let mut get_batch = |max, into: &mut Vec<u64>| {
        let before = into.len();
        let count = consumer.get_many(max, into);
        same("the tasks that `get_many` appends", count, into.len().saturating_sub(before))?;
        ensure(count <= max, format_args!("at most {max} tasks"), count)?;
        Ok(count)
    };
    get_batch(3, &mut into)?;
    let tasks = case.room.min(100);
    (0..tasks as u64).try_for_each(|task| must::put(&mut producer, task))?;
    get_batch(0, &mut into)?;
    for max in [1, 2, 7, 50, usize::MAX].into_iter().cycle() {
        case.watch.check("getting batches")?;
        let held = (tasks + before.len()).saturating_sub(into.len());
        if get_batch(max, &mut into)? == 0 {
            ensure(held == 0, format_args!("some of {held} tasks"), "none at all")?;
            break;
        }
    }
    same("what was there before", Some(&before[..]), into.get(..before.len()))?;
    balance(0..tasks as u64, into.drain(before.len()..))
}

pub(super) fn a_batch_reserves_only_for_what_is_there(case: &Case) -> Result<(), Finding> {
    let pool = case.pool();
    let (mut producer, mut consumer) = (pool.producer(), pool.consumer());
    for tasks in [0, 1, 10.min(case.room)] {
        for max in [1_000, 1_000_000, usize::MAX] {
            (0..tasks as u64).try_for_each(|task| must::put(&mut producer, task))?;
            let mut into = Vec::new();
            consumer.get_many(max, &mut into);
            let most = if into.is_empty() { 0 } else { into.len() * 2 + SPARE };
            ensure(
                into.capacity() <= most,
                format_args!("room for {} tasks or little more", into.len()),
                format_args!("room for {}, when up to {max} were asked for", into.capacity()),
            )?;
            must::drain(&mut consumer, &case.watch)?;
        }
    }
    Ok(())
}

/// Those that fit, and are not too large for the effort.
fn sizes(case: &Case) -> impl Iterator<Item = usize> + use<> {
    let largest = case.room.min(3 * case.effort.tasks);
    SIZES.into_iter().filter(move |size| *size <= largest)
}
