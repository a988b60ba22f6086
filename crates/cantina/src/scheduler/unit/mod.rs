//! Units: a state, and operations on it that never overlap.
//!
//! The messages of a unit are in a [mailbox](super::mailbox) that somebody owns while there are some. Who sends to a
//! unit that has none owns it, and makes a task of it that a worker runs; nobody else touches the state.
//!
//! # Invariants
//! * **I2** the state is touched only by whoever has the unit's task in hand, or the last reference.

mod builder;
mod inner;
mod sender;

pub use builder::UnitBuilder;
pub(super) use inner::Inner;
pub use sender::Sender;

use super::argument::Argument;
use super::cancel::{Canceller, cancellable};
use super::context::quietly;
use super::counted::Counted;
use super::error::{Refused, WaitError};
use super::eventual::{Eventual, pair};
use super::message;
use super::metrics::UnitMetrics;
use super::operation::caught;
use super::unheard::Whose;
use crate::pool::Full;
use machine::atomic::Ordering::Relaxed;
use std::fmt;
use std::mem::ManuallyDrop;

/// A state, and operations on it that run one at a time: those of one sender in the order it sent them.
///
/// Sending never waits, but for room in a unit that has a [capacity](UnitBuilder::capacity), and there on threads that are not workers only. An operation may send to any unit, its own as well: that runs after it. Dropping the last
/// handle lets the messages that are there run first.
///
/// ```
/// use cantina::scheduler::Runtime;
///
/// let runtime = Runtime::new();
/// let account = runtime.unit(100);
/// account.tell(|balance| *balance += 20);
/// let rate = runtime.spawn(|| 2);
/// let after = account.send_after(rate, |balance, rate| {
///     *balance *= rate;
///     *balance
/// });
/// assert_eq!(after.wait(), Ok(240));
/// ```
pub struct Unit<S: Send + 'static> {
    /// A handle.
    inner: ManuallyDrop<Counted<Inner<S>>>,
}

/// A handle that does not keep a [`Unit`] from going.
pub struct WeakUnit<S: Send + 'static> {
    inner: Counted<Inner<S>>,
}

impl<S: Send + 'static> Unit<S> {
    /// Runs `f` on the state.
    pub fn send<T: Send + 'static>(
        &self,
        f: impl FnOnce(&mut S) -> T + Send + 'static,
    ) -> Eventual<T> {
        if self.inner.whose.shared.refuses() {
            return self.refused();
        }
        self.inner.wait_for_room();
        message::send(&self.inner, move |state: &mut S, ()| f(state))
    }

    /// Runs `f` on the state, and tells nobody; of a panic [`on_panic`](super::Builder::on_panic) hears. On a runtime that takes no more it is
    /// dropped, and [counted](super::Metrics::dropped_tells).
    pub fn tell(&self, f: impl FnOnce(&mut S) + Send + 'static) {
        if self.inner.whose.shared.refuses() {
            return self.inner.whose.shared.unheard.told_in_vain();
        }
        self.inner.wait_for_room();
        self.post_told(f);
    }

    /// As [`send`](Self::send), if there is room. If the runtime takes no more, the eventual says so.
    ///
    /// # Errors
    /// The operation, if there is none.
    ///
    /// ```
    /// let runtime = cantina::scheduler::Runtime::new();
    /// let unit = runtime.unit_builder().capacity(2).build(0);
    /// let value = match unit.try_send(|state| *state + 1) {
    ///     Ok(value) => value,
    ///     Err(full) => unit.send(full.into_inner()),      // waits for room
    /// };
    /// assert_eq!(value.wait(), Ok(1));
    /// ```
    pub fn try_send<T: Send + 'static, F: FnOnce(&mut S) -> T + Send + 'static>(
        &self,
        f: F,
    ) -> Result<Eventual<T>, Full<F>> {
        if self.inner.whose.shared.refuses() {
            return Ok(self.refused());
        }
        if !self.inner.has_room() {
            return Err(Full(f));
        }
        Ok(message::send(&self.inner, move |state: &mut S, ()| f(state)))
    }

    /// As [`tell`](Self::tell), if there is room.
    ///
    /// # Errors
    /// The operation, if there is none, or if the runtime takes no more.
    pub fn try_tell<F: FnOnce(&mut S) + Send + 'static>(&self, f: F) -> Result<(), Refused<F>> {
        let f = self.inner.admit(f)?;
        self.post_told(f);
        Ok(())
    }

    /// A handle for one thread that is no worker and has much to tell.
    pub fn sender(&self) -> Sender<S> {
        Sender::new(self.clone())
    }

    fn post_told(&self, f: impl FnOnce(&mut S) + Send + 'static) {
        // SAFETY: a new message.
        unsafe { Inner::post(&self.inner, message::told(telling(f))) };
    }

    /// As [`send`](Self::send), and until it begins it can be cancelled.
    pub fn send_cancellable<T: Send + 'static>(
        &self,
        f: impl FnOnce(&mut S) -> T + Send + 'static,
    ) -> (Eventual<T>, Canceller<T>) {
        let (value, canceller, begin) = cancellable(self.inner.whose.shared.clone());
        if self.inner.whose.shared.refuses() {
            begin.fail(WaitError::Closed);
            return (value, canceller);
        }
        self.inner.wait_for_room();
        let operation = move |state: Result<&mut S, WaitError>, whose: &Whose| match state {
            Ok(state) => begin.run(|| f(state), Some(&whose.name)),
            Err(error) => {
                quietly(|| drop(f));
                begin.fail(error);
                false
            }
        };
        // SAFETY: a new message.
        unsafe { Inner::post(&self.inner, message::told(operation)) };
        (value, canceller)
    }

    /// Runs `f` on the state when all eventuals in `argument` are there: behind what was sent before they were. If one
    /// of them has failed, `f` does not run, and what is returned fails as that has. It does not wait for room: it comes
    /// when its arguments do, and may go beyond the [capacity](UnitBuilder::capacity). While it waits it is a handle to the
    /// unit: the state stays until it has run.
    pub fn send_after<A: Argument, T: Send + 'static>(
        &self,
        argument: A,
        f: impl FnOnce(&mut S, A::Out) -> T + Send + 'static,
    ) -> Eventual<T> {
        if self.inner.whose.shared.refuses() {
            return self.refused();
        }
        message::send_after(self, argument, f)
    }

    /// The answer of a runtime that takes no more.
    #[cold]
    fn refused<T: Send + 'static>(&self) -> Eventual<T> {
        let (promise, eventual) = pair(self.inner.whose.shared.clone());
        promise.resolve(Err(WaitError::Closed));
        eventual
    }

    /// A handle that does not keep the unit from going.
    #[must_use = "it is the handle"]
    pub fn downgrade(&self) -> WeakUnit<S> {
        // bare: the last drop of a strong handle comes after it.
        self.inner.watched.store(true, Relaxed);
        WeakUnit { inner: Counted::clone(&self.inner) }
    }

    /// What it has done so far.
    ///
    /// ```
    /// let runtime = cantina::scheduler::Runtime::new();
    /// let unit = runtime.unit(0);
    /// unit.send(|state| *state).wait().unwrap();
    /// assert_eq!(unit.metrics().messages, 1);
    /// ```
    pub fn metrics(&self) -> UnitMetrics {
        let (room, busy) = (self.inner.room.as_ref(), self.inner.busy.as_deref());
        self.inner.counters.read(room.map(|room| room.len()), busy)
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        &self.inner.whose.name
    }
}

