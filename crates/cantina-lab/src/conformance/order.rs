//! First in, first out, seen by several threads.

use super::case::Case;
use super::finding::{Finding, ensure};
use super::traffic::{Calls, Putter};
use cantina::pool::{Consumer, TaskPool};
use machine::thread;

/// Tasks of one producer come in the order in which it put them, if one consumer gets them all.
pub(super) fn tasks_of_one_producer_come_in_order(case: &Case) -> Result<(), Finding> {
    let pool = case.pool::<u64>();
    let producers = 3.min(case.effort.threads as u64 - 1);
    let each = case.effort.tasks as u64 / producers;
    let mut crew = case.crew();
    for index in 0..producers {
        let mut producer = pool.producer();
        let numbers = index * each..(index + 1) * each;
        let putter = Putter { numbers, calls: Calls::Mixed, random: case.random() };
        crew.start(format!("producer {index}"), move |watch| putter.run(&mut producer, watch));
    }
    let mut consumer = pool.consumer();
    crew.start("the only consumer", move |watch| {
        let mut next: Vec<u64> = (0..producers).map(|index| index * each).collect();
        for _ in 0..producers * each {
            let task = loop {
                watch.check("getting")?;
                match consumer.get() {
                    Some(task) => break task,
                    None => thread::yield_now(),
                }
            };
            let producer = (task / each) as usize;
            let expected = next[producer];
            ensure(
                task == expected,
                format_args!("task {expected}, the next of producer {producer}"),
                format_args!("task {task}"),
            )?;
            next[producer] += 1;
        }
        Ok(())
    });
    crew.join().map(|_| ())
}
