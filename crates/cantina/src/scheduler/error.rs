//! Why a value did not arrive, or an operation was not taken.

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

/// An operation that was not taken: it is given back.
///
/// ```
/// use cantina::scheduler::{Refused, Runtime};
///
/// let runtime = Runtime::new();
/// let unit = runtime.unit_builder().capacity(1).build(0);
/// match unit.try_tell(|state| *state += 1) {
///     Ok(()) => {}
///     Err(Refused::Full(operation)) => unit.tell(operation),      // waits for room
///     Err(Refused::Closed(operation)) => drop(operation),         // there is no use in trying again
/// }
/// ```
pub enum Refused<F> {
    /// There is no room now.
    Full(F),
    /// The runtime takes no more operations, and never will.
    Closed(F),
}

impl<F> Refused<F> {
    /// The operation.
    pub fn into_inner(self) -> F {
        match self {
            Self::Full(operation) | Self::Closed(operation) => operation,
        }
    }

    /// Whether it is of no use to try again.
    pub fn is_closed(&self) -> bool {
        matches!(self, Self::Closed(_))
    }
}

impl<F> fmt::Debug for Refused<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_closed() { "Closed(..)" } else { "Full(..)" })
    }
}

impl<F> fmt::Display for Refused<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full(_) => f.write_str("the unit is full"),
            Self::Closed(_) => WaitError::Closed.fmt(f),
        }
    }
}

impl<F> Error for Refused<F> {}
