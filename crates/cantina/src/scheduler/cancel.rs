//! Operations that can be cancelled until they begin.

use super::counted::Counted;
use super::error::WaitError;
use super::eventual::{Eventual, Promise, pair};
use super::operation::caught;
use super::shared::Reference;
use machine::lock::Mutex;
use std::fmt;

/// The right to cancel one operation that has not begun. Dropped, it changes nothing.
///
/// ```
/// use cantina::scheduler::{Runtime, WaitError};
///
/// let runtime = Runtime::new();
/// let unit = runtime.unit(0);
/// let (value, canceller) = unit.send_cancellable(|state| *state + 1);
/// if canceller.cancel() {
///     assert_eq!(value.wait(), Err(WaitError::Cancelled));
/// } else {
///     assert_eq!(value.wait(), Ok(1));
/// }
/// ```
pub struct Canceller<T: Send + 'static>(Counted<Undecided<T>>);

/// The promise of an operation, until it begins or is cancelled: whoever takes it decides.
struct Undecided<T: Send + 'static>(Mutex<Option<Promise<T>>>);

/// The right to begin it. Dropped, it cancels.
pub(super) struct Begin<T: Send + 'static>(Counted<Undecided<T>>);

/// The value of an operation, the right to cancel it, and the right to begin it.
pub(super) fn cancellable<T: Send + 'static>(
    shared: Reference,
) -> (Eventual<T>, Canceller<T>, Begin<T>) {
    let (promise, eventual) = pair(shared);
    let undecided = Counted::new(Undecided(Mutex::new(Some(promise))));
    (eventual, Canceller(undecided.clone()), Begin(undecided))
}

impl<T: Send + 'static> Undecided<T> {
    fn take(&self) -> Option<Promise<T>> {
        self.0.lock().take()
    }

    fn fail(&self, error: WaitError) -> bool {
        let promise = self.take();
        let decides = promise.is_some();
        promise.into_iter().for_each(|promise| promise.resolve(Err(error.clone())));
        decides
    }
}

impl<T: Send + 'static> Canceller<T> {
    /// Cancels the operation if it has not begun: its value is [`WaitError::Cancelled`], and what it would have run is
    /// dropped when its turn comes. `false`: it has begun, or was cancelled by the end of the runtime.
    #[must_use = "false: it has begun"]
    pub fn cancel(self) -> bool {
        self.0.fail(WaitError::Cancelled)
    }
}

impl<T: Send + 'static> Begin<T> {
    /// Runs `f`, of the unit of that name, unless it was cancelled. Whether it panicked.
    pub(super) fn run(self, f: impl FnOnce() -> T, unit: Option<&str>) -> bool {
        let Some(promise) = self.0.take() else { return false };
        let value = caught(|| Ok(f()));
        let panicked = value.is_err();
        promise.resolve_by(value, unit);
        panicked
    }

    /// It does not run.
    pub(super) fn fail(self, error: WaitError) {
        self.0.fail(error);
    }
}

impl<T: Send + 'static> Drop for Begin<T> {
    fn drop(&mut self) {
        self.0.fail(WaitError::Cancelled);
    }
}

impl<T: Send + 'static> fmt::Debug for Canceller<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Canceller").finish_non_exhaustive()
    }
}
