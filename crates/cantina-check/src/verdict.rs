//! Verdicts: what the judge says, and how it shows it.

use crate::history::{History, Item, NEVER, Operation};
use crate::spec::Spec;
use crate::timeline;
use std::fmt;

/// What the judge says about a history.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "a verdict nobody looks at is no test"]
pub enum Verdict {
    /// Some order of the operations, each at an instant of its interval, explains every answer.
    Linearizable,
    /// No order does.
    Violation(Box<Violation>),
    /// The budget was spent before either was sure.
    Unknown {
        /// The steps that were taken.
        steps: u64,
    },
}

/// A part of a history that no order of its operations explains.
///
/// What was left out cannot be what is wrong with it: a history that is linearizable stays so
/// without an "empty" or "full" answer, or without a task and everything that was done to it (except
/// that a "full" needs the tasks that were inside; they stay with it). So a part that is not proves
/// that the whole is not.
///
/// Displayed it is a sentence, a drawing with a lane per thread, and the operations as text that
/// [parses](crate::text) into the same history again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// What is wrong with it.
    pub reason: Reason,
    /// The part: nothing in it can be left out.
    pub witness: History,
    /// What it was judged as.
    pub spec: Spec,
}

/// What is wrong with a history.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// A task came out that nobody put in.
    NeverPut(Item),
    /// A task came out although the only puts of it gave it back.
    GivenBack(Item),
    /// A task came out more than once.
    GotTwice(Item),
    /// A task was out before its put began.
    GotBeforePut(Item),
    /// "Full", from something that has no bound.
    FullWithoutBound,
    /// "Empty", although there was something at every instant of the call.
    NotEmpty,
    /// A queue let a task overtake another that was certainly put before it.
    Overtaken {
        /// The task that was put first.
        first: Item,
        /// The task that came out first.
        second: Item,
    },
    /// "Full", although there was room at every instant of the call.
    NotFull,
    /// At some instant more tasks were inside than there is room for.
    OverCapacity,
    /// No order of the operations explains all the answers.
    NoOrder,
}

impl Verdict {
    /// Whether an order was found.
    pub fn is_linearizable(&self) -> bool {
        matches!(self, Self::Linearizable)
    }

    /// The violation, if it is one.
    pub fn violation(&self) -> Option<&Violation> {
        match self {
            Self::Violation(violation) => Some(violation),
            _ => None,
        }
    }
}

impl Violation {
    /// What the threads of the witness did meanwhile: their operations in `history`, of which the
    /// witness is a part, from its first start to its last end. To look at, not to judge.
    pub fn scene(&self, history: &History) -> Vec<Operation> {
        let witness = self.witness.operations();
        let end = |operation: &Operation| operation.end.unwrap_or(NEVER);
        let from = witness.iter().map(|operation| operation.start).min().unwrap_or(0);
        let until = witness.iter().map(end).max().unwrap_or(0);
        let is_part = |operation: &&Operation| {
            let is_involved = witness.iter().any(|it| it.thread == operation.thread);
            is_involved && operation.start <= until && end(operation) >= from
        };
        history.operations().iter().filter(is_part).cloned().collect()
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Linearizable => f.write_str("linearizable"),
            Self::Violation(violation) => violation.fmt(f),
            Self::Unknown { steps } => write!(f, "unknown: no answer within {steps} steps"),
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "not a {}: {}", self.spec, self.reason)?;
        writeln!(f)?;
        timeline::draw(self.witness.operations(), f)?;
        writeln!(f)?;
        write!(f, "{}", self.witness)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NeverPut(item) => write!(f, "{item} was got, and nobody put it"),
            Self::GivenBack(item) => write!(f, "{item} was got, although its put gave it back"),
            Self::GotTwice(item) => write!(f, "{item} was got more than once"),
            Self::GotBeforePut(item) => write!(f, "{item} was got before its put began"),
            Self::FullWithoutBound => f.write_str("\"full\", but it has no bound"),
            Self::NotEmpty => {
                f.write_str("\"empty\", but at every instant of that call something was inside")
            }
            Self::Overtaken { first, second } => {
                write!(f, "{first} was put before {second}, but {second} was got first")
            }
            Self::NotFull => {
                f.write_str("\"full\", but at every instant of that call there was room")
            }
            Self::OverCapacity => {
                f.write_str("more tasks were inside at once than there is room for")
            }
            Self::NoOrder => f.write_str("no order of these operations explains all the answers"),
        }
    }
}
