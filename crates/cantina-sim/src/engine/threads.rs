//! Virtual threads.

use crate::engine::Access;
use crate::engine::spin::Spin;
use crate::fibre::{Exit, Fibre};
use crate::memory::buffer::StoreBuffer;
use std::fmt;

/// How many virtual threads can be alive at once: 256, and the scenario's own.
pub const MAX_THREADS: usize = 257;

/// A virtual thread, by the order of birth; the scenario itself is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadId(pub u32);

impl fmt::Display for ThreadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "thread {}", self.0)
    }
}

/// What a thread waits for. Addresses are compared and never shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// It can run.
    Nothing,
    /// The end of another thread, whose packet is at `on`.
    Join { on: usize, thread: ThreadId },
    /// A token for the parker at `on`.
    Token { on: usize },
    /// The lock at `on`.
    Lock { on: usize, holder: Option<ThreadId> },
    /// Its deadline.
    Sleep,
    /// A change of the words it spins on.
    Change,
    /// The end of a stall.
    Stall,
    /// It has crashed.
    Crash,
}

impl Wait {
    /// The address it waits at.
    pub(crate) fn on(self) -> Option<usize> {
        match self {
            Self::Join { on, .. } | Self::Token { on } | Self::Lock { on, .. } => Some(on),
            Self::Nothing | Self::Sleep | Self::Change | Self::Stall | Self::Crash => None,
        }
    }
}

/// An operation of the program, for the progress checkers.
#[derive(Clone, Debug)]
pub(crate) struct Operation {
    pub(crate) name: String,
    /// The thread's own steps when it began.
    pub(crate) began: u64,
}

/// A virtual thread that has not ended.
pub(crate) struct Thread {
    pub(crate) id: ThreadId,
    pub(crate) name: Option<String>,
    /// The core it runs on.
    pub(crate) core: usize,
    pub(crate) wait: Wait,
    /// The virtual time at which the wait ends by itself.
    pub(crate) deadline: Option<u64>,
    /// Whether the last wait ended by its deadline.
    pub(crate) timed_out: bool,
    /// What it is about to do.
    pub(crate) about: Access,
    /// Steps it has taken.
    pub(crate) steps: u64,
    /// What the last of them cost, in a timed run.
    pub(crate) cycles: u64,
    /// What it has written and others cannot see yet.
    pub(crate) buffer: StoreBuffer,
    /// What it has seen since it last gave way.
    pub(crate) spin: Spin,
    pub(crate) operation: Option<Operation>,
    /// Its stack, except while it runs.
    pub(crate) fibre: Option<Box<Fibre>>,
    /// A word of the program's.
    pub(crate) word: usize,
    /// The way out of it, once it has started.
    pub(crate) exit: *const Exit,
}
