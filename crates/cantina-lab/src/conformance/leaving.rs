//! Handles that go: dropped, leaked, or held by a thread that dies. Others get what they leave.

use super::account::balance;
use super::case::Case;
use super::finding::Finding;
use super::must;
use cantina::pool::{Consumer, TaskPool};
use machine::random::Random;
use machine::thread;
use std::any::Any;
use std::panic::resume_unwind;

/// How a handle goes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Way {
    Dropped,
    Forgotten,
    WithItsThread,
}

const WAYS: [Way; 3] = [Way::Dropped, Way::Forgotten, Way::WithItsThread];

/// Where forgotten handles lie until the check is over.
///
/// No pool can tell this from `mem::forget`, and the leak checkers stay of use.
#[derive(Default)]
pub(super) struct Attic(Vec<Box<dyn Any + Send>>);

impl Attic {
    /// How many handles lie there.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Lets `handle` go.
    pub(super) fn leave<H: Send + 'static>(&mut self, handle: H, way: Way) {
        match way {
            Way::Dropped => drop(handle),
            Way::Forgotten => self.0.push(Box::new(handle)),
            Way::WithItsThread => {
                // Not `panic!`: it is no news, and need not be printed.
                let dies = thread::spawn(move || {
                    let _held = handle;
                    resume_unwind(Box::new("died with a handle"));
                });
                let _ = dies.join();
            }
        }
    }
}

pub(super) fn a_leaving_consumer_leaves_its_tasks_to_others(case: &Case) -> Result<(), Finding> {
    let mut random = case.random();
    for (way, heir_is_there) in each_way(case) {
        let pool = case.pool();
        let mut attic = Attic::default();
        let early_heir = heir_is_there.then(|| pool.consumer());
        let mut leaver = pool.consumer();
        let mut producer = pool.producer();
        let tasks = some_tasks(case, &mut random);
        (0..tasks).try_for_each(|task| must::put(&mut producer, task))?;
        let mut got = get_some(&mut leaver, tasks);
        attic.leave(leaver, way);
        let mut heir = early_heir.unwrap_or_else(|| pool.consumer());
        got.extend(must::drain(&mut heir, &case.watch)?);
        balance(0..tasks, got).map_err(|finding| finding.of(story(way)))?;
        must::put(&mut producer, tasks)?;
        must::get(&mut heir, "one was put after a consumer had left")?;
    }
    Ok(())
}

pub(super) fn a_leaving_worker_leaves_its_tasks_to_others(case: &Case) -> Result<(), Finding> {
    let mut random = case.random();
    for (way, heir_is_there) in each_way(case) {
        let pool = case.pool();
        let mut attic = Attic::default();
        let early_heir = heir_is_there.then(|| pool.worker());
        let mut leaver = pool.worker();
        let tasks = some_tasks(case, &mut random);
        (0..tasks).try_for_each(|task| must::put(&mut leaver, task))?;
        let mut got = get_some(&mut leaver, tasks);
        attic.leave(leaver, way);
        let mut heir = early_heir.unwrap_or_else(|| pool.worker());
        got.extend(must::drain(&mut heir, &case.watch)?);
        balance(0..tasks, got).map_err(|finding| finding.of(story(way)))?;
    }
    Ok(())
}

pub(super) fn a_leaving_producer_leaves_its_tasks_behind(case: &Case) -> Result<(), Finding> {
    let mut random = case.random();
    for (way, heir_is_there) in each_way(case) {
        let pool = case.pool();
        let mut attic = Attic::default();
        let early_heir = heir_is_there.then(|| pool.consumer());
        let mut producer = pool.producer();
        let tasks = some_tasks(case, &mut random);
        (0..tasks).try_for_each(|task| must::put(&mut producer, task))?;
        attic.leave(producer, way);
        let mut heir = early_heir.unwrap_or_else(|| pool.consumer());
        let got = must::drain(&mut heir, &case.watch)?;
        balance(0..tasks, got).map_err(|finding| finding.of(story(way)))?;
    }
    Ok(())
}

/// Each way, with the heir there before and only after, some times over.
fn each_way(case: &Case) -> impl Iterator<Item = (Way, bool)> + '_ {
    let times = case.effort.rounds.div_ceil(10);
    case.rounds(times).flat_map(|_| WAYS).flat_map(|way| [(way, true), (way, false)])
}

fn story(way: Way) -> &'static str {
    match way {
        Way::Dropped => "after a handle was dropped",
        Way::Forgotten => "after a handle was forgotten",
        Way::WithItsThread => "after a thread died with a handle",
    }
}

/// How many tasks to leave: sometimes a few, sometimes many.
fn some_tasks(case: &Case, random: &mut Random) -> u64 {
    let most = if random.one_in(2) { 8 } else { case.effort.tasks };
    1 + random.below(most.min(case.room)) as u64
}

/// Up to a third of them.
fn get_some(consumer: &mut impl Consumer<u64>, tasks: u64) -> Vec<u64> {
    let mut got = Vec::new();
    (0..tasks / 6).for_each(|_| got.extend(consumer.get()));
    consumer.get_many(tasks as usize / 6, &mut got);
    got
}
