//! One run of one check on one pool.

use super::crew::{Crew, Watch};
use super::maker::{BatchEnds, Kind, Maker};
use super::pool::AnyPool;
use crate::registry::{Batches, Facts};
use cantina::pool::TaskPool;
use machine::random::Random;
use machine::time::Duration;
use std::cell::RefCell;

/// How much a check does. Real threads want many tasks, a simulated schedule few, over many seeds.
///
/// Too little to check anything is taken for the least that does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Tasks that go through a pool in one run of many threads.
    pub tasks: usize,
    /// How often something small is done again.
    pub rounds: usize,
    /// How many threads work at once; what needs more is left out.
    pub threads: usize,
    /// How many handles are asked for where the point is that they are many.
    pub handles: usize,
    /// How long a check may take. One that needs longer has failed: something hangs.
    pub patience: Duration,
}

/// One run of one check: on which pool, how much, from which seed.
pub(super) struct Case {
    maker: Maker,
    pub(super) facts: Facts,
    pub(super) batches: Batches,
    pub(super) effort: Effort,
    pub(super) watch: Watch,
    /// How many tasks it may hold.
    pub(super) capacity: usize,
    /// How many tasks surely fit.
    pub(super) room: usize,
    random: RefCell<Random>,
}

impl Effort {
    /// For real threads: about a second per check at most on two cores, even unoptimised.
    pub fn real() -> Self {
        let patience = Duration::from_secs(60);
        Self { tasks: 10_000, rounds: 60, threads: 8, handles: 1_000, patience }
    }

    /// For one simulated schedule: every step is drawn, so that few tasks go a long way.
    pub fn simulated() -> Self {
        let patience = Duration::from_secs(60);
        Self { tasks: 24, rounds: 1, threads: 8, handles: 24, patience }
    }

    /// The same, `times` times over, or a part of it.
    pub fn times(self, times: f64) -> Self {
        Self {
            tasks: (self.tasks as f64 * times) as usize,
            rounds: (self.rounds as f64 * times) as usize,
            patience: self.patience.max(self.patience.mul_f64(times)),
            ..self
        }
    }

    /// The same, or what it takes for every check to do something.
    fn at_least(self) -> Self {
        Self {
            tasks: self.tasks.max(16),
            rounds: self.rounds.max(1),
            threads: self.threads.max(2),
            handles: self.handles.max(2),
            ..self
        }
    }
}

impl Case {
    pub(super) fn new(
        maker: Maker,
        (facts, batches): (Facts, Batches),
        effort: Effort,
        seed: u64,
    ) -> Self {
        let effort = effort.at_least();
        let capacity = facts.capacity.unwrap_or(usize::MAX);
        let room = match facts.capacity {
            Some(capacity) => capacity.saturating_sub(u64::pool(&maker).full_slack()),
            None => usize::MAX,
        };
        let watch = Watch::new(effort.patience);
        let random = RefCell::new(Random::seeded(seed));
        Self { maker, facts, batches, effort, watch, capacity, room, random }
    }

    /// A new pool.
    pub(super) fn pool<T: Kind>(&self) -> AnyPool<T> {
        T::pool(&self.maker)
    }

    /// The same of numbers, and the ends that put batches into it as its family does.
    pub(super) fn numbers_in_batches(&self) -> (AnyPool<u64>, BatchEnds) {
        self.maker.numbers_in_batches()
    }

    /// Random numbers unlike those it gave before.
    pub(super) fn random(&self) -> Random {
        Random::seeded(self.random.borrow_mut().next_u64())
    }

    /// Counts up to `most`: one, and as many as there is time for.
    pub(super) fn rounds(&self, most: usize) -> impl Iterator<Item = usize> + '_ {
        (0..most).take_while(|&round| round == 0 || !self.watch.is_half_gone())
    }

    /// A crew that gives up when the case does.
    pub(super) fn crew<T: Send + 'static>(&self) -> Crew<T> {
        Crew::new(&self.watch)
    }
}
