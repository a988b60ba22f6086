//! Virtual threads, and where they run.
//!
//! They exist inside a run only. Each has a stack of a megabyte; `std`'s thread locals belong to
//! the OS thread and are shared by all of them.

use crate::engine::threads::{ThreadId, Wait};
use crate::engine::{Access, Op, current};
use crate::time::Duration;
use crate::topology::CoreId;
use std::fmt;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, PoisonError};

/// A thread to be.
#[derive(Debug, Default)]
#[must_use = "no thread is started until `spawn`"]
pub struct Builder {
    name: Option<String>,
}

/// A virtual thread, to wait for its end. Dropped, it lets the thread go its way.
pub struct JoinHandle<T> {
    thread: ThreadId,
    packet: Arc<Packet<T>>,
}

/// What a thread leaves behind.
struct Packet<T> {
    result: Mutex<Option<std::thread::Result<T>>>,
    /// The slot of whoever waits for it.
    joiner: AtomicUsize,
}

/// What comes out of `join` when the thread has crashed: see
/// [`Simulation::crash`](crate::engine::Simulation::crash).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crashed;

/// The calling thread cannot be bound to that core.
#[derive(Debug)]
pub struct PinError {
    core: CoreId,
}

/// Starts a virtual thread.
///
/// # Panics
/// Outside a run, and when there are [too many](crate::engine::MAX_THREADS).
pub fn spawn<T, F>(f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    start(None, Box::new(f))
}

impl Builder {
    /// A thread without a name.
    pub fn new() -> Self {
        Self::default()
    }

    /// Names it, for reports.
    pub fn name(mut self, name: String) -> Self {
        self.name = Some(name);
        self
    }

    /// Changes nothing: all virtual threads have the same stack size.
    pub fn stack_size(self, _bytes: usize) -> Self {
        self
    }

    /// Starts it.
    ///
    /// # Errors
    /// None, on this machine.
    ///
    /// # Panics
    /// As [`spawn`].
    pub fn spawn<T, F>(self, f: F) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        Ok(start(self.name, Box::new(f)))
    }
}

/// In a box: compiled for each result, not for each body.
fn start<T>(name: Option<String>, f: Box<dyn FnOnce() -> T + Send>) -> JoinHandle<T>
where
    T: Send + 'static,
{
    let packet = Arc::new(Packet { result: Mutex::new(None), joiner: AtomicUsize::new(0) });
    let theirs = packet.clone();
    let body = move || {
        let result = catch_unwind(AssertUnwindSafe(f));
        current::step(Access::bare(Op::End));
        *theirs.result.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
        current::wake(theirs.joiner.load(Relaxed), theirs.address());
    };
    let thread = current::spawn(name, Box::new(body));
    JoinHandle { thread, packet }
}

impl<T> Packet<T> {
    fn address(&self) -> usize {
        (&raw const *self).cast::<()>() as usize
    }

    fn is_here(&self) -> bool {
        self.result.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }
}

impl<T> JoinHandle<T> {
    /// Waits until the thread is done.
    ///
    /// # Errors
    /// What the thread's panic carried, or [`Crashed`].
    ///
    /// # Panics
    /// Outside a run, when the thread was abandoned.
    pub fn join(self) -> std::thread::Result<T> {
        current::step(Access::bare(Op::Join));
        while !self.packet.is_here() {
            if current::has_crashed(self.thread) {
                return Err(Box::new(Crashed));
            }
            if let Some((slot, _)) = current::current() {
                self.packet.joiner.store(slot, Relaxed);
            }
            current::block(Wait::Join { on: self.packet.address(), thread: self.thread }, None);
        }
        let mut result = self.packet.result.lock().unwrap_or_else(PoisonError::into_inner);
        result.take().expect("only one handle takes it")
    }

    /// Whether the thread is done.
    pub fn is_finished(&self) -> bool {
        current::step(Access::bare(Op::Join));
        self.packet.is_here()
    }
}

/// Lets others go on, if there are any.
pub fn yield_now() {
    current::give_way(Op::Yield, 1);
}

/// Says that this is a spin loop: others go on, if there are any.
pub fn spin_loop() {
    current::give_way(Op::Spin, 1);
}

/// Sleeps in virtual time. Outside a run, not at all.
pub fn sleep(duration: Duration) {
    if current::is_inside() {
        current::step(Access::bare(Op::Sleep));
        let nanos = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        current::block(Wait::Sleep, Some(nanos));
    }
}

/// Whether the calling thread is unwinding.
pub fn panicking() -> bool {
    current::is_unwinding().unwrap_or_else(std::thread::panicking)
}

/// How many threads can run at once: the cores of the simulated machine.
pub fn available_parallelism() -> usize {
    current::machine().core_count()
}

/// As [`available_parallelism`]: threads run where the machine has them.
pub fn own_parallelism() -> usize {
    available_parallelism()
}

/// Binds the calling thread to `core`, until it ends or is bound to another.
///
/// # Errors
/// Where the simulated machine has no such core, and outside a run.
pub fn pin_to(core: CoreId) -> Result<(), PinError> {
    if current::bind(core.0) { Ok(()) } else { Err(PinError { core }) }
}

/// The calling thread's own word: 0 until it is set. Outside a run, the OS thread's.
pub fn word() -> usize {
    current::word().unwrap_or_else(cantina_machine::thread::word)
}

/// Sets the calling thread's own word.
pub fn set_word(word: usize) {
    if !current::set_word(word) {
        cantina_machine::thread::set_word(word);
    }
}

/// The core the calling thread runs on.
pub fn current_core() -> Option<CoreId> {
    current::core().map(CoreId)
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").field("thread", &self.thread).finish_non_exhaustive()
    }
}

impl fmt::Display for PinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot bind the thread to {}: the machine has no such core", self.core)
    }
}

impl std::error::Error for PinError {}
