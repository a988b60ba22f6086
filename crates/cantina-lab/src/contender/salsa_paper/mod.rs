//! SALSA as its paper has it (Gidron, Keidar, Perelman, Perez, 2012, algorithms 2 to 6), with nodes and
//! steal lists, and repaired where it is wrong. [`cantina::salsa`] has neither: this is what to compare it
//! with.
//!
//! A consumer has a list of nodes for each producer, and one for what it has stolen. A node refers to a
//! chunk and says how many of its tasks are taken. The owner of a chunk announces a task by a plain store
//! to its node, looks whether it still is the owner, and takes the task; if it is not, it takes the task by
//! an exchange. A thief puts the node into its own list, claims the chunk, makes a node of its own in the
//! place of the other, and takes a task by an exchange. Exhausted chunks go to the chunk pool of whoever
//! emptied them; a producer puts where there is a spare chunk, and makes one only when nobody has any.
//!
//! | here | in the paper |
//! |---|---|
//! | `Producer::put`, `get_chunk` | `insert`, `getChunk` |
//! | `Consumer::consume`, `take_task`, `check_last` | `consume`, `takeTask`, `checkLast` |
//! | `Consumer::steal` | `steal` |
//! | `Consumer::is_empty` | `checkEmpty` |
//!
//! # Repairs
//! * The owner word names the referring node, and an owner compares all of it. As published, an owner that
//!   loses a chunk and steals it back goes on with its old index.
//! * A thief changes the word twice: it claims the chunk by the victim's node, and settles by its own. It
//!   finds the victim's node in the word. As published, a second thief may use a node that is no longer the
//!   referring one.
//! * The victim's node is cut off by the thief that settled, by nobody else.
//! * A chunk is recycled by whoever makes it nobody's. As published it may be recycled twice.
//! * n traversals are too few to say that all is empty; here there is a double collect instead of them.
//!
//! # Deviations
//! * Tasks lie in the slots, beside a word that says empty, full or taken.
//! * A node belongs to the chunk that it was made for, and both stay until the pool goes. Hazard pointers
//!   ([`cantina::reclaim`]) keep a chunk, and with it its nodes, from being *used again* while somebody looks
//!   at it. What is announced is asked by its owner word whether it was in time.
//! * Lists are cells that name nodes: a node that is being stolen is in two lists.
//! * The fences are [`machine::fence::Pair`]: a light one between the announcement and the look at the
//!   owner, a heavy one between a thief's claim and its look at the index, where the paper moves the
//!   thief to the victim's processor. One more light one stands before line 88: a worker may have the task
//!   still in its store buffer, and a thief would find the slot empty.
//! * Handles come and go. A consumer's id and its lists go to the next consumer, a producer's lists and
//!   half-filled chunk to the next producer.
//!
//! # Progress
//! A put is wait-free but for the allocator and the chunk pools, which are lock-free. Whoever stalls
//! or dies inside a get holds up nobody: a chunk in transit is stolen like any other. But thieves that rob
//! each other of one chunk before any of them settles can in theory do so for ever: a robbed thief
//! tries one task only, and it may be taken already. The paper has that too.
//!
//! # Linearization
//! A bag. A put when its slot is full. A get at its announcement, if it finds itself the owner afterwards,
//! else at its exchange; a thief's that settles, when it settles.
//!
//! A get that finds nothing: at the fence between its two passes. A chunk that held a task then was in a
//! list of its owner (I5), and was when it was looked at in the first pass, or somebody appended a node
//! meanwhile, and the counts differ. In the first pass all slots before the index in force were taken or
//! announced, and of an announced one some get under way has it, or will: line 88 sees to it that a thief
//! which did not see the announcement sees the task. The slot behind them was empty, and in the second pass
//! still is, under the same word; later ones are filled later.
//!
//! # Invariants
//! * **I1** chunks, their nodes, seats and shelves stay until the pool goes. A chunk that was announced and
//!   found to be somebody's afterwards does not begin another life while it is announced.
//! * **I2** a slot is filled once in a life, by the producer. Its task is taken by the owner that announced it
//!   and found its word unchanged afterwards, or by whoever makes the slot taken by exchange; never both.
//! * **I3** the right to recycle a chunk is the change of its word to nobody's.
//! * **I4** lists have one writer: the consumer that has taken the seat, the producer that has taken the shelf.
//! * **I5** the node that a word names, or the one that it replaces in the same cell, is in a list of the owner,
//!   and was counted there before the word was changed, or before the first task.
//!
//! # Orderings
//! | edge | release or fence side | acquire or fence side | carries |
//! |---|---|---|---|
//! | `task` | the producer fills a slot | every look at it | the task |
//! | `taken` | a slot becomes taken | every look at it | what its taker did before: its own puts |
//! | `index` | the owner's announcement | a thief's and a scan's look | as `taken` |
//! | `owner` | every change of the owner word | every look but those after a fence | the node, and its index; as `taken` |
//! | `steal` | the owner: announce, light fence, look; a thief: the task, fence, look | a thief: claim, heavy fence, look at the index and the slot | one of them sees the other |
//! | `seen` | the owner: the task, light fence, look (line 88) | a thief: claim, heavy fence, look at the slot | as `steal`: a put of the owner's own |
//! | `cell` | a node is put into a list, or out of it | whoever follows the cell | the node; who has the chunk |
//! | `append` | the count of nodes put into lists | a scan's first and last look | the cell |
//! | `empty` | the scan's fences | the same of other scans, and the fences of announcing | between an index and the second look at the owner; between the passes |
//! | `used` | a seat is used for the first time | producers and scans | that it is |
//! | `seat` | a consumer or a producer leaves | the next takes its place | the lists, the half-filled chunk |
//! | `shelf` | a shelf is new | whoever looks for shelves | the shelf, and all older ones |
//! | `segment` | an array grows | whoever looks there | the new elements |
//! | `chunk` | a chunk is new | the drop of the pool | the chunk, and all older ones |
//!
//! # Memory
//! As in the paper no chunk is given back before the pool goes: a pool keeps the memory of its largest
//! burst. A node for each time that a chunk is stolen, used again with the chunk. A handle that is leaked,
//! or whose thread has died, keeps at most two chunks from being used again, and one half-filled.
//!
//! # Limits
//! [`CONSUMERS`] consumers and workers at a time; any number of producers. A chunk can be stolen 2^24 times
//! from its first task to its last. Its memory is left unused after 2^30 changes of the owner word.

