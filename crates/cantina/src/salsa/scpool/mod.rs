//! The mechanism: single-consumer pools, one per consumer id, and stealing between them.
//!
//! A pool's tasks lie in *chunks*. A chunk is filled by one producer, front to back, and emptied front
//! to back by its *owner*, one consumer at a time. The owner announces a slot (its index in the chunk),
//! then looks whether it still is the owner, and takes the task: two plain stores and two loads. A thief
//! changes the owner word, fences everybody, and then reads the index. So one of the two sees the other,
//! and only slots at the boundary can be wanted by both: those are won in a bitmap. The steps, and why
//! they are right: `salsa/README.md`.
//!
//! Who puts where, and who steals from whom, is not known here: see [`policy`](super::policy).
//!
//! | here | in the paper |
//! |---|---|
//! | [`Filler::room_in`], then [`Filler::put`] | `produce` |
//! | [`Filler::force_room_in`] | `produceForce` |
//! | [`Taker::next`], [`Taker::consume`] | `consume` |
//! | [`Taker::steal`] | `steal` |
//! | [`Taker::scan`] | `isEmpty`, for all pools at once |
//!
//! # Progress
//! Putting is wait-free within a chunk, beginning one lock-free but for allocation. Taking and stealing are lock-free: each successful claim of
//! a chunk ends with an attempt on a task that was there, or finds that somebody took one. A scan that
//! has to begin again was disturbed by a put, a get or a steal.
//!
//! # Linearization
//! A put when its header becomes visible. A get at the announcement of its slot if it finds itself the
//! owner afterwards, else at its claim. `Empty` at the fence between the two passes of a scan.
//!
//! # Invariants
//! * **I1** what is settled for a life of a chunk changes only while the chunk is private: taken out of
//!   the spares, newly allocated, or with nobody else left.
//! * **I2** a chunk is looked at by its producer until its last slot is published or it is sealed; by
//!   consumers while a hazard pointer of theirs names it that was set before they found it in its place.
//! * **I3** `next[c]` is written by the consumer with the id `c`, or by the producer that begins a life
//!   at home `c`.
//! * **I4** a slot below the limit is taken by the owner that announced it and found itself the owner
//!   afterwards, or by whoever wins its bit; never both.
//! * **I5** an owner whose word is not fresh wins as many slots as a batch can have before it takes one
//!   without a claim.
//! * **I6** the right to retire a chunk is the change of its owner word to nobody.
//! * **I7** a chunk is in its place before its append is counted, and that before its first task.
//! * **I8** homes and segments of tables stay until the pools go.
//!
//! # Orderings
//! | edge | release or fence side | acquire or fence side | carries |
//! |---|---|---|---|
//! | `task` | a producer's header | the owner's, a thief's and a scan's look at it | the tasks |
//! | `index` | the owner's announcement | a thief's and a scan's look at it | what the owner knew to be taken, its own puts before that |
//! | `taken` | a claim | the same slots' next claim, a thief's and a scan's look | as `index` |
//! | `owner` | every change of the owner word | every look but the owner's check | the index that the word makes valid; as `index` |
//! | `steal` | the owner: announce, light fence, check | the thief: change of the owner word, heavy fence, look at the index | one of them sees the other |
//! | `limit` | the producer seals | the owner's and a thief's look | the producer's last access |
//! | `place` | publishing, emptying | protecting a chunk by its place | the chunk as it begins; that it is retired |
//! | `bits` | claiming and giving back a place | the next claim, a scan | that the place is empty; that it is used |
//! | `segment` | linking a segment | following the link | the segment |
//! | `append` | counting a chunk published | a scan's first and last look | its place |
//! | `empty` | the scan's fences | the same of other scans, and the fences of protecting | between reading an index and the second look at the owner; between the two passes |
//! | `spare` | putting a chunk by | taking it out | all accesses of its last life |
//! | `open` | a producer leaves its chunk | another goes on with it | how far it is filled |
//! | `seat` | a consumer leaves; a home is new | a consumer joins; a producer's and a scan's look | what it leaves; that there is a home |
//! | `homes` | a home is linked | whoever looks for it | the home |
//!
//! # Memory
//! A chunk goes back to the consumer that retired it: into its spares, and beyond those to the
//! allocator. A consumer that leaves frees its spares. A consumer that is leaked, or whose thread has
//! died, keeps the chunks that its hazard pointers name, and the retired ones it had not freed. A producer that is
//! leaked keeps the chunk that it fills, in its place: nobody else knows that no more will come.

