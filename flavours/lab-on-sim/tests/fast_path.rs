//! SALSA in chunks of one, two and four tasks through the conformance suite, on simulated schedules with store
//! buffers: tasks are got without a claim there, and chunks are stolen. A pool of such chunks that always came to its
//! slow path would pass the suite as well. A hand that holds several tasks at once needs chunks of more than one line: those of eight and
//! more are in the suite as they are, and `scenarios::salsa` has hands that are robbed.

extern crate lab_on_sim as cantina_lab;

use cantina::pool::TaskPool;
use cantina::salsa::{Consumer, Metrics, Producer, Salsa, Worker};
use cantina_lab::conformance::{Effort, trials_of};
use cantina_lab::registry::{Facts, Family, Order};
use cantina_record::Kind;
use machine::engine::{Memory, Simulation};
use machine::schedule::Schedule;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Schedules of each check.
const SCHEDULES: u64 = 2;
const DEEP: u64 = 100;
/// Steps after which a run hangs.
const STEPS: u64 = 4_000_000;

/// What the pools of one chunk size have come to.
#[derive(Debug)]
struct Reached {
    chunk_size: usize,
    /// Tasks that were got without a claim, at least. Each pool counts more than once.
    without_claims: AtomicU64,
    claims: AtomicU64,
    steals: AtomicU64,
}

impl Reached {
    const fn by_chunks_of(chunk_size: usize) -> Self {
        let [without_claims, claims, steals] = [const { AtomicU64::new(0) }; 3];
        Self { chunk_size, without_claims, claims, steals }
    }

    fn add(&self, metrics: &Metrics) {
        let sums = [
            (&self.without_claims, metrics.gets.saturating_sub(metrics.claims)),
            (&self.claims, metrics.claims),
            (&self.steals, metrics.steals),
        ];
        for (sum, more) in sums {
            // stat: read when all is over.
            sum.fetch_add(more, Relaxed);
        }
    }
}

/// SALSA that says what it has come to.
struct Watched<T: Send> {
    pool: Salsa<T>,
    reached: &'static Reached,
}

impl<T: Send> Clone for Watched<T> {
    fn clone(&self) -> Self {
        Self { pool: self.pool.clone(), reached: self.reached }
    }
}

impl<T: Send> Drop for Watched<T> {
    fn drop(&mut self) {
        self.reached.add(&self.pool.metrics());
    }
}

impl<T: Send> TaskPool<T> for Watched<T> {
    type Producer = Producer<T>;
    type Consumer = Consumer<T>;
    type Worker = Worker<T>;

    fn producer(&self) -> Producer<T> {
        self.pool.producer()
    }

    fn consumer(&self) -> Consumer<T> {
        self.pool.consumer()
    }

    fn worker(&self) -> Worker<T> {
        self.pool.worker()
    }
}

#[derive(Clone, Copy, Debug)]
struct WatchedFamily(&'static Reached);

impl Family for WatchedFamily {
    type Pool<T: Send + 'static> = Watched<T>;

    fn facts(&self) -> Facts {
        Facts {
            name: format!("salsa-of-{}", self.0.chunk_size),
            kind: Kind::Ours,
            about: "SALSA in small chunks",
            order: Order::Bag,
            capacity: None,
            non_blocking: true,
        }
    }

    fn build<T: Send + 'static>(&self) -> Watched<T> {
        let pool = Salsa::builder().chunk_size(self.0.chunk_size).patience(0).build();
        Watched { pool: pool.expect("such chunks are allowed"), reached: self.0 }
    }
}

/// All checks on so many schedules each.
fn conforms_without_claims(reached: &'static Reached) {
    let first = cantina_effort::seed(1_000);
    let schedules = cantina_effort::rounds(SCHEDULES, DEEP);
    for trial in trials_of(&WatchedFamily(reached)) {
        for seed in first..first + schedules {
            let schedule = match seed % 2 {
                0 => Schedule::Random,
                _ => Schedule::Pct { depth: 4, length: 2_000 },
            };
            let simulation = Simulation::new().memory(Memory::Tso).seed(seed).steps(STEPS);
            let outcome =
                simulation.schedule(schedule).run(|| trial.run(&Effort::simulated(), seed));
            let outcome = outcome.unwrap_or_else(|failure| panic!("{}: {failure}", trial.name()));
            outcome.value.unwrap_or_else(|failure| panic!("seed {seed}: {failure}"));
        }
    }
    for sum in [&reached.without_claims, &reached.claims, &reached.steals] {
        // stat: all is over.
        assert!(sum.load(Relaxed) > 0, "never come to: {reached:?}");
    }
}

#[test]
fn chunks_of_one_task_are_emptied_without_claims() {
    static REACHED: Reached = Reached::by_chunks_of(1);
    conforms_without_claims(&REACHED);
}

#[test]
fn chunks_of_two_tasks_are_emptied_without_claims() {
    static REACHED: Reached = Reached::by_chunks_of(2);
    conforms_without_claims(&REACHED);
}

#[test]
fn chunks_of_four_tasks_are_emptied_without_claims() {
    static REACHED: Reached = Reached::by_chunks_of(4);
    conforms_without_claims(&REACHED);
}
