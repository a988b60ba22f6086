//! The machine as loom models it: every interleaving, and every value a load may return.
//!
//! The names are those of `cantina-machine`. What does not synchronize is that crate's own:
//! [`Random`](random::Random), [`CachePadded`], [`ahead`], [`placement`], [`charge`], [`trace`].

pub mod backoff;
pub mod fence;
pub mod lock;
pub mod model;
pub mod park;
pub mod thread;
pub mod time;
pub mod topology;

pub use cantina_machine::held::unasked as held;
pub use cantina_machine::{ahead, charge, pad, placement, trace};
pub use loom::cell;
pub use loom::sync::Arc;

pub use backoff::Backoff;
pub use charge::{in_bulk, instructions, touch_read, touch_write, work};
pub use fence::fence_after_rmw;
pub use pad::CachePadded;
pub use topology::Topology;

/// Atomic words.
pub mod atomic {
    pub use loom::sync::atomic::{
        AtomicBool, AtomicI64, AtomicIsize, AtomicPtr, AtomicU8, AtomicU16, AtomicU32, AtomicU64,
        AtomicUsize, Ordering,
    };
}

/// Random numbers: always the same, or a model could not be replayed.
pub mod random {
    pub use cantina_machine::random::Random;

    /// The one seed.
    pub fn seed() -> u64 {
        0
    }
}

/// How often to look again before going to sleep: once is every case there is.
pub const SPINS: usize = 1;

/// How often to give way and look again, when a [`Backoff`] is completed, before going to sleep: a look before that is every case
/// there is.
pub fn looks() -> usize {
    0
}
