//! CAFÉ for some seconds, with producers and consumers that sleep between their calls. The address sanitizer
//! runs it too.

use cantina::cafe::Cafe;
use machine::random::Random;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

const PRODUCERS: u64 = 3;
const CONSUMERS: u64 = 2;
/// How long producers put.
const LONG: Duration = Duration::from_millis(700);
/// One call in so many is followed by a sleep,
const SLEEPS: usize = 200;
/// of at most so many microseconds.
const SLEEP: usize = 3_000;
/// Tasks inside after which producers wait for consumers.
const MOST_INSIDE: u64 = 50;

/// A task with memory of its own, so that a sanitizer sees who has it twice.
type Task = Box<u64>;

/// What all threads know.
#[derive(Default)]
struct Counts {
    put: AtomicU64,
    got: AtomicU64,
    /// Producers that have ended.
    ended: AtomicU64,
}

fn now_and_then_sleep(random: &mut Random) {
    if random.one_in(SLEEPS) {
        thread::sleep(Duration::from_micros(random.below(SLEEP) as u64));
    }
}

/// Puts numbers that nobody else puts; their sum.
fn produce(pool: &Cafe<Task>, number: u64, counts: &Counts) -> u64 {
    let (mut put, mut random) = (pool.producer(), Random::seeded(number));
    let (began, mut sum) = (Instant::now(), 0);
    let mut task = number;
    while began.elapsed() < LONG {
        if counts.put.load(Relaxed).saturating_sub(counts.got.load(Relaxed)) >= MOST_INSIDE {
            thread::yield_now();
            continue;
        }
        counts.put.fetch_add(1, Relaxed);
        put.put(Box::new(task));
        sum += task;
        task += PRODUCERS;
        now_and_then_sleep(&mut random);
    }
    drop(put);
    counts.ended.fetch_add(1, Relaxed);
    sum
}

/// Gets until nothing more comes; the sum, and the most trees that it saw.
fn consume(pool: &Cafe<Task>, number: u64, counts: &Counts) -> (u64, usize) {
    let (mut get, mut random) = (pool.consumer(), Random::seeded(100 + number));
    let (mut sum, mut most) = (0, 0);
    loop {
        let ended = counts.ended.load(Relaxed) == PRODUCERS;
        if let Some(task) = get.get() {
            sum += *task;
            counts.got.fetch_add(1, Relaxed);
            most = most.max(pool.metrics().trees);
        } else if ended && counts.got.load(Relaxed) == counts.put.load(Relaxed) {
            return (sum, most);
        } else {
            thread::yield_now();
        }
        now_and_then_sleep(&mut random);
    }
}

/// The most trees that there were.
fn soak(pool: &Cafe<Task>) -> usize {
    let counts = Counts::default();
    let (put, got) = thread::scope(|scope| {
        let counts = &counts;
        let producers: Vec<_> = (1..=PRODUCERS)
            .map(|number| scope.spawn(move || produce(pool, number, counts)))
            .collect();
        let consumers: Vec<_> = (1..=CONSUMERS)
            .map(|number| scope.spawn(move || consume(pool, number, counts)))
            .collect();
        let put: u64 = producers.into_iter().map(|thread| thread.join().unwrap()).sum();
        let got: Vec<_> = consumers.into_iter().map(|thread| thread.join().unwrap()).collect();
        (put, got)
    });
    assert_eq!(put, got.iter().map(|(sum, _)| sum).sum::<u64>(), "lost, or got twice");
    let metrics = pool.metrics();
    assert_eq!((metrics.puts, metrics.gets), (counts.put.into_inner(), counts.got.into_inner()));
    got.into_iter().map(|(_, most)| most).max().unwrap_or_default()
}

#[test]
fn the_default_form_has_a_bound_of_trees_whoever_sleeps() {
    for height in [1, 3] {
        let pool = Cafe::builder().height(height).build().unwrap();
        let most = soak(&pool);
        // With tasks or for them, head and tail, one for each end, eight for each consumer, eight spare ones.
        let ends = PRODUCERS + CONSUMERS;
        let bound = MOST_INSIDE + PRODUCERS + 2 + ends + 8 * CONSUMERS + 8;
        assert!(most as u64 <= bound, "{most} of {bound} at height {height}: {:?}", pool.metrics());
        assert!(pool.metrics().trees_appended > bound, "{:?}", pool.metrics());
    }
}

#[test]
fn the_wait_free_form_frees_what_was_kept_for_those_who_were_slow() {
    for height in [1, 3] {
        let pool = Cafe::builder().height(height).wait_free(true).build().unwrap();
        soak(&pool);
        let mut worker = pool.worker();
        for task in 0..1_000 {
            worker.put(Box::new(task));
            assert_eq!(worker.get().as_deref(), Some(&task));
        }
        assert!(pool.metrics().trees <= 20, "{:?}", pool.metrics());
    }
}
