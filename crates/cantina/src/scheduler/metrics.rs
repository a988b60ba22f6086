//! What workers and units have done.

use machine::atomic::AtomicU64;
use machine::atomic::Ordering::Relaxed;
use machine::time::{Duration, nanos};

/// What the workers of a runtime have done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Metrics {
    /// One for each worker.
    pub workers: Vec<WorkerMetrics>,
    /// Panics that nobody heard of, but [`on_panic`](super::Builder::on_panic). Each eventual that goes with one counts.
    pub unheard_panics: u64,
    /// Operations that were [told](super::Unit::tell) and did not run: the runtime took no more, or stopped before, or their
    /// unit is poisoned. Those that [`try_tell`](super::Unit::try_tell) gives back do not count.
    pub dropped_tells: u64,
}

/// What a worker has done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkerMetrics {
    /// What its thread is called.
    pub name: String,
    /// Free operations that it ran.
    pub operations: u64,
    /// Messages of units that it ran, or failed.
    pub messages: u64,
    /// Turns of units: each runs as many messages as there are, up to the budget.
    pub turns: u64,
    /// Turns and free operations that it took from other workers.
    pub steals: u64,
    /// How often it went to sleep.
    pub parks: u64,
    /// Turns and free operations that wait for it, about.
    pub queued: usize,
    /// How long it had something to do.
    pub busy: Duration,
}

/// What a unit has done; see [`Unit::metrics`](super::Unit::metrics).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnitMetrics {
    /// Messages that were run, or failed.
    pub messages: u64,
    /// Turns that it had.
    pub turns: u64,
    /// Turns on another worker than the one before.
    pub moves: u64,
    /// Messages that have not run, if it has a [capacity](super::UnitBuilder::capacity), which may be `usize::MAX`: others
    /// are not counted, as all senders would have to.
    pub queued: Option<usize>,
    /// How long its turns took that have ended, if it is [timed](super::UnitBuilder::timed).
    pub busy: Option<Duration>,
}

/// A number that one thread at a time counts and others read.
#[derive(Debug, Default)]
pub(super) struct Counter(AtomicU64);

#[derive(Debug, Default)]
pub(super) struct Counters {
    pub(super) operations: Counter,
    pub(super) messages: Counter,
    pub(super) turns: Counter,
    pub(super) steals: Counter,
    pub(super) parks: Counter,
    /// Nanoseconds.
    busy: Counter,
    /// Since when it has something to do, by the clock and one more; 0 if it has nothing.
    since: Counter,
}

/// How long something took, in nanoseconds.
#[derive(Debug, Default)]
pub(super) struct Stopwatch(AtomicU64);

/// What a unit counts.
#[derive(Debug, Default)]
pub(super) struct UnitCounters {
    messages: Counter,
    turns: Counter,
    moves: Counter,
    /// The worker of the last turn, and one more.
    last: Counter,
}

impl Counter {
    pub(super) fn add(&self, more: u64) {
        self.set(self.get() + more);
    }

    fn set(&self, number: u64) {
        // stat: one thread at a time writes it.
        self.0.store(number, Relaxed);
    }

    pub(super) fn get(&self) -> u64 {
        // stat: a number for humans.
        self.0.load(Relaxed)
    }
}

impl Counters {
    /// It has something to do from now on.
    pub(super) fn begin(&self) {
        self.since.set(nanos() + 1);
    }

    /// It has nothing to do from now on.
    pub(super) fn rest(&self) {
        self.busy.set(self.busy());
        self.since.set(0);
    }

    fn busy(&self) -> u64 {
        let since = match self.since.get() {
            0 => 0,
            since => (nanos() + 1).saturating_sub(since),
        };
        self.busy.get() + since
    }

    pub(super) fn read(&self, name: String, queued: usize) -> WorkerMetrics {
        WorkerMetrics {
            name,
            operations: self.operations.get(),
            messages: self.messages.get(),
            turns: self.turns.get(),
            steals: self.steals.get(),
            parks: self.parks.get(),
            queued,
            busy: Duration::from_nanos(self.busy()),
        }
    }
}

impl UnitCounters {
    /// A turn on `worker` begins.
    pub(super) fn turn(&self, worker: usize) {
        self.turns.add(1);
        let this = worker as u64 + 1;
        let last = self.last.get();
        self.moves.add(u64::from(last != 0 && last != this));
        self.last.set(this);
    }

    /// A message is about to run.
    pub(super) fn message(&self) {
        self.messages.add(1);
    }

    pub(super) fn read(&self, queued: Option<usize>, busy: Option<&Stopwatch>) -> UnitMetrics {
        let (messages, turns) = (self.messages.get(), self.turns.get());
        let busy = busy.map(Stopwatch::read);
        UnitMetrics { messages, turns, moves: self.moves.get(), queued, busy }
    }
}

impl Stopwatch {
    pub(super) fn now() -> u64 {
        nanos()
    }

    pub(super) fn add_since(&self, began: u64) {
        // stat: a number for humans.
        self.0.fetch_add(nanos().saturating_sub(began), Relaxed);
    }

    fn read(&self) -> Duration {
        // stat: as above.
        Duration::from_nanos(self.0.load(Relaxed))
    }
}

impl Metrics {
    /// Messages and free operations, all workers together.
    pub fn operations(&self) -> u64 {
        self.workers.iter().map(|worker| worker.operations + worker.messages).sum()
    }
}
