//! Producers, consumers and workers at once, until every task is through.
//!
//! A consumer stops when it finds nothing after it has seen that everybody is done putting: every
//! put then happens before that get, so `None` claims that all tasks are out.
//!
//! # Orderings
//! | edge | release side | acquire side | carries |
//! |---|---|---|---|
//! | `done` | the last step of whoever puts | [`Getter::run`] | every put |

use super::account::balance;
use super::case::Case;
use super::crew::Watch;
use super::finding::{Finding, ensure, same};
use super::must;
use super::pool::AnyPool;
use super::task::{Numbered, number};
use cantina::pool::{Consumer, Full, Producer, PutAllError, TaskPool};
use machine::Arc;
use machine::atomic::AtomicUsize;
use machine::atomic::Ordering::{Acquire, Release};
use machine::random::Random;
use machine::thread;
use std::fmt;
use std::ops::Range;

/// The largest batch.
const BATCH: usize = 9;

/// How many threads only put, only get, and do both.
#[derive(Clone, Copy, Debug)]
pub(super) struct Threads {
    pub(super) producers: usize,
    pub(super) consumers: usize,
    pub(super) workers: usize,
}

/// Which calls are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Calls {
    /// One task each.
    Single,
    /// Now one task, now several.
    Mixed,
}

/// Puts the tasks of a range, in order.
pub(super) struct Putter {
    pub(super) numbers: Range<u64>,
    pub(super) calls: Calls,
    pub(super) random: Random,
}

/// Gets tasks and notes their numbers.
pub(super) struct Getter {
    pub(super) got: Vec<u64>,
    pub(super) calls: Calls,
    pub(super) random: Random,
}

/// Sends about `tasks` tasks through `pool` and looks whether each comes out once. The pool is
/// empty before and after.
pub(super) fn run<T: Numbered>(
    case: &Case,
    pool: &AnyPool<T>,
    threads: Threads,
    calls: Calls,
    tasks: usize,
) -> Result<(), Finding> {
    let putters = threads.producers + threads.workers;
    let each = tasks.div_ceil(putters) as u64;
    let putting = Arc::new(AtomicUsize::new(putters));
    let mut crew = case.crew();
    for index in 0..putters + threads.consumers {
        let first = index as u64 * each;
        let [puts, gets] = [(); 2].map(|()| case.random());
        let putter = Putter { numbers: first..first + each, calls, random: puts };
        let getter = Getter { got: Vec::new(), calls, random: gets };
        let (pool, putting) = (pool.clone(), putting.clone());
        if index < threads.producers {
            crew.start(format!("producer {index} of {threads}"), move |watch| {
                putter.run(&mut pool.producer(), watch)?;
                // done: everything is put.
                putting.fetch_sub(1, Release);
                Ok(Vec::new())
            });
        } else if index < putters {
            crew.start(format!("worker {index} of {threads}"), move |watch| {
                let mut worker = pool.worker();
                let getter = putter.run_with_getter(getter, &mut worker, watch)?;
                // done: everything is put.
                putting.fetch_sub(1, Release);
                getter.run(&mut worker, &putting, watch)
            });
        } else {
            crew.start(format!("consumer {index} of {threads}"), move |watch| {
                getter.run(&mut pool.consumer(), &putting, watch)
            });
        }
    }
    let got = crew.join()?;
    // Zero-sized tasks all have the same number.
    let put = (0..each * putters as u64).filter_map(|n| T::numbered(n).number());
    let left = must::drain(&mut pool.consumer(), &case.watch)?;
    balance(put, got.into_iter().flatten().chain(left.iter().copied()))?;
    let expected = format!("{threads}: nothing left when all consumers had found nothing");
    ensure(left.is_empty(), expected, format_args!("tasks {left:?}"))
}

