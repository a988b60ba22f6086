//! The runtime: its workers, how it begins and how it ends.

use super::argument::Argument;
use super::blocking::Blocking;
use super::cancel::{Canceller, cancellable};
use super::context::{self, Context};
use super::error::WaitError;
use super::eventual::{Eventual, Promise, pair};
use super::metrics::Metrics;
use super::operation::{self, caught};
use super::places::Places;
use super::run::{self, Idle, Kind, Left};
use super::shared::{Reference, Settings};
use super::tail::Tail;
use super::unheard::{Hook, UnheardPanic};
use super::unit::{Unit, UnitBuilder};
use crate::pool::BuildError;
use machine::Topology;
use machine::fence::Pair;
use machine::park::{Parker, Unparker};
use machine::thread::{self, JoinHandle};
use machine::time::Duration;
use std::fmt;
use std::ops::Deref;

/// Each knows all others.
const MAX_WORKERS: usize = 4096;
/// Of each worker, at first.
const MAX_ROOM: usize = 1 << 20;

/// Workers that run operations; see the [module](super). It is a [`Handle`] that owns them.
///
/// Dropped, it stops: operations that run come to their end, all others fail with [`WaitError::Cancelled`], and so
/// every eventual is resolved. It waits for its workers, unless it is dropped on a worker, its own or another runtime's: that
/// one may be waiting for this.
///
/// ```
/// use cantina::scheduler::Runtime;
///
/// let runtime = Runtime::builder().workers(2).build().unwrap();
/// let parts: Vec<_> = (1..=3).map(|part| runtime.spawn(move || part * part)).collect();
/// assert_eq!(runtime.after(parts, |parts| parts.into_iter().sum::<i32>()).wait(), Ok(14));
/// ```
pub struct Runtime {
    handle: Handle,
    workers: Vec<JoinHandle<()>>,
}

/// A handle to a [`Runtime`], for use inside operations. It does not keep the runtime running.
#[derive(Clone)]
pub struct Handle {
    pub(super) shared: Reference,
}

/// Settings for a [`Runtime`].
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until it builds"]
pub struct Builder {
    workers: usize,
    budget: usize,
    turn_time: Option<Duration>,
    room: usize,
    name: String,
    topology: Option<Topology>,
    fences: Option<Pair>,
    pin: bool,
    blocking_threads: usize,
    on_panic: Option<Hook>,
}

impl Runtime {
    /// A runtime with a worker for each thread that can run at once.
    ///
    /// # Panics
    /// When the operating system starts no threads.
    pub fn new() -> Self {
        Self::builder().build().expect("the operating system starts threads")
    }

    /// Settings to build one from.
    pub fn builder() -> Builder {
        let workers = thread::available_parallelism();
        let name = "cantina".to_owned();
        Builder {
            workers,
            budget: 64,
            turn_time: None,
            room: 64,
            name,
            topology: None,
            fences: None,
            pin: false,
            blocking_threads: 512,
            on_panic: None,
        }
    }

    /// A handle to it.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Takes no more operations from outside, runs those there are and what they cause, but no longer than `deadline`,
    /// and stops: nothing more is begun. What was left undone failed with [`WaitError::Cancelled`]; only what [blocks](Handle::spawn_blocking) and has begun
    /// goes on. An operation that a worker has begun cannot be interrupted: it comes to its end, and is waited for, however long after the
    /// deadline that is. An operation that blocks may shut its own runtime down, and is not waited for; on a worker, of any runtime, this
    /// stops at once and waits for nothing: what it returns is what is known then, and not what workers still have in their hands.
    ///
    /// ```
    /// use cantina::scheduler::Runtime;
    /// use std::time::Duration;
    ///
    /// let runtime = Runtime::new();
    /// let handle = runtime.handle();
    /// let one = runtime.spawn(|| 1);
    /// assert!(runtime.shutdown(Duration::from_secs(10)).is_nothing());
    /// assert_eq!(one.wait(), Ok(1));
    /// assert!(handle.spawn(|| 2).wait().is_err());
    /// ```
    pub fn shutdown(mut self, deadline: Duration) -> Left {
        self.handle.shared.come_to_rest(deadline);
        self.stop()
    }

    fn stop(&mut self) -> Left {
        let shared = &self.handle.shared;
        shared.stop();
        if !context::is_worker() {
            // A worker's panic is a bug of the scheduler; the others are waited for all the same.
            self.workers.drain(..).for_each(|worker| drop(worker.join()));
        }
        shared.take_left()
    }
}

