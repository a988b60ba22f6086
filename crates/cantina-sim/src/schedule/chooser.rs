//! Schedules at work.

use crate::engine::slots::Slots;
use crate::engine::table::Table;
use crate::schedule::adversary::{Adversary, View};
use crate::schedule::pct::Pct;
use crate::schedule::{Schedule, Tree};
use crate::trace::{Choice, Trace};
use cantina_machine::random::Random;

/// How often a random schedule lets a thread go round that spins in vain, and how often it lets a
/// deadline come early: once in so many choices.
const RARELY: usize = 8;

/// What can happen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidates {
    /// Threads that can go on.
    pub(crate) ready: Slots,
    /// Threads that can, but spin in vain.
    pub(crate) idle: Slots,
    /// Threads with a store to be made visible.
    pub(crate) buffered: Slots,
    /// The next deadline can come.
    pub(crate) deadline: bool,
    /// The thread that took the last step, if it can go on and does not want to give way.
    pub(crate) current: Option<usize>,
}

impl Candidates {
    /// What happens, if there is only one possibility.
    pub(crate) fn only(&self) -> Option<Choice> {
        if self.deadline || !self.idle.is_empty() {
            return None;
        }
        match (self.ready.len(), self.buffered.len()) {
            (1, 0) => self.ready.first().map(run),
            (0, 1) => self.buffered.first().map(commit),
            _ => None,
        }
    }

    pub(crate) fn contains(&self, choice: Choice) -> bool {
        match choice {
            Choice::Run(slot) => {
                let slot = slot.into();
                self.ready.contains(slot) || self.idle.contains(slot)
            }
            Choice::Commit(slot) => self.buffered.contains(slot.into()),
            Choice::Deadline => self.deadline,
        }
    }

    /// All possibilities: threads, spinning threads, stores, the deadline.
    pub(crate) fn choices(&self) -> impl Iterator<Item = Choice> + use<> {
        let deadline = self.deadline.then_some(Choice::Deadline);
        self.ready
            .iter()
            .map(run)
            .chain(self.idle.iter().map(run))
            .chain(self.buffered.iter().map(commit))
            .chain(deadline)
    }

    /// Any possibility, spinning threads and the deadline rarely.
    pub(crate) fn any(&self, random: &mut Random) -> Choice {
        let usual = self.ready.len() + self.buffered.len();
        let rare = self.idle.len() + usize::from(self.deadline);
        let rank = if usual == 0 || (rare > 0 && random.one_in(RARELY)) {
            usual + random.below(rare)
        } else {
            random.below(usual)
        };
        if let Some(slot) = self.ready.nth(rank) {
            return run(slot);
        }
        let rank = rank - self.ready.len();
        if let Some(slot) = self.buffered.nth(rank) {
            return commit(slot);
        }
        let rank = rank - self.buffered.len();
        self.idle.nth(rank).map_or(Choice::Deadline, run)
    }

    /// The current thread, or else whoever comes first.
    pub(crate) fn plain(&self) -> Choice {
        let thread = self.current.or(self.ready.first()).map(run);
        let store = || self.buffered.first().map(commit);
        let spinner = || self.idle.first().map(run);
        thread.or_else(store).or_else(spinner).unwrap_or(Choice::Deadline)
    }
}

fn run(slot: usize) -> Choice {
    Choice::Run(slot as u16)
}

fn commit(slot: usize) -> Choice {
    Choice::Commit(slot as u16)
}

/// A schedule in a run.
pub(crate) enum Chooser {
    Random(Random),
    Pct(Pct),
    RoundRobin { quantum: u64, left: u64 },
    Adversary(Adversary, Random),
    Replay { trace: Trace, at: usize },
    Exhaustive(Tree),
}

impl Chooser {
    pub(crate) fn new(schedule: &Schedule, seed: u64) -> Self {
        let random = Random::seeded(seed);
        match schedule {
            Schedule::Random => Self::Random(random),
            Schedule::Pct { depth, length } => Self::Pct(Pct::new(*depth, *length, random)),
            Schedule::RoundRobin { quantum } => {
                Self::RoundRobin { quantum: *quantum, left: *quantum }
            }
            Schedule::Adversary(adversary) => Self::Adversary(adversary.clone(), random),
            Schedule::Replay(trace) => Self::Replay { trace: trace.clone(), at: 0 },
        }
    }

    /// One of `candidates`, of which there are several; `None` when what is replayed is not among
    /// them.
    pub(crate) fn pick(&mut self, candidates: &Candidates, table: &Table) -> Option<Choice> {
        let choice = match self {
            Self::Random(random) => candidates.any(random),
            Self::Pct(pct) => pct.pick(candidates),
            Self::RoundRobin { quantum, left } => round_robin(candidates, table, *quantum, left),
            Self::Adversary(adversary, random) => {
                let chosen = adversary.choose(&View { candidates, table }, random);
                chosen.unwrap_or_else(|| candidates.any(random))
            }
            Self::Replay { trace, at } => {
                *at += 1;
                trace.choices().get(*at - 1).copied().unwrap_or_else(|| candidates.plain())
            }
            Self::Exhaustive(tree) => tree.pick(candidates),
        };
        candidates.contains(choice).then_some(choice)
    }

    /// The thread in `slot` has nothing to do before others have done something.
    pub(crate) fn gave_way(&mut self, slot: usize) {
        if let Self::Pct(pct) = self {
            pct.fall_behind(slot);
        }
    }
}

/// The current thread while it has steps left, then the next; stores when their thread's turn ends.
fn round_robin(candidates: &Candidates, table: &Table, quantum: u64, left: &mut u64) -> Choice {
    if candidates.current.is_some() && *left > 1 {
        *left -= 1;
        return candidates.plain();
    }
    if candidates.buffered.contains(table.current) {
        return commit(table.current);
    }
    *left = quantum;
    let next = candidates.ready.after(table.current);
    next.map_or_else(|| candidates.plain(), run)
}
