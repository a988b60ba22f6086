//! How a run ended, and who waited for what.

use crate::engine::{Op, ThreadId};
use crate::trace::Trace;
use std::any::Any;
use std::fmt;

/// Where a virtual thread stood when the run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Which thread.
    pub thread: ThreadId,
    /// The name it was given.
    pub name: Option<String>,
    /// What it did.
    pub doing: Doing,
}

/// What a thread was doing.
#[derive(Clone, Debug, PartialEq, Eq)]
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
}

/// Why a run did not come to its end.
#[derive(Debug)]
#[non_exhaustive]
pub enum Failure {
    /// Everybody waits, and nothing can happen any more.
    Deadlock(Report),
    /// The step budget is spent.
    Budget(Report),
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
            Self::Deadlock(report) | Self::Budget(report) | Self::Panic { report, .. } => report,
        }
    }
}

impl Report {
    /// Whom `thread` waits for, where that is known.
    pub fn blocked_by(&self, thread: ThreadId) -> Option<ThreadId> {
        let standing = self.threads.iter().find(|standing| standing.thread == thread)?;
        match standing.doing {
            Doing::Joining(other) => Some(other),
            Doing::Locking(holder) => holder,
            _ => None,
        }
    }

    fn name(&self, thread: ThreadId) -> String {
        match self.threads.iter().find(|standing| standing.thread == thread) {
            Some(Standing { name: Some(name), .. }) => format!("{thread} '{name}'"),
            Some(_) => thread.to_string(),
            None => format!("{thread}, which has ended"),
        }
    }
}

/// The text of a panic's payload.
pub(crate) fn message(payload: &(dyn Any + Send)) -> String {
    if let Some(text) = payload.downcast_ref::<&str>() {
        return (*text).to_owned();
    }
    payload.downcast_ref::<String>().cloned().unwrap_or_else(|| "a panic without a text".to_owned())
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "seed {}, {} steps, {} ns", self.seed, self.steps, self.nanos)?;
        for standing in &self.threads {
            write!(f, "\n  {} ", self.name(standing.thread))?;
            match standing.doing {
                Doing::Ready(op) => write!(f, "could go on: {op}")?,
                Doing::Joining(other) => write!(f, "waits for the end of {}", self.name(other))?,
                Doing::Parked => f.write_str("is parked")?,
                Doing::Locking(Some(holder)) => {
                    write!(f, "waits for a lock held by {}", self.name(holder))?;
                }
                Doing::Locking(None) => f.write_str("waits for a lock held outside the run")?,
                Doing::Sleeping => f.write_str("sleeps")?,
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
            Self::Panic { report, message, .. } => {
                write!(f, "the scenario panicked: {message} ({report})")
            }
        }
    }
}

impl std::error::Error for Failure {}
