//! The paper's exit, and why ours differs: who leaves reads how far its room was opened *before* it says that it has left.
//!
//! Read afterwards, as the paper's step 15 has it, it may be read late: nothing keeps the room as it was, other batches come and
//! go, and when the counters come round it is what the leaver left with. He takes himself for the last one of a batch that
//! others are inside of. The paper says that counters may wrap. These here wrap at 8.

use machine::atomic::AtomicU32;
use machine::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use machine::engine::{Failure, Simulation, ThreadId};
use machine::schedule::{Schedule, delay_rmw};
use machine::{Arc, thread};

const WRAP: u32 = 8;
const SCHEDULES: u64 = 20_000;

/// One room, counted.
struct Twin {
    late: bool,
    taken: AtomicU32,
    open: AtomicU32,
    left: AtomicU32,
    total: AtomicU32,
    batch: AtomicU32,
    inside: AtomicU32,
    /// Whether exit code would have been run with somebody inside.
    wrong: AtomicU32,
}

impl Twin {
    fn new(late: bool) -> Self {
        let zero = || AtomicU32::new(0);
        let (taken, open, left, total, batch) = (zero(), zero(), zero(), zero(), zero());
        Self { late, taken, open, left, total, batch, inside: zero(), wrong: zero() }
    }

    fn enter(&self) {
        let ticket = self.taken.fetch_add(1, Relaxed) + 1;
        if self.total.fetch_add(1, AcqRel) == 0 {
            self.open();
        }
        // At most three tickets are outstanding: fewer than half of what the counters tell apart.
        while self.open.load(Acquire).wrapping_sub(ticket) % WRAP >= WRAP / 2 {
            thread::yield_now();
        }
        self.inside.fetch_add(1, SeqCst);
    }

    fn open(&self) {
        let last = self.taken.load(Relaxed);
        self.batch.store(last.wrapping_sub(self.open.load(Relaxed)) % WRAP, Relaxed);
        self.open.store(last, Release);
    }

    fn leave(&self) {
        self.inside.fetch_sub(1, SeqCst);
        let early = self.open.load(Relaxed);
        let left = self.left.fetch_add(1, AcqRel) + 1;
        let open = if self.late { self.open.load(Relaxed) } else { early };
        if left % WRAP != open % WRAP {
            return;
        }
        if self.inside.load(SeqCst) > 0 {
            self.wrong.store(1, SeqCst);
            return;
        }
        let batch = self.batch.load(Relaxed);
        if self.total.fetch_sub(batch, AcqRel) != batch {
            self.open();
        }
    }
}

/// Two are inside together. One leaves, slowly; the other comes again, until the counters have come round.
fn play(late: bool) {
    let twin = Arc::new(Twin::new(late));
    twin.enter();
    let visits = |times: usize| {
        let twin = twin.clone();
        thread::spawn(move || {
            (0..times).for_each(|_| {
                twin.enter();
                (0..5).for_each(|_| thread::yield_now());
                twin.leave();
            });
        })
    };
    let (slow, quick) = (visits(1), visits(20));
    twin.leave();
    slow.join().unwrap();
    quick.join().unwrap();
    assert_eq!(twin.wrong.load(SeqCst), 0, "exit code runs and somebody is inside");
}

fn failures(late: bool) -> impl Iterator<Item = Failure> {
    (0..SCHEDULES).filter_map(move |seed| {
        let schedule = match seed % 3 {
            0 => delay_rmw(),
            1 => Schedule::Random,
            _ => Schedule::Pct { depth: 4, length: 100 },
        };
        // The slow one stops somewhere, for a while.
        let (after, pause) = (1 + seed % 23, 50 + seed / 23 % 150);
        let simulation = Simulation::new().seed(seed).schedule(schedule).steps(5_000);
        let simulation = simulation.stall(ThreadId(1), after, pause);
        simulation.run(|| play(late)).err()
    })
}

#[test]
fn read_late_it_may_be_that_of_another_batch() {
    let found = failures(true).find(|failure| failure.to_string().contains("somebody is inside"));
    assert!(found.is_some(), "the paper's exit went well on all schedules");
}

#[test]
fn read_before_it_is_that_of_its_own() {
    if let Some(failure) = failures(false).next() {
        panic!("{failure}");
    }
}
