//! Pools with a bound: they give back what does not fit, and never hold more.
//!
//! # Orderings
//! | edge | release side | acquire side | carries |
//! |---|---|---|---|
//! | `inside` | whoever gets | whoever puts | that a place was given up before it was taken |

use super::account::balance;
use super::case::Case;
use super::finding::{Finding, ensure, same};
use super::must;
use crate::registry::Family;
use cantina::pool::{Consumer, Full, Producer, PutAllError, TaskPool};
use machine::Arc;
use machine::atomic::AtomicI64;
use machine::atomic::Ordering::AcqRel;
use machine::thread;

pub(super) fn a_full_pool_gives_back_the_very_task<F: Family>(
    case: &Case<F>,
) -> Result<(), Finding> {
    let capacity = case.facts.capacity.unwrap_or(usize::MAX);
    let pool = case.pool::<Box<usize>>();
    let mut worker = pool.worker();
    let (mut held, mut next) = (0, 0);
    // Full, half empty, full again: room comes back.
    for _ in 0..3 {
        loop {
            case.watch.check("filling it")?;
            let task = Box::new(next);
            let place = std::ptr::from_ref(&*task);
            match worker.try_put(task) {
                Ok(()) => (held, next) = (held + 1, next + 1),
                Err(Full(task)) => {
                    same("the task that comes back", next, *task)?;
                    same("where it lies", place, std::ptr::from_ref(&*task))?;
                    break;
                }
            }
            ensure(held <= capacity, format_args!("at most {capacity} tasks to fit"), held)?;
        }
        let least = case.room;
        ensure(held >= least, format_args!("at least {least} tasks to fit"), held)?;
        for _ in 0..held / 2 {
            must::get(&mut worker, "it was full")?;
            held -= 1;
        }
    }
    let mut got = 0;
    while worker.get().is_some() {
        got += 1;
    }
    same("the tasks left inside", held, got)
}

pub(super) fn what_does_not_fit_comes_back_in_order<F: Family>(
    case: &Case<F>,
) -> Result<(), Finding> {
    let capacity = case.facts.capacity.unwrap_or(usize::MAX);
    for before in [0, 1, capacity / 2, capacity] {
        let pool = case.pool::<u64>();
        let mut producer = pool.producer();
        let before = (0..before as u64).take_while(|n| producer.try_put(1_000_000 + n).is_ok());
        let before = before.count();
        // Without an end: it must not be collected first.
        let Err(PutAllError { put, task, rest }) = producer.put_all(0..) else {
            return Err(Finding::new("a pool with a bound to be full at last", "`Ok`"));
        };
        let held = before + put;
        ensure(held <= capacity, format_args!("at most {capacity} tasks to fit"), held)?;
        ensure(held >= case.room, format_args!("at least {} tasks to fit", case.room), held)?;
        let back: Vec<u64> = std::iter::once(task).chain(rest.take(9)).collect();
        same("what comes back", (put as u64..put as u64 + 10).collect(), back)?;
        let inside = (0..put as u64).chain((0..before as u64).map(|n| 1_000_000 + n));
        balance(inside, must::drain(&mut pool.consumer(), &case.watch)?)?;
    }
    Ok(())
}

/// Counts from below: in after the put has returned, out before the get is called.
pub(super) fn never_more_than_the_capacity_are_inside<F: Family>(
    case: &Case<F>,
) -> Result<(), Finding> {
    let capacity = case.facts.capacity.unwrap_or(usize::MAX);
    let pool = case.pool::<u64>();
    let surely_inside = Arc::new(AtomicI64::new(0));
    let mut crew = case.crew();
    for index in 0..4.min(case.effort.threads as u64) {
        let mut worker = pool.worker();
        let mut random = case.random();
        let (surely_inside, calls) = (surely_inside.clone(), case.effort.tasks);
        crew.start(format!("worker {index}"), move |watch| {
            for call in 0..calls as u64 {
                watch.check("putting and getting")?;
                // More puts than gets: it is full most of the time.
                if random.below(5) < 3 {
                    if worker.try_put(call).is_err() {
                        thread::yield_now();
                        continue;
                    }
                    // inside: a get that made room counted itself before.
                    let inside = surely_inside.fetch_add(1, AcqRel) + 1;
                    let most = i64::try_from(capacity).unwrap_or(i64::MAX);
                    ensure(inside <= most, format_args!("at most {most} inside"), inside)?;
                } else {
                    // inside: before the room is there.
                    surely_inside.fetch_sub(1, AcqRel);
                    if worker.get().is_none() {
                        // inside: it made no room.
                        surely_inside.fetch_add(1, AcqRel);
                    }
                }
            }
            Ok(())
        });
    }
    crew.join().map(|_| ())
}

pub(super) fn an_unbounded_pool_is_never_full<F: Family>(case: &Case<F>) -> Result<(), Finding> {
    let pool = case.pool::<u64>();
    let mut producer = pool.producer();
    let tasks = case.effort.tasks as u64 * 2;
    (0..tasks).try_for_each(|task| must::put(&mut producer, task))?;
    let put = producer.put_all(tasks..2 * tasks).ok();
    same("what `put_all` says", Some(tasks as usize), put)?;
    balance(0..2 * tasks, must::drain(&mut pool.consumer(), &case.watch)?)
}