/// An operation that tells nobody: whether it panicked.
fn telling<S>(f: impl FnOnce(&mut S)) -> impl FnOnce(Result<&mut S, WaitError>, &Whose) -> bool {
    move |state, whose| match state {
        Ok(state) => {
            let ran = caught(|| {
                f(state);
                Ok(())
            });
            ran.is_err_and(|error| {
                whose.unheard(&error);
                true
            })
        }
        Err(_) => {
            quietly(|| drop(f));
            whose.shared.unheard.told_in_vain();
            false
        }
    }
}

impl<S: Send + 'static> WeakUnit<S> {
    /// The unit, if somebody has a strong handle to it.
    #[must_use = "the handle keeps the unit as long as it is there"]
    pub fn upgrade(&self) -> Option<Unit<S>> {
        self.inner.upgrade().map(Unit::of)
    }
}

impl<S: Send + 'static> Drop for Unit<S> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the handle is ours, and not used any more unless it was the last.
        if unsafe { self.inner.leave_handle() } {
            self.leave();
        }
    }
}

impl<S: Send + 'static> Unit<S> {
    /// A unit of a handle to it.
    fn of(inner: Counted<Inner<S>>) -> Self {
        Self { inner: ManuallyDrop::new(inner) }
    }

    pub(super) fn inner(&self) -> &Counted<Inner<S>> {
        &self.inner
    }

    /// The last handle is gone.
    fn leave(&mut self) {
        // bare: a weak handle was made of a strong one. Without one, the last turn is the last reference.
        if self.inner.watched.load(Relaxed) {
            // SAFETY: a new message.
            unsafe { Inner::post(&self.inner, message::farewell()) };
        }
        // SAFETY: once, when it is dropped, and the reference is still ours.
        unsafe { ManuallyDrop::drop(&mut self.inner) };
    }
}

impl<S: Send + 'static> Clone for Unit<S> {
    #[inline]
    fn clone(&self) -> Self {
        Self::of(self.inner.clone_handle())
    }
}

impl<S: Send + 'static> Clone for WeakUnit<S> {
    fn clone(&self) -> Self {
        Self { inner: self.inner.clone() }
    }
}

impl<S: Send + 'static> fmt::Debug for Unit<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unit").field("name", &self.inner.whose.name).finish_non_exhaustive()
    }
}

impl<S: Send + 'static> fmt::Debug for WeakUnit<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WeakUnit").field("name", &self.inner.whose.name).finish_non_exhaustive()
    }
}
