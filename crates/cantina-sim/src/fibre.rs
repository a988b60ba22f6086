//! Fibres: the stacks that virtual threads run on.
//!
//! A fibre is a stackful coroutine. A fresh stack costs microseconds, a used one nothing: each OS
//! thread keeps the stacks of its past fibres.

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use std::cell::RefCell;

/// Bytes of stack a virtual thread has. Only touched pages take memory.
const STACK: usize = 1 << 20;
/// Bytes that are carried to a new stack as they are; a coroutine takes no more than a kilobyte.
const CARRIED: usize = 512;
/// Stacks an OS thread keeps: one for each virtual thread of the largest simulation.
const KEPT: usize = 257;

thread_local! {
    static STACKS: RefCell<Vec<DefaultStack>> = const { RefCell::new(Vec::new()) };
}

/// A computation that can be left and gone on with.
pub(crate) struct Fibre(Coroutine<(), (), (), DefaultStack>);

/// The way out of a running fibre, for [`leave`].
pub(crate) type Exit = Yielder<(), ()>;

impl Fibre {
    /// A fibre that will run `body`, which must not panic, and is small: what is larger goes into a box.
    ///
    /// # Safety
    /// What `body` borrows outlives the fibre: until [`resume`](Self::resume) said that it is done, or
    /// until it is abandoned.
    pub(crate) unsafe fn new<F: FnOnce(*const Exit)>(body: F) -> Self {
        const { assert!(size_of::<F>() <= CARRIED) };
        let kept = STACKS.with_borrow_mut(Vec::pop);
        let stack = kept.unwrap_or_else(|| {
            DefaultStack::new(STACK).expect("no memory for the stack of another virtual thread")
        });
        // SAFETY: the caller keeps alive what `body` borrows.
        Self(unsafe { Coroutine::with_stack_unchecked(stack, |exit, ()| body(exit)) })
    }

    /// Runs it until it leaves or is done; whether it is done.
    pub(crate) fn resume(&mut self) -> bool {
        matches!(self.0.resume(()), CoroutineResult::Return(()))
    }

    /// Gives its stack back. A fibre that is not done is abandoned: nothing on its stack is dropped.
    ///
    /// # Safety
    /// Nobody uses what lies on the stack any more.
    pub(crate) unsafe fn recycle(mut self) {
        if !self.0.done() {
            // SAFETY: its frames are never entered again, and the caller says nobody looks into them.
            // What they own leaks.
            unsafe { self.0.force_reset() };
        }
        let stack = self.0.into_stack();
        // At the end of the OS thread there is no list any more; the stack is unmapped then.
        let _ = STACKS.try_with(|stacks| {
            let mut stacks = stacks.borrow_mut();
            if stacks.len() < KEPT {
                stacks.push(stack);
            }
        });
    }
}

/// Leaves the running fibre; returns when it is resumed.
///
/// # Safety
/// `exit` is what the running fibre's body was given.
pub(crate) unsafe fn leave(exit: *const Exit) {
    // SAFETY: it lives on the stack of the running fibre.
    unsafe { (*exit).suspend(()) };
}
