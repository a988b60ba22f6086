//! Runs in which every put and every get is timed, and tasks take time.
//!
//! Each end keeps its times to itself until it goes, so that nothing is written which others read meanwhile.
//! Whoever gets a task then works on it for a while: one in twenty is long.

use super::overtaking::{Overtaking, Passage};
use super::{
    Assignment, Ends, Fault, Get, Make, Parcel, Put, Reading, Room, Shape, Subject, Tally, run,
};
use machine::Arc;
use machine::lock::Mutex;
use machine::random::Random;
use machine::time::nanos;
use std::hint::black_box;
use std::ops::Range;

/// Cycles of a short task, about.
const SHORT: u64 = 50;
/// Cycles of a long one.
const LONG: u64 = 1_000;
/// One in so many is long.
const LONG_ONE_IN: usize = 20;

/// Another subject whose calls are timed.
struct Stamped<S> {
    subject: S,
    log: Arc<Log>,
}

/// What the ends have told when they went.
#[derive(Default)]
struct Log {
    put: Mutex<Vec<Stamp>>,
    got: Mutex<Vec<Stamp>>,
}

/// When a call for a task began and returned.
#[derive(Clone, Copy)]
struct Stamp {
    number: u64,
    span: (u64, u64),
}

/// A putting end whose calls are timed.
struct StampedPut<P> {
    end: P,
    stamps: Vec<Stamp>,
    log: Arc<Log>,
}

/// A getting end whose calls are timed.
struct StampedGet<G> {
    end: G,
    stamps: Vec<Stamp>,
    log: Arc<Log>,
}

/// Runs `assignment` through a new `subject`, and tells how tasks overtook each other: nothing where the subject
/// hands out several at once.
///
/// # Errors
/// As [`run`].
///
/// # Panics
/// As [`run`].
pub fn run_stamped<T: Parcel, S: Subject + Clone>(
    subject: &S,
    assignment: &Assignment,
) -> Result<Reading, Fault> {
    let log = Arc::new(Log::default());
    let stamped = Stamped { subject: subject.clone(), log: log.clone() };
    let reading = run::<T, _>(&stamped, assignment)?;
    Ok(Reading { order: log.overtaking(assignment.tasks), ..reading })
}

impl Log {
    /// What came of these tasks, if each was put and got by a call of its own.
    fn overtaking(&self, tasks: u64) -> Option<Overtaking> {
        let sorted = |stamps: &Mutex<Vec<Stamp>>| {
            let mut stamps = std::mem::take(&mut *stamps.lock());
            stamps.sort_unstable_by_key(|stamp| stamp.number);
            stamps
        };
        let (put, got) = (sorted(&self.put), sorted(&self.got));
        let all = |stamps: &[Stamp]| (1..=tasks).eq(stamps.iter().map(|stamp| stamp.number));
        if !all(&put) || !all(&got) {
            return None;
        }
        let both = put.iter().zip(&got);
        let passages: Vec<Passage> =
            both.map(|(put, got)| Passage { put: put.span, got: got.span }).collect();
        Some(Overtaking::of(&passages))
    }
}

/// Works on a task.
fn execute(number: u64) {
    let is_long = Random::seeded(number).below(LONG_ONE_IN) == 0;
    let cycles = if is_long { LONG } else { SHORT };
    machine::work(cycles);
    // What the real machine spends.
    (0..cycles / 2).for_each(|turn| {
        black_box(turn);
    });
}

impl<S: Subject> Subject for Stamped<S> {
    type Put<T: Parcel> = StampedPut<S::Put<T>>;
    type Get<T: Parcel> = StampedGet<S::Get<T>>;

    fn ends<T: Parcel>(&self, shape: Shape) -> Ends<Self::Put<T>, Self::Get<T>> {
        let Ends { put, get, count } = self.subject.ends::<T>(shape);
        let put = put.into_iter().map(|make| {
            let log = self.log.clone();
            let stamped = move || StampedPut { end: make(), stamps: Vec::new(), log };
            Box::new(stamped) as Make<Self::Put<T>>
        });
        let get = get.into_iter().map(|make| {
            let log = self.log.clone();
            let stamped = move || StampedGet { end: make(), stamps: Vec::new(), log };
            Box::new(stamped) as Make<Self::Get<T>>
        });
        Ends { put: put.collect(), get: get.collect(), count }
    }
}

impl<T: Parcel, P: Put<T>> Put<T> for StampedPut<P> {
    fn put(&mut self, numbers: Range<u64>, room: &Room<'_>) {
        for number in numbers {
            let began = nanos();
            self.end.put(number..number + 1, room);
            self.stamps.push(Stamp { number, span: (began, nanos()) });
        }
    }
}

impl<T: Parcel, G: Get<T>> Get<T> for StampedGet<G> {
    fn get(&mut self, tally: &mut Tally) -> bool {
        let began = nanos();
        let mut got = Tally::default();
        if !self.end.get(&mut got) {
            return false;
        }
        let span = (began, nanos());
        *tally = tally.and(got);
        if let Some(number) = got.only() {
            self.stamps.push(Stamp { number, span });
            execute(number);
        }
        true
    }
}

impl<P> Drop for StampedPut<P> {
    fn drop(&mut self) {
        self.log.put.lock().append(&mut self.stamps);
    }
}

impl<G> Drop for StampedGet<G> {
    fn drop(&mut self) {
        self.log.got.lock().append(&mut self.stamps);
    }
}