mod chunk;
mod consumer;
mod lasting;
mod list;
mod producer;
mod scan;
mod seats;
mod shelves;
mod steal;
mod word;

pub use consumer::Consumer;
pub use producer::Producer;

use super::lane::{BATCH, Nodes, nodes};
use cantina::pool::{self, Full, TaskPool, TooMany, drop_all};
use cantina::reclaim::{self, Domain};
use chunk::{Chunk, FULL};
use consumer::SLOTS;
use lasting::Lasting;
use machine::atomic::AtomicPtr;
use machine::atomic::Ordering::{Relaxed, Release};
use machine::fence::Pair;
use machine::topology::NodeId;
use machine::{Arc, Topology, thread};
use seats::{ChunkMember, ChunkPool, Seats};
use shelves::Shelves;
use std::fmt;
use std::ptr::{self, NonNull};

/// How many consumers and workers there may be at a time.
pub const CONSUMERS: usize = word::MAX_CONSUMERS;
/// How many tasks a chunk has in the paper.
pub const CHUNK: usize = 1000;

/// The pool; see the [module](self).
pub struct SalsaPaper<T: Send> {
    shared: Arc<Shared<T>>,
}

/// How to build a [`SalsaPaper`].
#[derive(Clone, Debug)]
pub struct Setup {
    /// What is near to what.
    pub topology: Topology,
    /// How many consumers and workers there may be at a time, up to [`CONSUMERS`].
    pub consumers: usize,
    /// How many tasks a chunk has.
    pub chunk: usize,
    /// The fences between an owner and a thief.
    pub pair: Pair,
}

/// Both ends in one hand: it puts to itself first.
pub struct Worker<T: Send> {
    producer: Producer<T>,
    consumer: Consumer<T>,
}

struct Shared<T: Send> {
    seats: Seats<T>,
    shelves: Shelves<T>,
    /// The newest chunk, linked to all older ones.
    chunks: AtomicPtr<Chunk<T>>,
    domain: Domain<Chunk<T>, SLOTS>,
    /// Those of the chunk pools.
    nodes: Arc<Nodes<ChunkPool<T>>>,
    chunk: usize,
    pair: Pair,
    topology: Topology,
}

impl<T: Send> SalsaPaper<T> {
    /// An empty pool for this machine.
    pub fn new() -> Self {
        Self::with(Setup::default())
    }

