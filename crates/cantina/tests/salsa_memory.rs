//! What memory SALSA keeps, as its module's docs say.

use cantina::salsa::{Consumer, Salsa};
use std::thread;

/// Chunks that a consumer keeps as spares, unless told otherwise,
const SPARES: usize = 16;
/// that wait to become such,
const WAITING: usize = 3;
/// that another consumer may be looking at,
const LOOKED_AT: usize = 8;
/// and that a producer has left half filled.
const OPEN: usize = 1;
/// What a burst is.
const BURST: u64 = 10_000_000;
const TASKS_OF_A_CHUNK: u64 = 1_022;

/// As many chunks as so many handles keep at most when all is drained.
fn most(producers: usize, consumers: usize) -> usize {
    let looked_at = (consumers - 1) * LOOKED_AT;
    producers + consumers * (SPARES + WAITING + looked_at + OPEN)
}

/// All there is, in batches. How many it were.
fn drained(consumer: &mut Consumer<u64>) -> u64 {
    let (mut got, mut tasks) = (0, Vec::new());
    while consumer.get_many(1_000, &mut tasks) > 0 {
        got += tasks.drain(..).count() as u64;
    }
    got
}

#[test]
fn a_drained_burst_leaves_a_constant_number_of_chunks() {
    let burst = BURST;
    let pool = Salsa::new();
    let (mut put, mut get) = (pool.producer(), pool.consumer());
    put.put_all(0..burst).unwrap();
    assert!(pool.metrics().chunks as u64 >= burst / TASKS_OF_A_CHUNK);
    assert_eq!(drained(&mut get), burst);
    // The spares, the one being filled, and one that may be on its way.
    let metrics = pool.metrics();
    assert!(metrics.chunks <= SPARES + 2, "{metrics:?}");
    drop(get);
    assert_eq!(pool.metrics().spare_chunks, 0);
}

#[test]
fn a_burst_that_several_drain_leaves_a_constant_number_of_chunks_for_each() {
    const PRODUCERS: u64 = 2;
    const CONSUMERS: usize = 4;
    let burst = BURST / PRODUCERS * PRODUCERS;
    let pool = Salsa::new();
    let mut consumers: Vec<_> = (0..CONSUMERS).map(|_| pool.consumer()).collect();
    let mut producers: Vec<_> = (0..PRODUCERS).map(|_| pool.producer()).collect();
    thread::scope(|scope| {
        for put in &mut producers {
            scope.spawn(move || put.put_all(0..burst / PRODUCERS).unwrap());
        }
    });
    let most = most(PRODUCERS as usize, CONSUMERS);
    assert!(pool.metrics().chunks > most, "it is no burst");
    let got: u64 = thread::scope(|scope| {
        let threads: Vec<_> =
            consumers.iter_mut().map(|get| scope.spawn(|| drained(get))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(got, burst);
    let metrics = pool.metrics();
    assert!(metrics.chunks <= most, "{most} at most: {metrics:?}");
    drop(consumers);
    let metrics = pool.metrics();
    assert_eq!(metrics.spare_chunks, 0);
    // Those being filled, and those that were looked at when their consumer let go of them.
    let looked_at = CONSUMERS * (CONSUMERS - 1) * LOOKED_AT;
    assert!(metrics.chunks <= producers.len() + CONSUMERS * OPEN + looked_at, "{metrics:?}");
}

/// Large, and by value.
type Large = [u8; 64 << 10];

#[test]
fn four_tasks_of_64_kib_take_a_few_mib() {
    let pool: Salsa<Large> = Salsa::new();
    let mut worker = pool.worker();
    (0..4).for_each(|task| worker.put([task; 64 << 10]));
    let metrics = pool.metrics();
    assert!(metrics.chunks * metrics.chunk_bytes <= 5 << 20, "{metrics:?}");
    assert!(worker.drain().map(|task| task[9]).eq(0..4));
}

#[test]
fn no_chunk_is_ever_on_the_stack() {
    // A few copies of a task fit, and no chunk.
    const STACK: usize = 2 << 20;
    let small = thread::Builder::new().stack_size(STACK);
    let works = small.spawn(|| {
        let pool: Salsa<Large> = Salsa::new();
        assert!(pool.metrics().chunk_bytes > 2 * STACK);
        let mut worker = pool.worker();
        for round in 0..3 {
            (0..70).for_each(|task| worker.put([task + round; 64 << 10]));
            for task in 0..70 {
                assert!(worker.get().is_some_and(|got| got[7] == task + round));
            }
        }
        let mut run = Vec::new();
        worker.put([7; 64 << 10]);
        assert_eq!(worker.get_many(8, &mut run), 1);
    });
    works.unwrap().join().unwrap();
}
