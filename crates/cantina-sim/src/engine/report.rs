//! How a run ended, and who waited for what.

use crate::engine::table::Ending;
use crate::engine::{Op, ThreadId};
use crate::trace::{Log, Trace};
use std::any::Any;
use std::fmt;

/// Where a virtual thread stood when the run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Which thread.
    pub thread: ThreadId,
    /// The name it was given.
    pub name: Option<String>,
    /// The [operation](crate::progress::operation) it was in.
    pub operation: Option<String>,
    /// What it did.
    pub doing: Doing,
}

/// What a thread was doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Doing {
    /// It could have gone on, with this.
    Ready(Op),
    /// It waited for the end of a thread.
    Joining(ThreadId),
    /// It waited for a token.
    Parked,
    /// It waited for a lock, held by a thread or, `None`, from outside the run.
    Locking(Option<ThreadId>),
    /// It slept.
    Sleeping,
    /// It looked at the same words again and again.
    Spinning,
    /// It was made to wait.
    Stalled,
    /// It had crashed when it was about to do this.
    Crashed(Op),
}

/// The end of a run: when it was, and where everybody stood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The seed of the run.
    pub seed: u64,
    /// Steps taken.
    pub steps: u64,
    /// Virtual nanoseconds that passed.
    pub nanos: u64,
    /// Those that had not ended.
    pub threads: Vec<Standing>,
    /// The choices that led there.
    pub trace: Trace,
    /// What happened, if that was asked for.
    pub log: Option<Box<Log>>,
}

/// Why a run did not come to its end.
#[derive(Debug)]
#[non_exhaustive]
pub enum Failure {
    /// Everybody waits, and nothing can happen any more.
    Deadlock(Report),
    /// The step budget is spent.
    Budget(Report),
    /// The replayed trace is not one of this scenario, or of another seed.
    Diverged(Report),
    /// More steps went by than a lock-free program may take until somebody finishes.
    NobodyFinishes(Report),
    /// A thread took more steps in one operation than a wait-free one may.
    TooSlow {
        /// Where everybody stood.
        report: Report,
        /// Which thread.
        thread: ThreadId,
    },
    /// The program wanted more memory than it may have.
    Memory(Report),
    /// A thread reached into memory that was freed.
    Freed {
        /// Where everybody stood.
        report: Report,
        /// Which thread.
        thread: ThreadId,
    },
    /// Somebody outside wanted no more of it.
    Halted(Report),
    /// The scenario panicked.
    Panic {
        /// Where the others stood.
        report: Report,
        /// What the panic said.
        message: String,
        /// What it carried.
        payload: Box<dyn Any + Send>,
    },
}

impl Failure {
    /// The end of the run.
    pub fn report(&self) -> &Report {
        match self {
            Self::Deadlock(report)
            | Self::Budget(report)
            | Self::Diverged(report)
            | Self::NobodyFinishes(report)
            | Self::Memory(report)
            | Self::Halted(report)
            | Self::TooSlow { report, .. }
            | Self::Freed { report, .. }
            | Self::Panic { report, .. } => report,
        }
    }

    pub(crate) fn of_panic(report: Report, payload: Box<dyn Any + Send>) -> Self {
        let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
        let message = text.unwrap_or_else(|| "(a panic without a text)".to_owned());
        Self::Panic { report, message, payload }
    }
}

impl Report {
    /// The report back, if `ending` is no failure.
    pub(crate) fn judge(self, ending: Ending) -> Result<Self, Failure> {
        Err(match ending {
            Ending::Done => return Ok(self),
            Ending::Deadlock => Failure::Deadlock(self),
            Ending::Budget => Failure::Budget(self),
            Ending::Diverged => Failure::Diverged(self),
            Ending::NobodyFinishes => Failure::NobodyFinishes(self),
            Ending::Memory => Failure::Memory(self),
            Ending::TooSlow(thread) => Failure::TooSlow { report: self, thread },
            Ending::Freed(thread) => Failure::Freed { report: self, thread },
            Ending::Halted => Failure::Halted(self),
        })
    }

    /// Whom `thread` waits for, where that is known.
    pub fn blocked_by(&self, thread: ThreadId) -> Option<ThreadId> {
        match self.standing(thread)?.doing {
            Doing::Joining(other) => Some(other),
            Doing::Locking(holder) => holder,
            _ => None,
        }
    }

    fn standing(&self, thread: ThreadId) -> Option<&Standing> {
        self.threads.iter().find(|standing| standing.thread == thread)
    }

    /// What to call `thread`.
    fn name(&self, thread: ThreadId) -> String {
        match self.standing(thread) {
            Some(Standing { name: Some(name), .. }) => format!("{thread} '{name}'"),
            Some(_) => thread.to_string(),
            None => format!("{thread}, which has ended"),
        }
    }

    /// What to call `thread`, and that it has crashed if it has.
    fn culprit(&self, thread: ThreadId) -> String {
        let crashed = self
            .standing(thread)
            .is_some_and(|standing| matches!(standing.doing, Doing::Crashed(_)));
        self.name(thread) + if crashed { ", which has crashed" } else { "" }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "seed {}, {} steps, {} ns", self.seed, self.steps, self.nanos)?;
        for standing in &self.threads {
            write!(f, "\n  {}", self.name(standing.thread))?;
            if let Some(operation) = &standing.operation {
                write!(f, ", in {operation},")?;
            }
            match standing.doing {
                Doing::Ready(op) => write!(f, " could go on: {op}")?,
                Doing::Joining(other) => {
                    write!(f, " waits for the end of {}", self.culprit(other))?
                }
                Doing::Parked => f.write_str(" is parked")?,
                Doing::Locking(Some(holder)) => {
                    write!(f, " waits for a lock held by {}", self.culprit(holder))?;
                }
                Doing::Locking(None) => f.write_str(" waits for a lock held outside the run")?,
                Doing::Sleeping => f.write_str(" sleeps")?,
                Doing::Spinning => f.write_str(" spins on words that nobody changes")?,
                Doing::Stalled => f.write_str(" is stalled")?,
                Doing::Crashed(op) => write!(f, " crashed, about to do: {op}")?,
            }
        }
        write!(f, "\n  schedule: {}", self.trace)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Deadlock(report) => write!(f, "deadlock: every thread waits ({report})"),
            Self::Budget(report) => write!(f, "the step budget is spent ({report})"),
            Self::Diverged(report) => write!(f, "the trace is not one of this run ({report})"),
            Self::NobodyFinishes(report) => {
                write!(f, "not lock-free: no operation ends ({report})")
            }
            Self::Memory(report) => write!(f, "the program's memory is used up ({report})"),
            Self::Halted(report) => write!(f, "halted from outside ({report})"),
            Self::Freed { report, thread } => {
                let name = report.name(*thread);
                write!(f, "freed memory is used by {name} ({report})")
            }
            Self::TooSlow { report, thread } => {
                let name = report.name(*thread);
                write!(f, "not wait-free: the operation of {name} takes too long ({report})")
            }
            Self::Panic { report, message, .. } => {
                write!(f, "the scenario panicked: {message} ({report})")
            }
        }
    }
}

impl std::error::Error for Failure {}
