//! Scenarios on the schedules that there is time for.

use crate::time;
use cantina_effort::Effort;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Preemptions of a schedule, unless a scenario wants others.
pub const PREEMPTIONS: usize = 2;
/// Seconds for a scenario in the gate, at most,
const SECONDS: f64 = 2.0;
/// and for the scenarios of a part.
const SECONDS_OF_A_PART: f64 = 10.0;
/// Schedules between two looks at the clock.
const LOOK: usize = 64;
/// Branches of a run, at most: longer ones turn in a circle.
const BRANCHES: usize = 10_000;

/// On what a search came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Every schedule was tried.
    Whole,
    /// Every schedule with so many preemptions was tried.
    Preemptions(usize),
    /// The time was over.
    Time(Duration),
}

/// What a search tried.
#[derive(Clone, Copy, Debug)]
pub struct Searched {
    /// How many schedules.
    pub schedules: u64,
    /// Why no more.
    pub ended: Ended,
}

/// Runs `scenario`, one of so `many` of a part, on every schedule with so many preemptions, as long as there is time: some
/// seconds in the gate, times [`Effort`]. The deep run has neither bound. `LOOM_MAX_PREEMPTIONS` and `LOOM_MAX_DURATION`
/// stand over both.
///
/// # Panics
/// When a schedule comes out wrong.
pub fn search(preemptions: usize, many: usize, scenario: fn()) -> Searched {
    let mut model = loom::model::Builder::new();
    let seconds = SECONDS.min(SECONDS_OF_A_PART / many.max(1) as f64);
    if let Effort::Times(times) = Effort::asked() {
        model.preemption_bound.get_or_insert(preemptions);
        model.max_duration.get_or_insert(Duration::from_secs_f64(seconds * times));
    }
    model.checkpoint_interval = LOOK;
    model.max_branches = BRANCHES;
    let (limit, bound) = (model.max_duration, model.preemption_bound);
    let schedules = Arc::new(AtomicU64::new(0));
    let begin = Instant::now();
    let count = schedules.clone();
    model.check(move || {
        count.fetch_add(1, Relaxed);
        time::begin();
        scenario();
    });
    // loom does not say why it ended: it looks at the clock every so often, and goes on while there is time.
    let ended = match (limit, bound) {
        (Some(limit), _) if begin.elapsed() >= limit => Ended::Time(limit),
        (_, Some(bound)) => Ended::Preemptions(bound),
        (_, None) => Ended::Whole,
    };
    Searched { schedules: schedules.load(Relaxed), ended }
}

impl fmt::Display for Searched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} schedules, ", self.schedules)?;
        match self.ended {
            Ended::Whole => write!(f, "all there are"),
            Ended::Preemptions(most) => write!(f, "all with {most} preemptions"),
            Ended::Time(limit) => write!(f, "until {limit:?} were over"),
        }
    }
}
