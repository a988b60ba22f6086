//! The dynamic to-do tree: a bounded pool whose emptiness is exact and in which nobody who stops holds up the
//! others.
//!
//! Tasks lie in *blocks* of up to 16 places, with a word for each block: how many tasks were ever put there,
//! and which places have one now. Up to 4096 places there is nothing else. Above more blocks than that stand
//! *nodes*, each with two counts that only grow, of the tasks ever put below it and ever taken; the highest
//! level has up to 64 of them side by side, in place of a root. Whoever puts counts the nodes above its block again, up
//! to the top, and so does whoever takes, at the latest when it goes on to another node; and walks follow the counts down.
//!
//! [`Shape::Binary`] is the paper's tree, repaired: one place to a leaf, two children to a node, one root,
//! walks that go left or right by chance, each as likely as there is much. [`Shape::MaxArrays`] is the same, and counts in
//! [max arrays](max_array), as the paper does.
//!
//! | here | in the paper |
//! |---|---|
//! | counting upwards, `Tree::mark_up` | `MarkUp`, with one read order more: see I4. A put to the wide shape counts puts alone |
//! | a get, `Getter::win` | `DoTask` |
//! | a put, `Putter::claim` | `InsertTask`; the paper's never answers "full" |
//! | a node's counts | a [`MaxArray`](max_array::MaxArray): two counts that are raised one after the other do |
//! | a block | a leaf with its array of tasks, in bounded memory |
//!
//! [`DoAll`] stands by itself: a fixed set of tasks, all of them to be done by workers that may die.
//!
//! A task can be had on a [`Lease`]: it stays in its place and goes back when the lease is dropped before it is complete.
//! In a pool that was built with [`leases`](Builder::leases) also those of a thread that has died can be put back: see
//! [`Consumer::recover`]. Each place has one more word there, which says who has its task. A [`ClonedLease`] has a copy: its task can be
//! taken from a worker that is only slow, by [`Consumer::reclaim`].
//!
//! # Progress
//! Lock-free, whoever stops wherever: a step that comes too late is another operation's success, and a walk that
//! leads nowhere counts again what had led it there. Who stops in the middle of a put or a get keeps at most the
//! places that it had claimed, and a get the tasks that it had taken.
//!
//! In the wide shape one in 64 gets of an end goes by turns through all places: a task is got after at most 64
//! times as many gets of any one consumer as there are places. In the binary shape that is a matter of chance, as
//! in the paper.
//!
//! # Linearization
//! A take at the step that clears its bit; with owners, that puts its name. `None` between two passes over the highest level: the first reads how
//! many tasks were taken, the second how many were put, and they are equal. A put when it has counted the highest
//! level, or just before its task is taken. `put_all` and `get_many` are many operations, not one.
//!
//! `Full` at an instant at which every place had a task or was in the hands of an operation under way. Either every
//! place was claimed between two passes over all blocks; or the puts counted at the top, in a first pass, exceed
//! the takes, in a second, by the capacity. That is asked where takes are counted at once (I6). A dead thread's operation is
//! under way for ever; so a producer looks at all blocks at least every sixteenth time, and
//! [`refresh`](TodoTree::refresh) counts everything again.
//!
//! # Lines that move
//! An end stays with its block, and goes on to those beside it, below the same node. When it turns to one it asks for the lines of its tasks, and for the
//! next block: they come while it waits for this one. It remembers which places it has seen free, or filled, and tries them one after
//! the other without a look: a look takes the line from whoever writes to it, to be asked for once more by the step that follows. A
//! consumer that has caught up with the producers, so that the next block is not filled yet, waits for a moment, if that brings many tasks.
//!
//! # Invariants
//! * **I1** a place is claimed by one thread at a time, who alone may fill it, and is given back by whoever took
//!   its task, after it was moved out. While it is leased it is neither, and may be published again.
//! * **I2** a task belongs to whoever clears its bit; with owners, to whoever puts its name, after which anybody may clear
//!   the bit. The name is put while the bit is set, and each publication has a number.
//! * **I3** a node's count of puts is raised before that of takes: at every instant it is at least as large.
//! * **I4** who counts a node reads the takes of all its children before the puts of any. So, if both sums are equal,
//!   all children were empty at one instant between the passes. Reading child by child, as the paper does, a put to
//!   one child is forgotten while another child's put *and* its take are counted.
//!   Who has put needs only the puts: its own is counted, and no take is.
//! * **I5** a claim word counts the places that were given back: if it is the same, nothing was given back between.
//! * **I6** in the wide shape with up to 16,384 places a consumer may have taken tasks below one node that are not yet counted there. So
//!   a tree may look fuller than it is, and never emptier: a walk that finds no task counts again, and `Full` goes by the blocks
//!   alone.
//!
//! # Orderings
//! All accesses to words and counts are SeqCst: what a put or take has changed comes before what it then reads
//! elsewhere, which is store-then-load order. Loads are plain on x86, and the read-modify-writes cost the same.
//!
//! | edge | release or fence side | acquire or fence side | carries |
//! |---|---|---|---|
//! | `task` | publishing a place | looking at a block, taking its tasks | the task |
//! | `place` | giving a place back | claiming it; the passes before `Full` | that the task is moved out |
//! | `owner` | saying that a task is published, held, on its way back, or gone | looking at an owner, putting a name | the task, and that the bit of the publication before is cleared |
//! | `count` | publishing, taking, raising a count | counting a node, the passes before `None` and `Full` | that it is counted, and what came before |
//!
//! # Memory
//! All of it from the start, nothing later. The last handle drops the tasks nobody got. A thread that stops for
//! ever between claiming and publishing, or between taking and giving back, keeps these places.
//!
//! # Limits
//! Any number of ends; with leases a million that get, one after the other. Counts go round at 2^48: right, as long as nobody sleeps while 2^47 tasks go through one node.

