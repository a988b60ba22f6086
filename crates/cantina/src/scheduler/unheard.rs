//! What nobody hears of: panics in what was told, and where an eventual goes before anybody has looked at it; and what
//! was told and never ran.

use super::context::{later, quietly};
use super::error::WaitError;
use super::shared::Reference;
use machine::Arc;
use machine::atomic::AtomicU64;
use machine::atomic::Ordering::Relaxed;
use std::fmt;

/// A panic that nobody hears of; see [`Builder::on_panic`](super::Builder::on_panic).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnheardPanic {
    /// What it said, if it said something.
    pub message: String,
    /// The [name](super::UnitBuilder::name) of the unit, empty if it has none. `None`: it was no operation of a unit, or its
    /// eventual went later.
    pub unit: Option<String>,
    /// What the worker is called on which it was found that nobody hears of it: where the operation ran, unless its eventual
    /// went later. `None`: it was no worker.
    pub worker: Option<String>,
}

/// Whom to tell.
#[derive(Clone)]
pub(super) struct Hook(Arc<Tell>);

/// In a box: not every machine's `Arc` takes what has no size.
type Tell = Box<dyn Fn(&UnheardPanic) + Send + Sync>;

/// How many there were, and whom to tell.
pub(super) struct Unheard {
    count: AtomicU64,
    /// What was told and did not run.
    dropped: AtomicU64,
    hook: Option<Hook>,
}

/// Whose operation something is: of which runtime, and of which unit.
pub(super) struct Whose {
    pub(super) shared: Reference,
    pub(super) name: String,
}

impl Hook {
    pub(super) fn new(f: impl Fn(&UnheardPanic) + Send + Sync + 'static) -> Self {
        Self(Arc::new(Box::new(f)))
    }
}

impl Unheard {
    pub(super) fn new(hook: Option<Hook>) -> Self {
        Self { count: AtomicU64::new(0), dropped: AtomicU64::new(0), hook }
    }

    pub(super) fn count(&self) -> u64 {
        // stat: a number for humans.
        self.count.load(Relaxed)
    }

    /// An operation that was told does not run.
    #[cold]
    pub(super) fn told_in_vain(&self) {
        // stat: a number for humans.
        self.dropped.fetch_add(1, Relaxed);
    }

    pub(super) fn dropped(&self) -> u64 {
        // stat: a number for humans.
        self.dropped.load(Relaxed)
    }
}

impl Drop for Unheard {
    fn drop(&mut self) {
        // What the hook has captured is the user's.
        let hook = self.hook.take();
        quietly(|| drop(hook));
    }
}

impl Reference {
    /// Nobody hears that an operation, of `unit` if that is known, failed with `error`: if that was a panic, it is counted,
    /// and the hook told.
    #[cold]
    pub(super) fn unheard(&self, error: &WaitError, unit: Option<&str>) {
        let WaitError::Panicked(message) = error else { return };
        let Unheard { count, hook, .. } = &self.unheard;
        // stat: a number for humans.
        count.fetch_add(1, Relaxed);
        let Some(hook) = hook.clone() else { return };
        let panic = UnheardPanic {
            message: message.clone(),
            unit: unit.map(str::to_owned),
            worker: self.own_worker().map(|worker| self.worker_name(worker)),
        };
        // It is the user's: it may panic, and drop what nobody hears of.
        later(move || hook.0(&panic));
    }
}

impl Whose {
    /// As [`Reference::unheard`].
    pub(super) fn unheard(&self, error: &WaitError) {
        self.shared.unheard(error, Some(&self.name));
    }
}

impl fmt::Debug for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hook")
    }
}
