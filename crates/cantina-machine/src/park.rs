//! Sleeping until somebody wakes you.
//!
//! A type of its own rather than `std::thread::park`: there, whoever shares a thread would wake each
//! other, and loom's takes an unpark for the end of a `join` (tokio-rs/loom#249).
//!
//! # Orderings
//! | edge | release side | acquire side | carries |
//! |---|---|---|---|
//! | `token` | [`Unparker::unpark`] | [`Parker::park`] | everything before the unpark |

use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::atomic::AtomicU8;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

const EMPTY: u8 = 0;
const PARKED: u8 = 1;
const NOTIFIED: u8 = 2;

/// The sleeping end. It may move between threads; one at a time sleeps on it.
#[derive(Debug)]
pub struct Parker {
    token: Arc<Token>,
    one_at_a_time: PhantomData<Cell<()>>,
}

/// The waking end. Clone it freely.
#[derive(Clone, Debug)]
pub struct Unparker(Arc<Token>);

#[derive(Debug)]
struct Token {
    /// `EMPTY`, `PARKED` (the sleeper is at the condition variable or on its way, under the lock) or
    /// `NOTIFIED`.
    state: AtomicU8,
    lock: Mutex<()>,
    came: Condvar,
}

impl Default for Parker {
    fn default() -> Self {
        Self::new()
    }
}

impl Parker {
    /// A parker without a token.
    pub fn new() -> Self {
        let token =
            Token { state: AtomicU8::new(EMPTY), lock: Mutex::new(()), came: Condvar::new() };
        Self { token: Arc::new(token), one_at_a_time: PhantomData }
    }

    /// Something to wake it with.
    pub fn unparker(&self) -> Unparker {
        Unparker(self.token.clone())
    }

    /// Sleeps until an [`unpark`](Unparker::unpark), past or to come, and uses it up.
    pub fn park(&self) {
        self.token.wait(None);
    }

    /// Sleeps as [`park`](Self::park) does, but no longer than `timeout`. Whether it was woken.
    #[must_use = "false: time is up, nobody woke it"]
    pub fn park_timeout(&self, timeout: Duration) -> bool {
        match Instant::now().checked_add(timeout) {
            Some(deadline) => self.token.wait(Some(deadline)),
            None => self.token.wait(None),
        }
    }
}

impl Unparker {
    /// Lets the current or the next [`park`](Parker::park) return. Several make one.
    pub fn unpark(&self) {
        // token: what came before is visible to whoever uses it up.
        if self.0.state.swap(NOTIFIED, Release) == PARKED {
            // The sleeper took the lock before it wrote PARKED and holds it until it waits: having
            // had the lock, the notification cannot come too early.
            drop(self.0.lock.lock().unwrap_or_else(PoisonError::into_inner));
            self.0.came.notify_one();
        }
    }
}

impl Token {
    /// Whether a token came before `deadline`.
    fn wait(&self, deadline: Option<Instant>) -> bool {
        if self.take() {
            return true;
        }
        let mut guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        if self.state.compare_exchange(EMPTY, PARKED, Relaxed, Relaxed).is_err() {
            return self.take();
        }
        loop {
            guard = match deadline {
                None => self.came.wait(guard).unwrap_or_else(PoisonError::into_inner),
                Some(deadline) => {
                    let left = deadline.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        // token: a token that came just in time is not lost.
                        return self.state.swap(EMPTY, Acquire) == NOTIFIED;
                    }
                    let waited = self.came.wait_timeout(guard, left);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
            if self.take() {
                return true;
            }
        }
    }

    fn take(&self) -> bool {
        // token: pairs with `unpark`.
        self.state.compare_exchange(NOTIFIED, EMPTY, Acquire, Relaxed).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::Parker;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    use std::time::{Duration, Instant};

    #[test]
    fn a_token_that_came_before_is_used_up() {
        let parker = Parker::new();
        parker.unparker().unpark();
        parker.unparker().unpark();
        parker.park();
        assert!(!parker.park_timeout(Duration::ZERO));
    }

    #[test]
    fn time_runs_out() {
        let start = Instant::now();
        assert!(!Parker::new().park_timeout(Duration::from_millis(20)));
        assert!(start.elapsed() >= Duration::from_millis(20));
    }

    #[test]
    fn no_wake_up_is_lost() {
        let (here, there) = (Parker::new(), Parker::new());
        let (to_here, to_there) = (here.unparker(), there.unparker());
        let count = Arc::new(AtomicUsize::new(0));
        let theirs = count.clone();
        let other = std::thread::spawn(move || {
            for round in 0..20_000 {
                there.park();
                assert_eq!(theirs.load(Relaxed), round);
                to_here.unpark();
            }
        });
        for round in 0..20_000 {
            count.store(round, Relaxed);
            to_there.unpark();
            assert!(here.park_timeout(Duration::MAX));
        }
        other.join().unwrap();
    }
}
