//! The run that the calling OS thread is in, and what the facade asks of it.
//!
//! Each OS thread has its own: several simulations may run at once, on different OS threads. Outside
//! a run these do to memory what they say, do nothing else, or say that they cannot.

use crate::engine::access::{Access, Op};
use crate::engine::core::{Core, Turn};
use crate::engine::table::Ending;
use crate::engine::threads::{Operation, ThreadId, Wait};
use crate::fibre::{self, Fibre};
use crate::memory::place::Place;
use std::cell::{Cell, RefCell};

thread_local! {
    static CURRENT: Cell<*const Engine> = const { Cell::new(std::ptr::null()) };
}

/// A run, as its fibres see it.
pub(crate) struct Engine {
    core: RefCell<Core>,
}

/// Says that the calling OS thread is in a run, while it lives; then recycles the fibres.
struct Inside<'a>(&'a Engine);

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        for fibre in self.0.core.borrow_mut().close() {
            // SAFETY: the run is over: no thread goes on that could have a pointer into its stack.
            unsafe { fibre.recycle() };
        }
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
        let _inside = Inside(self);
        // SAFETY: the fibre is done or recycled when `_inside` is gone, and what `scenario` borrows
        // belongs to callers of this function.
        unsafe { self.start(Some("main".to_owned()), scenario) };
        loop {
            let Some((slot, mut fibre)) = self.core.borrow_mut().enter() else { break };
            if fibre.resume() {
                // SAFETY: it is done.
                unsafe { fibre.recycle() };
            } else {
                self.core.borrow_mut().table.thread(slot).fibre = Some(fibre);
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
            ask(|core| core.table.current().exit = exit);
            body();
            ask(Core::end_current);
        };
        // SAFETY: the caller's promise.
        let fibre = unsafe { Fibre::new(run) };
        self.core.borrow_mut().table.thread(slot).fibre = Some(Box::new(fibre));
        id
    }

    /// Does `turn`, which may end the turn of the current thread; returns at its next one.
    fn take(&self, turn: impl FnOnce(&mut Core) -> Turn) {
        let exit = {
            let mut core = self.core.borrow_mut();
            if turn(&mut core) == Turn::Goes {
                return;
            }
            core.table.leave();
            core.table.current().exit
        };
        // SAFETY: the current thread is the one that runs, and this is the way out of its fibre.
        unsafe { fibre::leave(exit) };
    }

    /// A step: something else may happen before `access` is done, which is what `act` does.
    fn step<R>(&self, access: Access, act: impl FnOnce(&mut Core) -> R) -> R {
        self.take(|core| core.step(access));
        act(&mut self.core.borrow_mut())
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

/// A step that is no access to a word.
pub(crate) fn step(access: Access) {
    inside(|engine| engine.step(access, Core::act));
}

/// A step: reads the word at `place`.
pub(crate) fn load(place: Place) -> u64 {
    let access = Access::word(Op::Load, place);
    inside(|engine| engine.step(access, |core| core.load(place))).unwrap_or_else(|| place.read())
}

/// A step: writes `bits` at `place`; `op` is one of the stores.
pub(crate) fn store(op: Op, place: Place, bits: u64) {
    let access = Access::word(op, place);
    inside(|engine| engine.step(access, |core| core.store(place, bits)))
        .unwrap_or_else(|| place.write(bits));
}

/// A step: writes what `f` makes of the word at `place`, if it makes something. What it was.
pub(crate) fn update(op: Op, place: Place, f: impl Fn(u64) -> Option<u64>) -> Result<u64, u64> {
    let access = Access::word(op, place);
    inside(|engine| engine.step(access, |core| core.update(place, &f))).unwrap_or_else(|| {
        loop {
            let old = place.read();
            let new = f(old).ok_or(old)?;
            if place.exchange(old, new) {
                return Ok(old);
            }
        }
    })
}

/// The memory between `start` and `end` is about to be used for something else.
pub(crate) fn clear(start: usize, end: usize) {
    ask(|core| core.clear(start, end));
}

/// Lets others go on, if there are any; `nanos` go by.
pub(crate) fn give_way(op: Op, nanos: u64) {
    inside(|engine| engine.take(|core| core.give_way(Access::bare(op), nanos)));
}

/// Waits, for `nanos` at most; whether it was woken.
///
/// # Panics
/// Outside a run, where nobody could wake it.
pub(crate) fn block(wait: Wait, nanos: Option<u64>) -> bool {
    let waited = inside(|engine| {
        engine.take(|core| {
            let deadline = nanos.and_then(|nanos| core.clock().checked_add(nanos));
            core.block(wait, deadline)
        });
        !engine.core.borrow_mut().table.current().timed_out
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

/// Whether `thread` has crashed.
pub(crate) fn has_crashed(thread: ThreadId) -> bool {
    ask(|core| core.table.crashed.iter().any(|&(crashed, _)| crashed == thread)).unwrap_or(false)
}

/// Whether a weak compare-and-exchange fails for no reason.
pub(crate) fn fails_weakly() -> bool {
    ask(|core| core.table.fails_weakly()).unwrap_or(false)
}

/// The scenario has panicked: the run is over.
pub(crate) fn end_run() {
    ask(|core| core.table.end(Ending::Done));
}

/// The current thread's slot and number, in a run.
pub(crate) fn current() -> Option<(usize, ThreadId)> {
    ask(|core| (core.table.current, core.table.current().id))
}

/// Virtual nanoseconds since the run began; 0 outside.
pub(crate) fn clock() -> u64 {
    ask(Core::clock).unwrap_or(0)
}

/// A seed for the program, in a run.
pub(crate) fn seed() -> Option<u64> {
    ask(|core| core.table.numbers.next_u64())
}

/// Whether the current thread is unwinding, in a run.
pub(crate) fn is_unwinding() -> Option<bool> {
    ask(|core| core.table.is_unwinding())
}

/// The current thread begins an operation; in a run, the one it was in.
pub(crate) fn begin(name: &str) -> Option<Option<Operation>> {
    ask(|core| core.table.begin(name))
}

/// The current thread ends its operation and is back in `outer`.
pub(crate) fn finish(outer: Option<Operation>) {
    ask(|core| core.table.finish(outer));
}
