//! By how many others CAFÉ's tasks are overtaken: counted from the beginning and the end of every call, on simulated schedules.
//!
//! A task `b` overtakes `a` if the put of `a` had returned before that of `b` began, and the get of `b` had returned before
//! that of `a` began. Tasks of a batch are put, or got, while its call lasts. Threads take turns here, so a count of calls is a
//! clock that costs nothing and makes nothing overlap that did not.

extern crate cantina_on_sim as cantina;

use cantina::cafe::Cafe;
use machine::engine::Simulation;
use machine::random::Random;
use machine::schedule::{Schedule, crowd, delay_rmw};
use machine::thread;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Runs for each kind of trees.
const RUNS: u64 = 200;
/// The same in the deep run.
const DEEP: u64 = 4_000;
const PRODUCERS: u64 = 3;
const CONSUMERS: u64 = 3;
/// The largest batch.
const BATCH: usize = 3;

/// The kinds of trees: their height, places of a leaf and children of a word, and how many may overtake a task.
const KINDS: [(u32, (u32, u32), u64); 11] = [
    (0, (32, 32), 0),
    (1, (32, 32), 0),
    (4, (32, 32), 0),
    (5, (32, 32), 32),
    // The first whose producers claim ahead.
    (7, (32, 32), 254),
    // Two leaves, of two places and of one; of four and of three.
    (1, (2, 3), 2),
    (2, (4, 3), 4),
    // Leaves of one place.
    (1, (1, 3), 2),
    (2, (1, 8), 6),
    // Four and seven leaves below two levels.
    (2, (2, 2), 6),
    (2, (1, 2), 6),
];

/// When a call began and when it returned.
type Span = (u64, u64);

/// Calls so far, and tasks that are to be got.
#[derive(Clone)]
struct Table(Arc<[AtomicU64; 2]>);

impl Table {
    fn new(tasks: u64) -> Self {
        Self(Arc::new([AtomicU64::new(1), AtomicU64::new(tasks)]))
    }

    /// Makes a call, and says when.
    fn call<R>(&self, f: impl FnOnce() -> R) -> (R, Span) {
        let now = || self.0[0].fetch_add(1, Relaxed);
        let begin = now();
        let result = f();
        (result, (begin, now()))
    }

    fn left(&self) -> &AtomicU64 {
        &self.0[1]
    }
}

/// Puts so many tasks, one by one or in batches. When each was put.
fn produce(
    pool: &Cafe<u64>,
    table: &Table,
    first: u64,
    tasks: u64,
    random: &mut Random,
) -> Vec<(u64, Span)> {
    let (mut end, mut put) = (pool.producer(), Vec::new());
    let mut next = first;
    while next < first + tasks {
        let many = (random.below(BATCH) as u64 + 1).min(first + tasks - next);
        let batch = next..next + many;
        let ((), span) = if many == 1 {
            table.call(|| end.put(next))
        } else {
            table.call(|| end.extend(batch.clone()))
        };
        put.extend(batch.map(|task| (task, span)));
        next += many;
    }
    put
}

/// Gets, one by one or several at once, until all are got. When each was.
fn consume(pool: &Cafe<u64>, table: &Table, random: &mut Random) -> Vec<(u64, Span)> {
    let (mut end, mut got) = (pool.consumer(), Vec::new());
    while table.left().load(Relaxed) > 0 {
        let (mut into, many) = (Vec::new(), random.below(BATCH) + 1);
        let ((), span) = table.call(|| {
            if many == 1 {
                into.extend(end.get());
            } else {
                end.get_many(many, &mut into);
            }
        });
        if into.is_empty() {
            thread::yield_now();
        }
        table.left().fetch_sub(into.len() as u64, Relaxed);
        got.extend(into.into_iter().map(|task| (task, span)));
    }
    got
}

/// How many others overtook the task that most did.
fn most_overtakers(put: &[(u64, Span)], got: &[(u64, Span)]) -> u64 {
    let both = |&(task, put): &(u64, Span)| {
        let got = got.iter().find(|(other, _)| *other == task).expect("all are got");
        (put, got.1)
    };
    let passages: Vec<(Span, Span)> = put.iter().map(both).collect();
    let overtakers = |(put, got): &(Span, Span)| {
        passages.iter().filter(|other| put.1 < other.0.0 && other.1.1 < got.0).count() as u64
    };
    passages.iter().map(overtakers).max().unwrap_or(0)
}

/// Some put, and some get, from when there are tasks for a tree or from the beginning.
fn play(height: u32, widths: (u32, u32), seed: u64) -> u64 {
    let (slots, fan) = widths;
    let builder = Cafe::builder().height(height).widths(slots, fan).seed(seed);
    let pool: Cafe<u64> = builder.build().unwrap();
    let numbers = |thread: u64| Random::seeded(seed * 64 + thread);
    let (places, of_each) = ((2 << height) - 1, (2 << height) / 2 + 4);
    let before = if seed.is_multiple_of(2) { places } else { 0 };
    let table = Table::new(before + PRODUCERS * of_each);
    let mut put = produce(&pool, &table, 0, before, &mut numbers(0));
    let producers: Vec<_> = (0..PRODUCERS)
        .map(|thread| {
            let (pool, table, mut random) = (pool.clone(), table.clone(), numbers(1 + thread));
            let first = before + thread * of_each;
            thread::spawn(move || produce(&pool, &table, first, of_each, &mut random))
        })
        .collect();
    let consumers: Vec<_> = (0..CONSUMERS)
        .map(|thread| {
            let (pool, table, mut random) = (pool.clone(), table.clone(), numbers(9 + thread));
            thread::spawn(move || consume(&pool, &table, &mut random))
        })
        .collect();
    put.extend(producers.into_iter().flat_map(|one| one.join().unwrap()));
    let got: Vec<_> = consumers.into_iter().flat_map(|one| one.join().unwrap()).collect();
    assert_eq!(got.len(), put.len());
    most_overtakers(&put, &got)
}

fn simulation(seed: u64) -> Simulation {
    let schedule = match seed / 2 % 6 {
        0 => Schedule::Random,
        1 => delay_rmw(),
        2 => crowd(2),
        3 => Schedule::RoundRobin { quantum: 1 + seed / 12 % 9 },
        _ => Schedule::Pct { depth: 3 + (seed / 12 % 6) as usize, length: 1_500 },
    };
    let simulation = Simulation::new().seed(seed).schedule(schedule);
    if seed.is_multiple_of(5) { simulation.random_stalls(6, 100, 300) } else { simulation }
}

#[test]
fn no_task_is_overtaken_by_more_than_its_tree_promises() {
    for (height, widths, promised) in KINDS {
        let mut seen = 0;
        for seed in 0..cantina_effort::rounds(RUNS, DEEP) {
            let outcome = simulation(seed).run(|| play(height, widths, seed));
            let most =
                outcome.unwrap_or_else(|failure| panic!("{height} {widths:?}: {failure}")).value;
            assert!(most <= promised, "{most} of {promised}: {height} {widths:?}, seed {seed}");
            seen = seen.max(most);
        }
        println!("height {height}, {widths:?}: {seen} of {promised}");
        assert_eq!(seen > 0, promised > 0, "{height} {widths:?}: nobody is overtaken");
    }
}

#[test]
fn what_is_promised_is_what_is_tested() {
    for (height, (slots, fan), promised) in KINDS {
        let pool = Cafe::<u64>::builder().height(height).widths(slots, fan).build().unwrap();
        assert_eq!(pool.most_overtakers() as u64, promised, "{height} {slots} {fan}");
    }
}
