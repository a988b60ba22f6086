//! Scalable task pools.
//!
//! A task pool hands tasks from the threads that have them to the threads that want them. What every
//! pool offers is in [`pool`]; each pool is a module of its own:
//!
//! * [`salsa`]: chunks of tasks that move without locks, fences or read-modify-writes, and are stolen
//!   whole. In no order.
//! * [`cafe`]: trees of tasks in a list. As fair as you choose, from first in first out to hardly at all.
//! * [`todo_tree`]: a bounded pool of counted blocks. Nobody who stops holds up the others. In no order.
//! * [`locked`]: a mutex and a deque. Slow under contention, obviously right, first in first out.
//!
//! Group mutual exclusion, and pools that are built on it:
//!
//! * [`rooms`]: many may be inside a room together, but only one room is open at a time. A queue, a stack, and a stack for
//!   work that makes more work are built on it.
//!
//! Smaller things that stand on their own:
//!
//! * [`handoff`]: one task, once, from one thread to whichever comes first.
//! * [`owner_queue`]: a queue that one of those who add to it works off, without a lock.
//!
//! And on top of it:
//!
//! * [`scheduler`]: objects whose operations never overlap, and values that arrive later.
//!
//! ```
//! use cantina::salsa::Salsa;
//!
//! let pool = Salsa::new();
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

pub mod cafe;
pub mod handoff;
pub mod locked;
pub mod owner_queue;
mod panics;
pub mod pool;
#[doc(hidden)]
pub mod reclaim;
pub mod rooms;
pub mod salsa;
pub mod scheduler;
pub mod todo_tree;
#[doc(hidden)]
pub mod waiting;

/// The pool traits: `use cantina::prelude::*;`.
///
/// Handles have the same methods of their own, so everyday code needs no trait. Code that is generic
/// over the pool does:
///
/// ```
/// use cantina::prelude::*;
///
/// fn sum<P: TaskPool<u32>>(pool: &P) -> u32 {
///     pool.consumer().drain().sum()
/// }
///
/// let pool = cantina::locked::Locked::new();
/// pool.producer().put_all(1..=4).unwrap();
/// assert_eq!(sum(&pool), 10);
/// ```
pub mod prelude {
    pub use crate::pool::{Consumer, Producer, TaskPool};
}

/// The README's example, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
