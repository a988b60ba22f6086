//! What nobody got is dropped, once, when the last handle goes.

use super::account::balance;
use super::case::Case;
use super::finding::{Finding, ensure};
use super::must;
use super::pool::{AnyConsumer, AnyPool, AnyProducer, AnyWorker};
use super::task::{Counted, DropPanic, Tally};
use super::traffic::{self, Calls, Threads};
use cantina::pool::{Consumer, Producer, TaskPool};
use machine::random::Random;
use machine::thread;

/// Which kind of handle goes last.
#[derive(Clone, Copy, Debug)]
enum Last {
    Pool,
    Producer,
    Consumer,
    Worker,
}

const LASTS: [Last; 4] = [Last::Pool, Last::Producer, Last::Consumer, Last::Worker];

/// A pool and one of each of its ends.
struct Handles {
    pool: AnyPool<Counted>,
    producer: AnyProducer<Counted>,
    consumer: AnyConsumer<Counted>,
    worker: AnyWorker<Counted>,
}

impl Handles {
    fn of(pool: AnyPool<Counted>) -> Self {
        let (producer, consumer, worker) = (pool.producer(), pool.consumer(), pool.worker());
        Self { pool, producer, consumer, worker }
    }

    /// Puts `task`, now with one end, now with the other.
    fn put(&mut self, random: &mut Random, task: Counted) -> Result<(), Finding> {
        if random.one_in(2) {
            must::put(&mut self.producer, task)
        } else {
            must::put(&mut self.worker, task)
        }
    }

    fn get(&mut self, random: &mut Random) -> Result<Counted, Finding> {
        let because = "not all were got";
        if random.one_in(2) {
            must::get(&mut self.consumer, because)
        } else {
            must::get(&mut self.worker, because)
        }
    }

    /// Drops all handles but the last; it goes when what this returns is called.
    fn go(self, last: Last) -> Box<dyn FnOnce() + Send> {
        let Self { pool, producer, consumer, worker } = self;
        match last {
            Last::Pool => Box::new(move || drop(pool)),
            Last::Producer => Box::new(move || drop(producer)),
            Last::Consumer => Box::new(move || drop(consumer)),
            Last::Worker => Box::new(move || drop(worker)),
        }
    }
}

pub(super) fn what_is_left_is_dropped_once_with_the_last_handle(
    case: &Case,
) -> Result<(), Finding> {
    let mut random = case.random();
    for last in lasts(case) {
        let left = random.below(case.effort.tasks.min(case.room)) + 1;
        let tally = Tally::new(left + left / 2);
        let mut handles = Handles::of(case.pool());
        let mut got = vec![0; left + left / 2];
        for number in 0..got.len() {
            if number >= left {
                let task = handles.get(&mut random)?;
                got[task.number()] = 1;
            }
            handles.put(&mut random, tally.task(number))?;
        }
        let last_goes = handles.go(last);
        tally.each(|number| got[number], &format!("before the last handle, a {last:?}, goes"))?;
        last_goes();
        tally.each_dropped(1, &format!("after the last handle, a {last:?}, is gone"))?;
    }
    Ok(())
}

/// Each kind, some times over.
fn lasts(case: &Case) -> impl Iterator<Item = Last> + '_ {
    case.rounds(case.effort.rounds.div_ceil(10)).flat_map(|_| LASTS)
}

/// Nobody knows which thread's handle will be the last.
pub(super) fn every_task_is_dropped_once_whoever_goes_last(case: &Case) -> Result<(), Finding> {
    for _ in case.rounds(3 * case.effort.rounds) {
        let each = 1 + case.effort.tasks.min(400) / 8;
        let workers = 4.min(case.effort.threads);
        let tally = Tally::new(workers * each);
        let pool = case.pool();
        let mut crew = case.crew();
        for index in 0..workers {
            let (mut worker, tally) = (pool.worker(), tally.clone());
            let mut random = case.random();
            crew.start(format!("worker {index}"), move |watch| {
                for number in index * each..(index + 1) * each {
                    watch.check("putting and getting")?;
                    // A full pool gives it back: then it is dropped here.
                    let _ = worker.try_put(tally.task(number));
                    if random.one_in(2) {
                        drop(worker.get());
                    }
                }
                Ok(())
            });
        }
        drop(pool);
        crew.join()?;
        tally.each_dropped(1, "after all threads have ended")?;
    }
    Ok(())
}

pub(super) fn tasks_that_panic_when_dropped_take_no_other_with_them(
    case: &Case,
) -> Result<(), Finding> {
    let mut random = case.random();
    let bystander = case.pool();
    for last in lasts(case) {
        let tasks = 1 + random.below(case.room.min(40));
        let panics = [random.below(tasks), random.below(tasks)];
        let tally = Tally::new(tasks);
        let mut handles = Handles::of(case.pool());
        for number in 0..tasks {
            let panics = panics.contains(&number);
            let task = if panics { tally.panicking_task(number) } else { tally.task(number) };
            handles.put(&mut random, task)?;
        }
        let last_goes = handles.go(last);
        // It may keep the panic to itself, or die of it; not of another.
        if let Err(payload) = thread::spawn(last_goes).join() {
            let expected = payload.is::<DropPanic>();
            std::mem::forget(payload);
            let found = "another panic, when the last handle went";
            ensure(expected, "the panic of a task, or none", found)?;
        }
        tally.each_dropped(
            1,
            &format!("after the tasks {panics:?} panicked, dropped by a {last:?}"),
        )?;
        let threads = Threads { producers: 1, consumers: 1, workers: 0 };
        for pool in [&bystander, &case.pool()] {
            traffic::run::<u64>(case, pool, threads, Calls::Mixed, 40)?;
        }
    }
    Ok(())
}

/// A task that puts its number into another pool when it is dropped.
pub(super) struct Legacy {
    number: u64,
    heir: AnyProducer<u64>,
}

impl Drop for Legacy {
    fn drop(&mut self) {
        // There is room; if not, its number will be missed.
        let _ = self.heir.try_put(self.number);
    }
}

pub(super) fn a_task_may_use_another_pool_when_dropped(case: &Case) -> Result<(), Finding> {
    let heirs = case.pool::<u64>();
    let pool = case.pool();
    let mut producer = pool.producer();
    let tasks = case.room.min(20) as u64;
    for number in 0..tasks {
        must::put(&mut producer, Legacy { number, heir: heirs.producer() })?;
    }
    drop((pool, producer));
    let left = must::drain(&mut heirs.consumer(), &case.watch)?;
    balance(0..tasks, left)
}
