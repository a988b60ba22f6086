//! What an access costs: cache coherence on a machine with several memory nodes.
//!
//! Memory is lines of 64 bytes. A line has a MOESI state, an owner, sharers, and a home node; an
//! access that the own cache cannot answer costs by what it is, by the line's state, and by the
//! distance to the farther one of home and owner ([`Costs`]). Ownership of a line passes from one core to
//! the next in turn, and an operation takes effect when it is done, not when it begins. Lines that
//! cross between nodes queue at the nodes' links, and those that come from memory at its channel.
//!
//! Stores wait in a buffer of 24 and become visible in order; the thread goes on meanwhile.
//! Read-modify-writes, SeqCst stores and full fences wait for it to be empty. The old owner of a line
//! goes on using it for a part of the time that the transfer takes: without that, contended words
//! come out several times too slow.
//!
//! # Limits
//! The model is for shapes, rankings and mechanisms, not for absolute times: take ratios between
//! programs that differ by a factor of two for equal. It knows no capacity of caches beyond the first
//! level's, no address translation, no prefetching, no loads that overlap (but for plain data that is
//! touched at once), no hardware threads and no preemption: two virtual threads on one core run at
//! full speed both.
//!
//! # Lines
//! Lines get their numbers when they are first touched, so a run does not depend on where in real
//! memory they lie. Which words share a line does: that is up to the allocator, and a run is the
//! same again, bit for bit, only with [`SimAllocator`](crate::SimAllocator).

pub(crate) mod coherence;
mod costs;
pub(crate) mod line;
mod machine;
pub(crate) mod tree;

pub use costs::{Costs, Hops};
pub use machine::{InvalidMachine, Machine};
