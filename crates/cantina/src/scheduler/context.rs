//! What a thread is to the schedulers: a worker of one or none, and a list of what it does next.
//!
//! To fill an eventual can cause the next one to be filled, to drop a value can drop the last handle of another, and
//! so on without an end. So none of it nests deeply. A drop is a job for a list that the outermost call works off. Those
//! who wait are woken at once, also by such a drop, since it may go on to wait for what they do; beyond some depth
//! they are woken by the innermost of these calls, before it returns.
//!
//! A worker also has references to its scheduler in stock, so that those who come and go with each operation need not
//! be counted where all workers meet.
//!
//! # Invariants
//! * **I1** a thread's word is 0 or the address of a [`Context`] further up its stack, which sets it back before it goes.

use super::blocks::{Blocks, Spare};
use super::cell::Waiters;
use super::shared::Shared;
use super::waits::Waiting;
use machine::thread;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

/// What lies on the stack of a thread that has to do with schedulers.
pub(super) struct Context {
    /// What it is worker of, to which it has a reference. Null: of none.
    shared: *const Shared,
    /// Its number among the workers.
    index: usize,
    /// Whose operation that blocks it runs, with a reference to that. Null: none.
    blocks_for: *const Shared,
    /// How many references to that it has in stock.
    stock: Cell<usize>,
    /// Operations that wait, and were told so by this worker.
    waiting: RefCell<Waiting>,
    blocks: Blocks,
    /// Drops, and what else is the user's, for the outermost call.
    jobs: RefCell<VecDeque<Box<dyn FnOnce()>>>,
    /// Those whom the innermost call wakes.
    wakes: RefCell<VecDeque<Waiters>>,
    /// How many calls there are, one inside the other.
    depth: Cell<usize>,
}

/// How many wake-ups there are, one inside the other, before they are put into a list.
const DEEPEST: usize = 16;

/// How many references a worker takes at a time.
const STOCK: usize = 1024;

/// Sets the thread's word back.
struct Restore(usize);

impl Drop for Restore {
    fn drop(&mut self) {
        thread::set_word(self.0);
    }
}

impl Context {
    fn new(shared: *const Shared, index: usize) -> Self {
        Self {
            shared,
            index,
            blocks_for: ptr::null(),
            stock: Cell::default(),
            waiting: RefCell::default(),
            blocks: Blocks::default(),
            jobs: RefCell::default(),
            wakes: RefCell::default(),
            depth: Cell::default(),
        }
    }

    /// Runs `f` on a thread that is worker `index` of `shared`, to which it has a reference.
    pub(super) fn of_worker<R>(shared: &Shared, index: usize, f: impl FnOnce() -> R) -> R {
        let context = Self::new(shared, index);
        let result = context.installed(f);
        shared.give_back(context.stock.take());
        result
    }

    /// Runs `f`, an operation of `shared` that blocks, on a thread for such. It has a reference to that.
    pub(super) fn of_blocking<R>(shared: &Shared, f: impl FnOnce() -> R) -> R {
        Self { blocks_for: shared, ..Self::new(ptr::null(), 0) }.installed(f)
    }

    fn installed<R>(&self, f: impl FnOnce() -> R) -> R {
        let _restore = Restore(thread::word());
        thread::set_word(ptr::from_ref(self).expose_provenance());
        f()
    }

    #[inline(always)]
    fn current<R>(f: impl FnOnce(Option<&Self>) -> R) -> R {
        let context = ptr::with_exposed_provenance::<Self>(thread::word());
        // SAFETY: I1: null, or a context that lives at least until its caller's caller returns.
        f(unsafe { context.as_ref() })
    }

    /// Does something with the context of the calling thread, or one that is there until then.
    #[inline(always)]
    fn current_or_new(f: impl FnOnce(&Self)) {
        Self::current(|context| match context {
            Some(context) => f(context),
            None => {
                let context = Self::new(ptr::null(), 0);
                context.installed(|| f(&context));
            }
        });
    }

    /// Does something with the context of a worker of `shared`.
    #[inline(always)]
    fn of<R>(shared: *const Shared, f: impl FnOnce(Option<&Self>) -> R) -> R {
        Self::current(|context| f(context.filter(|context| ptr::eq(context.shared, shared))))
    }

    /// What it is worker of.
    #[inline(always)]
    fn worker_of(&self) -> Option<&Shared> {
        // SAFETY: its worker has a reference.
        unsafe { self.shared.as_ref() }
    }

