//! What a step is: one access to something shared.

use crate::memory::place::Place;
use std::fmt;

/// What a thread does in one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Op {
    /// Its first step.
    Start,
    /// An atomic load.
    Load,
    /// An atomic store that may wait in the store buffer.
    Store,
    /// An atomic store that may not.
    SeqCstStore,
    /// An atomic read-modify-write that always writes.
    Rmw,
    /// An atomic compare-and-exchange.
    Cas,
    /// A full fence.
    Fence,
    /// The light side of a fence pair.
    LightFence,
    /// The heavy side of a fence pair.
    HeavyFence,
    /// Taking a lock.
    Lock,
    /// Releasing a lock.
    Unlock,
    /// Going to sleep until a token comes.
    Park,
    /// Giving a token.
    Unpark,
    /// Starting a thread.
    Spawn,
    /// Waiting for the end of a thread.
    Join,
    /// A turn of a spin loop.
    Spin,
    /// Giving up the processor.
    Yield,
    /// Sleeping for a time.
    Sleep,
    /// Reading plain data.
    Read,
    /// Writing plain data.
    Write,
    /// Computing.
    Work,
    /// Its last step.
    End,
}

impl Op {
    /// Whether it reads and writes a word in one step.
    pub fn is_rmw(self) -> bool {
        matches!(self, Self::Rmw | Self::Cas)
    }

    /// Whether the stores before it are visible to everybody when it is done.
    pub fn drains(self) -> bool {
        match self {
            Self::SeqCstStore | Self::Rmw | Self::Cas | Self::Fence | Self::HeavyFence => true,
            Self::Lock | Self::Unlock | Self::Park | Self::Unpark => true,
            Self::Spawn | Self::Join | Self::Sleep | Self::End => true,
            Self::Start | Self::Load | Self::Store | Self::LightFence => false,
            Self::Spin | Self::Yield | Self::Read | Self::Write | Self::Work => false,
        }
    }

    /// Whether it leaves everything as it was: a loop of these goes round until somebody else does
    /// something.
    pub(crate) fn is_idle(self) -> bool {
        matches!(self, Self::Load | Self::Read | Self::Spin | Self::Yield | Self::LightFence)
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Start => "start",
            Self::Load => "load",
            Self::Store => "store",
            Self::SeqCstStore => "store (SeqCst)",
            Self::Rmw => "rmw",
            Self::Cas => "cas",
            Self::Fence => "fence",
            Self::LightFence => "light fence",
            Self::HeavyFence => "heavy fence",
            Self::Lock => "lock",
            Self::Unlock => "unlock",
            Self::Park => "park",
            Self::Unpark => "unpark",
            Self::Spawn => "spawn",
            Self::Join => "join",
            Self::Spin => "spin",
            Self::Yield => "yield",
            Self::Sleep => "sleep",
            Self::Read => "read",
            Self::Write => "write",
            Self::Work => "work",
            Self::End => "end",
        })
    }
}

/// One step: what, at which address (0 where there is none), and how much: bytes of plain data, cycles
/// of work, turns of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Access {
    pub(crate) op: Op,
    pub(crate) address: usize,
    pub(crate) amount: u64,
}

impl Access {
    /// A step that touches no memory.
    pub(crate) fn bare(op: Op) -> Self {
        Self { op, address: 0, amount: 1 }
    }

    /// A step that touches the word at `place`.
    pub(crate) fn word(op: Op, place: Place) -> Self {
        Self { op, address: place.address(), amount: 1 }
    }

    /// A step that touches what lies at `place`.
    pub(crate) fn at<T: ?Sized>(op: Op, place: *const T) -> Self {
        Self { op, address: place.cast::<()>() as usize, amount: 1 }
    }

    /// A step that touches `bytes` bytes of plain data at `place`.
    pub(crate) fn data<T>(op: Op, place: *const T, bytes: usize) -> Self {
        Self { op, address: place as usize, amount: bytes as u64 }
    }

    /// A step that is `amount` of `op`.
    pub(crate) fn much(op: Op, amount: u64) -> Self {
        Self { op, address: 0, amount }
    }
}
