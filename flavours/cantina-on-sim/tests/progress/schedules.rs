//! Schedules that want a call to take long.

use machine::engine::Simulation;
use machine::random::Random;
use machine::schedule::{Adversary, Schedule, View, crowd, delay_rmw};
use machine::trace::{Choice, Slot};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// How far a run has come, for the schedule to know.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stage(Arc<AtomicUsize>);

/// Before all threads are there it is 0.
const TOGETHER: usize = 1;
const DONE: usize = 2;

impl Stage {
    /// All threads are there.
    pub(crate) fn begin(&self) {
        self.0.store(TOGETHER, Ordering::Relaxed);
    }

    /// The scenario has made its calls.
    pub(crate) fn end(&self) {
        self.0.store(DONE, Ordering::Relaxed);
    }

    fn is(&self, stage: usize) -> bool {
        self.0.load(Ordering::Relaxed) == stage
    }
}

/// A run whose threads all go on, on the schedule that `seed` says.
pub(crate) fn running(seed: u64, stage: &Stage) -> Simulation {
    let schedule = match seed % 8 {
        0 => Schedule::Random,
        1 => delay_rmw(),
        2 => crowd(2),
        3 => crowd(3),
        4 => starve(stage.clone()),
        5 => Schedule::RoundRobin { quantum: 1 + seed / 8 % 7 },
        _ => Schedule::Pct { depth: 3 + (seed / 8 % 6) as usize, length: 800 },
    };
    Simulation::new().seed(seed).schedule(schedule)
}

/// A run in which the scenario makes its calls alone: the others have stopped wherever they were.
pub(crate) fn alone(seed: u64, stage: &Stage) -> Simulation {
    let (stage, after) = (stage.clone(), Random::seeded(seed).below(400) as u64);
    let taken = AtomicU64::new(0);
    let schedule = Schedule::Adversary(Adversary::new(move |view, random| {
        if !stage.is(TOGETHER) {
            return (!stage.is(DONE)).then(|| scenario(view))?;
        }
        let others = others(view);
        if taken.fetch_add(1, Ordering::Relaxed) < after && !others.is_empty() {
            return Some(others[random.below(others.len())]);
        }
        scenario(view)
    }));
    Simulation::new().seed(seed).schedule(schedule)
}

/// The same, and until then one of the others goes on for a while, and then another one for a longer or shorter while.
pub(crate) fn alone_in_the_end(seed: u64, stage: &Stage) -> Simulation {
    let (stage, mut drawn) = (stage.clone(), Random::seeded(seed));
    let whiles: Vec<(usize, u64)> = (0..2 + drawn.below(4))
        .map(|_| {
            let most = [8, 30, 150][drawn.below(3)];
            (drawn.below(2), drawn.below(most) as u64)
        })
        .collect();
    let taken = AtomicU64::new(0);
    let schedule = Schedule::Adversary(Adversary::new(move |view, _| {
        if !stage.is(TOGETHER) {
            return (!stage.is(DONE)).then(|| scenario(view))?;
        }
        let mut before = taken.fetch_add(1, Ordering::Relaxed);
        let now = whiles.iter().find(|(_, steps)| {
            let is_over = before >= *steps;
            before = before.saturating_sub(*steps);
            !is_over
        });
        let others = others(view);
        let of =
            |thread: usize| others.iter().copied().find(|other| slot(*other) == thread as Slot + 1);
        now.and_then(|(thread, _)| of(*thread)).or_else(|| scenario(view))
    }));
    Simulation::new().seed(seed).schedule(schedule)
}

/// The scenario has a turn once in a while.
fn starve(stage: Stage) -> Schedule {
    Schedule::Adversary(Adversary::new(move |view, random| {
        let others = others(view);
        if !stage.is(TOGETHER) || others.is_empty() {
            return None;
        }
        if random.one_in(40) { scenario(view) } else { Some(others[random.below(others.len())]) }
    }))
}

fn scenario(view: &View<'_>) -> Option<Choice> {
    view.choices().find(|&choice| choice == Choice::Run(0))
}

/// Whose choice it is.
fn slot(choice: Choice) -> Slot {
    match choice {
        Choice::Run(slot) | Choice::Commit(slot) => slot,
        _ => 0,
    }
}

/// What can happen without the scenario.
fn others(view: &View<'_>) -> Vec<Choice> {
    let of = |slot: Slot| slot != 0;
    let is_other =
        |choice: &Choice| matches!(choice, Choice::Run(slot) | Choice::Commit(slot) if of(*slot));
    view.choices().filter(is_other).collect()
}
