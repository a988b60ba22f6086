//! Operations that borrow from the stack of whoever waits for them.

use super::context;
use super::counted::Counted;
use super::error::WaitError;
use super::operation::caught;
use super::runtime::Handle;
use super::shared::Reference;
use machine::atomic::AtomicUsize;
use machine::atomic::Ordering::{Acquire, Relaxed, Release};
use machine::lock::Mutex;
use machine::park::{Parker, Unparker};
use std::fmt;
use std::marker::PhantomData;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// A place for operations that borrow; see [`Handle::scope`].
pub struct Scope<'scope, 'env: 'scope> {
    handle: Handle,
    state: Counted<State>,
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

struct State {
    /// Operations that have not ended.
    running: AtomicUsize,
    /// Why the first that failed did.
    failed: Mutex<Option<WaitError>>,
    waits: Unparker,
    shared: Reference,
}

/// One that has not ended. Whoever drops it has dropped what the operation borrowed.
struct Running(Counted<State>);

/// An operation. It is dropped before it is said that it has ended.
struct Job {
    f: Option<Box<dyn FnOnce() + Send>>,
    running: Running,
}

impl Drop for Running {
    fn drop(&mut self) {
        // ended: the operation is over and has dropped what it borrowed.
        if self.0.running.fetch_sub(1, Release) == 1 {
            self.0.waits.unpark();
        }
    }
}

impl Running {
    /// The scope tells of the first one.
    fn fail(&self, error: WaitError) {
        let mut failed = self.0.failed.lock();
        if failed.is_none() {
            *failed = Some(error);
        } else {
            drop(failed);
            self.0.shared.unheard(&error, None);
        }
    }
}

impl Job {
    fn run(mut self) {
        let f = self.f.take();
        let ran = caught(|| {
            f.into_iter().for_each(|f| f());
            Ok(())
        });
        if let Err(error) = ran {
            self.running.fail(error);
        }
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        if let Some(f) = self.f.take() {
            self.running.fail(WaitError::Cancelled);
            context::quietly(|| drop(f));
        }
    }
}

impl<'scope> Scope<'scope, '_> {
    /// Runs `f`, a free operation that may borrow what is older than the scope. It may spawn others.
    pub fn spawn(&'scope self, f: impl FnOnce() + Send + 'scope) {
        // bare: the scope counts itself, or one of its operations does.
        self.state.running.fetch_add(1, Relaxed);
        let running = Running(self.state.clone());
        let f: Box<dyn FnOnce() + Send + 'scope> = Box::new(f);
        // SAFETY: what it borrows outlives the scope, which does not end before `running` is dropped, and that comes
        // after the last use of `f`.
        let f = unsafe {
            mem::transmute::<Box<dyn FnOnce() + Send + 'scope>, Box<dyn FnOnce() + Send>>(f)
        };
        let job = Job { f: Some(f), running };
        drop(self.handle.spawn(move || job.run()));
    }
}

impl Handle {
    /// Runs `f` with a [`Scope`], whose operations may borrow from the stack, and waits for all of them, also when `f`
    /// panics.
    ///
    /// ```
    /// let runtime = cantina::scheduler::Runtime::new();
    /// let (words, mut lengths) = (["a", "bcd"], [0; 2]);
    /// let counted = runtime.scope(|scope| {
    ///     for (word, length) in words.iter().zip(&mut lengths) {
    ///         scope.spawn(move || *length = word.len());
    ///     }
    /// });
    /// assert_eq!((counted, lengths), (Ok(()), [1, 3]));
    /// ```
    ///
    /// # Errors
    /// [`WaitError::OnWorker`] at once on a worker of any runtime: what is waited for might be for it to do. Otherwise
    /// why the first operation that failed did: it panicked, or the runtime stopped before it began. Of other panics, and of
    /// all when `f` panics itself, [`on_panic`](super::Builder::on_panic) hears.
    pub fn scope<'env, R>(
        &self,
        f: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> R,
    ) -> Result<R, WaitError> {
        if context::is_worker() {
            return Err(WaitError::OnWorker);
        }
        let parker = Parker::new();
        let state = State {
            running: AtomicUsize::new(1),
            failed: Mutex::new(None),
            waits: parker.unparker(),
            shared: self.shared.clone(),
        };
        let state = Counted::new(state);
        let own = Running(state.clone());
        let handle = self.clone();
        let scope = Scope { handle, state: state.clone(), scope: PhantomData, env: PhantomData };
        let result = catch_unwind(AssertUnwindSafe(|| f(&scope)));
        drop(own);
        // ended: all operations are over and have dropped what they borrowed.
        while state.running.load(Acquire) > 0 {
            parker.park();
        }
        let failed = state.failed.lock().take();
        match (result, failed) {
            (Ok(result), None) => Ok(result),
            (Ok(_), Some(error)) => Err(error),
            (Err(panic), failed) => {
                failed.iter().for_each(|error| self.shared.unheard(error, None));
                resume_unwind(panic)
            }
        }
    }
}

impl fmt::Debug for Scope<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").finish_non_exhaustive()
    }
}