    /// An empty pool.
    pub fn with(setup: Setup) -> Self {
        /// Chunks last: the pool frees them.
        fn lasts<C>(_: NonNull<C>) {}
        let Setup { topology, consumers, chunk, pair } = setup;
        let shared = Shared {
            seats: Seats::new(consumers.clamp(1, CONSUMERS)),
            shelves: Shelves::new(),
            chunks: AtomicPtr::new(ptr::null_mut()),
            // SAFETY: it does nothing.
            domain: unsafe { Domain::new(1, lasts) },
            nodes: nodes::<ChunkPool<T>>(BATCH),
            chunk: chunk.max(1),
            pair,
            topology,
        };
        Self { shared: Arc::new(shared) }
    }
}

impl<T: Send> Shared<T> {
    /// One more member of the chunk pools.
    fn member(&self) -> ChunkMember<T> {
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

    /// A new chunk.
    fn new_chunk(&self) -> Lasting<Chunk<T>> {
        let chunk = Chunk::new(self.chunk);
        // hint: only named, not looked at; the exchange decides.
        let mut newest = self.chunks.load(Relaxed);
        loop {
            // SAFETY: nobody else knows it yet.
            unsafe { chunk.set_older(newest) };
            let new = chunk.as_ptr().as_ptr();
            // chunk: the chunk. Exchanges before this one go on carrying the older ones.
            match self.chunks.compare_exchange(newest, new, Release, Relaxed) {
                Ok(_) => return chunk,
                Err(now) => newest = now,
            }
        }
    }
}

impl<T: Send> Drop for Shared<T> {
    fn drop(&mut self) {
        // chunk: own besides: `&mut self`, and the last handle has synchronized with the others.
        let mut newest = NonNull::new(self.chunks.load(Relaxed));
        let mut next = 0;
        // The tasks nobody got, and their chunks.
        drop_all(|| {
            while let Some(chunk) = newest {
                // SAFETY: linked, so not freed.
                let this = unsafe { chunk.as_ref() };
                while let Some(slot) = this.slot(next) {
                    next += 1;
                    if slot.look() == FULL {
                        // SAFETY: nobody is left to take it (I2), and we come by once.
                        return Some(unsafe { slot.take() });
                    }
                }
                (newest, next) = (NonNull::new(this.older()), 0);
                // SAFETY: nobody is left.
                unsafe { Chunk::free(chunk) };
            }
            None
        });
    }
}

impl<T: Send> TaskPool<T> for SalsaPaper<T> {
    type Producer = Producer<T>;
    type Consumer = Consumer<T>;
    type Worker = Worker<T>;

    fn producer(&self) -> Producer<T> {
        Producer::new(self.shared.clone(), None)
    }

    /// # Panics
    /// Beyond [`CONSUMERS`], or what was set up.
    fn consumer(&self) -> Consumer<T> {
        self.try_consumer().unwrap_or_else(|too_many| panic!("{too_many}"))
    }

    /// # Panics
    /// As [`consumer`](Self::consumer).
    fn worker(&self) -> Worker<T> {
        self.try_worker().unwrap_or_else(|too_many| panic!("{too_many}"))
    }

    fn try_consumer(&self) -> Result<Consumer<T>, TooMany> {
        Consumer::new(self.shared.clone())
    }

    fn try_worker(&self) -> Result<Worker<T>, TooMany> {
        let consumer = self.try_consumer()?;
        let producer = Producer::new(self.shared.clone(), Some(consumer.me));
        Ok(Worker { producer, consumer })
    }
}

impl<T: Send> pool::Producer<T> for Worker<T> {
    fn try_put(&mut self, task: T) -> Result<(), Full<T>> {
        self.producer.put(task);
        Ok(())
    }
}

impl<T: Send> pool::Consumer<T> for Worker<T> {
    fn get(&mut self) -> Option<T> {
        self.consumer.get()
    }
}

impl Default for Setup {
    fn default() -> Self {
        let (topology, pair) = (Topology::detect(), Pair::best());
        Self { topology, consumers: CONSUMERS, chunk: CHUNK, pair }
    }
}

impl<T: Send> Clone for SalsaPaper<T> {
    fn clone(&self) -> Self {
        Self { shared: self.shared.clone() }
    }
}

impl<T: Send> Default for SalsaPaper<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Send> fmt::Debug for SalsaPaper<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SalsaPaper").finish_non_exhaustive()
    }
}

impl<T: Send> fmt::Debug for Worker<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker").field("seat", &self.consumer.me).finish_non_exhaustive()
    }
}