impl Builder {
    /// How many workers there are, 1 to 4096; one for each thread that can run at once, unless told.
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = workers;
        self
    }

    /// How many messages of a unit run before others have their turn; 64 unless told.
    pub fn budget(mut self, messages: usize) -> Self {
        self.budget = messages;
        self
    }

    /// How long messages of a unit run, one after the other, before others have their turn, however few there were; as long as the
    /// [budget](Self::budget) takes unless told. It costs a look at the clock for each message.
    pub fn turn_time(mut self, time: Duration) -> Self {
        self.turn_time = Some(time);
        self
    }

    /// How many operations each worker has room for at first, of each kind, at most 1048576; 64 unless told. There is more
    /// when it is needed.
    pub fn room(mut self, operations: usize) -> Self {
        self.room = operations;
        self
    }

    /// What the machine looks like; it is asked unless told. Workers are spread over its cores, and steal from those on
    /// their own node first, then from node to node as they are far. Of three and more they steal free operations from the one that has most,
    /// and from the nearest of those that have as many.
    pub fn topology(mut self, topology: Topology) -> Self {
        self.topology = Some(topology);
        self
    }

    /// The fences between workers and those who steal from them or wake them: the cheapest the process can have unless
    /// told. So that every machine can run both kinds.
    #[doc(hidden)]
    pub fn fences(mut self, fences: Pair) -> Self {
        self.fences = Some(fences);
        self
    }

    /// Whether each worker is bound to its core; not unless told. Where that is refused it runs anywhere.
    pub fn pin(mut self, pin: bool) -> Self {
        self.pin = pin;
        self
    }

    /// How many threads there may be for operations that block; 512 unless told. They are started when they are needed,
    /// and go when they have had nothing to do for ten seconds. Operations that block until others of them run need a
    /// thread each. 0 is taken for 1.
    pub fn blocking_threads(mut self, threads: usize) -> Self {
        self.blocking_threads = threads.max(1);
        self
    }

    /// What hears of panics that nobody else does: of what was [told](Unit::tell), and of an operation whose [eventual](Eventual)
    /// goes before anybody has looked at it. The panic may have been that of an operation before it. It is called where
    /// that is found, on a worker most often, and so should not block. If it panics itself, nothing comes of that.
    ///
    /// It stays as long as the runtime's memory, since what is found behind the end is heard of, too: as long as there is a
    /// handle, a unit or an eventual. A hook that has one of these of its own runtime keeps that memory for ever; let it send what it hears to another
    /// thread, or to a unit of another runtime.
    ///
    /// ```
    /// use cantina::scheduler::Runtime;
    /// use std::sync::mpsc::channel;
    /// use std::time::Duration;
    ///
    /// let (tells, told) = channel();
    /// let runtime = Runtime::builder().on_panic(move |panic| tells.send(panic.clone()).unwrap()).build().unwrap();
    /// let unit = runtime.unit_builder().name("till").build(0);
    /// unit.tell(|_| panic!("no change"));
    /// let panic = told.recv().unwrap();
    /// assert_eq!((panic.message.as_str(), panic.unit.as_deref()), ("no change", Some("till")));
    /// assert_eq!(runtime.metrics().unheard_panics, 1);
    /// ```
    pub fn on_panic(mut self, f: impl Fn(&UnheardPanic) + Send + Sync + 'static) -> Self {
        self.on_panic = Some(Hook::new(f));
        self
    }

    /// What its threads are called; `cantina` unless told. Workers have a number behind it, threads for operations that block
    /// the word `blocking`.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Starts the workers.
    ///
    /// # Errors
    /// Without workers, without a budget, with more workers or room than anybody has use for, with a name that no thread can have,
    /// and when the operating system starts no threads.
    pub fn build(self) -> Result<Runtime, BuildError> {
        if !(1..=MAX_WORKERS).contains(&self.workers) {
            let allowed = format!("1 to {MAX_WORKERS}");
            return Err(BuildError::new("workers", self.workers, allowed));
        }
        if self.room > MAX_ROOM {
            return Err(BuildError::new("room", self.room, format_args!("at most {MAX_ROOM}")));
        }
        if self.budget == 0 {
            return Err(BuildError::new("budget", 0, "at least 1"));
        }
        if self.name.contains('\0') {
            let given = format!("{:?}", self.name);
            return Err(BuildError::new("name", given, "one without the character 0"));
        }
        let (workers, pin) = (self.workers, self.pin);
        let parkers: Vec<Parker> = (0..workers).map(|_| Parker::new()).collect();
        let shared = self.shared(parkers.iter().map(Parker::unparker).collect());
        let mut runtime = Runtime { handle: Handle { shared }, workers: Vec::new() };
        for (index, parker) in parkers.into_iter().enumerate() {
            let shared = runtime.handle.shared.clone();
            let builder = thread::Builder::new().name(shared.worker_name(index));
            let started = builder.spawn(move || {
                if pin {
                    // Refused, it runs where it can.
                    let _refused = thread::pin_to(shared.places.core(index));
                }
                run::run(&shared, index, &parker);
            });
            let refused =
                |_| BuildError::new("workers", workers, "as many as there can be threads");
            runtime.workers.push(started.map_err(refused)?);
        }
        Ok(runtime)
    }

    /// One without workers, for tests of what does without them: promises, their values, and the end.
    #[doc(hidden)]
    pub fn without_workers(mut self) -> Runtime {
        self.workers = 0;
        Runtime { handle: Handle { shared: self.shared(Vec::new()) }, workers: Vec::new() }
    }

    /// One whose workers have no threads.
    #[cfg(test)]
    pub(super) fn without_threads(self) -> Runtime {
        let parkers: Vec<Parker> = (0..self.workers).map(|_| Parker::new()).collect();
        let shared = self.shared(parkers.iter().map(Parker::unparker).collect());
        Runtime { handle: Handle { shared }, workers: Vec::new() }
    }

    fn shared(self, workers: Vec<Unparker>) -> Reference {
        let fences = self.fences.unwrap_or_else(Pair::best);
        let topology = self.topology.unwrap_or_else(Topology::detect);
        let settings = Settings {
            workers: self.workers,
            room: self.room,
            fences,
            budget: self.budget,
            turn_time: self.turn_time,
            blocking: Blocking::new(self.blocking_threads, format!("{}-blocking", self.name)),
            name: self.name,
            places: Places::new(self.workers, &topology),
            on_panic: self.on_panic,
        };
        Reference::new(settings, Idle::new(workers, fences))
    }
}

