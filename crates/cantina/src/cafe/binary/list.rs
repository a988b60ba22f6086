//! The list of trees, and how they are freed.

use super::low::Lows;
use super::tree::TreeContainer;
use crate::cafe::metrics::Counters;
use crate::cafe::overtaking::{Meter, Stamps};
use crate::panics;
use crate::reclaim::Domain;
use machine::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use machine::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize};
use machine::cell::UnsafeCell;
use machine::fence::Pair;
use machine::random::Random;
use machine::trace::{self, Role};
use machine::{Arc, CachePadded};
use std::ptr::{self, NonNull};

/// Pairs that an end waits with before it looks who names them.
const PAIRS: usize = 16;
/// Trees that are passed before somebody tries to free them, at most; of large trees fewer.
const MOST_PASSED: u64 = 16;
/// Places of these trees, in all.
const PASSED_PLACES: u64 = 1024;

/// A tree of the list.
pub(super) struct Link<T> {
    /// Its number: the next one's is one more.
    pub(super) id: u64,
    pub(super) tree: TreeContainer<T>,
    /// What lies beside its tasks, where overtaking is measured.
    pub(super) stamps: Stamps,
    next: AtomicPtr<Link<T>>,
}

/// Where consumers look: the paper's GT. Each is used once, so two looks that find the same one find that
/// nothing has changed.
pub(in crate::cafe) struct Spot<T> {
    /// The tree before `tree`, if that is to be looked at too.
    pub(super) before: Option<NonNull<Link<T>>>,
    pub(super) tree: NonNull<Link<T>>,
    /// The number of `tree`.
    pub(super) id: u64,
}

/// The list of trees.
pub(in crate::cafe) struct List<T> {
    /// The tree for producers: the paper's PT.
    tail: CachePadded<AtomicPtr<Link<T>>>,
    /// A number that the tail's tree has reached: what producers announce before they look at the tail.
    tail_id: CachePadded<AtomicU64>,
    /// Where consumers look: the paper's GT.
    head: CachePadded<AtomicPtr<Spot<T>>>,
    /// How many want the head to stay where it is: the paper's `oldProducers`.
    held: CachePadded<AtomicUsize>,
    pub(super) spots: Domain<Spot<T>, 1>,
    pub(super) lows: Lows,
    /// Whether somebody frees trees.
    freeing: AtomicBool,
    /// The oldest tree that is not freed. See I7.
    oldest: UnsafeCell<NonNull<Link<T>>>,
    /// Its number, for those who wonder whether it is time.
    oldest_id: AtomicU64,
    height: AtomicU32,
    leaf_trials: u32,
    seed: u64,
    ends: AtomicU64,
    /// How many trees exist.
    trees: AtomicUsize,
    /// What measures overtaking, if anything does.
    pub(in crate::cafe) meter: Option<Arc<Meter>>,
    pub(in crate::cafe) counters: CachePadded<Counters>,
}

// SAFETY: tasks are sent from thread to thread and never shared. All else that is shared are atomics, and
// what I7 allows.
unsafe impl<T: Send> Send for List<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for List<T> {}

/// # Safety
/// The spot came from a box, and nobody looks at it any more.
unsafe fn free<T>(spot: NonNull<Spot<T>>) {
    // SAFETY: the caller's.
    drop(unsafe { Box::from_raw(spot.as_ptr()) });
}

impl<T> Link<T> {
    fn new(id: u64, tree: TreeContainer<T>, measured: bool) -> Box<Self> {
        let stamps = Stamps::new(tree.places(), measured);
        let link = Box::new(Self { id, tree, stamps, next: AtomicPtr::new(ptr::null_mut()) });
        trace::node(&*link, "binary tree");
        trace::part(&link.next, "next", Role::Link);
        link.tree.describe(&*link);
        link
    }

    /// The next tree, or null.
    pub(super) fn next(&self) -> *mut Self {
        // next: the tree as it was linked.
        self.next.load(Acquire)
    }

    /// Links `new` behind it, unless there is one already: that.
    pub(super) fn append(&self, new: *mut Self) -> Result<(), *mut Self> {
        // next: the new tree, or the one that is there.
        self.next.compare_exchange(ptr::null_mut(), new, Release, Acquire).map(|_| ())
    }
}

