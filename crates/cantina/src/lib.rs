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
//! # Processes
//! * **`fork`**: the child has the thread that forked, and no other. What others were doing in a pool stays half done there, as if they had
//!   stopped for ever: [`cafe`], [`todo_tree`], [`salsa`] and [`handoff`] go on, whatever takes a lock may not. A runtime has no workers
//!   in the child, and runs nothing. Make what the child needs in the child.
//! * **seccomp**: where `membarrier` is forbidden from the start everything uses ordinary fences, and is slower. Where it is forbidden
//!   later, nothing is lost: pools in the [`cafe`]'s wait-free form give back no trees, those of [`salsa`] [steal](salsa#fork-and-seccomp) nothing, and workers of a
//!   [`scheduler`] steal no free operations from each other and look for work from time to time instead of sleeping until there is some.
//! * **`panic = "abort"`**: nothing here needs to unwind. What is promised of panics is then void: the first ends the program.
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

/// The machine's nodes and cores, for pools and runtimes that are placed by them.
///
/// ```
/// use cantina::salsa::Salsa;
/// use cantina::topology::{CoreId, Topology};
///
/// // As it would be on two nodes of four cores each.
/// let pool = Salsa::builder().topology(Topology::mock(2, 4)).build()?;
/// let (mut put, mut get) = (pool.producer_on(CoreId(5)), pool.consumer_on(CoreId(4))?);
/// put.put("to my neighbour");
/// assert_eq!(get.get(), Some("to my neighbour"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub mod topology {
    pub use machine::topology::{CoreId, InvalidTopology, NodeId, Topology};
}

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
///
/// The ends of each pool are called `Producer` and `Consumer`, too: beside `use cantina::salsa::*;` these names are ambiguous. Name what
/// you import of one of both.
pub mod prelude {
    pub use crate::pool::{Consumer, Producer, TaskPool};
}

/// The README's example, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
