//! The run that the calling OS thread is in, and what the facade asks of it.
//!
//! Each OS thread has its own: several simulations may run at once, on different OS threads. Outside
//! a run these do to memory what they say, do nothing else, or say that they cannot.

use crate::arena::{self, Exhausted};
use crate::cost::Machine;
use crate::engine::access::{Access, Op};
use crate::engine::core::{Core, Turn};
use crate::engine::table::Ending;
use crate::engine::threads::{Operation, ThreadId, Wait};
use crate::fibre::{self, Fibre};
use crate::memory::place::Place;
use crate::trace::What;
use std::alloc::Layout;
use std::cell::{Cell, RefCell};
use std::ptr::NonNull;

thread_local! {
    static CURRENT: Cell<*const Engine> = const { Cell::new(std::ptr::null()) };
}

/// A run, as its fibres see it.
pub(crate) struct Engine {
    core: RefCell<Core>,
    /// A fibre runs. What is allocated then is the program's, unless the core is borrowed.
    running: Cell<bool>,
    /// Cells are billed for already.
    bulk: Cell<bool>,
}

/// Says that cells are billed for already, while it lives, where that makes a difference.
pub(crate) struct Bulk(bool);

impl Drop for Bulk {
    fn drop(&mut self) {
        if self.0 {
            inside(|engine| engine.bulk.set(false));
        }
    }
}

/// Says that the calling OS thread is in a run, while it lives; then recycles the fibres.
struct Inside<'a>(&'a Engine);

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        let fibres: Vec<_> = self.0.core.borrow_mut().close().collect();
        for fibre in fibres {
            // SAFETY: the run is over: no thread goes on that could have a pointer into its stack.
            unsafe { fibre.recycle() };
        }
        CURRENT.set(std::ptr::null());
    }
}

impl Engine {
    pub(crate) fn new(core: Core) -> Self {
        Self { core: RefCell::new(core), running: Cell::new(false), bulk: Cell::new(false) }
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
        unsafe { self.start(Some("main".to_owned()), Box::new(scenario)) };
        loop {
            let Some((slot, mut fibre)) = self.core.borrow_mut().enter() else { break };
            self.running.set(true);
            let done = fibre.resume();
            self.running.set(false);
            if done {
                // SAFETY: it is done.
                unsafe { fibre.recycle() };
            } else {
                self.core.borrow_mut().table.thread(slot).fibre = Some(fibre);
            }
        }
    }

