//! Spans of the `tracing` crate, with the feature of that name: `message` while a message of a unit runs, `operation`
//! while a free operation does, both at the level `TRACE` and with the number of the worker.

/// A message of a unit that has this name is about to run. Dropped, it has.
#[cfg(feature = "tracing")]
#[inline]
pub(super) fn message(unit: &str, worker: usize) -> impl Sized + use<> {
    tracing::trace_span!(target: "cantina::scheduler", "message", unit, worker).entered()
}

/// A free operation is about to run.
#[cfg(feature = "tracing")]
#[inline]
pub(super) fn operation(worker: usize) -> impl Sized + use<> {
    tracing::trace_span!(target: "cantina::scheduler", "operation", worker).entered()
}

#[cfg(not(feature = "tracing"))]
#[inline(always)]
pub(super) fn message(_unit: &str, _worker: usize) -> impl Sized + use<> {}

#[cfg(not(feature = "tracing"))]
#[inline(always)]
pub(super) fn operation(_worker: usize) -> impl Sized + use<> {}
