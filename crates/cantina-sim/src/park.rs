//! Sleeping until somebody wakes you.

use crate::engine::threads::Wait;
use crate::engine::{Access, Op, current};
use crate::time::Duration;
use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicUsize};

/// The sleeping end. It may move between threads; one at a time sleeps on it.
#[derive(Debug)]
pub struct Parker {
    token: Arc<Token>,
    one_at_a_time: PhantomData<Cell<()>>,
}

/// The waking end. Clone it freely.
#[derive(Clone, Debug)]
pub struct Unparker(Arc<Token>);

#[derive(Debug, Default)]
struct Token {
    given: AtomicBool,
    /// The slot of whoever slept here last.
    sleeper: AtomicUsize,
}

impl Default for Parker {
    fn default() -> Self {
        Self::new()
    }
}

impl Parker {
    /// A parker without a token.
    pub fn new() -> Self {
        Self { token: Arc::default(), one_at_a_time: PhantomData }
    }

    /// Something to wake it with.
    pub fn unparker(&self) -> Unparker {
        Unparker(self.token.clone())
    }

    /// Sleeps until an [`unpark`](Unparker::unpark), past or to come, and uses it up.
    ///
    /// # Panics
    /// Outside a run, when there was no unpark.
    pub fn park(&self) {
        while !self.wait(None) {}
    }

    /// Sleeps as [`park`](Self::park) does, but no longer than `timeout`. Whether it was woken.
    ///
    /// # Panics
    /// Outside a run, when there was no unpark and `timeout` is not zero.
    #[must_use = "false: time is up, nobody woke it"]
    pub fn park_timeout(&self, timeout: Duration) -> bool {
        match u64::try_from(timeout.as_nanos()) {
            Ok(nanos) => self.wait(Some(nanos)),
            Err(_) => self.wait(None),
        }
    }

    fn wait(&self, nanos: Option<u64>) -> bool {
        current::step(Access::at(Op::Park, Arc::as_ptr(&self.token)));
        if self.token.take() {
            return true;
        }
        if nanos == Some(0) {
            return false;
        }
        if let Some((slot, _)) = current::current() {
            self.token.sleeper.store(slot, Relaxed);
        }
        current::block(Wait::Token { on: self.token.address() }, nanos);
        // A token that came just in time is not lost.
        self.token.take()
    }
}

impl Unparker {
    /// Lets the current or the next [`park`](Parker::park) return. Several make one.
    pub fn unpark(&self) {
        current::step(Access::at(Op::Unpark, Arc::as_ptr(&self.0)));
        self.0.given.store(true, Release);
        current::wake(self.0.sleeper.load(Relaxed), self.0.address());
    }
}

impl Token {
    fn take(&self) -> bool {
        self.given.swap(false, Acquire)
    }

    /// Where it lies: what its sleeper waits at.
    fn address(&self) -> usize {
        (&raw const *self) as usize
    }
}