    /// Does `run`, which does not panic, one deeper than before; and then what is left for this depth.
    #[inline(always)]
    fn within(&self, run: impl FnOnce()) {
        let depth = self.depth.get() + 1;
        self.depth.set(depth);
        run();
        if depth == DEEPEST {
            self.wake_all();
        }
        if depth == 1 && !self.jobs.borrow().is_empty() {
            self.work_off();
        }
        self.depth.set(depth - 1);
    }

    /// Does the jobs that are left, and no more of them nests.
    #[cold]
    fn work_off(&self) {
        loop {
            let job = self.jobs.borrow_mut().pop_front();
            let Some(job) = job else { break };
            quietly(job);
        }
    }

    /// Wakes those who are left, and no more of it nests.
    #[cold]
    fn wake_all(&self) {
        loop {
            let waiters = self.wakes.borrow_mut().pop_front();
            let Some(waiters) = waiters else { break };
            waiters.wake();
        }
    }

    /// One more reference to `shared`, whose worker the calling thread may be.
    #[inline]
    pub(super) fn take_reference(shared: &Shared) {
        Self::of(shared, |context| match context {
            None => shared.take(1),
            Some(context) => {
                if context.stock.get() == 0 {
                    shared.take(STOCK);
                    context.stock.set(STOCK);
                }
                context.stock.set(context.stock.get() - 1);
            }
        });
    }

    /// One reference less to `shared`, if the calling thread is its worker: that has another one. Whether it is.
    #[inline]
    pub(super) fn stock_reference(shared: *const Shared) -> bool {
        Self::of(shared, |context| {
            let Some(context) = context else { return false };
            let stock = context.stock.get() + 1;
            context.stock.set(stock);
            if stock > 2 * STOCK {
                context.stock.set(STOCK);
                context.worker_of().into_iter().for_each(|shared| shared.give_back(STOCK + 1));
            }
            true
        })
    }

    /// Does something with the blocks that the calling worker keeps, and with those for others. It frees and takes none
    /// of its own.
    #[inline(always)]
    pub(super) fn with_blocks<R>(f: impl FnOnce(&Blocks, &Spare) -> R) -> Option<R> {
        Self::current(|context| {
            let context = context?;
            Some(f(&context.blocks, &context.worker_of()?.spare))
        })
    }

    /// Has a worker of `shared` keep what waits, if the calling thread is one.
    pub(super) fn with_waiting<R>(
        shared: &Shared,
        f: impl FnOnce(&RefCell<Waiting>) -> R,
    ) -> Option<R> {
        Self::of(shared, |context| context.map(|context| f(&context.waiting)))
    }

    /// Cancels what waits with the calling worker. How many there were. `None`: its list was empty, also of those that
    /// wait no more.
    pub(super) fn clear_waiting() -> Option<usize> {
        let waiting = Self::current(|context| context.map(|context| context.waiting.take()));
        waiting.filter(|waiting| !waiting.is_empty()).map(Waiting::cancel)
    }
}

/// Whether the calling thread is a worker of any scheduler.
pub(super) fn is_worker() -> bool {
    Context::current(|context| context.is_some_and(|context| context.worker_of().is_some()))
}

/// Whether the calling thread runs operations of `shared`: it is a worker, or one for what blocks.
pub(super) fn runs_for(shared: &Shared) -> bool {
    let is_its =
        |context: &Context| ptr::eq(context.shared, shared) || ptr::eq(context.blocks_for, shared);
    Context::current(|context| context.is_some_and(is_its))
}

/// The calling thread's number among the workers of `shared`.
#[inline]
pub(super) fn worker_of(shared: &Shared) -> Option<usize> {
    Context::of(shared, |context| context.map(|context| context.index))
}

/// Does `job`, at once or when the outermost of what the calling thread is about to do is done.
pub(super) fn later(job: impl FnOnce() + 'static) {
    Context::current_or_new(|context| {
        if context.depth.get() > 0 {
            context.jobs.borrow_mut().push_back(Box::new(job));
        } else {
            context.within(|| {
                quietly(job);
            });
        }
    });
}

/// Wakes `waiters`, at once or when the innermost of [many](DEEPEST) wake-ups is done.
#[inline]
pub(super) fn wake_later(waiters: Waiters) {
    Context::current_or_new(|context| {
        if context.depth.get() == DEEPEST {
            context.wakes.borrow_mut().push_back(waiters);
        } else {
            context.within(|| waiters.wake());
        }
    });
}

/// Does `job`, whose panic is nobody's business. Whether it panicked.
pub(super) fn quietly(job: impl FnOnce()) -> bool {
    let Err(panic) = catch_unwind(AssertUnwindSafe(job)) else { return false };
    // What a panic carries may panic when it is dropped.
    if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(panic))) {
        std::mem::forget(again);
    }
    true
}
