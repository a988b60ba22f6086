//! Why somebody is not inside.

use std::error::Error;
use std::fmt;

/// Why a room was not entered. No ticket is held then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EnterError {
    /// There is no room of that number.
    NoSuchRoom,
    /// As many are inside or waiting as can be.
    TooManyWaiters,
    /// Somebody panicked inside a room, or exit code did, and the rooms were built to
    /// [remember](super::Builder::poison) it.
    Poisoned,
    /// The room did not open in time.
    TimedOut,
    /// Somebody is inside a room or waits for one, and where open rooms are [joined](super::Builder::joined), this one could not be.
    WouldBlock,
}

impl fmt::Display for EnterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoSuchRoom => "there is no room of that number",
            Self::TooManyWaiters => "too many are inside the room or wait for it",
            Self::Poisoned => "somebody panicked inside a room",
            Self::TimedOut => "the room did not open in time",
            Self::WouldBlock => "the rooms are in use",
        })
    }
}

impl Error for EnterError {}
