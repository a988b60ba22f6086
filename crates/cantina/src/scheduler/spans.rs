//! Spans of the `tracing` crate, with the feature of that name: `message` while a message of a unit runs, `operation`
//! while a free operation does, both at the level `TRACE` and with the number of the worker.
//!
//! A subscriber is the user's: what it panics with is nobody's business.

#[cfg(feature = "tracing")]
use super::context::quietly;
#[cfg(feature = "tracing")]
use tracing::Span;

/// A message of a unit that has this name is about to run. Dropped, it has.
#[cfg(feature = "tracing")]
#[inline]
pub(super) fn message(unit: &str, worker: usize) -> impl Sized + use<> {
    let span = || tracing::trace_span!(target: "cantina::scheduler", "message", unit, worker);
    Entered::new(span)
}

/// A free operation is about to run.
#[cfg(feature = "tracing")]
#[inline]
pub(super) fn operation(worker: usize) -> impl Sized + use<> {
    let span = || tracing::trace_span!(target: "cantina::scheduler", "operation", worker);
    Entered::new(span)
}

/// A span that was made, and entered. A panic in one step does not keep the others from being done.
#[cfg(feature = "tracing")]
struct Entered(Option<Span>);

#[cfg(feature = "tracing")]
impl Entered {
    #[inline]
    fn new(make: impl FnOnce() -> Span) -> Self {
        let mut span = None;
        quietly(|| span = Some(make()));
        if let Some(span) = &span {
            // It is left when this is dropped.
            quietly(|| std::mem::forget(span.enter()));
        }
        Self(span)
    }
}

#[cfg(feature = "tracing")]
impl Drop for Entered {
    #[inline]
    fn drop(&mut self) {
        let Some(span) = self.0.take() else { return };
        quietly(|| {
            span.with_subscriber(|(id, subscriber)| subscriber.exit(id));
        });
        quietly(|| drop(span));
    }
}

#[cfg(not(feature = "tracing"))]
#[inline(always)]
pub(super) fn message(_unit: &str, _worker: usize) -> impl Sized + use<> {}

#[cfg(not(feature = "tracing"))]
#[inline(always)]
pub(super) fn operation(_worker: usize) -> impl Sized + use<> {}
