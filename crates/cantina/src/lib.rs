//! Scalable task pools.
//!
//! A task pool hands tasks from the threads that have them to the threads that want them. What every
//! pool offers is in [`pool`]; each pool is a module of its own:
//!
//! * [`locked`]: a mutex and a deque. Slow under contention, obviously right, first in first out.
//!
//! Smaller things that stand on their own:
//!
//! * [`handoff`]: one task, once, from one thread to whichever comes first.
//!
//! ```
//! use cantina::locked::Locked;
//!
//! let pool = Locked::new();
//! let (mut put, mut get) = (pool.producer(), pool.consumer());
//! let worker = std::thread::spawn(move || {
//!     (0..10).for_each(|task| put.put(task));
//! });
//! worker.join().unwrap();
//! assert_eq!(get.drain().sum::<i32>(), 45);
//! ```
//!
//! This source is compiled once per machine: `machine` is the real one here, loom and the simulator
//! elsewhere. It never asks which.

pub mod handoff;
pub mod locked;
pub mod pool;
#[doc(hidden)]
pub mod reclaim;

/// The pool traits' methods, without their names: `use cantina::prelude::*;`.
///
/// Handles have the same methods of their own, so everyday code needs no trait. Code that is generic
/// over the pool does.
pub mod prelude {
    pub use crate::pool::{Consumer as _, Producer as _, TaskPool as _};
}

/// The README's example, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
