//! What happened in rooms that were built to count: each processor for itself, added up when somebody asks.

use super::form::Taken;
use machine::atomic::AtomicU64;
use machine::atomic::Ordering::Relaxed;
use machine::{CachePadded, thread};

/// What happened in [`Rooms`](super::Rooms), since they were built. Exact when nobody uses them meanwhile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Metrics {
    /// Times that somebody went inside a room, or changed to one.
    pub entries: u64,
    /// Of these, without waiting, to others who were inside.
    pub joins: u64,
    /// Tickets taken, or adopted: by those who found another room open, or one that they could not join.
    pub waits: u64,
    /// Of these, by who slept. A future does if it is not ready at its first poll.
    pub sleeps: u64,
    /// Times that a room was opened for those with tickets.
    pub batches: u64,
    /// How many those were. Fewer than `waits` where tickets were given up.
    pub let_in: u64,
    /// Times that exit code ran.
    pub exit_codes: u64,
}

impl Metrics {
    /// How many with tickets were let in at a time, on average: about 1 means that a lock would do. Nothing before the first.
    pub fn batch_size(&self) -> Option<f64> {
        (self.batches > 0).then(|| self.let_in as f64 / self.batches as f64)
    }
}

/// What is counted by who opens a room.
#[derive(Debug, Default)]
pub(super) struct Batches {
    batches: AtomicU64,
    let_in: AtomicU64,
}

/// What the rooms themselves count.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(super) batches: u64,
    pub(super) let_in: u64,
    pub(super) sleeps: u64,
}

impl Batches {
    /// A room was opened for so many with tickets. For nobody: as if it were not.
    pub(super) fn opened(&self, let_in: u64) {
        if let_in > 0 {
            // stat: a number for humans, as all of these.
            self.batches.fetch_add(1, Relaxed);
            // stat: as above.
            self.let_in.fetch_add(let_in, Relaxed);
        }
    }

    /// What was counted, where somebody slept so often.
    pub(super) fn counts(&self, sleeps: u64) -> Counts {
        // stat: as above.
        let [batches, let_in] = [&self.batches, &self.let_in].map(|count| count.load(Relaxed));
        Counts { batches, let_in, sleeps }
    }
}

/// What is counted by who comes and goes inside.
#[derive(Debug)]
pub(super) struct Counters {
    shards: Box<[CachePadded<Shard>]>,
}

#[derive(Debug, Default)]
struct Shard {
    entries: AtomicU64,
    joins: AtomicU64,
    waits: AtomicU64,
}

impl Counters {
    pub(super) fn new() -> Self {
        let shards = (0..thread::available_parallelism()).map(|_| CachePadded::default());
        Self { shards: shards.collect() }
    }

    /// Those of the processor at hand: whoever is moved to another one at this moment is counted all the same.
    fn shard(&self) -> &Shard {
        let core = thread::current_core().map_or(0, |core| core.0);
        &self.shards[core % self.shards.len()]
    }

    /// Somebody came, and is inside or waits.
    pub(super) fn came(&self, taken: Taken) {
        let shard = self.shard();
        match taken {
            Taken::Inside => {}
            // stat: a number for humans, as all of these.
            Taken::Joined => _ = shard.joins.fetch_add(1, Relaxed),
            // stat: as above.
            Taken::Ticket(_) => _ = shard.waits.fetch_add(1, Relaxed),
        }
    }

    /// Somebody is inside.
    pub(super) fn entered(&self) {
        // stat: as above.
        self.shard().entries.fetch_add(1, Relaxed);
    }

    /// All of it, and what is `known` otherwise.
    pub(super) fn sum(&self, known: Metrics) -> Metrics {
        // stat: as above.
        let sum = |of: fn(&Shard) -> &AtomicU64| {
            self.shards.iter().map(|shard| of(shard).load(Relaxed)).sum()
        };
        Metrics {
            entries: sum(|shard| &shard.entries),
            joins: sum(|shard| &shard.joins),
            waits: sum(|shard| &shard.waits),
            ..known
        }
    }
}