impl Handle {
    /// Runs `f`, a free operation.
    #[inline]
    pub fn spawn<T: Send + 'static>(&self, f: impl FnOnce() -> T + Send + 'static) -> Eventual<T> {
        self.spawn_tail(move || f().into())
    }

    /// Runs `f`, a free operation that ends with a value or with another operation; see [`Tail`].
    #[inline]
    pub fn spawn_tail<T: Send + 'static>(
        &self,
        f: impl FnOnce() -> Tail<T> + Send + 'static,
    ) -> Eventual<T> {
        if self.shared.refuses() {
            return self.refused();
        }
        operation::spawn(self.shared.clone(), Kind::Free, f)
    }

    /// Runs `f`, a free operation, before those that are not urgent: they have one turn in eight beside it.
    ///
    /// ```
    /// let runtime = cantina::scheduler::Runtime::new();
    /// assert_eq!(runtime.spawn_urgent(|| 7).wait(), Ok(7));
    /// ```
    pub fn spawn_urgent<T: Send + 'static>(
        &self,
        f: impl FnOnce() -> T + Send + 'static,
    ) -> Eventual<T> {
        if self.shared.refuses() {
            return self.refused();
        }
        operation::spawn(self.shared.clone(), Kind::Urgent, move || f().into())
    }

    /// Runs `f` when all eventuals in `argument` are there, before operations that are not urgent.
    pub fn after_urgent<A: Argument, T: Send + 'static>(
        &self,
        argument: A,
        f: impl FnOnce(A::Out) -> T + Send + 'static,
    ) -> Eventual<T> {
        self.wait_for(Kind::Urgent, argument, move |argument| f(argument).into())
    }

    /// Runs `f`, a free operation, and until it begins it can be cancelled.
    pub fn spawn_cancellable<T: Send + 'static>(
        &self,
        f: impl FnOnce() -> T + Send + 'static,
    ) -> (Eventual<T>, Canceller<T>) {
        let (value, canceller, begin) = cancellable(self.shared.clone());
        if self.shared.refuses() {
            begin.fail(WaitError::Closed);
        } else {
            drop(self.spawn(move || begin.run(f, None)));
        }
        (value, canceller)
    }

    /// Runs `f` when all eventuals in `argument` are there. If one of them has failed, `f` does not run, and what is
    /// returned fails as that has.
    pub fn after<A: Argument, T: Send + 'static>(
        &self,
        argument: A,
        f: impl FnOnce(A::Out) -> T + Send + 'static,
    ) -> Eventual<T> {
        self.wait_for(Kind::Free, argument, move |argument| f(argument).into())
    }

    /// As [`after`](Self::after), for an operation that ends with a value or with another operation; see [`Tail`].
    ///
    /// ```
    /// let runtime = cantina::scheduler::Runtime::new();
    /// let handle = runtime.handle();
    /// let value = runtime.after_tail(runtime.spawn(|| 3), move |three| {
    ///     handle.tail(handle.spawn(|| 4), move |four| three * four)
    /// });
    /// assert_eq!(value.wait(), Ok(12));
    /// ```
    #[inline]
    pub fn after_tail<A: Argument, T: Send + 'static>(
        &self,
        argument: A,
        f: impl FnOnce(A::Out) -> Tail<T> + Send + 'static,
    ) -> Eventual<T> {
        self.wait_for(Kind::Free, argument, f)
    }

    #[inline(always)]
    fn wait_for<A: Argument, T: Send + 'static>(
        &self,
        kind: Kind,
        argument: A,
        f: impl FnOnce(A::Out) -> Tail<T> + Send + 'static,
    ) -> Eventual<T> {
        if self.shared.refuses() {
            return self.refused();
        }
        operation::begin::<_, _, _, 2>(self.shared.clone(), kind, argument, f)
    }

    /// The answer of a runtime that takes no more.
    #[cold]
    fn refused<T: Send + 'static>(&self) -> Eventual<T> {
        let (promise, eventual) = pair(self.shared.clone());
        promise.resolve(Err(WaitError::Closed));
        eventual
    }

    /// Runs `f`, which may block, on a thread for such operations: one that has nothing to do, or a new one, or when one
    /// is free again where there are as many as [allowed](Builder::blocking_threads). A runtime that [shuts down](Runtime::shutdown)
    /// waits for it as long as there is time, and takes what it sends; then, and when the runtime is dropped, it goes on alone if it has begun, and its value
    /// comes when it ends.
    ///
    /// ```
    /// let runtime = cantina::scheduler::Runtime::new();
    /// let (send, receive) = std::sync::mpsc::channel();
    /// let word = runtime.spawn_blocking(move || receive.recv().unwrap());
    /// runtime.spawn(move || send.send("done").unwrap());
    /// assert_eq!(word.wait(), Ok("done"));
    /// ```
    pub fn spawn_blocking<T: Send + 'static>(
        &self,
        f: impl FnOnce() -> T + Send + 'static,
    ) -> Eventual<T> {
        if self.shared.refuses() {
            return self.refused();
        }
        let (promise, eventual) = pair(self.shared.clone());
        let shared = self.shared.clone();
        self.shared.blocking.run(move |runs| {
            if runs {
                Context::of_blocking(&shared, || promise.resolve(caught(|| Ok(f()))));
            } else {
                context::quietly(|| drop(f));
                promise.resolve(Err(WaitError::Cancelled));
            }
        });
        eventual
    }

    /// A unit: `state`, and operations on it that never overlap.
    pub fn unit<S: Send + 'static>(&self, state: S) -> Unit<S> {
        self.unit_builder().build(state)
    }

    /// Settings for a unit.
    pub fn unit_builder<S: Send + 'static>(&self) -> UnitBuilder<S> {
        UnitBuilder::new(self.clone())
    }

    /// A value that code outside of the runtime provides.
    pub fn promise<T: Send + 'static>(&self) -> (Promise<T>, Eventual<T>) {
        pair(self.shared.clone())
    }

    /// What the workers have done so far.
    pub fn metrics(&self) -> Metrics {
        self.shared.metrics()
    }
}

impl Deref for Runtime {
    type Target = Handle;

    fn deref(&self) -> &Handle {
        &self.handle
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        // Who wants to know shuts it down.
        let _left = self.stop();
    }
}

impl Default for Runtime {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runtime").field("workers", &self.shared.counters.len()).finish()
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").field("workers", &self.shared.counters.len()).finish()
    }
}
