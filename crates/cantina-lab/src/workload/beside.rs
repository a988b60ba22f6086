//! Workers that put tasks and get them, and pollers beside them that hardly find any.
//!
//! A worker puts a burst and gets as many tasks, until all of its own are put; then it gets what is left.
//! Where a pool is one heap for all, it may get another's tasks, and so may a poller: every task
//! counts once, whoever got it. The clock stops when a worker finds that all have been got.
//!
//! A poller gets until there is nothing, waits as a consumer does that finds nothing, and looks at nothing
//! that workers write while they work, so what it does to them it does through the pool.

use super::family::{SingleGet, count, makers};
use super::race::{Course, Finish, HaltOnPanic, conclude, join_all, pin, share};
use super::{Assignment, Fault, Get, Marks, Parcel, Put, Reading, Room, Tally};
use crate::registry::{Family, Instructions};
use cantina::pool::{Consumer, Full, Producer, TaskPool};
use machine::atomic::Ordering::{Acquire, Relaxed};
use machine::time::nanos;
use machine::topology::CoreId;
use machine::{Arc, Backoff, Topology, thread};
use std::ops::Range;

/// How many tasks a worker puts before it gets as many.
pub const BURST: u64 = 8;

/// Both ends in one hand.
struct Working<W> {
    end: W,
    /// What was got to make room.
    tally: Tally,
}

/// Runs `assignment` through a new pool: as many workers as its shape has producers, and `pollers`
/// beside them. Threads are bound to cores where each has one of its own.
///
/// # Errors
/// A [`Fault`] when a task was lost, repeated or changed, or a thread panicked.
///
/// # Panics
/// When there is no worker.
pub fn run_beside<T: Parcel, F: Family>(
    family: &F,
    assignment: &Assignment,
    pollers: usize,
) -> Result<Reading, Fault> {
    let workers = assignment.shape.producers;
    assert!(workers > 0, "somebody has to put tasks");
    let pool = family.build::<T>();
    let count = count(family, &pool);
    let working =
        makers(&pool, workers, |pool| Working { end: pool.worker(), tally: Tally::default() });
    let Instructions { get, .. } = Instructions::of(family);
    let polling = makers(&pool, pollers, move |pool| SingleGet::new(pool.consumer(), get));
    drop(pool);
    let course = Arc::new(Course::new(assignment, workers, workers + pollers, workers + pollers));
    let cores: Vec<CoreId> =
        if assignment.pin { Topology::of_thread().cores().collect() } else { Vec::new() };
    let core =
        |thread: usize| cores.get(thread).copied().filter(|_| cores.len() >= workers + pollers);

    let working = working.into_iter().enumerate().map(|(index, make)| {
        let (course, core) = (course.clone(), core(index));
        let numbers = share(assignment.tasks, workers, index);
        thread::spawn(move || {
            let _halt = HaltOnPanic(&course);
            let pinned = pin(core);
            let end = make();
            course.work::<T, _>(end, numbers, index, pinned)
        })
    });
    let working: Vec<_> = working.collect();
    let polling = polling.into_iter().enumerate().map(|(index, make)| {
        let (course, core) = (course.clone(), core(workers + index));
        thread::spawn(move || {
            let _halt = HaltOnPanic(&course);
            let pinned = pin(core);
            let end = make();
            course.poll::<T, _>(end, workers + index, pinned)
        })
    });
    let polling: Vec<_> = polling.collect();
    let (working, polling) = (join_all(working), join_all(polling));
    let (putting, mut getting): (Vec<_>, Vec<_>) = working?.into_iter().unzip();
    getting.extend(polling?);
    let reading = conclude(&course, &putting, &getting)?;
    Ok(Reading { counters: count(), ..reading })
}

impl Course {
    /// A worker: bursts of its own tasks, then what is left of all. How it ended as a producer, and as a consumer.
    fn work<T: Parcel, W: Producer<T> + Consumer<T>>(
        &self,
        mut end: Working<W>,
        numbers: Range<u64>,
        index: usize,
        pinned: bool,
    ) -> (Finish, Finish) {
        if !self.line_up() {
            return Default::default();
        }
        let room = Room::new(&self.halted);
        let mut marks = self.no_marks();
        let mut next = numbers.start;
        while next < numbers.end {
            let burst = next..numbers.end.min(next + BURST);
            next = burst.end;
            let mut wanted = burst.end - burst.start;
            Put::<T>::put(&mut end, burst, &room);
            let mut got = Tally::default();
            while wanted > 0 && Get::<T>::get(&mut end, &mut got) {
                wanted -= 1;
            }
            end.tally = end.tally.and(got);
            mark(&mut marks, end.tally);
            // bare: nobody reads anything through it.
            if self.halted.load(Relaxed) {
                break;
            }
        }
        let put = self.all_put(pinned);
        let tally = end.tally;
        let (tally, at) = self.get_and_mark::<T, _>(&mut end, index, tally, &mut marks);
        self.hand_in(marks);
        (put, Finish { tally, at, pinned })
    }

    /// A poller: gets what it finds until the workers are done.
    fn poll<T: Parcel, G: Get<T>>(&self, mut end: G, index: usize, pinned: bool) -> Finish {
        if !self.line_up() {
            return Finish::default();
        }
        let all = self.tasks;
        let (mut tally, mut told) = (Tally::default(), 0);
        let mut marks = self.no_marks();
        let backoff = Backoff::new();
        loop {
            while end.get(&mut tally) && tally.count() <= all {}
            if tally.count() != told {
                told = tally.count();
                // bare: only added up.
                self.got[index].store(told, Relaxed);
                mark(&mut marks, tally);
                backoff.reset();
            }
            // put: all tasks are there, and what is left is for the workers as much as for this one.
            let done = self.producing.load(Acquire) == 0 && self.all_got() >= all;
            // bare: nobody reads anything through it.
            if done || self.halted.load(Relaxed) {
                self.hand_in(marks);
                return Finish { tally, at: None, pinned };
            }
            backoff.snooze();
        }
    }
}

/// Marks how many have been got, if it is time to.
fn mark(marks: &mut Marks, tally: Tally) {
    if tally.count() >= marks.next() {
        marks.note(tally.count(), nanos());
    }
}

impl<T: Parcel, W: Producer<T> + Consumer<T>> Put<T> for Working<W> {
    fn put(&mut self, numbers: Range<u64>, room: &Room<'_>) {
        let Self { end, tally } = self;
        for number in numbers {
            let put = |task| {
                end.try_put(task).map_err(|full| {
                    // Who waits for room and gets nothing waits for ever.
                    if let Some(other) = end.get() {
                        tally.add(&other);
                    }
                    Full::into_inner(full)
                })
            };
            if !room.put(T::numbered(number), put) {
                return;
            }
        }
    }
}

impl<T: Parcel, W: Consumer<T>> Get<T> for Working<W> {
    #[inline]
    fn get(&mut self, tally: &mut Tally) -> bool {
        match self.end.get() {
            Some(task) => {
                tally.add(&task);
                true
            }
            None => false,
        }
    }
}
