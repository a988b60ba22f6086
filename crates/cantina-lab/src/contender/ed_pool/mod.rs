//! The ED pool of Afek, Korland, Natanzon and Shavit ("Scalable Producer-Consumer Pools Based on
//! Elimination-Diffraction Trees", Euro-Par 2010), to which the CAFÉ paper compares itself.
//!
//! A complete binary tree of *balancers* whose leaves are Michael-Scott queues. A balancer has a bit that
//! puts turn over and one that gets do, and sends them left and right in turn, so that a get comes to
//! the queue where the put that belongs to it was. Before they do so they look for each other in the
//! balancer's *prism*: a put that meets a get there hands its task over, and both are done; two puts, or two
//! gets, go one each way and leave the bit alone. How long they wait there and over how many slots
//! they spread adapts to what they find.
//!
//! Where the paper's gets wait at their queue until something comes, ours look into the other queues, and
//! say when there was nothing.
//!
//! # Progress
//! Lock-free, but for the allocator. Waiting in a prism is bounded, and nobody waits for anybody else: who
//! stops there leaves a slot that nobody can use any more.
//!
//! # Linearization
//! A bag. A put and a get that meet: one after the other, at the exchange by which the task changes hands.
//! Others where their queue says. A get that finds nothing: as in a pool of [several lanes](super::stealing),
//! when each queue was empty with the stamp that it had before. A task that is offered in a prism is not in
//! the pool yet.
//!
//! # Invariants
//! * **I1** all members that are used with a queue of the pool have joined its domain.
//! * **I2** a task is in a queue from the end of its put to its get, unless both met.
//! * **I3** what is in the cell of a slot belongs to whoever made the last change of its word, or to whom that
//!   gave it: the table in `prism` says who that is.
//!
//! # Orderings
//! | edge | release side | acquire side | carries |
//! |---|---|---|---|
//! | `slot` | whoever changes a slot's word | whoever changes it next, or finds out what became of his | the cell: a task, or that it is free; and all that was done before |
//!
//! Those of the queues are theirs.
//!
//! # Memory
//! A node per task in a queue; the prisms hold tasks in place, and none when no call is under way.

mod balancer;
mod ends;
mod prism;

pub use ends::End;

use super::lane::{BATCH, Lane, Nodes, nodes};
use super::ms_queue::Queue;
use balancer::Balancer;
use cantina::pool::TaskPool;
use machine::Arc;
use std::fmt;

/// Levels of balancers, unless told otherwise: eight queues.
pub const DEPTH: u32 = 3;

/// Slots of a prism at the root, unless told otherwise; each level below has half as many.
pub const SLOTS: usize = 16;

/// An elimination-diffraction tree; see the [module](self).
pub struct EdPool<T: Send> {
    shared: Arc<Shared<T>>,
}

/// How to build an [`EdPool`].
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// Levels of balancers, at most 16.
    pub depth: u32,
    /// Slots of the root's prism.
    pub slots: usize,
    /// The most looks at a slot in which one waits.
    pub patience: u32,
}

struct Shared<T: Send> {
    /// The root is the first; the children of number n are 2n + 1 and 2n + 2.
    balancers: Box<[Balancer<T>]>,
    /// Below the last balancers, from left to right.
    queues: Box<[Queue<T>]>,
    /// See I1.
    nodes: Arc<Nodes<Queue<T>>>,
    setup: Setup,
}

impl<T: Send> EdPool<T> {
    /// An empty pool.
    pub fn new() -> Self {
        Self::with(Setup::default())
    }

    /// An empty pool.
    pub fn with(setup: Setup) -> Self {
        let leaves = 1 << setup.depth.min(16);
        let slots = |number: usize| (setup.slots >> (number + 1).ilog2()).max(1);
        let queues: Box<[_]> = (0..leaves).map(|_| Queue::new()).collect();
        queues.iter().for_each(Queue::describe);
        let shared = Shared {
            balancers: (0..leaves - 1).map(|number| Balancer::new(slots(number))).collect(),
            queues,
            nodes: nodes::<Queue<T>>(BATCH),
            setup,
        };
        Self { shared: Arc::new(shared) }
    }
}

impl<T: Send> TaskPool<T> for EdPool<T> {
    type Producer = End<T>;
    type Consumer = End<T>;
    type Worker = End<T>;

    fn producer(&self) -> End<T> {
        self.worker()
    }

    fn consumer(&self) -> End<T> {
        self.worker()
    }

    fn worker(&self) -> End<T> {
        End::new(self.shared.clone())
    }
}

impl Default for Setup {
    fn default() -> Self {
        Self { depth: DEPTH, slots: SLOTS, patience: 128 }
    }
}

impl<T: Send> Clone for EdPool<T> {
    fn clone(&self) -> Self {
        Self { shared: self.shared.clone() }
    }
}

impl<T: Send> Default for EdPool<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Send> fmt::Debug for EdPool<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EdPool").field("setup", &self.shared.setup).finish_non_exhaustive()
    }
}
