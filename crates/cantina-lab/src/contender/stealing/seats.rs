//! The seats of a pool's consumers: a lane each, and who feeds it.
//!
//! Seats are a list to which new ones are added in front. They are taken and left again, and stay,
//! with their lane, until the pool goes.
//!
//! # Progress
//! Lock-free: when an exchange fails, somebody else's has succeeded.
//!
//! # Invariants
//! * **I1** seats are linked once, in front, numbered from 0, and stay until the pool goes.
//! * **I2** there are at most `limit`.
//!
//! # Orderings
//! | edge | release side | acquire side | carries |
//! |---|---|---|---|
//! | `seat` | a new seat is linked | whoever looks at the list | the seat, and all older ones |
//!
//! Who has taken a seat, who feeds it and where it stands are hints to producers: a lane takes
//! anybody's tasks at any time.

use super::super::lane::Lane;
use cantina::pool::TooMany;
use machine::CachePadded;
use machine::atomic::Ordering::{Acquire, Relaxed, Release};
use machine::atomic::{AtomicBool, AtomicPtr, AtomicUsize};
use machine::cell::UnsafeCell;
use machine::topology::NodeId;
use std::ptr;

/// All seats of a pool.
pub(super) struct Seats<L> {
    /// The newest seat. See I1.
    newest: CachePadded<AtomicPtr<Seat<L>>>,
    /// hint: how often a consumer has come or gone.
    turnover: CachePadded<AtomicUsize>,
    /// See I2.
    limit: usize,
}

/// A consumer's place.
pub(super) struct Seat<L> {
    /// Its tasks.
    pub(super) lane: L,
    /// See I1; written before the seat is linked.
    number: UnsafeCell<usize>,
    /// The next older seat. See I1; written before this one is linked.
    older: UnsafeCell<*mut Seat<L>>,
    claim: CachePadded<Claim>,
}

struct Claim {
    /// hint: whether a consumer has it.
    taken: AtomicBool,
    /// hint: how many producers feed it.
    feeders: AtomicUsize,
    /// hint: the memory node of the consumer that took it last, or `NOWHERE`.
    node: AtomicUsize,
}

/// A node that is not known.
const NOWHERE: usize = usize::MAX;

// SAFETY: I1: a seat's place in the list does not change once others know it; all else is shared.
unsafe impl<L: Send + Sync> Send for Seats<L> {}
// SAFETY: as above.
unsafe impl<L: Send + Sync> Sync for Seats<L> {}

