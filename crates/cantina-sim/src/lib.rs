//! A simulated machine: virtual threads on one OS thread, and schedules that replay.
//!
//! The names are those of `cantina-machine`, and code written for that one runs here unchanged.
//! [`engine`] is what tests and programs drive: it runs a scenario, and decides at each access to
//! something shared who goes on.
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

mod arc;
pub mod atomic;
pub mod backoff;
pub mod cell;
pub mod charge;
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
pub use backoff::Backoff;
pub use charge::{touch_read, touch_write, work};
pub use fence::fence_after_rmw;
pub use pad::CachePadded;
pub use topology::Topology;

/// How often to look again before going to sleep. Few times: here looking is what costs.
pub const SPINS: usize = 4;
