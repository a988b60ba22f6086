//! What an access costs: cache coherence on a machine with several memory nodes.
//!
//! Memory is lines of 64 bytes. A line has a MOESI state, an owner, sharers, and a home node; an
//! access that the own cache cannot answer costs by what it is, by the line's state, and by the
//! distance to the farther one of home and owner ([`Costs`]). Ownership of a line passes from one core to
//! the next in turn, and an operation takes effect when it is done, not when it begins. Lines that
//! cross between nodes queue at the nodes' links, and those that come from memory at its channel:
//! a link that is busy all the time is what limits a program whose memory lies on one node. Where
//! memory lies is the machine's to say ([`Placement`]), and how fast its links are.
//!
//! Memory comes from a heap of each core. What another core gives back goes through a list of its owner's,
//! and touching that costs what touching costs, and more where the other has used it meanwhile ([`Costs::malloc_shared`]). A line that
//! nobody has touched is in memory ([`Costs::memory`]): with the Opterons. On a machine that was measured it is as near as it is
//! where its page has just been cleared.
//!
//! Stores wait in a buffer of 24 and become visible in order; the thread goes on meanwhile.
//! Read-modify-writes, SeqCst stores and full fences wait for it to be empty. The old owner of a line
//! goes on using it for a part of the time that the transfer takes: without that, contended words
//! come out several times too slow. A core that asks for lines one behind the other waits for a part of
//! each transfer only ([`Costs::stream`]), upwards or downwards, and so for its second-level cache: it has asked for several at
//! once. Read-modify-writes in
//! between do not change that, on the machine that was measured at least; those of the lines themselves do
//! ([`Costs::stream_rmw`]). A line that was asked for [ahead](crate::ahead) is on its way meanwhile.
//!
//! Instructions are not seen. Who knows how many there were says so ([`instructions`](crate::charge::instructions)), and
//! pays for all of them ([`Costs::instruction`]), those of accesses among them: an access costs what it takes beyond.
//!
//! Threads that run are interrupted, where the machine says how often and for how long ([`Interruption`]): one that was measured does, by timer ticks and
//! by its hypervisor. Without that a producer and a consumer go in step for ever; behind an interruption there is a backlog, or somebody who waits.
//!
//! # Limits
//! The model is for shapes, rankings and mechanisms, not for absolute times: take ratios between
//! programs that differ by a factor of two for equal. It knows no capacity of caches beyond the first
//! level's, no address translation, no loads that overlap (but for those of a stream, and plain data that
//! is touched at once), no hardware threads and no scheduler: two virtual threads on one core run at
//! full speed both, and each has interruptions of its own.
//!
//! # Lines
//! Lines get their numbers when they are first touched, so a run does not depend on where in real
//! memory they lie. Which words share a line does: that is up to the allocator, and a run is the
//! same again, bit for bit, only with [`SimAllocator`](crate::SimAllocator).

pub(crate) mod coherence;
mod costs;
mod interruption;
pub(crate) mod line;
mod machine;
mod placement;
pub(crate) mod tree;

pub use costs::{Costs, Hops};
pub use interruption::Interruption;
pub use machine::{InvalidMachine, Machine};
pub use placement::Placement;
