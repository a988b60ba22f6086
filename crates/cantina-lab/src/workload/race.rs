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

use super::{
    Counters, Ends, Fault, Get, Labour, Make, Mark, Marks, Overtaking, Parcel, Put, Room, Shape,
    Subject, Tally, Window,
};
use machine::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use machine::atomic::{AtomicBool, AtomicU64, AtomicUsize};
use machine::lock::Mutex;
use machine::thread::{self, JoinHandle};
use machine::time::{Duration, nanos};
use machine::topology::CoreId;
use machine::{Arc, Backoff, CachePadded, Topology};
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
    /// Whether consumers note now and then how far they are, so that the reading has a window.
    pub watched: bool,
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
    /// What the subject has counted, if it counts.
    pub counters: Option<Counters>,
    /// How tasks overtook each other, if that was looked at.
    pub order: Option<Overtaking>,
    /// What it took of those who worked, where that is what it is about.
    pub labour: Option<Labour>,
    /// How long all threads together worked on what they got, where they do.
    pub spent: Option<Duration>,
    /// What was got while everybody was at work, if the run was watched.
    pub window: Option<Window>,
}

impl Reading {
    /// A run that took so long, and of which nothing else is known.
    pub fn took(elapsed: Duration) -> Self {
        Self {
            elapsed,
            put_elapsed: elapsed,
            pinned: false,
            counters: None,
            order: None,
            labour: None,
            spent: None,
            window: None,
        }
    }
}

/// What the threads of a run share.
pub(super) struct Course {
    pub(super) tasks: u64,
    pub(super) patience: Duration,
    /// Threads that are not at the start line yet.
    missing: CachePadded<AtomicUsize>,
    /// When the clock started, 0 before.
    start: CachePadded<AtomicU64>,
    /// Producers that are not done.
    pub(super) producing: CachePadded<AtomicUsize>,
    /// The run has failed: everybody stops.
    pub(super) halted: CachePadded<AtomicBool>,
    /// How many tasks each consumer got, as of when it last found nothing. It only grows.
    pub(super) got: Box<[CachePadded<AtomicU64>]>,
    /// How many tasks lie between two marks of a consumer.
    mark_every: u64,
    /// The marks of the consumers that are done, if they make some.
    marks: Mutex<Vec<Vec<Mark>>>,
}

/// What a thread brings back.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Finish {
    pub(super) tally: Tally,
    /// When it was done, if it came to that.
    pub(super) at: Option<u64>,
    pub(super) pinned: bool,
}

/// Halts the run when its thread panics, so that nobody waits for it.
pub(super) struct HaltOnPanic<'a>(pub(super) &'a Course);

/// What a producer does, on its thread: puts these numbers, bound to that core.
pub(super) type Produce = Box<dyn FnOnce(&Course, Range<u64>, Option<CoreId>) -> Finish + Send>;

/// What the consumer of that index does, bound to that core.
pub(super) type Consume = Box<dyn FnOnce(&Course, usize, Option<CoreId>) -> Finish + Send>;

/// Runs `assignment` through a new subject with tasks `T`.
///
/// # Errors
/// A [`Fault`] when a task was lost, repeated or changed, or a thread panicked.
///
/// # Panics
/// When the shape lacks a producer or a consumer.
pub fn run<T: Parcel, S: Subject>(subject: &S, assignment: &Assignment) -> Result<Reading, Fault> {
    let shape = assignment.shape;
    assert!(shape.producers > 0 && shape.consumers > 0, "a shape has a producer and a consumer");
    let Ends { put, get, count } = subject.ends::<T>(shape);
    let (mut producing, mut consuming) = (Vec::<Produce>::new(), Vec::<Consume>::new());
    for make in put {
        producing.push(Box::new(move |course, numbers, core| course.produce(make, numbers, core)));
    }
    for make in get {
        consuming.push(Box::new(move |course, index, core| course.consume(make, index, core)));
    }
    let reading = race(assignment, producing, consuming)?;
    Ok(Reading { counters: count(), ..reading })
}

