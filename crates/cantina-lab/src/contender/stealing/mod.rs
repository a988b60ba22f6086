//! One lane per consumer, and stealing: WS-MSQ and WS-LIFO, to which the SALSA paper compares itself
//! (section 6.2).
//!
//! It is the paper's framework (section 4, algorithm 2) with a Michael-Scott queue or a Treiber stack
//! as the single-consumer pool: a consumer gets from its own lane first, then from the others',
//! nearest first. A producer puts to the lane of one consumer, always the same as long as no
//! consumer comes or goes; a worker to its own. A lane is never full, so nobody balances the load:
//! that is what the paper shows.
//!
//! Where the paper leaves a choice: a producer chooses among the consumers that have the fewest
//! producers, the nearest of them, so that as many producers as consumers are paired up. Where a
//! handle is, is where it was made.
//!
//! # Progress
//! Lock-free, but for the allocator: a get that goes round again has found that somebody put.
//!
//! # Linearization
//! A bag. A put and a get that finds a task: where their lane says.
//!
//! A get that finds none has gone over all lanes, one after the other, and a task may have been put
//! into the first and got from the last meanwhile. So each consumer remembers the
//! [stamp](super::lane::Stamp) that each lane had when it was last found empty, and goes round again
//! until it finds every lane empty *with the stamp it remembers*, and no lane that it does not know.
//! Let p be the moment when that last round began. Every stamp was seen before p, and again after p,
//! so every lane was empty at p; and lanes that came later held nothing at p. A consumer that finds
//! nothing again and again needs only one round for each time, because it remembers.
//!
//! In terms of what the memory model promises, where there is no such moment: call what each lane has
//! seen up to its stamp the cut. If something beyond the cut of one lane happens before something
//! within the cut of another, then it also happens before the last look at the first lane: whoever
//! gets from a lane, or finds it empty, acquires all that was done there. That look would have found
//! another stamp. So the cut is closed under what happened before; at its edge all lanes are empty;
//! and everything that happens before the get lies within.
//!
//! # Invariants
//! * **I1** seats stay until the pool goes, and with them their lanes.
//! * **I2** a task is in one of the lanes from its put to its get.
//! * **I3** all members that are used with a lane of the pool have joined its domain.
//!
//! # Orderings
//! Those of the lanes and of the seats; nothing else is shared.
//!
//! # Memory
//! A lane is made where its first consumer is made. What a leaving consumer has in its lane stays
//! there for the others; the next consumer that comes takes the seat. Nodes are the lanes'.
//!
//! # Limits
//! [`CONSUMERS`] consumers and workers at a time. Any number of producers.

mod ends;
mod seats;

pub use ends::{Producer, Worker};

use super::lane::{BATCH, Lane, Member, Nodes, nodes};
use super::ms_queue::Queue;
use super::treiber::Stack;
use cantina::pool::{TaskPool, TooMany};
use cantina::reclaim;
use machine::topology::NodeId;
use machine::{Arc, Topology, thread};
use seats::Seats;
use std::fmt;

/// One Michael-Scott queue per consumer.
pub type WsMsq<T> = Stealing<Queue<T>>;

/// One Treiber stack per consumer.
pub type WsLifo<T> = Stealing<Stack<T>>;

/// How many consumers and workers there may be at a time.
pub const CONSUMERS: usize = 512;

/// A pool of one lane per consumer; see the [module](self).
pub struct Stealing<L: Lane> {
    shared: Arc<Shared<L>>,
}

/// How to build a [`Stealing`] pool.
#[derive(Clone, Debug)]
pub struct Setup {
    /// What is near to what.
    pub topology: Topology,
    /// How many consumers and workers there may be at a time.
    pub consumers: usize,
    /// After how many retired nodes a handle looks for those that can be freed.
    pub batch: usize,
}

struct Shared<L: Lane> {
    seats: Seats<L>,
    /// The nodes of all lanes. See I3.
    nodes: Arc<Nodes<L>>,
    topology: Topology,
}

impl<L: Lane> Stealing<L> {
    /// An empty pool for this machine.
    pub fn new() -> Self {
        Self::with(Setup::default())
    }

    /// An empty pool.
    pub fn with(setup: Setup) -> Self {
        let Setup { topology, consumers, batch } = setup;
        let shared = Shared { seats: Seats::new(consumers), nodes: nodes::<L>(batch), topology };
        Self { shared: Arc::new(shared) }
    }
}

impl<L: Lane> Shared<L> {
    /// One more member. See I3.
    fn member(&self) -> Member<L> {
        reclaim::Member::join(self.nodes.clone())
    }

    /// The memory node we are on, where the machine tells.
    fn here(&self) -> Option<NodeId> {
        self.topology.node_of(thread::current_core()?)
    }

    /// How far apart two nodes are, for sorting.
    fn distance(&self, from: Option<NodeId>, to: Option<NodeId>) -> Option<u32> {
        self.topology.distance(from?, to?)
    }
}

impl<L: Lane> TaskPool<L::Task> for Stealing<L> {
    type Producer = Producer<L>;
    type Consumer = Worker<L>;
    type Worker = Worker<L>;

    fn producer(&self) -> Producer<L> {
        Producer::new(self.shared.clone())
    }

    /// # Panics
    /// Beyond [`CONSUMERS`].
    fn consumer(&self) -> Worker<L> {
        self.worker()
    }

    /// # Panics
    /// Beyond [`CONSUMERS`].
    fn worker(&self) -> Worker<L> {
        self.try_worker().unwrap_or_else(|too_many| panic!("{too_many}"))
    }

    fn try_consumer(&self) -> Result<Worker<L>, TooMany> {
        self.try_worker()
    }

    fn try_worker(&self) -> Result<Worker<L>, TooMany> {
        Worker::new(self.shared.clone())
    }
}

impl Default for Setup {
    fn default() -> Self {
        Self { topology: Topology::detect(), consumers: CONSUMERS, batch: BATCH }
    }
}

impl<L: Lane> Clone for Stealing<L> {
    fn clone(&self) -> Self {
        Self { shared: self.shared.clone() }
    }
}

impl<L: Lane> Default for Stealing<L> {
    fn default() -> Self {
        Self::new()
    }
}

impl<L: Lane> fmt::Debug for Stealing<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stealing").finish_non_exhaustive()
    }
}
