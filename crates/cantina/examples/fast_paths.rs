//! The fast paths of the pools, each in a function of its own: to read their assembly and to count
//! their instructions. `ci/deep.sh assembly` and `ci/deep.sh instructions` do.
//!
//! `fast_paths POOL PAIRS` puts and gets so many times in turn.

use cantina::salsa::{self, Mode, Salsa};
use std::env;
use std::hint::black_box;
use std::ops::Range;

/// Tasks of a batch.
const BATCH: u64 = 64;

#[unsafe(no_mangle)]
#[inline(never)]
fn salsa_put(producer: &mut salsa::Producer<u64>, task: u64) {
    producer.put(task);
}

#[unsafe(no_mangle)]
#[inline(never)]
fn salsa_get(consumer: &mut salsa::Consumer<u64>) -> Option<u64> {
    consumer.get()
}

#[unsafe(no_mangle)]
#[inline(never)]
fn salsa_put_all(producer: &mut salsa::Producer<u64>, tasks: Range<u64>) {
    let Ok(_) = producer.put_all(tasks) else { unreachable!("there is no capacity") };
}

#[unsafe(no_mangle)]
#[inline(never)]
fn salsa_get_many(consumer: &mut salsa::Consumer<u64>, into: &mut Vec<u64>) -> usize {
    consumer.get_many(BATCH as usize, into)
}

fn main() {
    let mut arguments = env::args().skip(1);
    let pool = arguments.next().unwrap_or_else(|| "salsa".to_owned());
    let pairs = arguments.next().map_or(Ok(100_000), |pairs| pairs.parse());
    let pairs: u64 = pairs.expect("the number of pairs is a number");
    let sum = match pool.as_str() {
        "salsa" => salsa(pairs),
        "worker" => worker(&Salsa::new(), pairs),
        "claims" => {
            let pool = Salsa::builder().mode(Mode::Claim).build();
            worker(&pool.expect("this mode is everywhere"), pairs)
        }
        "batches" => batches(pairs),
        _ => panic!("no pool {pool}: salsa, worker, claims or batches"),
    };
    assert_eq!(sum, (0..pairs).sum());
}

fn salsa(pairs: u64) -> u64 {
    let pool = Salsa::new();
    let (mut put, mut get) = (pool.producer(), pool.consumer());
    (0..pairs)
        .map(|task| {
            salsa_put(black_box(&mut put), task);
            salsa_get(black_box(&mut get)).expect("one was put")
        })
        .sum()
}

fn batches(pairs: u64) -> u64 {
    let pool = Salsa::new();
    let (mut put, mut get) = (pool.producer(), pool.consumer());
    let mut tasks = Vec::new();
    let mut sum = 0;
    for first in (0..pairs).step_by(BATCH as usize) {
        let batch = first..pairs.min(first + BATCH);
        let count = (batch.end - batch.start) as usize;
        salsa_put_all(black_box(&mut put), batch);
        let mut got = 0;
        while got < count {
            got += salsa_get_many(black_box(&mut get), &mut tasks);
        }
        sum += tasks.drain(..).sum::<u64>();
    }
    sum
}

fn worker(pool: &Salsa<u64>, pairs: u64) -> u64 {
    let mut worker = pool.worker();
    (0..pairs)
        .map(|task| {
            worker.put(black_box(task));
            worker.get().expect("one was put")
        })
        .sum()
}
