//! Random programs, recorded and judged.
//!
//! Small ones, many of them, are judged as what the pool promises to be, to the last call. In long
//! ones the judge may run out of steps before it is sure that all is well with a bound; it is always
//! sure of what it finds wrong. Batches count as their tasks, each by itself, or as one operation where the
//! pool [promises](Batches) that.

use super::both::Both;
use super::case::Case;
use super::crew::{CHECK, Watch};
use super::finding::{Finding, Recorded, same};
use super::maker::PutBatch;
use super::must;
use super::pool::AnyPool;
use crate::registry::{Batches, Order};
use cantina::pool::{Consumer, Producer, PutAllError, TaskPool};
use cantina_check::{BUDGET, Batch, Clock, History, Log, Operation, Spec, Verdict, check, merge};
use machine::random::Random;
use machine::{fence, thread, time};
use std::ops::RangeInclusive;

/// The largest batch.
const BATCH: usize = 3;
/// Steps the judge of a long history may search, after the fast checks found nothing.
const LITTLE: u64 = 20_000;
/// The most tasks that are put only to fill a pool.
const SMALL: usize = 64;

/// The clock and the fence of this machine.
#[derive(Clone, Copy, Debug)]
struct ThisMachine;

impl Clock for ThisMachine {
    fn now(&self) -> u64 {
        time::nanos()
    }

    fn fence(&self) {
        fence::full();
    }
}

/// Each thread's calls, recorded.
struct Player {
    log: Log<ThisMachine>,
    /// The next task to put.
    next: u64,
    random: Random,
    calls: usize,
    /// Puts batches that go in together, if they do.
    put_together: Option<PutBatch>,
    /// What a batch is that it gets.
    got: Batch,
}

pub(super) fn histories_of_small_programs_are_linearizable(case: &Case) -> Result<(), Finding> {
    let mut random = case.random();
    for program in case.rounds(20 * case.effort.rounds) {
        case.watch.check("running small programs")?;
        let threads = (2 + random.below(3)).min(case.effort.threads);
        let history = play(case, threads, 3..=8, &mut random)?;
        match check(&history, &spec(case), BUDGET) {
            Verdict::Linearizable => {}
            verdict => return Err(unexplained(case, program, &history, &verdict)),
        }
    }
    Ok(())
}

pub(super) fn histories_of_long_runs_show_nothing_wrong(case: &Case) -> Result<(), Finding> {
    let mut random = case.random();
    for program in 0..2 {
        let calls = case.effort.tasks / 4;
        let history = play(case, 4.min(case.effort.threads), calls..=calls, &mut random)?;
        let verdict = check(&history, &spec(case), LITTLE);
        if verdict.violation().is_some() {
            return Err(unexplained(case, program, &history, &verdict));
        }
    }
    Ok(())
}

/// What the pool promises to be.
fn spec(case: &Case) -> Spec {
    let spec = match case.facts.order {
        Order::Bag => Spec::bag(),
        Order::Fifo => Spec::queue(),
        Order::Lifo => Spec::stack(),
    };
    let spec = match case.facts.capacity {
        Some(capacity) => spec.bounded(capacity, capacity - case.room),
        None => spec,
    };
    if case.pool::<u64>().full_counts_under_way() { spec.counting_under_way() } else { spec }
}

fn unexplained(case: &Case, program: usize, history: &History, verdict: &Verdict) -> Finding {
    let expected = format!("the history of program {program} to be that of a {}", spec(case));
    let scene = verdict.violation().map(|violation| violation.scene(history)).unwrap_or_default();
    // Those of the crew are numbered from 1 on, and named so.
    let last = history.operations().iter().map(|operation| operation.thread).max().unwrap_or(0);
    let recorded = |operation: Operation| {
        let is_crew = (1..last).contains(&operation.thread);
        let by = if is_crew { name(operation.thread) } else { CHECK.to_owned() };
        Recorded { by, operation }
    };
    let scene = scene.into_iter().map(recorded).collect();
    Finding::new(expected, verdict.to_string()).with_scene(scene)
}

/// What the thread of this number is called.
fn name(thread: usize) -> String {
    format!("thread {thread}")
}