impl<T> Spot<T> {
    /// In a place of its own.
    pub(super) fn boxed(self) -> *mut Self {
        let spot = Box::new(self);
        trace::node(&*spot, "spot");
        trace::part(&spot.tree, "tree", Role::Link);
        trace::part(&spot.before, "before", Role::Link);
        Box::into_raw(spot)
    }

    /// The number of the first tree to look at.
    pub(super) fn low(&self) -> u64 {
        self.id - u64::from(self.before.is_some())
    }
}

impl<T> List<T> {
    pub(in crate::cafe) fn new(
        height: u32,
        leaf_trials: u32,
        seed: u64,
        measured: bool,
        fences: Pair,
    ) -> Self {
        let tree = TreeContainer::with(height, leaf_trials, seed);
        let first = NonNull::from(Box::leak(Link::new(0, tree, measured)));
        let spot = Spot { before: None, tree: first, id: 0 }.boxed();
        // SAFETY: spots are boxes and may be freed anywhere.
        let spots = unsafe { Domain::new(PAIRS, free) };
        Self {
            tail: CachePadded::new(AtomicPtr::new(first.as_ptr())),
            tail_id: CachePadded::new(AtomicU64::new(0)),
            head: CachePadded::new(AtomicPtr::new(spot)),
            held: CachePadded::new(AtomicUsize::new(0)),
            spots,
            lows: Lows::new(fences),
            freeing: AtomicBool::new(false),
            oldest: UnsafeCell::new(first),
            oldest_id: AtomicU64::new(0),
            height: AtomicU32::new(height),
            leaf_trials,
            seed,
            ends: AtomicU64::new(0),
            trees: AtomicUsize::new(1),
            meter: Meter::new(measured),
            counters: CachePadded::new(Counters::default()),
        }
    }

    /// Says what lies where, now that it stays there.
    pub(in crate::cafe) fn describe(&self) {
        trace::structure(self, "list");
        trace::part(&*self.head, "head", Role::Link);
        trace::part(&*self.tail, "tail", Role::Link);
        trace::part(&*self.held, "held", Role::Number);
    }

    pub(in crate::cafe) fn height(&self) -> u32 {
        // bare: which trees are appended from now on.
        self.height.load(Relaxed)
    }

    /// Trees appended from now on have that height.
    pub(in crate::cafe) fn set_height(&self, height: u32) {
        // bare: as above.
        self.height.store(height, Relaxed);
    }

    /// How many trees exist.
    pub(in crate::cafe) fn tree_count(&self) -> usize {
        // stat: a number for people.
        self.trees.load(Relaxed)
    }

    /// Random numbers for one more end.
    pub(super) fn random(&self) -> Random {
        // bare: to tell ends apart.
        let number = self.ends.fetch_add(1, Relaxed);
        Random::seeded(self.seed ^ Random::seeded(number).next_u64())
    }

    /// A private tree with that number.
    pub(super) fn new_link(&self, id: u64) -> Box<Link<T>> {
        // stat: a number for people.
        self.trees.fetch_add(1, Relaxed);
        let tree = TreeContainer::with(self.height(), self.leaf_trials, self.seed);
        Link::new(id, tree, self.meter.is_some())
    }

    pub(super) fn drop_link(&self, link: Box<Link<T>>) {
        drop(link);
        // stat: a number for people.
        self.trees.fetch_sub(1, Relaxed);
    }

    /// A number that the tail has reached.
    pub(super) fn tail_id(&self) -> u64 {
        // tail: the tail is not before it.
        self.tail_id.load(SeqCst)
    }

    /// The tail's tree.
    pub(super) fn tail(&self) -> *mut Link<T> {
        // tail: the tree, and that those before were full.
        self.tail.load(SeqCst)
    }

    /// Moves the tail from `old`, which is full, to `next`, which follows it. Whether nobody else did.
    pub(super) fn move_tail(&self, old: *mut Link<T>, next: *mut Link<T>) -> bool {
        // tail: that the old one is full. On failure somebody else has moved it.
        self.tail.compare_exchange(old, next, SeqCst, SeqCst).is_ok()
    }

    /// Says that the tail has reached the tree of that number: whoever moved it may not have come so far.
    pub(super) fn tell_tail(&self, id: u64) {
        // tail: after the tail itself.
        self.tail_id.fetch_max(id, SeqCst);
    }

