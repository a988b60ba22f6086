//! A scheduler of operations: objects whose operations never overlap, and values that arrive later.
//!
//! State lives in [units](Unit). Units talk by sending each other operations; a send returns at once, but for
//! one from outside into a [full](UnitBuilder::capacity) unit, with an [`Eventual`]. The way to use its value is to hand it to another operation, which begins when all its arguments are
//! there. So no operation waits for another one in the middle, and there is nothing to deadlock.
//!
//! ```
//! use cantina::scheduler::Runtime;
//!
//! let runtime = Runtime::builder().workers(2).build().unwrap();
//! let (here, there) = (runtime.unit(100), runtime.unit(0));
//! let taken = here.send(|balance| {
//!     *balance -= 30;
//!     30
//! });
//! let arrived = there.send_after(taken, |balance, amount| {
//!     *balance += amount;
//!     *balance
//! });
//! assert_eq!(arrived.wait(), Ok(30));
//! ```
//!
//! There is a [guide](#guide) below.
//!
//! # The rooms
//! | file | what it holds |
//! |---|---|
//! | runtime, shared, places | the runtime and its handles: how it begins, and how it ends; where its workers run |
//! | run | what is to be done: tasks, queues, workers, and who sleeps |
//! | deque | a worker's tasks: it works at one end, thieves at the other |
//! | unit, mailbox, message, room | a state and its messages, which somebody owns while there are some |
//! | cell, wakers, eventual, flat | the place of a value; the threads and tasks that wait for it; the handles to it; values in values |
//! | operation, argument, waits | free operations; what an operation can wait for, and operations that do |
//! | tail | operations that end with another one |
//! | blocking | threads for operations that block |
//! | cancel, scope | operations that can be cancelled, and those that borrow |
//! | context | what a thread is to the scheduler, and that nothing nests |
//! | blocks, slab, counted | memory that workers use again; memory of senders outside; references |
//! | unheard | panics that nobody hears of |
//! | metrics, spans | what workers and units have done; with the feature `tracing`, what they do |
//!
//! # What is promised
//! * The operations of a unit run one at a time, those of one sender in the order it sent them. An operation with
//!   arguments is sent when these are there.
//! * Every operation that was accepted runs once, or its eventual says why not. Every eventual of an operation is
//!   resolved, at the latest when the runtime has stopped; that of a [`Promise`] when it is kept or dropped.
//! * [`Eventual::wait`] and [`Handle::scope`] on a worker are [`WaitError::OnWorker`] at once. Inside an operation
//!   nothing waits, not for room either: see [`UnitBuilder::capacity`].
//! * A panic stays in its operation: its eventual is [`WaitError::Panicked`], and so are those that depend on it. Its
//!   unit is poisoned, or kept, or made anew, as [`UnitBuilder`] says. If nobody has that eventual, or looks at it, or there
//!   is none, [`Builder::on_panic`] hears of it.
//! * An operation that waits for its own value, by way of a cell, never begins, nor does one that another one [ends](Tail)
//!   with and that waits for the value which it is to bring. Nothing else is held up by it; when the runtime stops it is
//!   cancelled.
//! * A unit with many messages gives others their turn after a [budget](Builder::budget) of them. One that waits moves to
//!   a worker that has nothing to do when its own does not come to it within some 100 microseconds. Free operations are
//!   run last in, first out by the worker that spawned them, urgent ones before others; now and then the oldest has
//!   its turn.
//!
//! # Progress
//! Sends, spawns and turns are lock-free but for allocation: run queues, mailboxes and lists of waiters are exchanges of
//! words. The delivery of a message is lock-free from the moment on at which its unit is in a run queue: the thread whose message found the
//! mailbox idle puts it there, and if it is stopped between these two steps the messages of this unit wait for it, others' too. Locks are taken by who goes to sleep and who wakes a sleeper, by who hands on a chain of blocks, by
//! `spawn_blocking`, by who waits
//! for a promise outside of a worker, and by who is to be cancelled. An operation that blocks keeps its worker, and the
//! others do its other work.
//!
//! # Orderings
//! | edge | release side | acquire side | carries |
//! |---|---|---|---|
//! | `filled` | who fills a cell | who finds it filled | the value |
//! | `waiter` | who adds a waiter | who fills | the waiter and its link |
//! | `part` | a holder that has copied the value, or is gone | the last holder | that nobody reads the value any more |
//! | `shared` | who makes a second handle | who takes the value | how to copy it |
//! | `used` | a handle that has copied the value | who clones the same handle | that it has no hold |
//! | `alone` | the last handle to a value that is not there | who fills | that nobody looks at it any more |
//! | `free` | who gives up a reference to a cell | the last one | that nobody looks at it any more |
//! | `gone` | who gives up a reference | the last one | that nobody uses it any more |
//! | `slot` | who makes the place of those who wait outside | who finds it | the place |
//! | `ready` | each argument that arrives | the last of them | the arguments, for the operation |
//! | `listed` | an operation that waits for what may never come, or that another one ends with | who cancels it | the operation |
//! | `message` | who posts | the owner that takes all new ones | the message and its link |
//! | `owner` | an owner that finds nothing more | who posts to a mailbox that nobody owns | the state, and all that was done to it |
//! | `slabs` | a sender that is dropped | the next one | memory that is left, and that it has sent |
//! | `ended` | an operation of a scope that is over | who waits for the scope | that nothing is borrowed any more |
//!
//! What an operation did is seen by the next one of its unit, and by whoever gets its value.
//!
//! How the lists and words change, step by step, and why nothing is lost or slept over: `README.md` beside this file.
//!
#![doc = include_str!("GUIDE.md")]

mod argument;
mod blocking;
mod blocks;
mod cancel;
mod cell;
mod context;
mod counted;
#[doc(hidden)]
pub mod deque;
mod error;
mod eventual;
mod flat;
mod mailbox;
mod message;
mod metrics;
mod operation;
mod places;
mod room;
mod run;
mod runtime;
mod scope;
mod shared;
mod slab;
mod spans;
mod tail;
mod unheard;
mod unit;
mod waits;
mod wakers;

pub use argument::{Argument, Dependency, Value};
pub use cancel::Canceller;
#[cfg(feature = "derive")]
pub use cantina_derive::Argument;
pub use error::{Refused, WaitError};
pub use eventual::{Eventual, Promise};
pub use metrics::{Metrics, UnitMetrics, WorkerMetrics};
pub use run::Left;
pub use runtime::{Builder, Handle, Runtime};
pub use scope::Scope;
pub use tail::Tail;
pub use unheard::UnheardPanic;
pub use unit::{Sender, Unit, UnitBuilder, WeakUnit};