/// Runs a random program of `threads` threads that make so many `calls` each, to the last task.
fn play(
    case: &Case,
    threads: usize,
    calls: RangeInclusive<usize>,
    random: &mut Random,
) -> Result<History, Finding> {
    let (pool, batch_ends) = case.numbers_in_batches();
    let Batches { go_in_together, come_out_together } = case.batches;
    // Tasks of different threads differ in their first digit.
    let stride = 10u64.pow((calls.end() * BATCH).ilog10() + 1);
    let mut logs = vec![fill(case, &pool, random)?];
    let mut crew = case.crew();
    for thread in 1..=threads {
        let player = Player {
            log: Log::with_capacity(thread, ThisMachine, calls.end() * BATCH),
            next: thread as u64 * stride,
            calls: calls.start() + random.below(calls.end() - calls.start() + 1),
            random: Random::seeded(random.next_u64()),
            put_together: go_in_together.then(&batch_ends),
            got: if come_out_together { Batch::AtOnce } else { Batch::Each },
        };
        let role = random.below(4);
        let (mut worker, mut pair) = (pool.worker(), Both::of(&pool));
        crew.start(name(thread), move |watch| match role {
            0 => player.run(watch, |player| player.put(&mut pair)),
            1 => player.run(watch, |player| player.get(&mut pair)),
            2 => player.run(watch, |player| player.put_or_get(&mut pair)),
            _ => player.run(watch, |player| player.put_or_get(&mut worker)),
        });
    }
    logs.append(&mut crew.join()?);
    let mut last = Log::new(threads + 1, ThisMachine);
    let mut consumer = pool.consumer();
    while last.get(|task| *task, || consumer.get()).is_some() {
        case.watch.check("getting what is left")?;
    }
    logs.push(last);
    merge(logs).map_err(|malformed| Finding::new("a history", malformed.to_string()))
}

/// Fills a small pool nearly to the brim, every other time: the others will find it full.
fn fill(
    case: &Case,
    pool: &AnyPool<u64>,
    random: &mut Random,
) -> Result<Log<ThisMachine>, Finding> {
    let mut log = Log::new(0, ThisMachine);
    if case.room <= SMALL && random.one_in(2) {
        let mut producer = pool.producer();
        let tasks = case.room.saturating_sub(random.below(4));
        for task in 0..tasks as u64 {
            log.put(task, || must::put(&mut producer, task))?;
        }
    }
    Ok(log)
}

impl Player {
    /// Makes its calls; the log of them.
    fn run(
        mut self,
        watch: &Watch,
        mut call: impl FnMut(&mut Self) -> Result<(), Finding>,
    ) -> Result<Log<ThisMachine>, Finding> {
        for _ in 0..self.calls {
            watch.check("making calls")?;
            if self.random.one_in(4) {
                thread::yield_now();
            }
            call(&mut self)?;
        }
        Ok(self.log)
    }

    fn put(&mut self, producer: &mut impl Producer<u64>) -> Result<(), Finding> {
        let first = self.next;
        if self.random.one_in(3) {
            let tasks: Vec<u64> = (first..).take(self.random.below(BATCH + 1)).collect();
            self.next += tasks.len() as u64;
            if let Some(put) = self.put_together.as_mut().filter(|_| self.random.one_in(2)) {
                self.log.put_all(&tasks, Batch::AtOnce, || put(&tasks).min(tasks.len()));
                return Ok(());
            }
            let batch = tasks.iter().copied();
            self.log.put_all(&tasks, Batch::Each, || match producer.put_all(batch) {
                Ok(put) | Err(PutAllError { put, .. }) => put.min(tasks.len()),
            });
            return Ok(());
        }
        self.next += 1;
        match self.log.put(first, || producer.try_put(first)) {
            Ok(()) => Ok(()),
            Err(full) => same("the task that comes back", first, full.into_inner()),
        }
    }

    fn put_or_get(
        &mut self,
        worker: &mut (impl Producer<u64> + Consumer<u64>),
    ) -> Result<(), Finding> {
        if self.random.one_in(2) { self.put(worker) } else { self.get(worker) }
    }

    fn get(&mut self, consumer: &mut impl Consumer<u64>) -> Result<(), Finding> {
        if self.random.one_in(3) {
            let (max, mut tasks) = (self.random.below(BATCH + 1), Vec::new());
            let call = |into: &mut Vec<u64>| consumer.get_many(max, into);
            let count = self.log.get_many(max, self.got, |task| *task, &mut tasks, call);
            return same("the tasks that `get_many` appends", count, tasks.len());
        }
        self.log.get(|task| *task, || consumer.get());
        Ok(())
    }
}