    /// Where consumers look. Only to be named, until it is protected.
    pub(super) fn head(&self) -> *mut Spot<T> {
        // head: the spot, and what was put before the head was moved back.
        self.head.load(SeqCst)
    }

    /// Moves the head from `old`, which the caller protects, to `new`.
    pub(super) fn move_head(&self, old: *mut Spot<T>, new: *mut Spot<T>) -> bool {
        // head: the new spot. On failure somebody else has moved it.
        self.head.compare_exchange(old, new, SeqCst, SeqCst).is_ok()
    }

    /// Does `f` while the head does not move forward, but for those who are about to move it already.
    pub(super) fn while_held<R>(&self, f: impl FnOnce() -> R) -> R {
        // held: from now on nobody begins to move it forward.
        self.held.fetch_add(1, SeqCst);
        let result = f();
        // held: we are done.
        self.held.fetch_sub(1, SeqCst);
        result
    }

    pub(super) fn is_held(&self) -> bool {
        // held: somebody wants it to stay.
        self.held.load(SeqCst) > 0
    }

    /// Whether so many trees have been passed that it is worth while to free some.
    pub(super) fn has_passed_many(&self, head: u64) -> bool {
        let places = (2u64 << self.height()) - 1;
        let many = (PASSED_PLACES / places).clamp(2, MOST_PASSED);
        // hint: a hint.
        head.saturating_sub(self.oldest_id.load(Relaxed)) > many
    }

    /// Frees the trees that nobody can come to any more, if `spot`, which the caller protects, still is the
    /// head's, and nobody else is at it.
    pub(super) fn free_passed(&self, spot: *mut Spot<T>) {
        // oldest: what the last one left. On failure somebody else frees them.
        if self.freeing.compare_exchange(false, true, Acquire, Relaxed).is_err() {
            return;
        }
        // SAFETY: protected by the caller.
        let head = unsafe { &*spot }.id;
        let tail = self.tail_id();
        if let Ok(lowest) = self.lows.lowest() {
            // The head is where it was before we looked: nobody has moved it back to a tree that he had
            // announced, and then announced no longer.
            if self.head() == spot {
                let end = lowest.min(tail).min(head.saturating_sub(1));
                // SAFETY: I7: it is us who free. Trees before `end` are before the head and what is to be
                // looked at with it, before the tail, and nobody has announced to look at them.
                unsafe { self.free_before(end) };
            }
        }
        // oldest: what we leave.
        self.freeing.store(false, Release);
    }

    /// # Safety
    /// The caller has set `freeing`, and nobody looks at trees before `end`, of which the last is linked.
    unsafe fn free_before(&self, end: u64) {
        self.oldest.with_mut(|oldest| {
            loop {
                // SAFETY: the caller's: ours while `freeing` is set.
                let link = unsafe { *oldest };
                // SAFETY: not freed yet.
                if unsafe { link.as_ref() }.id >= end {
                    break;
                }
                // SAFETY: from a box, and nobody looks at it; each once, as the next one is the oldest now.
                let link = unsafe { Box::from_raw(link.as_ptr()) };
                let next = NonNull::new(link.next()).expect("the tail is behind it");
                // SAFETY: as above.
                unsafe { *oldest = next };
                // hint: a hint.
                self.oldest_id.store(link.id + 1, Relaxed);
                self.drop_link(link);
            }
        });
    }
}

impl<T> Drop for Link<T> {
    fn drop(&mut self) {
        trace::gone(self);
    }
}

impl<T> Drop for Spot<T> {
    fn drop(&mut self) {
        trace::gone(self);
    }
}

impl<T> Drop for List<T> {
    fn drop(&mut self) {
        trace::gone(self);
        // own: `&mut self`.
        let spot = self.head.load(Relaxed);
        // SAFETY: from a box, not retired, and nobody else is left.
        drop(unsafe { Box::from_raw(spot) });
        let mut first_panic = None;
        // SAFETY: nobody else is left.
        let mut next = self.oldest.with(|oldest| unsafe { *oldest }).as_ptr();
        while !next.is_null() {
            // SAFETY: from a box, and not freed: each once.
            let link = unsafe { Box::from_raw(next) };
            // own: as above.
            next = link.next.load(Relaxed);
            panics::catch(&mut first_panic, || drop(link));
        }
        panics::go_on(first_panic);
    }
}
