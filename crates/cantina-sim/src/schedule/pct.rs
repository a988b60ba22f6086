//! Priorities with change points.

use crate::engine::MAX_THREADS;
use crate::schedule::chooser::Candidates;
use crate::trace::Choice;
use cantina_machine::random::Random;

/// The state of [`Schedule::Pct`](crate::schedule::Schedule::Pct) in a run.
pub(crate) struct Pct {
    random: Random,
    /// By slot, threads first, then their store buffers; the highest goes on. 0 is not drawn yet.
    priorities: Vec<i64>,
    /// The choices at which whoever would go on falls behind, ascending.
    changes: Vec<usize>,
    /// Choices made.
    chosen: usize,
    /// The lowest priority given.
    lowest: i64,
}

impl Pct {
    pub(crate) fn new(depth: usize, length: usize, mut random: Random) -> Self {
        let mut changes: Vec<usize> = (1..depth).map(|_| random.below(length.max(1))).collect();
        changes.sort_unstable();
        Self { random, priorities: vec![0; 2 * MAX_THREADS], changes, chosen: 0, lowest: 0 }
    }

    pub(crate) fn pick(&mut self, candidates: &Candidates) -> Choice {
        let changes = self.changes.iter().filter(|&&at| at == self.chosen).count();
        self.chosen += 1;
        for _ in 0..changes {
            let first = self.highest(candidates);
            self.fall(first);
        }
        self.highest(candidates)
    }

    /// The thread in `slot` goes on when nobody else can.
    pub(crate) fn fall_behind(&mut self, slot: usize) {
        self.fall(Choice::Run(slot as u16));
    }

    fn fall(&mut self, choice: Choice) {
        if let Some(index) = index(choice) {
            self.lowest -= 1;
            self.priorities[index] = self.lowest;
        }
    }

    /// The possibility with the highest priority; one without any when there is nothing else.
    fn highest(&mut self, candidates: &Candidates) -> Choice {
        let usual = Candidates { idle: Default::default(), deadline: false, ..*candidates };
        let best = usual.choices().max_by_key(|&choice| self.priority(choice));
        best.unwrap_or_else(|| candidates.plain())
    }

    fn priority(&mut self, choice: Choice) -> i64 {
        let Some(index) = index(choice) else { return i64::MIN };
        if self.priorities[index] == 0 {
            self.priorities[index] = 1 + (self.random.next_u64() >> 2) as i64;
        }
        self.priorities[index]
    }
}

fn index(choice: Choice) -> Option<usize> {
    match choice {
        Choice::Run(slot) => Some(slot.into()),
        Choice::Commit(slot) => Some(MAX_THREADS + usize::from(slot)),
        Choice::Deadline => None,
    }
}
