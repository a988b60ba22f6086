//! What the pool has done: counted by each end for itself, added up now and then.

use machine::atomic::AtomicU64;
use machine::atomic::Ordering::Relaxed;

pub(super) use crate::pool::Exchanges;

/// What a [`TodoTree`](super::TodoTree) has done. Ends report every few hundred tasks, when they find nothing
/// or no room, and when they leave, so the numbers lag behind a little; when all ends have gone they are
/// exact.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Metrics {
    /// Tasks put.
    pub puts: u64,
    /// Tasks got.
    pub gets: u64,
    /// Tasks that were leased, which counts as got, and put back.
    pub returned: u64,
    /// How often there was no room.
    pub full: u64,
    /// How often there was no task.
    pub empty: u64,
    /// Walks from the top that led nowhere: what was counted there had changed below.
    pub stuck: u64,
    /// Attempts at a place in which somebody else was faster.
    pub lost: u64,
    /// Atomic read-modify-writes by producers.
    pub put_cas: u64,
    /// The same by consumers.
    pub get_cas: u64,
    /// Those of both that came too late.
    pub failed_cas: u64,
}

/// What all ends have reported.
#[derive(Debug, Default)]
pub(super) struct Counters {
    puts: AtomicU64,
    gets: AtomicU64,
    returned: AtomicU64,
    full: AtomicU64,
    empty: AtomicU64,
    stuck: AtomicU64,
    lost: AtomicU64,
    put_cas: AtomicU64,
    get_cas: AtomicU64,
    failed_cas: AtomicU64,
}

/// What an end has done since it last reported.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) puts: u64,
    pub(super) gets: u64,
    /// Tasks that were put one by one, by two read-modify-writes, and are not among the others.
    pub(super) single_puts: u64,
    /// The same of gets.
    pub(super) single_gets: u64,
    pub(super) full: u64,
    pub(super) empty: u64,
    pub(super) stuck: u64,
    pub(super) lost: u64,
    pub(super) put_cas: Exchanges,
    pub(super) get_cas: Exchanges,
}

/// Tasks after which an end reports.
pub(super) const LONG: u64 = 512;

impl Counters {
    /// A lease was dropped.
    pub(super) fn note_return(&self) {
        // stat: a number for people.
        self.returned.fetch_add(1, Relaxed);
    }

    pub(super) fn metrics(&self) -> Metrics {
        // stat: numbers for people.
        let number = |counter: &AtomicU64| counter.load(Relaxed);
        Metrics {
            puts: number(&self.puts),
            gets: number(&self.gets),
            returned: number(&self.returned),
            full: number(&self.full),
            empty: number(&self.empty),
            stuck: number(&self.stuck),
            lost: number(&self.lost),
            put_cas: number(&self.put_cas),
            get_cas: number(&self.get_cas),
            failed_cas: number(&self.failed_cas),
        }
    }
}

impl Tally {
    #[inline]
    fn tasks(&self) -> u64 {
        self.puts + self.gets + self.single_puts + self.single_gets
    }

    /// Reports when it is time to.
    #[inline]
    pub(super) fn report_when_long(&mut self, counters: &Counters) {
        if self.tasks() >= LONG {
            self.report(counters);
        }
    }

    /// Reports, if it has put or got anything since: whoever only looks does not disturb the others.
    #[inline]
    pub(super) fn report_when_idle(&mut self, counters: &Counters) {
        if self.tasks() > 0 {
            self.report(counters);
        }
    }

    /// Reports to the counters of all ends.
    #[cold]
    #[inline(never)]
    pub(super) fn report(&mut self, counters: &Counters) {
        let done = std::mem::take(self);
        let sums = [
            (&counters.puts, done.puts + done.single_puts),
            (&counters.gets, done.gets + done.single_gets),
            (&counters.full, done.full),
            (&counters.empty, done.empty),
            (&counters.stuck, done.stuck),
            (&counters.lost, done.lost),
            (&counters.put_cas, done.put_cas.made() + 2 * done.single_puts),
            (&counters.get_cas, done.get_cas.made() + 2 * done.single_gets),
            (&counters.failed_cas, done.put_cas.failed() + done.get_cas.failed()),
        ];
        for (counter, more) in sums {
            if more > 0 {
                // stat: numbers for people.
                counter.fetch_add(more, Relaxed);
            }
        }
    }
}