impl<L: Lane> Seats<L> {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            newest: CachePadded::new(AtomicPtr::new(ptr::null_mut())),
            turnover: CachePadded::new(AtomicUsize::new(0)),
            limit: limit.max(1),
        }
    }

    /// The newest seat. As long as it is, there are no others than before.
    pub(super) fn newest(&self) -> Option<&Seat<L>> {
        // seat: this one, and all older ones.
        let newest = self.newest.load(Acquire);
        // SAFETY: I1.
        unsafe { newest.as_ref() }
    }

    /// From `seat` to the oldest.
    pub(super) fn from<'a>(
        &'a self,
        seat: Option<&'a Seat<L>>,
    ) -> impl Iterator<Item = &'a Seat<L>> {
        // SAFETY: I1.
        std::iter::successors(seat, |seat| unsafe { seat.older().as_ref() })
    }

    /// A seat for a consumer on `node`: one that was left, or a new one.
    pub(super) fn take(&self, node: Option<NodeId>) -> Result<&Seat<L>, TooMany> {
        let left = self.from(self.newest()).find(|seat| {
            let taken = &seat.claim.taken;
            // hint: a hint, then a claim that nothing is read through.
            !taken.load(Relaxed) && taken.compare_exchange(false, true, Relaxed, Relaxed).is_ok()
        });
        let seat = left.map_or_else(|| self.add(true), Ok)?;
        // hint: a hint.
        seat.claim.node.store(node.map_or(NOWHERE, |node| node.0), Relaxed);
        self.turn_over();
        Ok(seat)
    }

    /// Gives `seat` back.
    pub(super) fn leave(&self, seat: &Seat<L>) {
        // bare: nothing is read through it.
        seat.claim.taken.store(false, Relaxed);
        self.turn_over();
    }

    /// Says that it is time to choose again whom to feed.
    fn turn_over(&self) {
        // hint: who misses it feeds a consumer that has left, or not one that has come.
        self.turnover.fetch_add(1, Relaxed);
    }

    /// How often a consumer has come or gone.
    pub(super) fn turnover(&self) -> usize {
        // hint: as above.
        self.turnover.load(Relaxed)
    }

    /// A seat to feed: of the consumers with the fewest producers the nearest. To be
    /// [unfed](Seat::unfeed) some time. Without consumers, any seat.
    pub(super) fn feed<D: Ord>(&self, distance: impl Fn(Option<NodeId>) -> D) -> &Seat<L> {
        loop {
            let rank = |seat: &Seat<L>| {
                (!seat.is_taken(), seat.feeders(), distance(seat.node()), seat.number())
            };
            let ranked = self.from(self.newest()).map(|seat| (rank(seat), seat));
            let Some(((_, feeders, ..), seat)) = ranked.min_by(|(a, _), (b, _)| a.cmp(b)) else {
                // Somebody may have been faster, and the limit be 1: then there is one now.
                let _ = self.add(false);
                continue;
            };
            let claimed = &seat.claim.feeders;
            // hint: fails when somebody else has chosen it meanwhile.
            if claimed.compare_exchange(feeders, feeders + 1, Relaxed, Relaxed).is_ok() {
                return seat;
            }
        }
    }

    fn add(&self, taken: bool) -> Result<&Seat<L>, TooMany> {
        let seat = Box::new(Seat {
            lane: L::new(),
            number: UnsafeCell::new(0),
            older: UnsafeCell::new(ptr::null_mut()),
            claim: CachePadded::new(Claim {
                taken: AtomicBool::new(taken),
                feeders: AtomicUsize::new(0),
                node: AtomicUsize::new(NOWHERE),
            }),
        });
        seat.lane.describe();
        let seat = Box::into_raw(seat);
        loop {
            let newest = self.newest();
            let number = newest.map_or(0, |seat| seat.number() + 1);
            if number == self.limit {
                // SAFETY: from a box, and not linked.
                drop(unsafe { Box::from_raw(seat) });
                return Err(TooMany::new(self.limit));
            }
            let older = newest.map_or(ptr::null_mut(), |seat| ptr::from_ref(seat).cast_mut());
            // SAFETY: not linked yet, so nobody else knows it.
            unsafe {
                (*seat).number.with_mut(|cell| *cell = number);
                (*seat).older.with_mut(|cell| *cell = older);
            }
            // seat: the seat. Exchanges before this one go on carrying the older ones. On failure
            // nothing is read.
            if self.newest.compare_exchange(older, seat, Release, Relaxed).is_ok() {
                // SAFETY: I1.
                return Ok(unsafe { &*seat });
            }
        }
    }
}

impl<L> Seat<L> {
    /// Its number.
    pub(super) fn number(&self) -> usize {
        // SAFETY: I1: written before others knew it.
        self.number.with(|number| unsafe { *number })
    }

    fn older(&self) -> *mut Self {
        // SAFETY: I1: written before others knew it.
        self.older.with(|older| unsafe { *older })
    }

    /// The memory node of its consumer, as far as that is known.
    pub(super) fn node(&self) -> Option<NodeId> {
        // hint: a hint.
        let node = self.claim.node.load(Relaxed);
        (node != NOWHERE).then_some(NodeId(node))
    }

    fn is_taken(&self) -> bool {
        // hint: a hint.
        self.claim.taken.load(Relaxed)
    }

    /// How many producers feed it.
    fn feeders(&self) -> usize {
        // hint: a hint.
        self.claim.feeders.load(Relaxed)
    }

    /// Ends a [`feed`](Seats::feed).
    pub(super) fn unfeed(&self) {
        // hint: a hint.
        self.claim.feeders.fetch_sub(1, Relaxed);
    }
}

impl<L> Drop for Seats<L> {
    fn drop(&mut self) {
        // own: `&mut self`.
        let mut next = self.newest.load(Relaxed);
        // First all seats come off the list: a task that panics when dropped must not stop that.
        let mut seats = Vec::new();
        while !next.is_null() {
            // SAFETY: I1: linked once, from a box.
            let seat = unsafe { Box::from_raw(next) };
            next = seat.older();
            seats.push(seat);
        }
    }
}
