//! Every task is got exactly once, whoever puts and gets, whatever a task is.

use super::case::Case;
use super::finding::Finding;
use super::task::{Aligned, Large, Numbered};
use super::traffic::{self, Calls, Threads};

/// Producers, consumers, workers.
const SHAPES: [(usize, usize, usize); 12] = [
    (1, 1, 0),
    (0, 0, 1),
    (1, 2, 0),
    (2, 1, 0),
    (2, 2, 0),
    (3, 3, 0),
    (4, 4, 0),
    (1, 7, 0),
    (7, 1, 0),
    (0, 0, 2),
    (0, 0, 4),
    (2, 2, 2),
];

pub(super) fn every_task_is_got_exactly_once(case: &Case) -> Result<(), Finding> {
    for threads in crews(case) {
        traffic::run::<u64>(case, &case.pool(), threads, Calls::Single, case.effort.tasks)?;
    }
    Ok(())
}

pub(super) fn batches_and_single_calls_go_together(case: &Case) -> Result<(), Finding> {
    for threads in crews(case) {
        traffic::run::<u64>(case, &case.pool(), threads, Calls::Mixed, case.effort.tasks)?;
    }
    Ok(())
}

pub(super) fn tasks_of_every_size_and_alignment_arrive_whole(case: &Case) -> Result<(), Finding> {
    arrive_whole::<()>(case)?;
    arrive_whole::<u8>(case)?;
    arrive_whole::<Box<u64>>(case)?;
    arrive_whole::<String>(case)?;
    arrive_whole::<Aligned>(case)?;
    arrive_whole::<Large>(case)
}

fn arrive_whole<T: Numbered>(case: &Case) -> Result<(), Finding> {
    let threads = Threads { producers: 1, consumers: 1, workers: 1 };
    traffic::run::<T>(case, &case.pool(), threads, Calls::Mixed, case.effort.tasks / 2)
}

fn crews(case: &Case) -> impl Iterator<Item = Threads> {
    SHAPES
        .iter()
        .map(|&(producers, consumers, workers)| Threads { producers, consumers, workers })
        .filter(|threads| {
            threads.producers + threads.consumers + threads.workers <= case.effort.threads
        })
}
