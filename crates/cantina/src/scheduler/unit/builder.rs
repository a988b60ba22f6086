//! Settings for units.

use super::Unit;
use super::inner::{Inner, OnPanic, Parts};
use crate::scheduler::counted::Counted;
use crate::scheduler::runtime::Handle;
use std::fmt;

/// Settings for a [`Unit`].
#[must_use = "a builder does nothing until it builds"]
pub struct UnitBuilder<S: Send + 'static> {
    handle: Handle,
    name: String,
    capacity: Option<usize>,
    timed: bool,
    on_panic: OnPanic<S>,
}

impl<S: Send + 'static> UnitBuilder<S> {
    pub(in crate::scheduler) fn new(handle: Handle) -> Self {
        let (name, on_panic) = (String::new(), OnPanic::Poison);
        Self { handle, name, capacity: None, timed: false, on_panic }
    }

    /// What it is called, in what a shutdown leaves and in spans.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// How many messages there may be that have not run; as many as come unless told. Beyond that
    /// [`try_send`](Unit::try_send) gives the operation back, and [`send`](Unit::send) waits on a thread that is no
    /// worker. Inside an operation nothing waits: what it sends goes beyond the capacity, as those who wait for each
    /// other's room would wait for ever. 0 is taken for 1. A unit with room takes up to 640 bytes beside its state, where
    /// others take 256.
    pub fn capacity(mut self, messages: usize) -> Self {
        self.capacity = Some(messages.max(1));
        self
    }

    /// Measures for how long it is [busy](crate::scheduler::UnitMetrics::busy): a look at the clock before and after each turn.
    pub fn timed(mut self) -> Self {
        self.timed = true;
        self
    }

    /// An operation that panics leaves the state as it is. Otherwise the unit is poisoned: messages behind it fail with
    /// [`WaitError::Poisoned`](crate::scheduler::WaitError::Poisoned).
    pub fn keep_on_panic(mut self) -> Self {
        self.on_panic = OnPanic::Keep;
        self
    }

    /// After an operation that panics the state is made anew by `make`. If that panics too, the unit is poisoned.
    pub fn rebuild_on_panic(mut self, make: impl Fn() -> S + Send + Sync + 'static) -> Self {
        self.on_panic = OnPanic::Rebuild(Box::new(make));
        self
    }

    /// The unit.
    pub fn build(self, state: S) -> Unit<S> {
        let Self { handle, name, capacity, timed, on_panic } = self;
        let parts = Parts { shared: handle.shared, name, capacity, timed, on_panic };
        let inner = Inner::new(state, parts);
        Unit::of(Counted::handle(inner))
    }
}

impl<S: Send + 'static> fmt::Debug for UnitBuilder<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnitBuilder").field("name", &self.name).finish_non_exhaustive()
    }
}
