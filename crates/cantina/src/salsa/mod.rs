//! SALSA: a pool that moves a task for the price of a cache line.
//!
//! Each consumer has a pool of its own, made of chunks of about a thousand tasks. A producer fills a
//! chunk for one consumer; that consumer empties it with plain loads and stores, no atomic
//! read-modify-write and no fence. A consumer that has nothing steals a whole chunk, with two
//! compare-and-swaps and one fence that the operating system makes for all threads at once.
//!
//! Ends find the core they are made on and prefer partners near to it; new memory lies on the node of the
//! consumer it is for, where the operating system can place it, and stays with whoever has emptied it. Tasks lie in
//! the chunks themselves.
//!
//! ```
//! let pool = cantina::salsa::Salsa::new();
//! let mut put = pool.producer();
//! let mut get = pool.consumer();
//! let crew = std::thread::spawn(move || (0..1_000).for_each(|task| put.put(task)));
//! crew.join().unwrap();
//! assert_eq!(get.drain().sum::<i32>(), 499_500);
//! ```
//!
//! # Progress
//! Puts are wait-free within a chunk. Who begins a chunk asks each near consumer at most twice, and all others with one chunk in
//! 64, and tries each place of a table once; that table grows when others were faster everywhere, so that beginning a chunk is
//! lock-free, but for allocation. Gets are lock-free.
//!
//! A consumer that finds a few tasks which their owner is about to take waits a bounded number of turns before it steals them.
//! A producer that is far ahead of all consumers gives up the processor once before it asks for more memory.
//!
//! # Order
//! None is promised. Tasks of one producer that stay in one chunk come out in order.
//!
//! # Memory
//! When all is drained there is a chunk for each producer, the one that it fills, and for each consumer at most
//! 16 spare ones ([`Builder::spares`]), three that wait to become such, one that a producer left half filled, which stays when the
//! consumer goes, until another one comes in its place, and those
//! that other consumers were looking at when it was done with them: eight of each at most, and as a rule none. The chunks that
//! a burst needed beyond that go back to the allocator as it is drained. A leaked consumer keeps its place among
//! [`Builder::max_consumers`], the eight chunks that it looked at and the few that it had emptied last, until the pool goes. Its spare chunks are
//! used on: producers near to it still put to it, and what they put is stolen. A leaked producer keeps the chunk that it fills: what is in there can
//! be got, but no more comes, and who finds nothing looks at it each time.
//!
//! The table in which a consumer's chunks are found stays as long as it was at most, until the pool goes: about ten bytes for each chunk. Who finds nothing looks
//! at a word for each 64 of them. So a burst of ten million tasks leaves 150 of those words, and in chunks of one task 156,000.
//!
//! A chunk is about a thousand tasks, or 64 large ones, in one block of memory that is never on the stack.
//!
//! # When not to take it
//! * Tasks have to come out in order: [`Cafe`](crate::cafe::Cafe) promises how many overtake, and
//!   [`RoomQueue`](crate::rooms::RoomQueue) that none does.
//! * A few tasks now and then, for many consumers that wait: each of those is stolen with a whole chunk and a fence of
//!   the operating system, 10 to 13 microseconds on a virtual machine, after the waiting that
//!   [`Builder::patience`] says. Once a chunk is stolen its next tasks come cheap.
//! * Hundreds of thousands of pools: an empty one is some kilobytes, and with its first task a chunk.
//! * Tasks of a megabyte: chunks are never fewer than 64 tasks unless [`Builder::chunk_size`] says so. Box them.
//! * One producer and one consumer, both known: a ring of their own has nothing to prove when it is empty.
//!
//! # Limits
//! 256 consumers at a time, or what [`Builder::max_consumers`] says, at most 4094;
//! [`Salsa::try_consumer`] gives an error beyond it. Any number of producers.
//!
//! # fork and seccomp
//! Where `membarrier` is forbidden from the start the pool uses [`Mode::Claim`]. Where it is forbidden
//! later nothing can be stolen: tasks stay where they are until their owner takes them, and a `get` that finds tasks of others only
//! panics when it was refused ten thousand times in a row. It cannot say that there are none, and would look for ever. The next
//! `get` tries as often again.

pub mod bounded;
mod builder;
mod ends;
mod metrics;
mod mode;
pub mod policy;
mod scpool;

pub use bounded::Bounded;
pub use builder::Builder;
pub use ends::{Consumer, Producer, Worker};
pub use metrics::Metrics;
pub use mode::Mode;

use crate::pool::{self, TooMany};
use machine::Arc;
use machine::atomic::AtomicUsize;
use machine::atomic::Ordering::Relaxed;
use machine::thread::current_core;
use machine::topology::{CoreId, NodeId};
use policy::Policy;
use scpool::Pools;
use std::fmt;

