//! Crashes and stalls: which thread stops, at which of its steps, and for how long.
//!
//! A thread stops before it does what it was about to do. One that crashed never goes on; its stack
//! stays as it is until the run ends, and what it wrote still becomes visible. The scenario itself
//! never stops.

use crate::engine::ThreadId;
use cantina_machine::random::Random;

/// What happens to a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hit {
    Crash,
    /// It does not go on for so many steps of others.
    Stall(u64),
}

/// Stops one thread at one of its steps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Planned {
    pub(crate) thread: ThreadId,
    /// Steps it takes before.
    pub(crate) after: u64,
    pub(crate) hit: Hit,
}

/// Stops threads at random.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AtRandom {
    pub(crate) most: usize,
    pub(crate) one_in: usize,
    pub(crate) hit: Hit,
}

/// The faults of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Faults {
    pub(crate) planned: Vec<Planned>,
    pub(crate) at_random: Vec<AtRandom>,
}

impl Faults {
    /// What happens to `thread` after `steps` of its steps. `random` is drawn from only where there
    /// are random faults.
    pub(crate) fn strike(
        &mut self,
        thread: ThreadId,
        steps: u64,
        random: &mut Random,
    ) -> Option<Hit> {
        if thread == ThreadId(0) {
            return None;
        }
        let planned = |plan: &&Planned| plan.thread == thread && plan.after == steps;
        if let Some(plan) = self.planned.iter().find(planned) {
            return Some(plan.hit);
        }
        let drawn = |plan: &&mut AtRandom| plan.most > 0 && random.one_in(plan.one_in);
        let plan = self.at_random.iter_mut().find(drawn)?;
        plan.most -= 1;
        Some(plan.hit)
    }
}
