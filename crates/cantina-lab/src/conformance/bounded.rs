//! Pools with a bound: they give back what does not fit, and never hold more.
//!
//! # Orderings
//! | edge | release side | acquire side | carries |
//! |---|---|---|---|
//! | `room` | whoever gets, before it does | whoever puts, after it has | the count of those inside |

use super::account::balance;
use super::case::Case;
use super::finding::{Finding, ensure, same};
use super::must;
use cantina::pool::{Consumer, Full, Producer, PutAllError, TaskPool};
use machine::Arc;
use machine::atomic::AtomicI64;
use machine::atomic::Ordering::Relaxed;
use machine::{fence, thread};

pub(super) fn a_full_pool_gives_back_the_very_task(case: &Case) -> Result<(), Finding> {
    let capacity = case.capacity;
    let pool = case.pool::<u64>();
    let mut worker = pool.worker();
    let (mut held, mut next) = (0, 0);
    // Full, half empty, full again: room comes back.
    for _ in 0..3 {
        loop {
            case.watch.check("filling it")?;
            match worker.try_put(next) {
                Ok(()) => (held, next) = (held + 1, next + 1),
                Err(Full(task)) => {
                    same("the task that comes back", next, task)?;
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
    Ok(())
}

pub(super) fn what_does_not_fit_comes_back_in_order(case: &Case) -> Result<(), Finding> {
    let capacity = case.capacity;
    for before in [0, 1, capacity / 2, capacity] {
        let pool = case.pool::<u64>();
        let mut producer = pool.producer();
        let before = (0..before as u64).take_while(|n| producer.try_put(1_000_000 + n).is_ok());
        let before = before.count();
        let batch = 0..capacity as u64 + 10;
        let Err(PutAllError { put, task, rest }) = producer.put_all(batch.clone()) else {
            return Err(Finding::new("a pool with a bound to be full at last", "`Ok`"));
        };
        let held = before + put;
        ensure(held <= capacity, format_args!("at most {capacity} tasks to fit"), held)?;
        ensure(held >= case.room, format_args!("at least {} tasks to fit", case.room), held)?;
        let back: Vec<u64> = std::iter::once(task).chain(rest).collect();
        same("what comes back", batch.skip(put).collect(), back)?;
        let inside = (0..put as u64).chain((0..before as u64).map(|n| 1_000_000 + n));
        balance(inside, must::drain(&mut pool.consumer(), &case.watch)?)?;
    }
    Ok(())
}

/// Counts from below: in after the put has returned, out before the get is called.
pub(super) fn never_more_than_the_capacity_are_inside(case: &Case) -> Result<(), Finding> {
    let pool = case.pool::<u64>();
    let mut producer = pool.producer();
    (1..case.room as u64).try_for_each(|task| must::put(&mut producer, task))?;
    let surely_inside = Arc::new(AtomicI64::new(case.room as i64 - 1));
    let mut crew = case.crew();
    for index in 0..4.min(case.effort.threads as u64) {
        let mut worker = pool.worker();
        let mut random = case.random();
        let surely_inside = surely_inside.clone();
        let (capacity, calls) = (case.capacity as i64, case.effort.tasks as u64);
        crew.start(format!("worker {index}"), move |watch| {
            for call in 0..calls {
                watch.check("putting and getting")?;
                // More puts than gets: it is full most of the time.
                if random.below(5) < 3 {
                    if worker.try_put(call).is_err() {
                        thread::yield_now();
                        continue;
                    }
                    // room: whoever made it had counted itself out.
                    fence::full();
                    // bare: the fence orders it.
                    let inside = surely_inside.fetch_add(1, Relaxed) + 1;
                    ensure(inside <= capacity, format_args!("at most {capacity} inside"), inside)?;
                } else {
                    // bare: the fence orders it.
                    surely_inside.fetch_sub(1, Relaxed);
                    // room: counted out before there is any.
                    fence::full();
                    if worker.get().is_none() {
                        // bare: it made no room.
                        surely_inside.fetch_add(1, Relaxed);
                    }
                }
            }
            Ok(())
        });
    }
    crew.join().map(|_| ())
}

pub(super) fn an_unbounded_pool_is_never_full(case: &Case) -> Result<(), Finding> {
    let pool = case.pool::<u64>();
    let mut producer = pool.producer();
    let tasks = case.effort.tasks as u64 * 2;
    (0..tasks).try_for_each(|task| must::put(&mut producer, task))?;
    let put = producer.put_all(tasks..2 * tasks).ok();
    same("what `put_all` says", Some(tasks as usize), put)?;
    balance(0..2 * tasks, must::drain(&mut pool.consumer(), &case.watch)?)
}
