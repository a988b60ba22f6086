//! `None` is a claim.
//!
//! # Orderings
//! | edge | release side | acquire side | carries |
//! |---|---|---|---|
//! | `turn` | whoever has made its call | the other, whose turn it is | that call |

use super::account::balance;
use super::both::Both;
use super::case::Case;
use super::crew::Watch;
use super::finding::{Finding, ensure};
use super::must;
use cantina::pool::{Consumer, Producer, TaskPool};
use machine::Arc;
use machine::atomic::AtomicU64;
use machine::atomic::Ordering::{Acquire, Release};
use machine::random::Random;
use machine::thread;
use std::ops::Range;

/// Tasks a juggler may have in the air.
const IN_THE_AIR: usize = 3;

/// With some tasks inside and threads that always put before they get, the pool is never empty.
pub(super) fn jugglers_never_find_it_empty(case: &Case) -> Result<(), Finding> {
    let mut random = case.random();
    for jugglers in 2..=case.effort.threads.min(8) {
        for _ in case.rounds(case.effort.rounds.min(4)) {
            let inside = [0, 1, jugglers][random.below(3)];
            let each = (case.room.saturating_sub(inside) / jugglers).min(IN_THE_AIR);
            if each > 0 {
                juggle(case, jugglers, inside, each)
                    .map_err(|finding| finding.of(format!("with {inside} inside")))?;
            }
        }
    }
    Ok(())
}

fn juggle(case: &Case, jugglers: usize, inside: usize, in_the_air: usize) -> Result<(), Finding> {
    let pool = case.pool::<u64>();
    let mut producer = pool.producer();
    (0..inside as u64).try_for_each(|task| must::put(&mut producer, task))?;
    let mut crew = case.crew();
    let throws = case.effort.tasks / jugglers / 4 + 2;
    for index in 0..jugglers as u64 {
        let juggler = Juggler {
            next: (index + 1) << 32,
            in_the_air,
            throws,
            random: case.random(),
            got: Vec::new(),
        };
        let pool = pool.clone();
        crew.start(format!("juggler {index} of {jugglers}"), move |watch| {
            if index % 2 == 0 {
                juggler.run(&mut Both::of(&pool), watch)
            } else {
                juggler.run(&mut pool.worker(), watch)
            }
        });
    }
    let results = crew.join()?;
    let put = results.iter().flat_map(|(put, _)| put.clone()).chain(0..inside as u64);
    let got = results.iter().flat_map(|(_, got)| got.iter().copied());
    balance(put, got.chain(must::drain(&mut pool.consumer(), &case.watch)?))
}

struct Juggler {
    /// The next task to put.
    next: u64,
    /// How many it may have put and not got back.
    in_the_air: usize,
    throws: usize,
    random: Random,
    got: Vec<u64>,
}

impl Juggler {
    /// What it put, and what it got.
    fn run(
        mut self,
        hands: &mut (impl Producer<u64> + Consumer<u64>),
        watch: &Watch,
    ) -> Result<(Range<u64>, Vec<u64>), Finding> {
        let first = self.next;
        let mut in_the_air = 0;
        for _ in 0..self.throws {
            watch.check("juggling")?;
            for _ in 0..1 + self.random.below(self.in_the_air - in_the_air) {
                must::put(hands, self.next)?;
                self.next += 1;
                in_the_air += 1;
            }
            while in_the_air == self.in_the_air || in_the_air > 0 && self.random.one_in(2) {
                in_the_air -= self.catch(hands, in_the_air)?;
            }
        }
        Ok((first..self.next, self.got))
    }

    /// Gets at most `most`, of which at least one is inside: it has not got all it put.
    fn catch(&mut self, consumer: &mut impl Consumer<u64>, most: usize) -> Result<usize, Finding> {
        let before = self.got.len();
        if self.random.one_in(3) {
            consumer.get_many(most, &mut self.got);
        } else {
            self.got.extend(consumer.get());
        }
        let caught = self.got.len() - before;
        ensure(
            (1..=most).contains(&caught),
            format_args!("1 to {most} tasks: more were put than got at every instant"),
            format_args!("{caught}"),
        )?;
        Ok(caught)
    }
}

/// A put, then its thread is joined, then a get.
pub(super) fn a_task_put_by_a_joined_thread_is_there(case: &Case) -> Result<(), Finding> {
    let because = "a thread put one and was joined";
    for round in case.rounds(5 * case.effort.rounds) {
        let pool = case.pool::<u64>();
        let early = (round % 2 == 0).then(|| pool.consumer());
        let theirs = pool.clone();
        let stays = thread::spawn(move || {
            // Its handle goes with the thread, or outlives it.
            if round % 4 < 2 {
                return must::put(&mut theirs.producer(), 0).map(|()| None);
            }
            let mut worker = theirs.worker();
            must::put(&mut worker, 0).map(|()| Some(worker))
        });
        let _stays = stays.join().map_err(|_| Finding::new("a put", "a panic"))??;
        let mut consumer = early.unwrap_or_else(|| pool.consumer());
        if round % 3 == 0 {
            let count = consumer.get_many(5, &mut Vec::new());
            ensure(count == 1, format_args!("1 task, because {because}"), count)?;
        } else {
            must::get(&mut consumer, because)?;
        }
    }
    Ok(())
}

/// Two threads that pass the turn through a word of their own, not through the pool.
pub(super) fn a_task_put_before_a_signal_is_there_after_it(case: &Case) -> Result<(), Finding> {
    let pool = case.pool::<u64>();
    let turn = Arc::new(AtomicU64::new(0));
    // Each waits for the other: on a busy machine, for as long as others may run.
    let turns = case.effort.tasks.div_ceil(10).max(24) as u64 * 2;
    let mut crew = case.crew();
    let (mut producer, theirs) = (pool.producer(), turn.clone());
    crew.start("the one that puts", move |watch| {
        for task in (0..turns).step_by(2) {
            wait_for(&theirs, task, watch)?;
            must::put(&mut producer, task)?;
            // turn: the put.
            theirs.store(task + 1, Release);
        }
        Ok(())
    });
    let mut consumer = pool.consumer();
    crew.start("the one that gets", move |watch| {
        for task in (0..turns).step_by(2) {
            wait_for(&turn, task + 1, watch)?;
            must::get(&mut consumer, "its put came before the signal")?;
            ensure(consumer.get().is_none(), "nothing after the only task", "another")?;
            // turn: the get.
            turn.store(task + 2, Release);
        }
        Ok(())
    });
    crew.join().map(|_| ())
}

fn wait_for(turn: &AtomicU64, mine: u64, watch: &Watch) -> Result<(), Finding> {
    // turn: what the other did before it passed it on.
    while turn.load(Acquire) != mine {
        watch.check("waiting for its turn")?;
        thread::yield_now();
    }
    Ok(())
}
