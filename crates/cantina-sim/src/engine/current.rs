//! The run that the calling OS thread is in, and what the facade asks of it.
//!
//! Each OS thread has its own: several simulations may run at once, on different OS threads. Outside
//! a run these do nothing, or say that they cannot.

use crate::engine::access::{Access, Op};
use crate::engine::core::{Core, Turn};
use crate::engine::threads::{ThreadId, Wait};
use crate::fibre::{self, Fibre};
use std::cell::{Cell, RefCell};

thread_local! {
    static CURRENT: Cell<*const Engine> = const { Cell::new(std::ptr::null()) };
}

/// A run, as its fibres see it.
pub(crate) struct Engine {
    core: RefCell<Core>,
}

/// Says that the calling OS thread is in a run, while it lives.
struct Inside;

impl Drop for Inside {
    fn drop(&mut self) {
        CURRENT.set(std::ptr::null());
    }
}

impl Engine {
    pub(crate) fn new(core: Core) -> Self {
        Self { core: RefCell::new(core) }
    }

    pub(crate) fn into_core(self) -> Core {
        self.core.into_inner()
    }

    /// Runs `scenario` as the first thread, and all that it starts, to the end of the run.
    ///
    /// # Panics
    /// When the calling OS thread is in a run already.
    pub(crate) fn drive(&self, scenario: impl FnOnce()) {
        assert!(!is_inside(), "a simulation cannot run inside a simulation");
        CURRENT.set(self);
        let _inside = Inside;
        let _fibres = Fibres(self);
        // SAFETY: the fibre is done or recycled before `_fibres` is gone, and `scenario` borrows from
        // callers of this function.
        unsafe { self.start(Some("main".to_owned()), scenario) };
        loop {
            let Some((slot, mut fibre)) = self.core.borrow_mut().enter() else { break };
            if fibre.resume() {
                // SAFETY: it is done.
                unsafe { fibre.recycle() };
            } else {
                self.core.borrow_mut().thread(slot).fibre = Some(fibre);
            }
        }
    }

    /// A thread more.
    ///
    /// # Safety
    /// What `body` borrows outlives the run.
    unsafe fn start(&self, name: Option<String>, body: impl FnOnce()) -> ThreadId {
        let (slot, id) = self.core.borrow_mut().add(name);
        let run = move |exit| {
            inside(|engine| engine.core.borrow_mut().current().exit = exit);
            body();
            inside(|engine| engine.core.borrow_mut().end_current());
        };
        // SAFETY: the caller's promise.
        let fibre = unsafe { Fibre::new(run) };
        self.core.borrow_mut().thread(slot).fibre = Some(Box::new(fibre));
        id
    }

    /// Ends the turn of the current thread, if it is to end. Returns at its next one.
    fn turn(&self, turn: Turn) {
        if turn == Turn::Ends {
            let exit = {
                let mut core = self.core.borrow_mut();
                core.leave();
                core.current().exit
            };
            // SAFETY: the current thread is the one that runs, and this is the way out of its fibre.
            unsafe { fibre::leave(exit) };
        }
    }
}

/// Recycles the fibres of a run at its end.
struct Fibres<'a>(&'a Engine);

impl Drop for Fibres<'_> {
    fn drop(&mut self) {
        for fibre in self.0.core.borrow_mut().drain_fibres() {
            // SAFETY: the run is over: no thread goes on that could have a pointer into its stack.
            unsafe { fibre.recycle() };
        }
    }
}

/// Whether the calling OS thread is in a run.
pub(crate) fn is_inside() -> bool {
    !CURRENT.get().is_null()
}

fn inside<R>(f: impl FnOnce(&Engine) -> R) -> Option<R> {
    let engine = CURRENT.get();
    // SAFETY: it is null, or set by `drive`, which holds the engine until it has set it to null.
    unsafe { engine.as_ref() }.map(f)
}

/// What `f` says of the run, without a step; `None` outside.
fn ask<R>(f: impl FnOnce(&mut Core) -> R) -> Option<R> {
    inside(|engine| f(&mut engine.core.borrow_mut()))
}

/// A step: somebody else may go on before `access` is done.
pub(crate) fn step(access: Access) {
    inside(|engine| {
        let turn = engine.core.borrow_mut().step(access);
        engine.turn(turn);
    });
}

/// Lets others go on, if there are any; `nanos` go by.
pub(crate) fn give_way(op: Op, nanos: u64) {
    inside(|engine| {
        let turn = engine.core.borrow_mut().give_way(Access::bare(op), nanos);
        engine.turn(turn);
    });
}

/// Waits, for `nanos` at most; whether it was woken.
///
/// # Panics
/// Outside a run, where nobody could wake it.
pub(crate) fn block(wait: Wait, nanos: Option<u64>) -> bool {
    let waited = inside(|engine| {
        let turn = {
            let mut core = engine.core.borrow_mut();
            let deadline = nanos.and_then(|nanos| core.clock().checked_add(nanos));
            core.block(wait, deadline)
        };
        engine.turn(turn);
        !engine.core.borrow_mut().current().timed_out
    });
    waited.expect("this would wait for ever: outside a simulation there is only one thread")
}

/// Lets the thread in `slot` go on, if it waits at `on`.
pub(crate) fn wake(slot: usize, on: usize) {
    ask(|core| core.wake(slot, on));
}

/// Lets all go on that wait at `on`.
pub(crate) fn wake_all(on: usize) {
    ask(|core| core.wake_all(on));
}

/// Starts a thread.
///
/// # Panics
/// Outside a run.
pub(crate) fn spawn(name: Option<String>, body: impl FnOnce() + 'static) -> ThreadId {
    step(Access::bare(Op::Spawn));
    // SAFETY: `body` borrows nothing.
    let started = inside(|engine| unsafe { engine.start(name, body) });
    started.expect("virtual threads only exist inside a simulation: see cantina_sim::engine::run")
}

/// The scenario has panicked: the run is over.
pub(crate) fn end_run() {
    ask(Core::end_run);
}

/// The current thread's slot and number, in a run.
pub(crate) fn current() -> Option<(usize, ThreadId)> {
    ask(|core| (core.current_slot(), core.current().id))
}

/// Virtual nanoseconds since the run began; 0 outside.
pub(crate) fn clock() -> u64 {
    ask(|core| core.clock()).unwrap_or(0)
}

/// A seed for the program, in a run.
pub(crate) fn seed() -> Option<u64> {
    ask(Core::seed_for_program)
}

/// Whether the current thread is unwinding, in a run.
pub(crate) fn is_unwinding() -> Option<bool> {
    ask(|core| core.is_unwinding())
}
