//! The seats of the consumers: the paper's data per consumer.

use super::chunk::Chunk;
use super::lasting::Lasting;
use super::list::List;
use crate::contender::lane::{Lane, Member};
use crate::contender::ms_queue::Queue;
use cantina::pool::TooMany;
use machine::CachePadded;
use machine::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use machine::atomic::{AtomicBool, AtomicU64, AtomicUsize};
use machine::topology::NodeId;

/// A pool of spare chunks, as the paper has it.
pub(super) type ChunkPool<T> = Queue<Lasting<Chunk<T>>>;
/// A handle's part in the chunk pools.
pub(super) type ChunkMember<T> = Member<ChunkPool<T>>;

/// All seats of a pool.
pub(super) struct Seats<T: Send> {
    seats: Box<[CachePadded<Seat<T>>]>,
    /// How many have ever been used. The first is there from the start.
    used: CachePadded<AtomicUsize>,
    /// hint: how often a consumer has come or gone.
    turnover: CachePadded<AtomicUsize>,
}

/// A consumer's place. Its number is the consumer's id.
pub(super) struct Seat<T: Send> {
    /// Whether a consumer has it. It is the writer of `stolen`.
    taken: AtomicBool,
    /// hint: the memory node of the consumer that took it last, or `NOWHERE`.
    node: AtomicUsize,
    /// How many nodes have been put into lists of this consumer, its own and the producers'.
    appends: CachePadded<AtomicU64>,
    /// The paper's list for stealing.
    pub(super) stolen: List<T>,
    chunks: ChunkPool<T>,
}

/// A node that is not known.
const NOWHERE: usize = usize::MAX;

impl<T: Send> Seats<T> {
    pub(super) fn new(limit: usize) -> Self {
        let seat = |_| {
            CachePadded::new(Seat {
                taken: AtomicBool::new(false),
                node: AtomicUsize::new(NOWHERE),
                appends: CachePadded::new(AtomicU64::new(0)),
                stolen: List::new(),
                chunks: Queue::new(),
            })
        };
        Self {
            seats: (0..limit).map(seat).collect(),
            used: CachePadded::new(AtomicUsize::new(1)),
            turnover: CachePadded::new(AtomicUsize::new(0)),
        }
    }

    /// The seat of the consumer `id`.
    pub(super) fn seat(&self, id: usize) -> &Seat<T> {
        &self.seats[id]
    }

    /// How many there can be.
    pub(super) fn limit(&self) -> usize {
        self.seats.len()
    }

    /// How many have ever been used: no others have anything.
    pub(super) fn used(&self) -> usize {
        // used: that they are.
        self.used.load(Acquire)
    }

    /// A seat for a consumer on `node`: its id.
    pub(super) fn take(&self, node: Option<NodeId>) -> Result<usize, TooMany> {
        for (id, seat) in self.seats.iter().enumerate() {
            // used: before anybody can know the seat as taken. On failure somebody else has said so.
            let _ = self.used.compare_exchange(id, id + 1, AcqRel, Relaxed);
            // hint: a hint; the exchange decides.
            let looks_free = !seat.taken.load(Relaxed);
            // seat: the list as its last writer left it. On failure nothing is read.
            if looks_free && seat.taken.compare_exchange(false, true, Acquire, Relaxed).is_ok() {
                // hint: a hint.
                seat.node.store(node.map_or(NOWHERE, |node| node.0), Relaxed);
                self.turn_over();
                return Ok(id);
            }
        }
        Err(TooMany::new(self.seats.len()))
    }

    /// Gives a seat back.
    pub(super) fn leave(&self, id: usize) {
        // seat: the list, for the next writer.
        self.seats[id].taken.store(false, Release);
        self.turn_over();
    }

    fn turn_over(&self) {
        // hint: when to make access lists anew.
        self.turnover.fetch_add(1, Relaxed);
    }

    /// How often a consumer has come or gone.
    pub(super) fn turnover(&self) -> usize {
        // hint: as above.
        self.turnover.load(Relaxed)
    }
}

impl<T: Send> Seat<T> {
    /// Whether a consumer has it, at a glance.
    pub(super) fn is_taken(&self) -> bool {
        // hint: a hint.
        self.taken.load(Relaxed)
    }

    /// The memory node of its consumer, as far as that is known.
    pub(super) fn node(&self) -> Option<NodeId> {
        // hint: a hint.
        let node = self.node.load(Relaxed);
        (node != NOWHERE).then_some(NodeId(node))
    }

    /// Says that a node has been put into a list of this consumer.
    pub(super) fn count_append(&self) {
        // append: the cell.
        self.appends.fetch_add(1, AcqRel);
    }

    /// How many nodes have been put into lists of this consumer.
    pub(super) fn appends(&self) -> u64 {
        // append: their cells.
        self.appends.load(Acquire)
    }

    /// Keeps a chunk that nobody looks at.
    ///
    /// # Safety
    /// `member` is of this pool.
    pub(super) unsafe fn keep(&self, member: &mut ChunkMember<T>, chunk: Lasting<Chunk<T>>) {
        // SAFETY: the caller's.
        unsafe { self.chunks.put(member, chunk) };
    }

    /// A chunk that was kept: the caller's alone.
    ///
    /// # Safety
    /// `member` is of this pool.
    pub(super) unsafe fn spare(&self, member: &mut ChunkMember<T>) -> Option<Lasting<Chunk<T>>> {
        // SAFETY: the caller's.
        unsafe { self.chunks.get(member) }.ok()
    }
}
