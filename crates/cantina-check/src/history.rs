//! Histories: who called what, from when to when, and what came out.
//!
//! Times are whatever the recorder's clock counts. An operation takes effect at one instant of its
//! closed interval `start..=end`, and several may take effect at the same instant in any order: so
//! `a` precedes `b` only if `a` ends strictly before `b` starts, and equal times overlap.
//!
//! An operation without an end is *pending*: its thread died, or the record stops before it came
//! back. A pending put may or may not have happened; a pending get may hold a task, or none.

use std::error::Error;
use std::fmt;

/// What identifies a task. Each is put at most once; a put that gave it back does not count.
pub type Item = u64;

/// The time of what does not happen.
pub(crate) const NEVER: u64 = u64::MAX;

/// One call, from when to when, and what came out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// The thread that called.
    pub thread: usize,
    /// A time at which the call had not yet begun to take effect.
    pub start: u64,
    /// A time at which it had taken effect. `None`: it never came back.
    pub end: Option<u64>,
    /// The call and its answer.
    pub action: Action,
}

/// A call and its answer.
///
/// The calls on single tasks come first; a batch that promises nothing more is recorded as one of
/// them for each task. The last three are for batches that promise to be atomic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// A put that was accepted, or, without an end, one that may have been.
    Put(Item),
    /// A put that gave the task back: full.
    Full(Item),
    /// A get that returned a task.
    Get(Item),
    /// A get that found nothing, or a batch of them that did.
    Empty,
    /// A get without an end: it may hold up to `max` tasks, each taken at an instant of its own.
    Getting {
        /// How many it asked for: 1 for a single get.
        max: usize,
    },
    /// An atomic put of `items` in this order, or, without an end, one of all of them or none; or of the first of them, where a bound
    /// left no room for more.
    PutAtOnce {
        /// Those that were accepted; without an end, those that were given to it.
        items: Box<[Item]>,
        /// The next one, if it was given back: full right after the others.
        full: Option<Item>,
    },
    /// An atomic get that returned these, first one first.
    GetAtOnce(Box<[Item]>),
    /// An atomic get without an end: it may hold up to `max` tasks, all taken at one instant.
    GettingAtOnce {
        /// How many it asked for.
        max: usize,
    },
}

/// Operations, in the order of their starts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    operations: Vec<Operation>,
}

/// Why a list of operations is no history.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Malformed {
    /// An operation ends before it starts.
    EndsBeforeItStarts(Operation),
    /// An operation at [`u64::MAX`], which stands for never.
    EndOfTime(Operation),
    /// An answer without an end, or a call without an answer but with an end.
    AnswerAndEndDisagree(Operation),
    /// A task that is put more than once: tasks must be told apart.
    PutMoreThanOnce(Item),
}

impl Action {
    /// Whether this is a call that never came back, whatever its operation says about the end.
    pub(crate) fn has_no_answer(&self) -> bool {
        matches!(self, Self::Getting { .. } | Self::GettingAtOnce { .. })
    }

    /// Whether a thread that dies can leave this behind.
    fn may_be_pending(&self) -> bool {
        match self {
            Self::Put(_) | Self::PutAtOnce { full: None, .. } => true,
            _ => self.has_no_answer(),
        }
    }

    /// The tasks that went in: one, or those of an atomic batch.
    pub fn items_put(&self) -> &[Item] {
        match self {
            Self::Put(item) => std::slice::from_ref(item),
            Self::PutAtOnce { items, .. } => items,
            _ => &[],
        }
    }

    /// The tasks that came out: one, or those of an atomic batch.
    pub fn items_got(&self) -> &[Item] {
        match self {
            Self::Get(item) => std::slice::from_ref(item),
            Self::GetAtOnce(items) => items,
            _ => &[],
        }
    }

    /// The task that was given back: full.
    pub fn item_given_back(&self) -> Option<Item> {
        match self {
            Self::Full(item) => Some(*item),
            Self::PutAtOnce { full, .. } => *full,
            _ => None,
        }
    }
}

impl History {
    /// The history of `operations`, in any order.
    ///
    /// # Errors
    /// When they cannot be one: see [`Malformed`].
    pub fn new(mut operations: Vec<Operation>) -> Result<Self, Malformed> {
        let mut put = Vec::with_capacity(operations.len());
        for operation in &operations {
            let (action, end) = (&operation.action, operation.end);
            if end.is_some_and(|end| end < operation.start) {
                return Err(Malformed::EndsBeforeItStarts(operation.clone()));
            }
            if operation.start.max(end.unwrap_or(0)) == NEVER {
                return Err(Malformed::EndOfTime(operation.clone()));
            }
            if end.is_none() && !action.may_be_pending() || end.is_some() && action.has_no_answer()
            {
                return Err(Malformed::AnswerAndEndDisagree(operation.clone()));
            }
            put.extend_from_slice(action.items_put());
        }
        put.sort_unstable();
        if let Some(twice) = put.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(Malformed::PutMoreThanOnce(twice[0]));
        }
        operations.sort_by_key(|operation| operation.start);
        Ok(Self { operations })
    }

    /// A part of a history, in its order.
    pub(crate) fn part(operations: Vec<Operation>) -> Self {
        Self { operations }
    }

    /// The operations, in the order of their starts.
    pub fn operations(&self) -> &[Operation] {
        &self.operations
    }

    /// The operations, given away.
    pub fn into_operations(self) -> Vec<Operation> {
        self.operations
    }

    /// How many operations there are.
    pub fn len(&self) -> usize {
        self.operations.len()
    }

    /// Whether nothing happened.
    pub fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EndsBeforeItStarts(operation) => {
                write!(f, "an operation ends before it starts: {operation}")
            }
            Self::EndOfTime(operation) => {
                write!(f, "an operation at the end of time, which stands for never: {operation}")
            }
            Self::AnswerAndEndDisagree(operation) => {
                write!(
                    f,
                    "an operation has an answer and no end, or an end and no answer: {operation}"
                )
            }
            Self::PutMoreThanOnce(item) => write!(f, "item {item} is put more than once"),
        }
    }
}

impl Error for Malformed {}