/// Lets these threads run: what is around them, compiled once for all subjects.
pub(super) fn race(
    assignment: &Assignment,
    producing: Vec<Produce>,
    consuming: Vec<Consume>,
) -> Result<Reading, Fault> {
    let shape = assignment.shape;
    let (putting, getting) = (shape.producers, shape.consumers);
    let course = Arc::new(Course::new(assignment, putting, getting, shape.threads()));
    let cores: Vec<CoreId> =
        if assignment.pin { Topology::of_thread().cores().collect() } else { Vec::new() };
    let core = |thread: usize| (!cores.is_empty()).then(|| cores[thread % cores.len()]);
    let (put_seats, get_seats) = seating(shape);

    let producers: Vec<_> = producing
        .into_iter()
        .enumerate()
        .map(|(index, produce)| {
            let (course, core) = (course.clone(), core(put_seats[index]));
            let numbers = share(assignment.tasks, shape.producers, index);
            thread::spawn(move || produce(&course, numbers, core))
        })
        .collect();
    let consumers: Vec<_> = consuming
        .into_iter()
        .enumerate()
        .map(|(index, consume)| {
            let (course, core) = (course.clone(), core(get_seats[index]));
            thread::spawn(move || consume(&course, index, core))
        })
        .collect();
    let (producers, consumers) = (join_all(producers), join_all(consumers));
    conclude(&course, &producers?, &consumers?)
}

/// Which cores the producers sit on, and which the consumers: mixed evenly from core to core, and so
/// from node to node, and around again.
fn seating(shape: Shape) -> (Vec<usize>, Vec<usize>) {
    let before = |seat: usize| (seat * shape.producers).div_ceil(shape.threads());
    (0..shape.threads()).partition(|&seat| before(seat) < before(seat + 1))
}

/// The numbers that producer `index` of `producers` puts. Together they put 1 to `tasks`.
pub(super) fn share(tasks: u64, producers: usize, index: usize) -> Range<u64> {
    let before = |index| (u128::from(tasks) * index as u128 / producers as u128) as u64 + 1;
    before(index)..before(index + 1)
}

/// Waits for all threads, also when one has panicked.
pub(super) fn join_all<R>(threads: Vec<JoinHandle<R>>) -> Result<Vec<R>, Fault> {
    let ended: Vec<_> = threads.into_iter().map(JoinHandle::join).collect();
    let finishes: Result<_, _> = ended.into_iter().collect();
    finishes.map_err(|panic| Fault::of_panic(&*panic))
}

/// The verdict, and how long it took. Who both puts and gets stands in both lists.
pub(super) fn conclude(
    course: &Course,
    producers: &[Finish],
    consumers: &[Finish],
) -> Result<Reading, Fault> {
    let tally = consumers.iter().fold(Tally::default(), |all, finish| all.and(finish.tally));
    tally.judge(course.tasks)?;
    let start = course.start.load(Relaxed);
    let since_start = |at: Option<u64>| {
        let at = at.expect("who got everything saw that it was everything");
        Duration::from_nanos(at.saturating_sub(start))
    };
    let window = producers
        .iter()
        .filter_map(|finish| finish.at)
        .min()
        .and_then(|first_done| Window::between(start, first_done, &course.marks.lock()));
    Ok(Reading {
        // The first to see that all are got: the others were not scheduled in time to see it.
        elapsed: since_start(consumers.iter().filter_map(|finish| finish.at).min()),
        put_elapsed: since_start(producers.iter().filter_map(|finish| finish.at).max()),
        pinned: producers.iter().chain(consumers).all(|finish| finish.pinned),
        counters: None,
        order: None,
        labour: None,
        spent: None,
        window,
    })
}

impl Course {
    /// The course of so many threads, of which so many put and so many get.
    pub(super) fn new(
        assignment: &Assignment,
        putting: usize,
        getting: usize,
        threads: usize,
    ) -> Self {
        Self {
            tasks: assignment.tasks,
            patience: assignment.patience,
            missing: CachePadded::new(AtomicUsize::new(threads)),
            start: CachePadded::new(AtomicU64::new(0)),
            producing: CachePadded::new(AtomicUsize::new(putting)),
            halted: CachePadded::new(AtomicBool::new(false)),
            got: (0..getting).map(|_| CachePadded::new(AtomicU64::new(0))).collect(),
            mark_every: match assignment.watched {
                true => Marks::every(assignment.tasks, getting),
                false => u64::MAX,
            },
            marks: Mutex::new(Vec::new()),
        }
    }

