//! CAFÉ with producers that stop for long somewhere inside their puts. No task is lost, nobody reaches into
//! a tree that was freed, and there are as many trees as promised.

extern crate cantina_on_sim as cantina;

use cantina::cafe::Cafe;
use machine::engine::{Outcome, Simulation, ThreadId};
use machine::random::Random;
use machine::schedule::Schedule;
use machine::{SimAllocator, thread};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

#[global_allocator]
static ALLOCATOR: SimAllocator = SimAllocator;

const PRODUCERS: u64 = 3;
const CONSUMERS: u64 = 3;
/// Tasks of each producer.
const TASKS: u64 = 100;
/// Tasks inside after which producers wait for consumers.
const MOST_INSIDE: u64 = 12;
/// Stops of each producer.
const STOPS: u64 = 4;
/// Steps of a producer, in most runs.
const STEPS: usize = 2_500;
const RUNS: u64 = 300;

/// Tasks that are inside, or on their way in or out.
#[derive(Clone, Default)]
struct Inside(Arc<AtomicU64>);

/// What was seen in a run.
#[derive(Debug)]
struct Seen {
    /// The most trees at a time,
    most: usize,
    /// and those that are left when all others have gone and somebody has put and got for a while.
    left: usize,
    appended: u64,
}

fn produce(pool: &Cafe<u64>, first: u64, inside: &Inside) {
    let mut put = pool.producer();
    for task in first..first + TASKS {
        while inside.0.load(Relaxed) >= MOST_INSIDE {
            thread::yield_now();
        }
        inside.0.fetch_add(1, Relaxed);
        put.put(task);
    }
}

/// Gets until all tasks are got; those that it got, and the most trees that it saw.
fn consume(pool: &Cafe<u64>, inside: &Inside, left: &AtomicU64) -> (Vec<u64>, usize) {
    let (mut get, mut got, mut most) = (pool.consumer(), Vec::new(), 0);
    while left.load(Relaxed) > 0 {
        let Some(task) = get.get() else {
            thread::yield_now();
            continue;
        };
        got.push(task);
        left.fetch_sub(1, Relaxed);
        inside.0.fetch_sub(1, Relaxed);
        most = most.max(pool.metrics().trees);
    }
    (got, most)
}

fn soak(wait_free: bool) -> Seen {
    let pool = Cafe::builder().height(1).wait_free(wait_free).seed(7).build().unwrap();
    let inside = Inside::default();
    let left = Arc::new(AtomicU64::new(PRODUCERS * TASKS));
    let producers: Vec<_> = (0..PRODUCERS)
        .map(|number| {
            let (pool, inside) = (pool.clone(), inside.clone());
            thread::spawn(move || produce(&pool, number * TASKS, &inside))
        })
        .collect();
    let consumers: Vec<_> = (0..CONSUMERS)
        .map(|_| {
            let (pool, inside, left) = (pool.clone(), inside.clone(), left.clone());
            thread::spawn(move || consume(&pool, &inside, &left))
        })
        .collect();
    producers.into_iter().for_each(|thread| thread.join().unwrap());
    let seen: Vec<_> = consumers.into_iter().map(|thread| thread.join().unwrap()).collect();
    let most = seen.iter().map(|(_, most)| *most).max().unwrap_or_default();
    let mut got: Vec<u64> = seen.into_iter().flat_map(|(got, _)| got).collect();
    got.sort_unstable();
    assert!(got.into_iter().eq(0..PRODUCERS * TASKS), "lost, or got twice");
    let mut worker = pool.worker();
    for task in 0..100 {
        worker.put(task);
        assert_eq!(worker.get(), Some(task));
    }
    drop(worker);
    let metrics = pool.metrics();
    Seen { most, left: metrics.trees, appended: metrics.trees_appended }
}

/// Producers stop for `pause` steps of others, anywhere.
fn run(seed: u64, pause: u64, wait_free: bool) -> Outcome<Seen> {
    let mut random = Random::seeded(seed);
    let schedule = match seed % 3 {
        0 => Schedule::RoundRobin { quantum: 1 + seed / 3 % 9 },
        _ => Schedule::Random,
    };
    let mut simulation = Simulation::new().seed(seed).schedule(schedule).watch_freed(true);
    for stop in 0..PRODUCERS * STOPS {
        let thread = ThreadId(1 + (stop % PRODUCERS) as u32);
        simulation = simulation.stall(thread, random.below(STEPS) as u64, pause);
    }
    // Consumers stop too, now and then.
    let simulation = simulation.random_stalls(3, 2_000, pause / 4);
    simulation.run(|| soak(wait_free)).unwrap_or_else(|failure| panic!("{failure}"))
}

fn soak_all(wait_free: bool) -> Vec<Seen> {
    let pause = |seed| [200, 2_000, 10_000][(seed % 3) as usize];
    (0..RUNS).map(|seed| run(seed, pause(seed), wait_free).value).collect()
}

#[test]
fn in_the_default_form_there_is_a_bound_of_trees_wherever_producers_stop() {
    let seen = soak_all(false);
    // With tasks or for them, head and tail, one for each end, eight for each consumer, and eight spare ones.
    let ends = PRODUCERS + CONSUMERS;
    let bound = (MOST_INSIDE + PRODUCERS + 2 + ends + 8 * CONSUMERS + 8) as usize;
    for (seed, seen) in seen.iter().enumerate() {
        assert!(seen.most <= bound, "{seen:?} of {bound}, seed {seed}");
        assert!(seen.appended as usize > 2 * bound, "{seen:?} of {bound}, seed {seed}");
    }
}

#[test]
fn in_the_wait_free_form_trees_pile_up_behind_who_has_stopped_and_are_freed_later() {
    let seen = soak_all(true);
    for (seed, seen) in seen.iter().enumerate() {
        assert!(seen.left <= 20, "{seen:?}, seed {seed}");
    }
    assert!(seen.iter().any(|seen| seen.most > 40), "nobody has stopped for long inside a put");
}
