//! The machine the pools run on: the real one, over `std` and the operating system.
//!
//! This is the one place that names `std::sync`, `std::thread`, `std::time`, the operating system
//! or the topology. `cantina-sim` and `machine-loom` offer the same public names over the simulator
//! and over loom; code that says `machine::` runs on all three and never asks which it is on. So a
//! name is added here when it can be added there, and promises what the weakest of the three keeps:
//! nothing is `const`, there is no `Weak`, no `thread::scope`, no `thread::park`.
//!
//! | module | what |
//! |---|---|
//! | [`atomic`], [`cell`], [`Arc`] | shared words, shared data, shared ownership |
//! | [`fence`] | the full fence, the light/heavy pair, the fence after a read-modify-write |
//! | [`lock`], [`park`] | a mutex, and sleeping until somebody wakes you |
//! | [`thread`], [`time`], [`random`] | threads and pinning, the clock, numbers per handle |
//! | [`topology`], [`placement`] | nodes, cores and distances; memory on a node |
//! | [`backoff`], [`pad`] | waiting a little, and a cache line of one's own |
//! | [`ahead`] | asking for a cache line before it is needed |
//! | [`held`] | what a thread holds, for those who warn it |
//! | [`charge`], [`trace`] | what the simulator bills for, and what it draws; nothing here |

#[cfg(not(target_pointer_width = "64"))]
compile_error!(
    "Cantina packs pointers, tags and counters into 64-bit words: it needs a 64-bit target"
);

pub mod ahead;
pub mod atomic;
pub mod backoff;
pub mod cell;
pub mod charge;
pub mod fence;
pub mod held;
pub mod lock;
#[doc(hidden)]
pub mod modelled;
mod os;
pub mod pad;
pub mod park;
pub mod placement;
pub mod random;
pub mod thread;
pub mod time;
pub mod topology;
pub mod trace;

pub use std::sync::Arc;

pub use backoff::Backoff;
pub use charge::{in_bulk, instructions, touch_read, touch_write, work};
pub use fence::fence_after_rmw;
pub use pad::CachePadded;
pub use topology::Topology;

/// How often to look again before going to sleep.
pub const SPINS: usize = 64;

/// How often to give way and look again, when a [`Backoff`] is completed, before going to sleep: for as long as that takes.
#[inline]
pub fn looks() -> usize {
    64
}
