//! Sleeping until somebody wakes you, built from a lock: loom takes an unpark for the end of a `join`.

use crate::time::{self, Duration};
use loom::sync::{Arc, Condvar, Mutex, MutexGuard};
use loom::thread::yield_now;
use std::cell::Cell;
use std::marker::PhantomData;

/// The sleeping end.
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
    present: Mutex<bool>,
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
        let token = Arc::new(Token { present: Mutex::new(false), came: Condvar::new() });
        Self { token, one_at_a_time: PhantomData }
    }

    /// Something to wake it with.
    pub fn unparker(&self) -> Unparker {
        Unparker(self.token.clone())
    }

    /// Sleeps until an [`unpark`](Unparker::unpark), past or to come, and uses it up.
    pub fn park(&self) {
        let mut present = self.token.lock();
        while !*present {
            present = self.token.came.wait(present).expect("a panic ends the model");
        }
        *present = false;
    }

    /// Lets the others go on for a moment. Whether one of them woke it; if not, it is that much later.
    #[must_use = "false: time is up, nobody woke it"]
    pub fn park_timeout(&self, timeout: Duration) -> bool {
        yield_now();
        let came = std::mem::take(&mut *self.token.lock());
        if !came {
            time::pass(timeout);
        }
        came
    }
}

impl Unparker {
    /// Lets the current or the next [`park`](Parker::park) return. Several make one.
    pub fn unpark(&self) {
        *self.0.lock() = true;
        self.0.came.notify_one();
    }
}

impl Token {
    fn lock(&self) -> MutexGuard<'_, bool> {
        self.present.lock().expect("a panic ends the model")
    }
}
