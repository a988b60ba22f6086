//! One run: threads, the start line, the clock, the verdict.
//!
//! # Orderings
//! | edge | release side | acquire side | carries |
//! |---|---|---|---|
//! | `ready` | a thread arrives at the start line | the last to arrive | all ends are made |
//! | `go` | the last to arrive starts the clock | the others leave the line | the same, to everybody |
//! | `put` | a producer is done | a consumer that finds nothing | all tasks are there to be got |
//!
//! What consumers tell each other (`got`) and the order to stop (`halted`) are numbers and flags
//! that nothing else is read through; the verdict is computed from what the threads return.

use super::{Ends, Fault, Get, Put, Room, Seat, Shape, Subject, Tally, Task};
use machine::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use machine::atomic::{AtomicBool, AtomicU64, AtomicUsize};
use machine::thread::{self, JoinHandle};
use machine::time::{Duration, nanos};
use machine::topology::CoreId;
use machine::{Arc, Backoff, CachePadded, Topology};
use std::any::Any;
use std::ops::Range;

/// What to run.
#[derive(Clone, Debug)]
pub struct Assignment {
    /// How many threads.
    pub shape: Shape,
    /// How many tasks, all producers together.
    pub tasks: u64,
    /// Whether each thread is bound to a core, one after the other.
    pub pin: bool,
    /// How long consumers look for missing tasks in vain before they are called lost.
    pub patience: Duration,
}

/// What a run that went right took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// From the start until all tasks were got.
    pub elapsed: Duration,
    /// From the start until all tasks were put.
    pub put_elapsed: Duration,
    /// Whether every thread was bound to a core.
    pub pinned: bool,
}

/// What the threads of a run share.
struct Course {
    tasks: u64,
    patience: Duration,
    /// Threads that are not at the start line yet.
    missing: CachePadded<AtomicUsize>,
    /// When the clock started, 0 before.
    start: CachePadded<AtomicU64>,
    /// Producers that are not done.
    producing: CachePadded<AtomicUsize>,
    /// The run has failed: everybody stops.
    halted: CachePadded<AtomicBool>,
    /// How many tasks each consumer got, as of when it last found nothing. It only grows.
    got: Box<[CachePadded<AtomicU64>]>,
}

/// What a thread brings back.
#[derive(Clone, Copy, Debug, Default)]
struct Finish {
    tally: Tally,
    /// When it was done, if it came to that.
    at: Option<u64>,
    pinned: bool,
}

/// Halts the run when its thread panics, so that nobody waits for it.
struct HaltOnPanic<'a>(&'a Course);

/// Runs `assignment` through a new subject with tasks `T`.
///
/// # Errors
/// A [`Fault`] when a task was lost, repeated or changed, or a thread panicked.
///
/// # Panics
/// When the shape lacks a producer or a consumer.
pub fn run<T: Task, S: Subject>(subject: &S, assignment: &Assignment) -> Result<Reading, Fault> {
    let shape = assignment.shape;
    assert!(shape.producers > 0 && shape.consumers > 0, "a shape has a producer and a consumer");
    let Ends { put, get } = subject.ends::<T>(shape);
    let course = Arc::new(Course::new(assignment));
    let cores: Vec<CoreId> =
        if assignment.pin { Topology::detect().cores().collect() } else { Vec::new() };
    // Consumers sit on the cores after the producers', and around again.
    let core = |thread: usize| (!cores.is_empty()).then(|| cores[thread % cores.len()]);

    let producers: Vec<_> = put
        .into_iter()
        .enumerate()
        .map(|(index, seat)| {
            let (course, core) = (course.clone(), core(index));
            let numbers = share(assignment.tasks, shape.producers, index);
            thread::spawn(move || course.produce(seat, numbers, core))
        })
        .collect();
    let consumers: Vec<_> = get
        .into_iter()
        .enumerate()
        .map(|(index, seat)| {
            let (course, core) = (course.clone(), core(shape.producers + index));
            thread::spawn(move || course.consume(seat, index, core))
        })
        .collect();
    let (producers, consumers) = (join_all(producers), join_all(consumers));
    conclude(&course, &producers?, &consumers?)
}

/// The numbers that producer `index` of `producers` puts. Together they put 1 to `tasks`.
fn share(tasks: u64, producers: usize, index: usize) -> Range<u64> {
    let before = |index| (u128::from(tasks) * index as u128 / producers as u128) as u64 + 1;
    before(index)..before(index + 1)
}

/// Waits for all threads, also when one has panicked.
fn join_all(threads: Vec<JoinHandle<Finish>>) -> Result<Vec<Finish>, Fault> {
    let ended: Vec<_> = threads.into_iter().map(JoinHandle::join).collect();
    let finishes: Result<_, _> = ended.into_iter().collect();
    finishes.map_err(|panic| Fault::Panicked { message: message_of(&*panic) })
}

fn message_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "it does not say why".to_owned())
}

