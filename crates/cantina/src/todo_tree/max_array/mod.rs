//! Max arrays: pairs of numbers that only grow, raised one at a time and read together.
//!
//! What the paper's tree counts with, for comparison: [`Shape::MaxArrays`](super::Shape::MaxArrays) is built on them, no
//! other shape is. They exist because plain reads and writes cannot raise a number; a machine that can exchange words
//! needs neither.
//!
//! * [`BoundedMaxArray`] is that of Aspnes, Attiya, Censor-Hillel and Ellen: trees of switches, each of which is off or,
//!   for ever, on. A number is a way down such a tree, to the right where a switch is on.
//! * [`MaxArray`] is that of the paper's appendix A, repaired: bounded ones, one after the other, each above the numbers
//!   that the one before had come to.
//!
//! | here | in the papers |
//! |---|---|
//! | raising, `raise_first` and `raise_second` | `MaxUpdate0`, `MaxUpdate1` |
//! | looking at both, `scan` | `MaxScan` |
//! | an epoch's numbers and array | V0, V1 and `MA[P]` |
//! | the epoch that `now` points to | the register C |
//!
//! Repaired are two things. An epoch is *frozen* before its numbers are read for the next one, and whoever has raised or
//! read something in a frozen epoch does so again in the next: otherwise a number that is raised between the reading and
//! the exchange is lost. And a number too large for the epoch at hand is among those that the next one begins with: the
//! paper's raise goes through one epoch after the other and comes no closer.
//!
//! # Progress
//! A [`BoundedMaxArray`] is wait-free. In a [`MaxArray`] everything is lock-free, scans too: who begins again does because
//! somebody else's raise has ended the epoch.
//!
//! # Linearization
//! Of a [`BoundedMaxArray`]: as in its paper. Of a [`MaxArray`]: where the epoch's array has it, if the epoch was not yet
//! frozen then; a raise that begins the next epoch, when it does.
//!
//! # Invariants
//! * **I1** a switch is turned on when what is below it on the right is as large as the number.
//! * **I2** the second number is kept at every switch of the first. Scans and raises of the first take it along on their way
//!   down, read before they look at the switch, and scans read it again where they go right. So scans that end further
//!   right have found at least as much, and at least what was raised before the first number was. With scans alone taking
//!   it along, one that began before both raises finds the later and not the earlier.
//! * **I3** an epoch is not followed by another before it is frozen, and stays frozen.
//!
//! # Orderings
//! All are SeqCst: the papers' registers are atomic, and that of two scans none is behind the other needs one order of all
//! steps. The fences before looks are for loom alone, which has no such order.
//!
//! | edge | release side | acquire side | carries |
//! |---|---|---|---|
//! | `switch` | turning a switch on | looking at it | the number below, and all that was raised before |
//! | `frozen` | freezing an epoch | the look after a raise or a scan | that the epoch ends |
//! | `epoch` | beginning an epoch | going to it; dropping all | the epoch |
//!
//! # Memory
//! A [`MaxArray`] keeps all epochs until it is dropped: one for about as many raises as the bounded one has values.

mod bounded;
mod switches;
mod unbounded;

pub use bounded::BoundedMaxArray;
pub use unbounded::MaxArray;

/// The most values of a number in a bounded array: a word has as many bits.
pub(super) const MAX_VALUES: u64 = 64;