impl Putter {
    /// Puts until everything is put; waits while the pool is full.
    pub(super) fn run<T: Numbered>(
        mut self,
        producer: &mut impl Producer<T>,
        watch: &Watch,
    ) -> Result<(), Finding> {
        while !self.numbers.is_empty() {
            watch.check("putting")?;
            if !self.step(producer)? {
                thread::yield_now();
            }
        }
        Ok(())
    }

    /// Puts until everything is put; gets now and then, and whenever the pool is full. A pool that is
    /// full and has nothing waits for somebody in the midst of a call: it gives way to them.
    fn run_with_getter<T: Numbered>(
        mut self,
        mut getter: Getter,
        worker: &mut (impl Producer<T> + Consumer<T>),
        watch: &Watch,
    ) -> Result<Getter, Finding> {
        while !self.numbers.is_empty() {
            watch.check("putting")?;
            let put = self.step(worker)?;
            if !put || self.random.one_in(2) {
                let got = getter.step(worker)?;
                if !put && !got {
                    thread::yield_now();
                }
            }
        }
        Ok(getter)
    }

    /// One call. Whether everything it tried was put.
    pub(super) fn step<T: Numbered>(
        &mut self,
        producer: &mut impl Producer<T>,
    ) -> Result<bool, Finding> {
        let left = (self.numbers.end - self.numbers.start) as usize;
        if self.calls == Calls::Mixed && self.random.one_in(2) {
            let count = self.random.below(BATCH + 1).min(left);
            return self.put_all(producer, count);
        }
        let Some(next) = self.numbers.next() else { return Ok(true) };
        match producer.try_put(T::numbered(next)) {
            Ok(()) => Ok(true),
            Err(Full(task)) => {
                self.numbers.start = next;
                same("the task that comes back", T::numbered(next).number(), task.number())?;
                Ok(false)
            }
        }
    }

    fn put_all<T: Numbered>(
        &mut self,
        producer: &mut impl Producer<T>,
        count: usize,
    ) -> Result<bool, Finding> {
        let first = self.numbers.start;
        let batch = first..first + count as u64;
        match producer.put_all(batch.map(T::numbered)) {
            Ok(put) => {
                same("the tasks that `put_all` put", count, put)?;
                self.numbers.start += count as u64;
                Ok(true)
            }
            Err(PutAllError { put, task, rest }) => {
                self.numbers.start += put as u64;
                let expected = self.numbers.start;
                same("the task that comes back", T::numbered(expected).number(), task.number())?;
                same("the tasks after it", count, put + 1 + rest.count())?;
                Ok(false)
            }
        }
    }
}

impl Getter {
    /// Gets until there is nothing and nobody is putting any more; the numbers it got.
    fn run<T: Numbered>(
        mut self,
        consumer: &mut impl Consumer<T>,
        putting: &AtomicUsize,
        watch: &Watch,
    ) -> Result<Vec<u64>, Finding> {
        loop {
            watch.check("getting")?;
            // done: everything is put before what follows, if it says 0.
            let last = putting.load(Acquire) == 0;
            if !self.step(consumer)? {
                if last {
                    return Ok(self.got);
                }
                thread::yield_now();
            }
        }
    }

    /// One call. Whether it got something.
    pub(super) fn step<T: Numbered>(
        &mut self,
        consumer: &mut impl Consumer<T>,
    ) -> Result<bool, Finding> {
        let mut tasks = Vec::new();
        if self.calls == Calls::Mixed && self.random.one_in(2) {
            let max = 1 + self.random.below(BATCH);
            let count = consumer.get_many(max, &mut tasks);
            same("the tasks that `get_many` appends", count, tasks.len())?;
            ensure(count <= max, format_args!("at most {max} tasks"), count)?;
        } else {
            tasks.extend(consumer.get());
        }
        for task in &tasks {
            self.got.push(number(task)?);
        }
        Ok(!tasks.is_empty())
    }
}

impl fmt::Display for Threads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { producers, consumers, workers } = self;
        write!(f, "{producers} producers, {consumers} consumers and {workers} workers")
    }
}