/// An unbounded pool of tasks in chunks; see the [module](self).
pub struct Salsa<T> {
    shared: Arc<Shared<T>>,
}

/// The pools, and how to use them.
struct Shared<T> {
    pools: Arc<Pools<T>>,
    policy: Box<dyn Policy>,
    balancing: bool,
    /// How many producers there have been: by node, and last those whose node is not known.
    producers: Box<[AtomicUsize]>,
}

impl<T> Salsa<T> {
    /// An empty pool.
    ///
    /// # Panics
    /// When a thousand tasks do not fit into the address space.
    pub fn new() -> Self {
        Self::builder().build().expect("the defaults are allowed")
    }

    /// Settings to build one from.
    pub fn builder() -> Builder<T> {
        Builder::new()
    }

    /// One more putting end, near the core it is made on.
    pub fn producer(&self) -> Producer<T> {
        Producer::new(self.shared.clone(), self.shared.here(), None)
    }

    /// One more putting end, near `core`.
    pub fn producer_on(&self, core: CoreId) -> Producer<T> {
        Producer::new(self.shared.clone(), self.shared.node_of(core), None)
    }

    /// One more getting end, on the core it is made on.
    ///
    /// # Panics
    /// Beyond [`Builder::max_consumers`]; see [`try_consumer`](Self::try_consumer).
    pub fn consumer(&self) -> Consumer<T> {
        self.try_consumer().unwrap_or_else(|error| panic!("{error}"))
    }

    /// One more getting end, on `core`.
    ///
    /// # Errors
    /// [`TooMany`] beyond [`Builder::max_consumers`].
    pub fn consumer_on(&self, core: CoreId) -> Result<Consumer<T>, TooMany> {
        Consumer::new(self.shared.clone(), self.shared.node_of(core))
    }

    /// One more getting end, on the core it is made on.
    ///
    /// # Errors
    /// [`TooMany`] beyond [`Builder::max_consumers`].
    pub fn try_consumer(&self) -> Result<Consumer<T>, TooMany> {
        Consumer::new(self.shared.clone(), self.shared.here())
    }

    /// One more end for a thread in both roles: it puts to itself first.
    ///
    /// # Panics
    /// As [`consumer`](Self::consumer).
    pub fn worker(&self) -> Worker<T> {
        self.try_worker().unwrap_or_else(|error| panic!("{error}"))
    }

    /// One more end for a thread in both roles.
    ///
    /// # Errors
    /// [`TooMany`] beyond [`Builder::max_consumers`].
    pub fn try_worker(&self) -> Result<Worker<T>, TooMany> {
        Worker::new(self.shared.clone(), self.shared.here())
    }

    /// What it has done so far.
    pub fn metrics(&self) -> Metrics {
        let pools = &self.shared.pools;
        let mut metrics = Metrics {
            chunks: pools.chunk_count(),
            chunk_bytes: pools.settings.plan.bytes(),
            ..Metrics::default()
        };
        for home in (0..pools.used()).filter_map(|id| pools.home(id)) {
            home.counters.add_to(&mut metrics);
            metrics.spare_chunks += home.spare_count();
        }
        metrics
    }

    /// Tasks of a chunk.
    pub fn chunk_size(&self) -> usize {
        self.shared.pools.settings.plan.slots as usize
    }

    /// How many tasks it held a moment ago.
    pub fn len_hint(&self) -> usize {
        self.shared.pools.len_hint()
    }
}

impl<T> Shared<T> {
    /// The number of a new producer on `node`.
    fn number_producer(&self, node: Option<NodeId>) -> usize {
        let unknown = self.producers.len() - 1;
        let count = &self.producers[node.map_or(unknown, |NodeId(node)| node.min(unknown))];
        // bare: to tell producers apart.
        count.fetch_add(1, Relaxed)
    }

    fn node_of(&self, core: CoreId) -> Option<NodeId> {
        self.pools.settings.topology.node_of(core)
    }

    /// The node of the calling thread.
    fn here(&self) -> Option<NodeId> {
        self.node_of(current_core()?)
    }
}

pool::forward_to_own_methods!(Salsa {
    fn try_consumer(&self) -> Result<Consumer<T>, TooMany> {
        self.try_consumer()
    }

    fn try_worker(&self) -> Result<Worker<T>, TooMany> {
        self.try_worker()
    }
});

impl<T> Clone for Salsa<T> {
    fn clone(&self) -> Self {
        Self { shared: self.shared.clone() }
    }
}

impl<T> Default for Salsa<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pools = &self.pools;
        write!(f, "{} chunks in {} homes", pools.chunk_count(), pools.used())
    }
}

impl<T> fmt::Debug for Salsa<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Salsa").field(&*self.shared).finish()
    }
}
