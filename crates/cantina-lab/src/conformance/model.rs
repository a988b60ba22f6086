//! One thread against the obvious pool: there is only one right answer to most calls.
//!
//! With one thread every put happens before every later get, so `None` and `Full` can be judged to
//! the task, and order, where the pool has one, call by call.

use super::case::Case;
use super::finding::{Finding, ensure, same};
use crate::registry::{Facts, Order};
use cantina::pool::{Consumer, Full, Producer, PutAllError, TaskPool};
use std::collections::VecDeque;

/// At most so many handles at once.
const HANDLES: usize = 6;

/// What the pool must hold.
struct Model {
    facts: Facts,
    room: usize,
    tasks: VecDeque<u64>,
}

impl Model {
    /// `task` went in.
    fn put(&mut self, task: u64) -> Result<(), Finding> {
        self.tasks.push_back(task);
        let (held, most) = (self.tasks.len(), self.facts.capacity.unwrap_or(usize::MAX));
        ensure(held <= most, format_args!("at most {most} tasks inside"), held)
    }

    /// The pool said that it is full.
    fn full(&self) -> Result<(), Finding> {
        let (held, room) = (self.tasks.len(), self.room);
        let expected = format!("room for a task beside {held}: there is for {room}");
        ensure(held >= room, expected, "`Full`")
    }

    /// `task` came out.
    fn got(&mut self, task: u64) -> Result<(), Finding> {
        let next = match self.facts.order {
            Order::Bag => self.tasks.iter().position(|held| *held == task),
            Order::Fifo => Some(0),
            Order::Lifo => self.tasks.len().checked_sub(1),
        };
        let next = next.and_then(|place| self.tasks.remove(place));
        let order = self.facts.order;
        if next == Some(task) {
            return Ok(());
        }
        let expected = match next {
            None => format!("a task that was put and not got yet ({order:?})"),
            Some(next) => format!("task {next}, whose turn it was ({order:?})"),
        };
        Err(Finding::new(expected, format!("task {task}")))
    }

    /// The pool said that it is empty.
    fn empty(&self) -> Result<(), Finding> {
        let held = self.tasks.len();
        ensure(held == 0, format_args!("one of the {held} tasks inside"), "`None`")
    }
}

pub(super) fn one_thread_cannot_tell_it_from_the_obvious_pool(case: &Case) -> Result<(), Finding> {
    for _ in case.rounds(case.effort.rounds) {
        let mut random = case.random();
        let pool = case.pool();
        let facts = case.facts.clone();
        let mut model = Model { facts, room: case.room, tasks: VecDeque::new() };
        let (mut producers, mut consumers, mut workers) = (Vec::new(), Vec::new(), Vec::new());
        let mut next = 0..;
        // Rounds that fill it and rounds that keep it nearly empty.
        let puts_in_ten = 3 + random.below(5);
        for _ in 0..50 + case.effort.tasks / 8 {
            let which = random.below(HANDLES);
            let (puts, uses_worker) = (random.below(10) < puts_in_ten, random.one_in(2));
            match (random.below(20), puts, uses_worker) {
                (0, ..) => drop(producers.pop()),
                (1, ..) => drop(consumers.pop()),
                (2, ..) => drop(workers.pop()),
                (kind, true, true) => {
                    let worker = nth(&mut workers, which, || pool.worker());
                    put(worker, kind % 5, &mut next, &mut model)?;
                }
                (kind, true, false) => {
                    let producer = nth(&mut producers, which, || pool.producer());
                    put(producer, kind % 5, &mut next, &mut model)?;
                }
                (kind, false, true) => {
                    get(nth(&mut workers, which, || pool.worker()), kind % 5, &mut model)?;
                }
                (kind, false, false) => {
                    get(nth(&mut consumers, which, || pool.consumer()), kind % 5, &mut model)?;
                }
            }
        }
        let mut consumer = pool.consumer();
        while !model.tasks.is_empty() {
            get(&mut consumer, 4, &mut model)?;
        }
        get(&mut consumer, 4, &mut model)?;
    }
    Ok(())
}

/// One of the handles, or one more.
fn nth<H>(handles: &mut Vec<H>, which: usize, make: impl FnOnce() -> H) -> &mut H {
    if which >= handles.len() {
        handles.push(make());
    }
    let last = handles.len() - 1;
    &mut handles[which.min(last)]
}

/// Puts `batch` tasks, with 4 one by itself.
fn put(
    producer: &mut impl Producer<u64>,
    batch: usize,
    next: &mut impl Iterator<Item = u64>,
    model: &mut Model,
) -> Result<(), Finding> {
    let tasks: Vec<u64> = next.take(if batch == 4 { 1 } else { batch }).collect();
    if batch == 4 {
        return match producer.try_put(tasks[0]) {
            Ok(()) => model.put(tasks[0]),
            Err(Full(task)) => {
                same("the task that comes back", tasks[0], task)?;
                model.full()
            }
        };
    }
    match producer.put_all(tasks.iter().copied()) {
        Ok(put) => {
            same("what `put_all` says", batch, put)?;
            tasks.into_iter().try_for_each(|task| model.put(task))
        }
        Err(PutAllError { put, task, rest }) => {
            tasks[..put.min(batch)].iter().try_for_each(|task| model.put(*task))?;
            let back: Vec<u64> = std::iter::once(task).chain(rest).collect();
            same("what does not fit", &tasks[put.min(batch)..], &back)?;
            model.full()
        }
    }
}

/// Gets up to `batch` tasks, with 4 one by itself.
fn get(consumer: &mut impl Consumer<u64>, batch: usize, model: &mut Model) -> Result<(), Finding> {
    if batch == 4 {
        return match consumer.get() {
            Some(task) => model.got(task),
            None => model.empty(),
        };
    }
    let mut tasks = Vec::new();
    let count = consumer.get_many(batch, &mut tasks);
    same("the tasks that `get_many` appends", count, tasks.len())?;
    ensure(count <= batch, format_args!("at most {batch} tasks"), count)?;
    if count == 0 && batch > 0 {
        model.empty()?;
    }
    tasks.into_iter().try_for_each(|task| model.got(task))
}
