//! Concurrent bags (Sundell, Gidenstam, Papatriantafilou, Tsigas, SPAA 2011), to which the SALSA paper
//! compares itself (section 6.2).
//!
//! Whoever puts has a list of its own, of blocks of slots, the newest block at its head. A put fills
//! the next slot of the newest block, and a full one gets a new block in front of it: no
//! read-modify-write either way. A get looks at the own list first, then at the others' in turn, from
//! where it found something last, and takes a task by an exchange on its slot. A block that is used up
//! is marked in its link and unlinked, by whoever sees it.
//!
//! Where this departs from the paper:
//! * A slot is filled once, so that the number of puts to a list can be read off its newest block: that
//!   makes an empty pool sure (below) without a put that notifies anybody. The paper fills slots again.
//! * The newest block is never unlinked. What is left of a list are its newest block and those behind
//!   it that have tasks, so a get is always at one of two places: a block that was the newest when it
//!   came, or the one behind it. The SALSA paper has a simpler list than the original, too.
//! * A producer that leaves leaves its list to the next one.
//!
//! A block has 128 slots, as in the SALSA paper, which found that to be best (section 6.6).
//!
//! # Progress
//! A put is wait-free but for the allocator and, the first time, for finding a list. A get is
//! lock-free: when an exchange fails, somebody else's has succeeded, and a get that goes round again
//! has found that somebody put.
//!
//! # Linearization
//! A bag. A put when its slot is full, a get that finds a task when it exchanges the slot.
//!
//! A get that finds none has gone over all lists, one after the other, and a task may have been put
//! into the first and got from the last meanwhile. But the tasks of a list are numbered, in the order of
//! their puts, and what is taken stays taken. So each getter remembers, of each list, a number below
//! which all are taken, and goes round until it finds that every list, from its head to its end, has been
//! filled *up to the number it remembers* and no further, and no list that it does not know. Let p
//! be the moment when that last round began. What lies below the numbers was taken before p; what does
//! not was put after p; so every list was empty at p, and so were those that came later. A getter that
//! finds nothing again and again needs only one round for each time, a look at one slot of each list.
//!
//! In terms of what the memory model promises, where there is no such moment: call all puts below the
//! numbers, and their gets, the cut. If a put beyond the cut happens before something within, then it
//! happens before the last look at its list: whoever sees a slot taken, or a block unlinked, acquires
//! all that was done before. That look would have found its slot full. So the cut is closed under what
//! happened before; at its edge all lists are empty; and everything that happens before the get lies
//! within.
//!
//! # Invariants
//! * **I1** lists stay until the pool goes. `head` of a list, and the next empty slot, belong to whoever
//!   has taken the list.
//! * **I2** slots are filled in order, each once, and a block gets a newer one in front when all are.
//!   Empty, full, taken: a slot's state never goes back. Whoever makes it taken has the task.
//! * **I3** a block is marked when all its slots are taken and it is not the newest. Its link does not
//!   change any more. It is unlinked by an exchange on a link that is not marked, of a block that is
//!   therefore linked itself; whoever did that retires it.
//! * **I4** so the newest block is never marked, and all that is behind a block that is not marked is
//!   found by its link.
//!
//! # Orderings
//! | edge | release side | acquire side | carries |
//! |---|---|---|---|
//! | `task` | a put fills a slot | the exchange that takes it | the task |
//! | `taken` | the exchange that takes a slot | whoever finds it taken | what the getter's thread did before: its own puts |
//! | `head` | a put links a new block | a getter that protects the newest block | the block; that those behind it are full |
//! | `link` | unlinking a block | a getter that goes to the next block; marking the block in front | as `taken`, of the slots of blocks that are gone |
//! | `list` | a new list is linked | whoever looks for lists | the list, and all older ones |
//! | `seat` | a list is left | it is taken again | how far it is filled |
//!
//! # Memory
//! A list keeps its newest block, and those that have tasks; lists are as many as there have been ends
//! at once that put. A getter keeps fewer than a batch of retired blocks, and, until it finds nothing or
//! goes, the two that it looks at. A used-up block whose unlinking failed goes when somebody next
//! comes by. The pool drops the tasks nobody got.

mod block;
mod ends;
mod list;
mod walk;

pub use ends::{Consumer, Producer, Worker};

use block::Block;
use cantina::pool::TaskPool;
use cantina::reclaim::{Domain, Reclaims};
use list::Lists;
use machine::Arc;
use machine::atomic::AtomicUsize;
use machine::atomic::Ordering::Relaxed;
use std::fmt;
use walk::HAZARDS;

/// Slots of a block, unless told otherwise.
pub const SLOTS: usize = 128;

/// How many blocks a getter retires before it looks for those that can be freed: few, because a block
/// is large and a look is paid by all tasks that were in it.
pub const BATCH: usize = 4;

/// A pool of lists of blocks; see the [module](self).
pub struct Bags<T, const SLOTS: usize = { self::SLOTS }> {
    shared: Arc<Shared<T, SLOTS>>,
}

struct Shared<T, const SLOTS: usize> {
    lists: Lists<T, SLOTS>,
    /// The blocks of all lists.
    blocks: Domain<Block<T, SLOTS>, HAZARDS>,
    /// hint: how many getters have come, so that they begin at different lists.
    comers: AtomicUsize,
}

// SAFETY: one of its fields.
unsafe impl<T, const SLOTS: usize> Reclaims<HAZARDS> for Shared<T, SLOTS> {
    type Node = Block<T, SLOTS>;

    fn domain(&self) -> &Domain<Block<T, SLOTS>, HAZARDS> {
        &self.blocks
    }
}

impl<T> Bags<T> {
    /// An empty pool.
    pub fn new() -> Self {
        Self::retiring(BATCH)
    }
}

impl<T, const SLOTS: usize> Bags<T, SLOTS> {
    /// An empty pool whose getters look for blocks to free after `batch` retired ones.
    pub fn retiring(batch: usize) -> Self {
        const { assert!(SLOTS > 0, "a block without slots holds nothing") };
        // SAFETY: `free` asks for no more than the domain promises, and blocks are sent.
        let blocks = unsafe { Domain::new(batch, Block::free) };
        let shared = Shared { lists: Lists::new(), blocks, comers: AtomicUsize::new(0) };
        Self { shared: Arc::new(shared) }
    }
}

impl<T, const SLOTS: usize> Shared<T, SLOTS> {
    /// How many getters came before this one.
    fn come(&self) -> usize {
        // hint: where to begin.
        self.comers.fetch_add(1, Relaxed)
    }
}

impl<T: Send, const SLOTS: usize> TaskPool<T> for Bags<T, SLOTS> {
    type Producer = Producer<T, SLOTS>;
    type Consumer = Consumer<T, SLOTS>;
    type Worker = Worker<T, SLOTS>;

    fn producer(&self) -> Producer<T, SLOTS> {
        Producer::new(self.shared.clone())
    }

    fn consumer(&self) -> Consumer<T, SLOTS> {
        Consumer::new(self.shared.clone())
    }

    fn worker(&self) -> Worker<T, SLOTS> {
        Worker::new(self.shared.clone())
    }
}

impl<T, const SLOTS: usize> Clone for Bags<T, SLOTS> {
    fn clone(&self) -> Self {
        Self { shared: self.shared.clone() }
    }
}

impl<T> Default for Bags<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T, const SLOTS: usize> fmt::Debug for Bags<T, SLOTS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bags").finish_non_exhaustive()
    }
}
