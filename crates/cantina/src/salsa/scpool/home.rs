//! A home: what belongs to one consumer id, whoever has it.

use super::chunk::{Chunk, Head};
use super::table::Table;
use crate::salsa::metrics::Counters;
use machine::CachePadded;
use machine::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use machine::atomic::{AtomicPtr, AtomicU64, AtomicUsize};
use machine::topology::NodeId;
use machine::trace::{self, Role};
use std::ptr::{self, NonNull};

pub(in crate::salsa) use super::table::Place;

/// Nobody has the id.
const VACANT: usize = 0;
/// A consumer has the id.
const ACTIVE: usize = 1;

/// What belongs to one consumer id: the chunks that producers chose it for, and spare ones.
pub(in crate::salsa) struct Home<T> {
    state: CachePadded<AtomicUsize>,
    /// The node of the consumer that has it, or had it last, and 1; 0 when that is not known.
    node: AtomicUsize,
    /// How many chunks have been published here.
    appends: CachePadded<AtomicU64>,
    pub(super) table: Table<T>,
    /// Empty chunks, each private to whoever takes it out.
    spares: CachePadded<Box<[AtomicPtr<Head<T>>]>>,
    /// A half-filled chunk whose producer has left.
    open: AtomicPtr<Head<T>>,
    /// What the consumer that has it has done.
    pub(in crate::salsa) counters: CachePadded<Counters>,
}

impl<T> Home<T> {
    pub(super) fn new(table_width: usize, spares: usize) -> Self {
        Self {
            state: CachePadded::new(AtomicUsize::new(VACANT)),
            node: AtomicUsize::new(0),
            appends: CachePadded::new(AtomicU64::new(0)),
            table: Table::new(table_width),
            spares: CachePadded::new(
                (0..spares).map(|_| AtomicPtr::new(ptr::null_mut())).collect(),
            ),
            open: AtomicPtr::new(ptr::null_mut()),
            counters: CachePadded::default(),
        }
    }

    /// Says what lies where, now that it stays there.
    pub(super) fn describe(&self) {
        trace::structure(self, "home");
        trace::part(&*self.state, "seat", Role::Seat);
        trace::part(&self.node, "node", Role::Number);
        trace::part(&*self.appends, "appends", Role::Number);
        trace::part(&self.open, "open", Role::Open);
        trace::row(self, &self.spares, "spare", Role::Spare);
        self.table.describe();
    }

    /// Whether a consumer has it.
    pub(in crate::salsa) fn is_active(&self) -> bool {
        // seat: that the home is there, for whoever learns of a task in it.
        self.state.load(Acquire) == ACTIVE
    }

    /// Takes it, if nobody has it.
    pub(super) fn take_seat(&self) -> bool {
        // hint: a hint; the exchange decides.
        self.state.load(Relaxed) == VACANT
            // seat: what the last consumer left. On failure nothing is read.
            && self.state.compare_exchange(VACANT, ACTIVE, AcqRel, Relaxed).is_ok()
    }

    /// Leaves it to the next.
    pub(super) fn leave_seat(&self) {
        // seat: what we leave.
        self.state.store(VACANT, Release);
    }

    /// The node of the consumer that has it, or had it last.
    pub(in crate::salsa) fn node(&self) -> Option<NodeId> {
        // hint: where memory had better lie.
        self.node.load(Relaxed).checked_sub(1).map(NodeId)
    }

    pub(super) fn set_node(&self, node: Option<NodeId>) {
        // hint: as above.
        self.node.store(node.map_or(0, |node| node.0 + 1), Relaxed);
    }

    /// How many chunks have been published here.
    pub(super) fn appends(&self) -> u64 {
        // append: the chunks' places.
        self.appends.load(Acquire)
    }

    /// Says that a chunk has been published.
    pub(super) fn count_append(&self) {
        // append: the chunk's place comes before the count, and its first task after.
        self.appends.fetch_add(1, AcqRel);
    }

    /// Takes a spare chunk, which is then private.
    pub(super) fn pop_spare(&self) -> Option<Chunk<T>> {
        self.spares.iter().find_map(|cell| {
            // hint: a hint; the swap decides.
            if cell.load(Relaxed).is_null() {
                return None;
            }
            // spare: whoever had the chunk before has let go of it.
            NonNull::new(cell.swap(ptr::null_mut(), AcqRel)).map(Chunk::from_raw)
        })
    }

    /// Keeps `chunk`, which is private, or gives it back when there is no room.
    pub(super) fn push_spare(&self, chunk: Chunk<T>) -> Result<(), Chunk<T>> {
        let room = self.spares.iter().any(|cell| {
            let chunk = chunk.as_raw().as_ptr();
            // hint: a hint; the exchange decides.
            cell.load(Relaxed).is_null()
                // spare: we let go of the chunk. On failure nothing is read.
                && cell.compare_exchange(ptr::null_mut(), chunk, Release, Relaxed).is_ok()
        });
        if room { Ok(()) } else { Err(chunk) }
    }

    /// How many spare chunks there were a moment ago.
    pub(in crate::salsa) fn spare_count(&self) -> usize {
        // stat: a number for people.
        self.spares.iter().filter(|cell| !cell.load(Relaxed).is_null()).count()
    }

    /// Frees the spare chunks.
    pub(super) fn free_spares(&self) -> usize {
        let mut freed = 0;
        while let Some(chunk) = self.pop_spare() {
            // SAFETY: private, by `pop_spare`.
            unsafe { chunk.free() };
            freed += 1;
        }
        freed
    }

    /// Takes the half-filled chunk that a producer left, to go on with it.
    pub(super) fn take_open(&self) -> Option<Chunk<T>> {
        // hint: a hint; the swap decides.
        if self.open.load(Relaxed).is_null() {
            return None;
        }
        // open: how far it is filled.
        NonNull::new(self.open.swap(ptr::null_mut(), Acquire)).map(Chunk::from_raw)
    }

    /// Leaves a half-filled chunk to the next producer. Whether there was room for it.
    pub(super) fn leave_open(&self, chunk: Chunk<T>) -> bool {
        let chunk = chunk.as_raw().as_ptr();
        // open: how far it is filled. On failure nothing is read.
        self.open.compare_exchange(ptr::null_mut(), chunk, Release, Relaxed).is_ok()
    }

    /// The chunks in its table, spare ones and the half-filled one apart. All of them, when nobody else
    /// is left.
    pub(super) fn chunks(&self) -> impl Iterator<Item = Chunk<T>> + use<T> {
        self.table.places().filter_map(Place::hint)
    }
}
