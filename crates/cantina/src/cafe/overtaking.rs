//! How tasks overtake each other, where that is measured.
//!
//! Two counters tell: how many puts have begun, and how many gets have returned with a task. A put that has
//! put its task leaves the first one's value with it, `e`: all that were put later are not among those `e`, and
//! the task itself is. A get reads the second one when it begins, `g`. Of the `g` tasks that were got at most
//! `e - 1` were not put later, so at least `g - (e - 1)` have overtaken the task.
//!
//! That never says too much. Of the task that was overtaken by most it says all, if one thread does everything:
//! an older one that still waits when a task is got is overtaken by more, so none does, and all `e - 1` are got.
//!
//! Who gets a task before the value lies beside it knows that its put has not returned: nobody has overtaken it.
//!
//! # Orderings
//! All are SeqCst: an `e` that is older than the put's end would say too much. They cost what they cost.
//!
//! | edge | release side | acquire side | carries |
//! |---|---|---|---|
//! | `begun` | a put begins | a put has put its task | which puts are not later ones |
//! | `got` | a get has taken its task | a get begins | how many were got before |
//! | `beside` | a put leaves its `e` | a get looks at it | that the put is done |

use machine::atomic::AtomicU64;
use machine::atomic::Ordering::{Relaxed, SeqCst};
use machine::{Arc, CachePadded};

/// How tasks have overtaken each other, where that is [measured](super::Builder::measure_overtaking).
///
/// Looked at is for each task how many more had been got when its get began than had been put, or were being put,
/// when its put was done: so many at least have [overtaken](super#overtaking) it. Calls that overlap make it less,
/// never more. If one thread puts and gets everything, `most` is exact when all tasks are got.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Overtaking {
    /// Tasks that were looked at.
    pub tasks: u64,
    /// By how many others a task was overtaken, at most.
    pub most: u64,
    /// The same of all tasks, added up.
    pub sum: u64,
}

impl Overtaking {
    /// By how many others a task was overtaken on average; nothing before the first.
    pub fn mean(&self) -> Option<f64> {
        (self.tasks > 0).then(|| self.sum as f64 / self.tasks as f64)
    }

    /// Adds a task that so many have overtaken.
    fn add(&mut self, overtakers: u64) {
        self.tasks += 1;
        self.most = self.most.max(overtakers);
        self.sum += overtakers;
    }
}

/// What all ends of a pool count.
#[derive(Debug, Default)]
pub(super) struct Meter {
    begun: CachePadded<AtomicU64>,
    got: CachePadded<AtomicU64>,
}

/// What lies beside the tasks of a tree: nothing where nothing is measured.
pub(super) struct Stamps(Box<[AtomicU64]>);

impl Meter {
    /// One for a pool, if it is asked for.
    pub(super) fn new(wanted: bool) -> Option<Arc<Self>> {
        wanted.then(Arc::default)
    }

    /// So many puts begin.
    pub(super) fn begin(&self, puts: usize) {
        // begun: before any of them puts its task.
        self.begun.fetch_add(puts as u64, SeqCst);
    }

    /// A put has put its task, and leaves this with it.
    pub(super) fn stamp(&self) -> u64 {
        // begun: a read-modify-write reads the newest.
        self.begun.fetch_add(0, SeqCst)
    }

    /// How many tasks have been got, for a get that begins.
    pub(super) fn got(&self) -> u64 {
        // got: fewer would do no harm.
        self.got.load(SeqCst)
    }

    /// So many gets return.
    pub(super) fn finish(&self, gets: usize) {
        // got: after their tasks were taken.
        self.got.fetch_add(gets as u64, SeqCst);
    }
}

impl Stamps {
    /// For so many places, if anything is measured.
    pub(super) fn new(places: usize, measured: bool) -> Self {
        let places = if measured { places } else { 0 };
        Self((0..places).map(|_| AtomicU64::new(0)).collect())
    }

    /// Makes them as new.
    pub(super) fn reset(&mut self) {
        // own: `&mut self`.
        self.0.iter_mut().for_each(|stamp| stamp.store(0, Relaxed));
    }

    /// Leaves what `meter` says beside a task that was put there.
    pub(super) fn leave(&self, place: usize, meter: &Meter) {
        // beside: whoever does not see it yet says less.
        self.0[place].store(meter.stamp(), SeqCst);
    }

    /// Looks at the task of a place that was got, when so many had been got.
    pub(super) fn look(&self, place: usize, got: u64, overtaking: &mut Overtaking) {
        // beside: 0 before the put is done.
        let overtakers = match self.0[place].load(SeqCst) {
            0 => 0,
            begun => got.saturating_sub(begun - 1),
        };
        overtaking.add(overtakers);
    }
}