fn conclude(course: &Course, producers: &[Finish], consumers: &[Finish]) -> Result<Reading, Fault> {
    let tally = consumers.iter().fold(Tally::default(), |all, finish| all.and(finish.tally));
    tally.judge(course.tasks)?;
    let start = course.start.load(Relaxed);
    let since_start = |at: Option<u64>| {
        let at = at.expect("who got everything saw that it was everything");
        Duration::from_nanos(at.saturating_sub(start))
    };
    Ok(Reading {
        // The first to see that all are got: the others were not scheduled in time to see it.
        elapsed: since_start(consumers.iter().filter_map(|finish| finish.at).min()),
        put_elapsed: since_start(producers.iter().filter_map(|finish| finish.at).max()),
        pinned: producers.iter().chain(consumers).all(|finish| finish.pinned),
    })
}

impl Course {
    fn new(assignment: &Assignment) -> Self {
        let shape = assignment.shape;
        Self {
            tasks: assignment.tasks,
            patience: assignment.patience,
            missing: CachePadded::new(AtomicUsize::new(shape.threads())),
            start: CachePadded::new(AtomicU64::new(0)),
            producing: CachePadded::new(AtomicUsize::new(shape.producers)),
            halted: CachePadded::new(AtomicBool::new(false)),
            got: (0..shape.consumers).map(|_| CachePadded::new(AtomicU64::new(0))).collect(),
        }
    }

    fn produce<T: Task, P: Put<T>>(
        &self,
        seat: Seat<P>,
        numbers: Range<u64>,
        core: Option<CoreId>,
    ) -> Finish {
        let _halt = HaltOnPanic(self);
        let pinned = pin(core);
        let mut end = seat();
        if !self.line_up() {
            return Finish::default();
        }
        end.put(numbers, &Room::new(&self.halted));
        let at = Some(nanos());
        // put: consumers that see it find every task.
        self.producing.fetch_sub(1, Release);
        Finish { at, pinned, ..Finish::default() }
    }

    fn consume<T: Task, G: Get<T>>(
        &self,
        seat: Seat<G>,
        index: usize,
        core: Option<CoreId>,
    ) -> Finish {
        let _halt = HaltOnPanic(self);
        let pinned = pin(core);
        let mut end = seat();
        if !self.line_up() {
            return Finish::default();
        }
        let (tally, at) = self.get_all(&mut end, index);
        Finish { tally, at, pinned }
    }

    /// Gets until all tasks are got, and tells when that was; or until there is no hope left.
    fn get_all<T: Task, G: Get<T>>(&self, end: &mut G, index: usize) -> (Tally, Option<u64>) {
        let all = self.tasks;
        let mut tally = Tally::default();
        let mut told = 0;
        let backoff = Backoff::new();
        let mut despair = Despair::new(self.patience);
        loop {
            // More than all of them: a task was repeated, and may be forever.
            while end.get(&mut tally) && tally.count() <= all {}
            if tally.count() != told {
                told = tally.count();
                // stat: only added up.
                self.got[index].store(told, Relaxed);
                backoff.reset();
            }
            // put: all tasks are there.
            if self.producing.load(Acquire) == 0 && self.all_got() >= all {
                let at = nanos();
                // A task that was repeated may have come after the last look.
                while end.get(&mut tally) && tally.count() <= all {}
                return (tally, Some(at));
            }
            if self.halted.load(Relaxed) {
                return (tally, None);
            }
            if backoff.is_completed() && despair.sets_in(self.all_got()) {
                self.halted.store(true, Relaxed);
                return (tally, None);
            }
            backoff.snooze();
        }
    }

    /// How many tasks all consumers got, as far as they have told.
    fn all_got(&self) -> u64 {
        self.got.iter().map(|got| got.load(Relaxed)).sum()
    }

    /// Waits at the start line for everybody. False: somebody will never come.
    fn line_up(&self) -> bool {
        // ready: the last to arrive has seen everybody else arrive.
        if self.missing.fetch_sub(1, AcqRel) == 1 {
            // go: to everybody who waits below.
            self.start.store(nanos().max(1), Release);
            return true;
        }
        let backoff = Backoff::new();
        // go: the clock runs.
        while self.start.load(Acquire) == 0 {
            if self.halted.load(Relaxed) {
                return false;
            }
            backoff.snooze();
        }
        true
    }
}

/// Notices when nothing has come for too long.
struct Despair {
    patience: Duration,
    got: u64,
    since: Option<u64>,
}

impl Despair {
    fn new(patience: Duration) -> Self {
        Self { patience, got: 0, since: None }
    }

    /// Whether the number of tasks got has been the same for longer than it should.
    fn sets_in(&mut self, got: u64) -> bool {
        let now = nanos();
        match self.since {
            Some(since) if got == self.got => {
                Duration::from_nanos(now.saturating_sub(since)) > self.patience
            }
            Some(_) | None => {
                (self.got, self.since) = (got, Some(now));
                false
            }
        }
    }
}

/// Whether the calling thread is bound to `core`; not where there is none.
fn pin(core: Option<CoreId>) -> bool {
    core.is_some_and(|core| thread::pin_to(core).is_ok())
}

impl Drop for HaltOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.halted.store(true, Relaxed);
        }
    }
}
