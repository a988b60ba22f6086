//! Why a value did not arrive.

use std::any::Any;
use std::error::Error;
use std::fmt;

/// Why a value did not arrive, or could not be waited for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WaitError {
    /// The caller is a worker: what it waits for might be for itself to do.
    OnWorker,
    /// The operation panicked; what it said, if it said something.
    Panicked(String),
    /// An operation before it panicked, and its unit takes no more.
    Poisoned,
    /// The runtime took no more operations.
    Closed,
    /// It was cancelled before it began: by its [`Canceller`](super::Canceller), or because the runtime stopped.
    Cancelled,
    /// The promise was dropped, or an argument was taken for there and was not.
    Broken,
    /// The value was taken before.
    Taken,
}

impl WaitError {
    /// What a panic said.
    pub(super) fn panicked(panic: &(dyn Any + Send)) -> Self {
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        Self::Panicked(text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default())
    }
}

impl fmt::Display for WaitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OnWorker => f.write_str("a worker cannot wait: hand the value to an operation"),
            Self::Panicked(text) => write!(f, "the operation panicked: {text}"),
            Self::Poisoned => f.write_str("an operation before it panicked: the unit is poisoned"),
            Self::Closed => f.write_str("the runtime takes no more operations"),
            Self::Cancelled => f.write_str("the operation was cancelled before it began"),
            Self::Broken => f.write_str("the promise was dropped"),
            Self::Taken => f.write_str("the value was taken before"),
        }
    }
}

impl Error for WaitError {}