mod block;
mod builder;
mod cloned;
mod counting;
mod counts;
pub mod do_all;
mod ends;
mod layout;
mod lease;
pub mod max_array;
mod metrics;
mod owners;
mod places;
mod put;
mod take;
mod tree;

pub use builder::Builder;
pub use cloned::{ClonedLease, Reclaimed};
pub use do_all::DoAll;
pub use ends::{Consumer, Producer, Worker, WorkerId};
pub use lease::Lease;
pub use metrics::Metrics;

use crate::pool::{self, TooMany};
use machine::Arc;
use std::fmt;
use tree::Tree;

/// Tasks that [`TodoTree::new`] has room for.
const CAPACITY: usize = 1024;

/// A bounded pool, in no order; see the [module](self).
///
/// ```
/// use cantina::pool::Full;
/// use cantina::todo_tree::TodoTree;
///
/// let pool = TodoTree::builder().capacity(2).build().unwrap();
/// let mut worker = pool.worker();
/// assert_eq!(worker.try_put("wash up"), Ok(()));
/// assert_eq!(worker.try_put("dry"), Ok(()));
/// assert_eq!(worker.try_put("put away"), Err(Full("put away")));
/// assert!(worker.get().is_some());
/// assert_eq!(pool.len_hint(), 1);
/// ```
pub struct TodoTree<T> {
    tree: Arc<Tree<T>>,
}

/// How the places of a [`TodoTree`] hang together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Shape {
    /// Blocks of 16 places; up to 256 of them side by side, more below nodes of up to 32 children.
    #[default]
    Wide,
    /// The paper's: a binary tree with one place to a leaf. Slower, and with the paper's bounds.
    Binary,
    /// The same, with the paper's [max arrays](max_array) for its counts: to count the paper's steps with. Far slower, it
    /// takes more memory with every task, and counts to 2^48 once.
    MaxArrays,
}

impl<T> TodoTree<T> {
    /// An empty pool with room for 1024 tasks.
    ///
    /// # Panics
    /// When they do not fit into memory.
    pub fn new() -> Self {
        Self::builder().build().expect("the defaults are allowed")
    }

    /// Settings to build one from.
    pub fn builder() -> Builder<T> {
        Builder::new()
    }

    /// One more putting end.
    pub fn producer(&self) -> Producer<T> {
        Producer::new(self.tree.clone())
    }

    /// One more getting end.
    ///
    /// # Panics
    /// After 1,048,575 consumers and workers of a pool with [`leases`](Builder::leases); see
    /// [`try_consumer`](Self::try_consumer).
    pub fn consumer(&self) -> Consumer<T> {
        self.try_consumer().unwrap_or_else(|error| panic!("{error}"))
    }

    /// One more getting end.
    ///
    /// # Errors
    /// [`TooMany`] after 1,048,575 consumers and workers of a pool with [`leases`](Builder::leases), also if most of them
    /// are gone: names are not given out again.
    pub fn try_consumer(&self) -> Result<Consumer<T>, TooMany> {
        Consumer::new(self.tree.clone())
    }

    /// One more end for a thread in both roles.
    ///
    /// # Panics
    /// As [`consumer`](Self::consumer).
    pub fn worker(&self) -> Worker<T> {
        self.try_worker().unwrap_or_else(|error| panic!("{error}"))
    }

    /// One more end for a thread in both roles.
    ///
    /// # Errors
    /// As [`try_consumer`](Self::try_consumer).
    pub fn try_worker(&self) -> Result<Worker<T>, TooMany> {
        Worker::new(self.tree.clone())
    }

    /// How many tasks it has room for.
    pub fn capacity(&self) -> usize {
        self.tree.layout.capacity()
    }

    /// Counts all nodes again, at the cost of looking at all of them: after threads have died in the middle of a get,
    /// so that puts find the room at once. Never needed up to a capacity of 4096, which has no nodes.
    pub fn refresh(&self) {
        self.tree.refresh();
    }

    /// What it has done so far.
    pub fn metrics(&self) -> Metrics {
        self.tree.counters.metrics()
    }

    /// How many tasks it held a moment ago.
    pub fn len_hint(&self) -> usize {
        self.tree.len_hint()
    }
}

pool::forward_to_own_methods!(TodoTree {
    fn try_consumer(&self) -> Result<Consumer<T>, TooMany> {
        self.try_consumer()
    }

    fn try_worker(&self) -> Result<Worker<T>, TooMany> {
        self.try_worker()
    }

    /// A put claims its place before it fills it, a get gives it back after it has taken its task.
    fn full_counts_under_way(&self) -> bool {
        true
    }
});

impl<T> Clone for TodoTree<T> {
    fn clone(&self) -> Self {
        Self { tree: self.tree.clone() }
    }
}

impl<T> Default for TodoTree<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> fmt::Debug for TodoTree<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TodoTree").field(&*self.tree).finish()
    }
}
