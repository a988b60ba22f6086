//! Handles that stand still, that move from thread to thread, and that are very many.

use super::account::balance;
use super::case::Case;
use super::finding::{Finding, ensure, same};
use super::must;
use super::traffic::{self, Calls, Threads};
use cantina::pool::{Consumer, TaskPool};
use machine::thread;

/// This thread stalls between two operations, with a handle that it has used or is about to use; the
/// others get their work done meanwhile.
pub(super) fn a_stalled_thread_blocks_nobody(case: &Case) -> Result<(), Finding> {
    let pool = case.pool::<u64>();
    let others_work = |stalled: &str| {
        let threads = Threads { producers: 1, consumers: 1, workers: 1 };
        traffic::run::<u64>(case, &pool, threads, Calls::Mixed, case.effort.tasks)
            .map_err(|finding| finding.of(stalled))
    };
    let mut worker = pool.worker();
    others_work("beside a worker that has done nothing")?;
    must::put(&mut worker, 1)?;
    must::get(&mut worker, "one was put")?;
    others_work("beside a worker that has put and got")?;
    let _ = worker.get();
    others_work("beside a worker that found nothing")?;
    let (mut producer, mut consumer) = (pool.producer(), pool.consumer());
    must::put(&mut producer, 2)?;
    must::get(&mut consumer, "one was put")?;
    others_work("beside a producer that has put and a consumer that has got")?;
    let _ = consumer.get();
    others_work("beside a consumer that found nothing")?;
    must::put(&mut producer, 3)?;
    must::get(&mut worker, "one was put, and everybody else is gone").map(|_| ())
}

/// A put and a get on each of a row of threads, with the same handles.
pub(super) fn handles_move_between_threads(case: &Case) -> Result<(), Finding> {
    let pool = case.pool::<u64>();
    let mut handles = (pool.producer(), pool.consumer(), pool.worker());
    let because = "one was put";
    for task in 0..case.effort.rounds.clamp(3, 20) as u64 {
        let mut crew = case.crew();
        crew.start(format!("thread {task}"), move |_| {
            let (producer, consumer, worker) = &mut handles;
            must::put(producer, task)?;
            must::get(worker, because)?;
            must::put(worker, task)?;
            must::get(consumer, because)?;
            Ok(handles)
        });
        handles = crew.join()?.remove(0);
    }
    Ok(())
}

/// Whether `call` panics. The thread's name explains what is printed then.
fn panics_on_purpose(call: impl FnOnce() + Send + 'static) -> Result<bool, Finding> {
    let thread = thread::Builder::new().name("a thread that has to panic".to_owned());
    let thread = thread.spawn(call);
    let thread = thread.map_err(|error| Finding::new("a thread", error.to_string()))?;
    Ok(thread.join().is_err())
}

/// Very many consumers, or a clean refusal beyond the pool's limit.
pub(super) fn very_many_consumers_work_or_are_refused(case: &Case) -> Result<(), Finding> {
    let pool = case.pool::<u64>();
    let mut consumers = Vec::new();
    let mut refused = None;
    while refused.is_none() && consumers.len() < case.effort.handles {
        match pool.try_consumer() {
            Ok(consumer) => consumers.push(consumer),
            Err(too_many) => refused = Some(too_many),
        }
    }
    if let Some(too_many) = refused {
        same("the consumers that there are beside the limit", too_many.limit, consumers.len())?;
        let theirs = pool.clone();
        let panics = panics_on_purpose(move || drop(theirs.consumer()))?;
        ensure(panics, "`consumer` to panic beyond the limit", "it did not")?;
        let theirs = pool.clone();
        let panics = panics_on_purpose(move || drop(theirs.worker()))?;
        ensure(panics, "`worker` to panic beyond the limit", "it did not")?;
        let refused = pool.try_worker().err().map(|too_many| too_many.limit);
        same("`try_worker` to refuse, with the limit", refused, Some(consumers.len()))?;
        // A place that is given back is there again, also to the one who was refused.
        for _ in 0..3 {
            drop(consumers.pop());
            consumers.push(pool.try_consumer().map_err(|error| {
                Finding::new("the place of a consumer that left", error.to_string())
            })?);
        }
    }
    let mut producer = pool.producer();
    let tasks = case.room.min(100) as u64;
    (0..tasks).try_for_each(|task| must::put(&mut producer, task))?;
    let mut got = Vec::new();
    // The first, the last and some between: each finds what is there.
    let step = consumers.len() / 7 + 1;
    for consumer in consumers.iter_mut().rev().step_by(step) {
        got.extend(consumer.get());
    }
    consumers.truncate(1);
    got.extend(must::drain(&mut consumers[0], &case.watch)?);
    balance(0..tasks, got)
}
