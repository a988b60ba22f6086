//! What the pool has done: counted by each consumer for itself, added up when somebody asks.

use machine::atomic::AtomicU64;
use machine::atomic::Ordering::Relaxed;

/// What a [`Salsa`](super::Salsa) has done. Consumers report when they change chunks, find nothing, or
/// leave, so the numbers lag behind a little; when all consumers have gone they are exact.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Metrics {
    /// Tasks got.
    pub gets: u64,
    /// Chunks stolen.
    pub steals: u64,
    /// Chunks that a thief had claimed and lost again before they were its own: to another thief, to the
    /// owner, or to a consumer that looked whether the pool is empty.
    pub robbed: u64,
    /// Claims of others that a consumer has undone, to find out whether the pool is empty.
    pub undone: u64,
    /// Times that a consumer began to take from a chunk.
    pub chunk_switches: u64,
    /// Atomic read-modify-writes by consumers: claims of contended slots, and changes of owner words.
    pub cas: u64,
    /// Of those, claims of slots, won or lost. A task got without one cost no read-modify-write, but for the
    /// last one of a chunk.
    pub claims: u64,
    /// Chunks that exist, in use and spare.
    pub chunks: usize,
    /// Chunks that wait in their consumers' spares.
    pub spare_chunks: usize,
    /// Bytes of a chunk.
    pub chunk_bytes: usize,
}

impl Metrics {
    /// Read-modify-writes per task got; nothing before the first.
    pub fn cas_per_get(&self) -> Option<f64> {
        (self.gets > 0).then(|| self.cas as f64 / self.gets as f64)
    }
}

/// What the consumers of one home have reported.
#[derive(Debug, Default)]
pub(super) struct Counters {
    pub(super) gets: AtomicU64,
    pub(super) steals: AtomicU64,
    pub(super) robbed: AtomicU64,
    pub(super) undone: AtomicU64,
    pub(super) switches: AtomicU64,
    pub(super) cas: AtomicU64,
    pub(super) claims: AtomicU64,
}

/// What a consumer has done since it last reported.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) gets: u64,
    pub(super) steals: u64,
    pub(super) robbed: u64,
    pub(super) undone: u64,
    pub(super) switches: u64,
    /// Claims of slots.
    pub(super) claims: u64,
    /// Changes of owner words, successful or not.
    pub(super) changes: u64,
}

impl Counters {
    /// Adds these to `metrics`.
    pub(super) fn add_to(&self, metrics: &mut Metrics) {
        let sums = [
            (&mut metrics.gets, &self.gets),
            (&mut metrics.steals, &self.steals),
            (&mut metrics.robbed, &self.robbed),
            (&mut metrics.undone, &self.undone),
            (&mut metrics.chunk_switches, &self.switches),
            (&mut metrics.cas, &self.cas),
            (&mut metrics.claims, &self.claims),
        ];
        for (sum, counter) in sums {
            // stat: numbers for people.
            *sum += counter.load(Relaxed);
        }
    }
}

impl Tally {
    /// Reports to the home's counters, which nobody else writes.
    pub(super) fn add_to(&mut self, counters: &Counters) {
        let done = std::mem::take(self);
        let sums = [
            (&counters.gets, done.gets),
            (&counters.steals, done.steals),
            (&counters.robbed, done.robbed),
            (&counters.undone, done.undone),
            (&counters.switches, done.switches),
            (&counters.cas, done.claims + done.changes),
            (&counters.claims, done.claims),
        ];
        for (counter, more) in sums {
            if more > 0 {
                // own: only the home's consumer writes.
                let before = counter.load(Relaxed);
                // stat: numbers for people.
                counter.store(before + more, Relaxed);
            }
        }
    }
}
