//! Schedules: what happens next.
//!
//! A schedule is asked whenever there is more than one possibility, and its answers make the
//! [`Trace`] of the run. Which one to take:
//!
//! | schedule | finds |
//! |---|---|
//! | [`Random`](Schedule::Random) | most things, soonest |
//! | [`Pct`](Schedule::Pct) | bugs of a known depth with a known probability; repeats itself on small programs |
//! | [`RoundRobin`](Schedule::RoundRobin) | what a fair machine does |
//! | [`Adversary`](Schedule::Adversary) | what needs an unlikely meeting; see [`delay_rmw`] and [`crowd`] |
//! | [`Replay`](Schedule::Replay) | the same again |
//! | [`Exhaustive`] | all there is, in tiny programs |

mod adversary;
mod chooser;
mod exhaustive;
mod pct;

pub use adversary::{About, Adversary, View, Word, crowd, delay_rmw};
pub use exhaustive::Exhaustive;

pub(crate) use chooser::{Candidates, Chooser};
pub(crate) use exhaustive::Tree;

use crate::trace::Trace;

/// How it is decided what happens next.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum Schedule {
    /// Everything that can happen is equally likely to; threads that spin in vain are less so.
    #[default]
    Random,
    /// Probabilistic concurrency testing (Burckhardt and others, ASPLOS 2010): every thread and every
    /// store buffer has a random priority, and at `depth - 1` random choices among the first
    /// `length` whoever would go on falls behind all others.
    Pct {
        /// The depth of the bugs to find: how many orderings it takes.
        depth: usize,
        /// About how many choices a run has.
        length: usize,
    },
    /// Each thread in turn takes `quantum` steps.
    RoundRobin {
        /// Steps of a turn.
        quantum: u64,
    },
    /// A function decides.
    Adversary(Adversary),
    /// The choices of an earlier run; after the last of them the current thread goes on for as long
    /// as it can. The seed has to be that run's too: random numbers and faults come from there.
    Replay(Trace),
}