mod batch;
mod chunk;
mod claims;
mod fencing;
mod fill;
mod hand;
mod home;
mod plan;
mod scan;
mod steal;
mod table;
mod take;
mod word;

pub(super) use fencing::Fencing;
pub(super) use fill::Filler;
pub(super) use home::Home;
pub(super) use plan::{MAX_SLOTS, Plan, default_slots};
pub(super) use scan::Emptiness;
pub(super) use steal::Appetite;
pub(super) use take::Taker;
pub(super) use word::MAX_CONSUMERS;

use crate::panics;
use crate::pool::TooMany;
use crate::reclaim::Domain;
use chunk::{Chunk, Head};
use machine::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use machine::atomic::{AtomicPtr, AtomicU64, AtomicUsize};
use machine::topology::NodeId;
use machine::trace::{self, Role};
use machine::{CachePadded, Topology};
use std::ptr::{self, NonNull};

/// Chunks that a consumer can look at: all but one of them are its working set.
pub(super) const HAZARDS: usize = 8;

/// The most retired chunks that a consumer collects.
const MOST_RETIRED: usize = 4;

/// What is decided when the pools are built.
#[derive(Debug)]
pub(super) struct Settings {
    pub(super) plan: Plan,
    pub(super) fencing: Fencing,
    /// The most tasks that are announced at once.
    pub(super) batch: u32,
    /// How many turns of waiting are spent on a thief in transit, or before a chunk is stolen that is
    /// hardly worth it.
    pub(super) patience: u32,
    /// Spare chunks of a home.
    pub(super) spares: usize,
    /// Places of a segment of a table.
    pub(super) table_width: usize,
    pub(super) topology: Topology,
}

/// All single-consumer pools.
pub(super) struct Pools<T> {
    pub(super) settings: Settings,
    domain: Domain<Head<T>, HAZARDS>,
    homes: Box<[AtomicPtr<Home<T>>]>,
    /// How many homes have ever been used. The first is there from the start.
    used: AtomicUsize,
    /// How often a consumer has come or gone.
    changes: AtomicU64,
    /// The header that a hand with nothing in it looks at: it never counts anything.
    blank: AtomicU64,
    /// Chunks that exist. What is above is read all the time, and this written.
    chunks: CachePadded<AtomicUsize>,
}

// SAFETY: tasks are sent from thread to thread and never shared. All that is shared of chunks and homes
// are atomics, and what I1 and I2 allow.
unsafe impl<T: Send> Send for Pools<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Pools<T> {}

/// # Safety
/// The chunk is private and is not used again.
unsafe fn free<T>(head: NonNull<Head<T>>) {
    // SAFETY: the caller's.
    unsafe { Chunk::from_raw(head).free() };
}

impl<T> Pools<T> {
    pub(super) fn new(settings: Settings) -> Self {
        let homes: Box<[_]> =
            (0..settings.plan.consumers).map(|_| AtomicPtr::new(ptr::null_mut())).collect();
        trace::row(&homes, &homes, "homes", Role::Home);
        // SAFETY: a retired chunk that nobody names is private, and freed anywhere.
        let domain = unsafe { Domain::new(1, free) };
        let pools = Self {
            settings,
            domain,
            homes,
            used: AtomicUsize::new(1),
            changes: AtomicU64::new(0),
            blank: AtomicU64::new(0),
            chunks: CachePadded::new(AtomicUsize::new(0)),
        };
        pools.build_home(0);
        pools
    }

    /// Says what lies where, now that it stays there.
    pub(super) fn describe(&self) {
        trace::structure(self, "pool");
        trace::part(&self.used, "used", Role::Number);
        trace::part(&self.changes, "changes", Role::Number);
        trace::part(&*self.chunks, "chunks", Role::Number);
    }

    fn build_home(&self, id: usize) -> &Home<T> {
        let home = Box::new(Home::new(self.settings.table_width, self.settings.spares));
        home.describe();
        let home = Box::into_raw(home);
        // homes: the home's contents.
        self.homes[id].store(home, Release);
        // SAFETY: I8.
        unsafe { &*home }
    }

    /// How many homes have ever been used.
    pub(super) fn used(&self) -> usize {
        // seat: that there are so many, for whoever learns of a task in one.
        self.used.load(Acquire)
    }

