//! What the pool has done: counted by each end for itself, added up now and then.

use super::overtaking::Overtaking;
use machine::atomic::AtomicU64;
use machine::atomic::Ordering::Relaxed;

pub(super) use crate::pool::Exchanges;

/// What a [`Cafe`](super::Cafe) has done. Ends report every few thousand tasks, when they find nothing, and
/// when they leave, so the numbers lag behind a little; when all ends have gone they are exact.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Metrics {
    /// Tasks put.
    pub puts: u64,
    /// Tasks got.
    pub gets: u64,
    /// Trees appended.
    pub trees_appended: u64,
    /// Trees that consumers have passed.
    pub trees_passed: u64,
    /// Trees that exist, in use and spare.
    pub trees: usize,
    /// Puts that were slower than a whole tree and had to begin again in another.
    pub sent_away: u64,
    /// Attempts in which somebody else was faster, or that found no room.
    pub contended: u64,
    /// Atomic read-modify-writes by producers, those for memory and for hints aside.
    pub put_cas: u64,
    /// The same by consumers.
    pub get_cas: u64,
    /// Those of both that came too late: somebody else had been faster.
    pub failed_cas: u64,
    /// How tasks have overtaken each other, where that is [measured](super::Builder::measure_overtaking).
    pub overtaking: Option<Overtaking>,
}

impl Metrics {
    /// Read-modify-writes that came too late for each task put or got; nothing before the first.
    pub fn failed_cas_per_task(&self) -> Option<f64> {
        let tasks = self.puts + self.gets;
        (tasks > 0).then(|| self.failed_cas as f64 / tasks as f64)
    }

    /// Attempts in vain for each task put or got; nothing before the first.
    pub fn contended_per_task(&self) -> Option<f64> {
        let tasks = self.puts + self.gets;
        (tasks > 0).then(|| self.contended as f64 / tasks as f64)
    }
}

/// What all ends have reported.
#[derive(Debug, Default)]
pub(super) struct Counters {
    puts: AtomicU64,
    gets: AtomicU64,
    appended: AtomicU64,
    passed: AtomicU64,
    sent_away: AtomicU64,
    contended: AtomicU64,
    put_cas: AtomicU64,
    get_cas: AtomicU64,
    failed_cas: AtomicU64,
    overtaken: AtomicU64,
    overtakers: AtomicU64,
    most_overtakers: AtomicU64,
}

/// What an end has done since it last reported.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) puts: u64,
    pub(super) gets: u64,
    pub(super) appended: u64,
    pub(super) passed: u64,
    pub(super) sent_away: u64,
    pub(super) contended: u64,
    pub(super) put_cas: Exchanges,
    pub(super) get_cas: Exchanges,
    pub(super) overtaking: Overtaking,
}

/// Tasks after which an end reports.
const LONG: u64 = 4096;

impl Counters {
    /// The numbers, beside that of the trees that exist.
    pub(super) fn metrics(&self, trees: usize, measures_overtaking: bool) -> Metrics {
        // stat: numbers for people.
        let number = |counter: &AtomicU64| counter.load(Relaxed);
        Metrics {
            puts: number(&self.puts),
            gets: number(&self.gets),
            trees_appended: number(&self.appended),
            trees_passed: number(&self.passed),
            trees,
            sent_away: number(&self.sent_away),
            contended: number(&self.contended),
            put_cas: number(&self.put_cas),
            get_cas: number(&self.get_cas),
            failed_cas: number(&self.failed_cas),
            overtaking: measures_overtaking.then(|| Overtaking {
                tasks: number(&self.overtaken),
                most: number(&self.most_overtakers),
                sum: number(&self.overtakers),
            }),
        }
    }
}

impl Tally {
    /// Whether it is time to report.
    #[inline]
    pub(super) fn is_long(&self) -> bool {
        self.puts + self.gets >= LONG
    }

    /// Reports to the counters of all ends.
    #[cold]
    pub(super) fn add_to(&mut self, counters: &Counters) {
        let done = std::mem::take(self);
        let sums = [
            (&counters.puts, done.puts),
            (&counters.gets, done.gets),
            (&counters.appended, done.appended),
            (&counters.passed, done.passed),
            (&counters.sent_away, done.sent_away),
            (&counters.contended, done.contended),
            (&counters.put_cas, done.put_cas.made()),
            (&counters.get_cas, done.get_cas.made()),
            (&counters.failed_cas, done.put_cas.failed() + done.get_cas.failed()),
            (&counters.overtaken, done.overtaking.tasks),
            (&counters.overtakers, done.overtaking.sum),
        ];
        for (counter, more) in sums {
            if more > 0 {
                // stat: numbers for people.
                counter.fetch_add(more, Relaxed);
            }
        }
        if done.overtaking.most > 0 {
            // stat: as above.
            counters.most_overtakers.fetch_max(done.overtaking.most, Relaxed);
        }
    }
}