    fn produce<T: Parcel, P: Put<T>>(
        &self,
        make: Make<P>,
        numbers: Range<u64>,
        core: Option<CoreId>,
    ) -> Finish {
        let _halt = HaltOnPanic(self);
        let pinned = pin(core);
        let mut end = make();
        if !self.line_up() {
            return Finish::default();
        }
        end.put(numbers, &Room::new(&self.halted));
        self.all_put(pinned)
    }

    /// A producer is done.
    pub(super) fn all_put(&self, pinned: bool) -> Finish {
        let at = Some(nanos());
        // put: consumers that see it find every task.
        self.producing.fetch_sub(1, Release);
        Finish { at, pinned, ..Finish::default() }
    }

    fn consume<T: Parcel, G: Get<T>>(
        &self,
        make: Make<G>,
        index: usize,
        core: Option<CoreId>,
    ) -> Finish {
        let _halt = HaltOnPanic(self);
        let pinned = pin(core);
        let mut end = make();
        if !self.line_up() {
            return Finish::default();
        }
        let (tally, at) = self.get_all(&mut end, index, Tally::default());
        Finish { tally, at, pinned }
    }

    /// Gets until all tasks are got, and tells when that was; or until there is no hope left. `tally` is
    /// what it has got before.
    pub(super) fn get_all<T: Parcel, G: Get<T>>(
        &self,
        end: &mut G,
        index: usize,
        tally: Tally,
    ) -> (Tally, Option<u64>) {
        let mut marks = self.no_marks();
        let outcome = self.get_and_mark(end, index, tally, &mut marks);
        self.hand_in(marks);
        outcome
    }

    /// Marks for somebody who gets, none of which are made yet.
    pub(super) fn no_marks(&self) -> Marks {
        Marks::new(self.mark_every)
    }

    /// Takes the marks of somebody who gets no more, if it was to make some.
    pub(super) fn hand_in(&self, marks: Marks) {
        if self.mark_every < u64::MAX {
            self.marks.lock().push(marks.into_all());
        }
    }

    /// As [`get_all`](Self::get_all), by somebody who has made these marks before.
    pub(super) fn get_and_mark<T: Parcel, G: Get<T>>(
        &self,
        end: &mut G,
        index: usize,
        mut tally: Tally,
        marks: &mut Marks,
    ) -> (Tally, Option<u64>) {
        let all = self.tasks;
        // The next mark, or more than all of them: a task was repeated, and may be forever.
        let mut stop = marks.next().min(all.saturating_add(1));
        let mut told = 0;
        let backoff = Backoff::new();
        let mut despair = Despair::new(self.patience);
        loop {
            while end.get(&mut tally) {
                if tally.count() >= stop {
                    if tally.count() > all {
                        break;
                    }
                    marks.note(tally.count(), nanos());
                    stop = marks.next().min(all.saturating_add(1));
                }
            }
            if tally.count() != told {
                told = tally.count();
                // bare: only added up.
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
    pub(super) fn all_got(&self) -> u64 {
        self.got.iter().map(|got| got.load(Relaxed)).sum()
    }

    /// Waits at the start line for everybody. False: somebody will never come.
    pub(super) fn line_up(&self) -> bool {
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
pub(super) struct Despair {
    patience: Duration,
    got: u64,
    since: Option<u64>,
}

impl Despair {
    pub(super) fn new(patience: Duration) -> Self {
        Self { patience, got: 0, since: None }
    }

    /// Whether the number of tasks got has been the same for longer than it should.
    pub(super) fn sets_in(&mut self, got: u64) -> bool {
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
pub(super) fn pin(core: Option<CoreId>) -> bool {
    core.is_some_and(|core| thread::pin_to(core).is_ok())
}

impl Drop for HaltOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.halted.store(true, Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Shape, seating};

    #[test]
    fn producers_and_consumers_sit_mixed() {
        let seats = |producers, consumers| seating(Shape::new(producers, consumers));
        assert_eq!(seats(1, 1), (vec![0], vec![1]));
        assert_eq!(seats(2, 2), (vec![0, 2], vec![1, 3]));
        assert_eq!(seats(1, 3), (vec![0], vec![1, 2, 3]));
        assert_eq!(seats(3, 1), (vec![0, 1, 2], vec![3]));
        assert_eq!(seats(2, 4), (vec![0, 3], vec![1, 2, 4, 5]));
    }
}
