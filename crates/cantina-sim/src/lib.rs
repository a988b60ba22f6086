//! A simulated machine: virtual threads on one OS thread, schedules that replay, and what accesses
//! cost on a machine with many processors and several memory nodes.
//!
//! The names are those of `cantina-machine`, and code written for that one runs here unchanged.
//! [`engine`] is what tests and programs drive. It answers three questions about the same source:
//!
//! | question | ask |
//! |---|---|
//! | is it right on every schedule? | [`Simulation::run`](engine::Simulation::run) with a [`schedule`], many seeds; [`Exhaustive`](schedule::Exhaustive) for tiny programs |
//! | what if a thread dies or stalls? | [`Simulation::crash`](engine::Simulation::crash) and its kin, with the bounds of [`progress`] |
//! | how does it scale? | [`Simulation::run_timed`](engine::Simulation::run_timed) on a [`Machine`](cost::Machine) |
//!
//! ```
//! use cantina_sim::atomic::{AtomicUsize, Ordering::Relaxed};
//! use cantina_sim::{Arc, engine, thread};
//!
//! /// Two threads that add one, badly.
//! fn lost_update() -> usize {
//!     let count = Arc::new(AtomicUsize::new(0));
//!     let add = |count: &AtomicUsize| count.store(count.load(Relaxed) + 1, Relaxed);
//!     let theirs = count.clone();
//!     let other = thread::spawn(move || add(&theirs));
//!     add(&count);
//!     other.join().unwrap();
//!     count.load(Relaxed)
//! }
//!
//! let counts: Vec<usize> = (0..100).map(|seed| engine::run(seed, lost_update)).collect();
//! assert!(counts.contains(&1) && counts.contains(&2));
//! ```
//!
//! # What a step is
//! Every access to an atomic or a cell, every fence, and everything that a thread says to another one:
//! locking, parking, starting, joining, counting a reference of an [`Arc`]. Between two steps a thread
//! runs alone. So what threads share must go through the facade: a lock or a thread local of
//! `std`, the real clock, a crate that synchronizes inside, are invisible here, and a loop on one of
//! them hangs; see [`Watchdog`](engine::Watchdog).
//!
//! # What it cannot show
//! * Memory is as on x86: stores may be seen late, never out of order, and loads never early. So
//!   [`Memory::Tso`](engine::Memory::Tso) shows a missing fence between a store and a later load, and
//!   nothing else: every store releases here, every load acquires, and a `Relaxed` in the place of
//!   either does no harm. That they are needed is loom's to show, and the thread sanitizer's. Orderings
//!   only tell SeqCst stores from others.
//! * Memory that was freed is watched where that is asked for, word by word:
//!   [`Simulation::watch_freed`](engine::Simulation::watch_freed). Otherwise who reads it reads what lies
//!   there.
//! * Data in a cell is written and read at once, and is not checked for races: loom's part again.
//! * Virtual times are for shapes, rankings and mechanisms; [`cost`] says what is modelled and what is
//!   not. No time of it is a time of a real machine.
//! * A schedule was tried or it was not: only [`Exhaustive`](schedule::Exhaustive) is a proof, within
//!   its bound and its scenario.
//!
//! # Limits
//! 256 virtual threads at once besides the scenario, 256 cores, 64 nodes, a stack of a megabyte each.

pub mod ahead;
mod arc;
pub mod arena;
pub mod atomic;
pub mod backoff;
pub mod cell;
pub mod charge;
pub mod cost;
pub mod engine;
pub mod fence;
mod fibre;
pub mod lock;
mod memory;
pub mod pad;
pub mod park;
pub mod placement;
pub mod progress;
pub mod random;
pub mod schedule;
pub mod thread;
pub mod time;
pub mod topology;
pub mod trace;

pub use arc::Arc;
pub use arena::SimAllocator;
pub use backoff::Backoff;
pub use cantina_machine::held::unasked as held;
pub use charge::{in_bulk, instructions, touch_read, touch_write, work};
pub use fence::fence_after_rmw;
pub use pad::CachePadded;
pub use topology::Topology;

/// How often to look again before going to sleep. Few times: here looking is what costs.
pub const SPINS: usize = 4;

/// How often to give way and look again, when a [`Backoff`] is completed, before going to sleep: as often as on the real machine
/// where time is simulated, and not at all where schedules are tried, which are there to be slept on.
pub fn looks() -> usize {
    engine::current::looks()
}
