//! The engine: virtual threads on one OS thread, and whose turn it is.
//!
//! [`run`] is the short form, [`Simulation`] the one with settings. A scenario is the first virtual
//! thread; it starts others with [`thread::spawn`](crate::thread::spawn). Each access to something
//! shared is a step, before which something else may happen. The schedule and the seed decide what,
//! and nothing else does: the same seed gives the same run.
//!
//! # The end of a run
//! A run ends when the scenario has returned and no other thread can go on. Those that still wait
//! are abandoned, as at the end of a process: their stacks are reused and nothing on them is dropped.
//! The same happens to all of them when a run fails.
//!
//! So what outlives a run must not point into the stack of a thread that was abandoned: a list in a
//! `static` whose nodes are pinned on stacks, say.
//!
//! # Panics
//! A panic unwinds its virtual thread and comes out of `join`, as with `std`; a panic of the scenario
//! ends the run. `std` counts panics per OS thread and could not tell whose they are if threads
//! were switched while one unwinds. So a thread that unwinds keeps its turn, unless it waits for
//! something; while it waits, [`panicking`](crate::thread::panicking) is false on all others.
//! A run that ends while a thread unwinds leaves `std`'s count where it was.
//!
//! # Outside a run
//! The facade works outside a run too, for statics, constructors and drops: memory is memory, the
//! clock stands still, and what would wait for another thread panics.

mod access;
mod bounds;
mod core;
pub(crate) mod current;
mod explore;
mod faults;
mod lookout;
mod panics;
mod report;
mod simulation;
pub(crate) mod slots;
mod spin;
pub(crate) mod table;
pub(crate) mod threads;
mod timed;
mod watchdog;

pub use crate::trace::Slot;
pub use access::Op;
pub use report::{Doing, Failure, Report, Standing};
pub use simulation::{DEFAULT_MEMORY, DEFAULT_STEPS, Memory, Outcome, Simulation, run};
pub use threads::{MAX_THREADS, ThreadId};
pub use watchdog::{Hang, Watchdog};

pub(crate) use access::Access;
pub(crate) use core::Turn;