    /// Home `id`, if it has been built.
    pub(super) fn home(&self, id: usize) -> Option<&Home<T>> {
        // homes: the home's contents.
        let home = self.homes.get(id)?.load(Acquire);
        // SAFETY: I8.
        unsafe { home.as_ref() }
    }

    /// As [`home`](Self::home), for a handle that keeps the pools and uses the home no longer than that.
    fn lasting_home<'a>(&self, id: usize) -> Option<&'a Home<T>> {
        // SAFETY: I8.
        self.home(id).map(|home| unsafe { &*ptr::from_ref(home) })
    }

    /// How often a consumer has come or gone.
    pub(super) fn changes(&self) -> u64 {
        // hint: when to look at the homes again.
        self.changes.load(Relaxed)
    }

    /// How many chunks exist.
    pub(super) fn chunk_count(&self) -> usize {
        // hint: a number for people; and only time depends on whether consumers are behind.
        self.chunks.load(Relaxed)
    }

    /// Whether there are so many chunks that consumers are behind with their work: more than they could
    /// keep as spares.
    pub(super) fn are_behind(&self) -> bool {
        self.chunk_count() >= self.settings.spares * self.used()
    }

    /// Whether home `id` has so many chunks that its consumer is behind with its work.
    pub(super) fn is_behind(&self, id: usize) -> bool {
        let most = self.settings.spares - 1;
        self.home(id).is_some_and(|home| home.chunks().nth(most).is_some())
    }

    /// How many retired chunks a consumer collects before it looks who else may use them, which costs a
    /// line of every other consumer.
    fn retired_at_once(&self) -> usize {
        (self.used() / 4).clamp(1, MOST_RETIRED)
    }

    fn count_chunks(&self, more: usize, fewer: usize) {
        // hint: as in `chunk_count`.
        self.chunks.fetch_add(more.wrapping_sub(fewer), Relaxed);
    }

    /// Finds a home for a consumer on `node`: one that nobody has, or a new one.
    fn take_seat(&self, node: Option<NodeId>) -> Result<usize, TooMany> {
        let taken = loop {
            let used = self.used();
            let vacant = (0..used).find(|&id| self.home(id).is_some_and(|home| home.take_seat()));
            if let Some(id) = vacant {
                break id;
            }
            if used == self.homes.len() {
                return Err(TooMany::new(used));
            }
            // seat: the number comes before the home. On failure somebody else was first.
            if self.used.compare_exchange(used, used + 1, AcqRel, Relaxed).is_ok() {
                let home = self.build_home(used);
                if home.take_seat() {
                    break used;
                }
            }
        };
        let home = self.home(taken).expect("it has a seat");
        home.set_node(node);
        // hint: when to look at the homes again.
        self.changes.fetch_add(1, Relaxed);
        Ok(taken)
    }

    fn leave_seat(&self, id: usize) {
        if let Some(home) = self.home(id) {
            self.count_chunks(0, home.free_spares());
            home.leave_seat();
        }
        // hint: when to look at the homes again.
        self.changes.fetch_add(1, Relaxed);
    }

    /// Keeps a private chunk for home `id`, or frees it.
    fn keep(&self, id: usize, chunk: Chunk<T>) {
        let worn = chunk.word().is_worn();
        let home = self.home(id).filter(|_| !worn);
        if home.is_none_or(|home| home.push_spare(chunk).is_err()) {
            // SAFETY: private, and kept by nobody.
            unsafe { chunk.free() };
            self.count_chunks(0, 1);
        }
    }
}

impl<T> Drop for Pools<T> {
    fn drop(&mut self) {
        trace::gone(self);
        let mut first_panic = None;
        for id in 0..self.homes.len() {
            // own: `&mut self`.
            let Some(home) = NonNull::new(self.homes[id].load(Relaxed)) else { continue };
            // SAFETY: linked once, from a box; nobody else is left.
            let home = unsafe { Box::from_raw(home.as_ptr()) };
            for chunk in home.chunks() {
                // SAFETY: nobody else is left. A chunk is in one place, so this happens once.
                let panic = unsafe { chunk.drop_tasks(&self.settings.plan) };
                panics::keep_first(&mut first_panic, panic);
                // SAFETY: as above.
                unsafe { chunk.free() };
            }
            home.free_spares();
            trace::gone(&*home);
        }
        panics::go_on(first_panic);
    }
}