    /// A thread more. In a box: what is below is compiled once, not for each body.
    ///
    /// # Safety
    /// What `body` borrows outlives the run.
    unsafe fn start(&self, name: Option<String>, body: Box<dyn FnOnce() + '_>) -> ThreadId {
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
        debug_assert!(!self.bulk.get(), "something else than cells, in bulk");
        self.take(|core| core.step(access));
        self.take(|core| core.reach(access.address));
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

/// A step that reaches into a cell, if that is not billed for already.
pub(crate) fn data(access: Access) {
    inside(|engine| {
        if !engine.bulk.get() {
            engine.step(access, Core::act);
        }
    });
}

/// Cells are no steps from now on, where steps only take time.
pub(crate) fn in_bulk() -> Bulk {
    Bulk(
        inside(|engine| engine.core.borrow().is_only_timed() && !engine.bulk.replace(true))
            .unwrap_or(false),
    )
}

/// The current thread has run so many instructions.
pub(crate) fn compute(instructions: u64) {
    inside(|engine| engine.take(|core| core.compute(instructions)));
}

/// The current thread asks for the line at `address` before it needs it.
pub(crate) fn ask_ahead(address: usize, to_write: bool) {
    ask(|core| core.ask_ahead(address, to_write));
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
pub(crate) fn update(op: Op, place: Place, f: &dyn Fn(u64) -> Option<u64>) -> Result<u64, u64> {
    let access = Access::word(op, place);
    inside(|engine| engine.step(access, |core| core.update(place, f))).unwrap_or_else(|| {
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

/// A block for the program, in a run that has an arena for it.
pub(crate) fn allocate(layout: Layout) -> Option<NonNull<u8>> {
    inside(|engine| {
        if !engine.running.get() {
            return None;
        }
        // Where the core is borrowed, the simulator allocates for itself.
        let allocated = engine.core.try_borrow_mut().ok()?.allocate(layout);
        allocated.unwrap_or_else(|Exhausted| {
            engine.take(|core| {
                core.table.end(Ending::Memory);
                Turn::Ends
            });
            unreachable!("a run that is over does not go on")
        })
    })
    .flatten()
}

/// A block is given back that may have been allocated here.
pub(crate) fn free(start: usize, layout: Layout) {
    inside(|engine| {
        if let Ok(mut core) = engine.core.try_borrow_mut() {
            core.free(start, layout);
        }
    });
    arena::count_freed(start);
}

/// Lets others go on, if there are any, for `turns` of `op`.
pub(crate) fn give_way(op: Op, turns: u64) {
    inside(|engine| engine.take(|core| core.give_way(Access::much(op, turns))));
}

/// Waits, for `nanos` at most; whether it was woken.
///
/// # Panics
/// Outside a run, where nobody could wake it.
pub(crate) fn block(wait: Wait, nanos: Option<u64>) -> bool {
    let waited = inside(|engine| {
        engine.take(|core| {
            let deadline = nanos.map(|nanos| core.clock().saturating_add(nanos));
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

/// Lets those go on that wait for the lock at `on`.
pub(crate) fn unlock(on: usize) {
    ask(|core| core.unlock(on));
}

/// How often it pays to look at a lock again before going to sleep.
pub(crate) fn lock_spins() -> usize {
    ask(|core| core.lock_spins()).unwrap_or(0)
}

/// How often it pays to look at anything else again before going to sleep.
pub(crate) fn looks() -> usize {
    lock_spins().min(cantina_machine::looks())
}

/// What whoever takes a lock loses while others look at it again and again: cycles.
pub(crate) fn lock_watched() -> u64 {
    ask(|core| core.lock_watched()).unwrap_or(0)
}

/// The `bytes` bytes at `start` belong on `node`, or, `None`, no longer anywhere.
pub(crate) fn place(start: usize, bytes: usize, node: Option<usize>) {
    ask(|core| core.place(start, bytes, node));
}

/// Binds the current thread to `core`; outside a run there are no cores.
pub(crate) fn bind(core: usize) -> bool {
    ask(|core_of_run| core_of_run.bind(core)).unwrap_or(false)
}

/// The core that the current thread runs on, in a run.
pub(crate) fn core() -> Option<usize> {
    ask(|core| core.table.current().core)
}

/// The machine of the run; outside, the one that a run has unless told otherwise.
pub(crate) fn machine() -> Machine {
    ask(|core| Machine::clone(&core.machine)).unwrap_or_default()
}

/// Starts a thread.
///
/// # Panics
/// Outside a run.
pub(crate) fn spawn(name: Option<String>, body: Box<dyn FnOnce()>) -> ThreadId {
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

/// The current thread's own word, in a run.
pub(crate) fn word() -> Option<usize> {
    ask(|core| core.table.current().word)
}

/// Sets the current thread's own word. Whether there is a run.
pub(crate) fn set_word(word: usize) -> bool {
    ask(|core| core.table.current().word = word).is_some()
}

/// Puts a note into the log.
pub(crate) fn note(text: &str) {
    ask(|core| core.record(0, || What::Note(text.to_owned())));
}

/// Puts what `what` says of the place at `start` into the log, if there is one; asked once at most.
pub(crate) fn tell(start: usize, what: &mut dyn FnMut() -> What) {
    ask(|core| core.record(start, what));
}

/// Names `bytes` bytes at `start` in the log.
pub(crate) fn name(start: usize, bytes: usize, name: &str) {
    ask(|core| core.table.log.as_mut().map(|log| log.name_place(start, bytes, name)));
}

/// How many steps the current thread has taken; none outside a run.
pub(crate) fn own_steps() -> u64 {
    ask(|core| core.table.current().steps).unwrap_or(0)
}

/// The current thread begins an operation; in a run, the one it was in.
pub(crate) fn begin(name: &str) -> Option<Option<Operation>> {
    ask(|core| {
        core.record(0, || What::Begin(name.to_owned()));
        core.table.begin(name)
    })
}

/// The current thread ends its operation and is back in `outer`.
pub(crate) fn finish(outer: Option<Operation>) {
    ask(|core| {
        let name = core.table.current().operation.as_ref().map(|ended| ended.name.clone());
        core.record(0, || What::End(name.unwrap_or_default()));
        core.table.finish(outer);
    });
}
