//! CAFÉ-W: wide trees in a list, closed when consumers pass them.
//!
//! Producers put to the tree that the *tail* names and append another when it is full; consumers get from
//! the one that the *head* names. Both only move forward. A tree has *leaves* of up to 32 places, each place
//! for one task, once. A leaf has a word that producers write, which places are published, and one that consumers
//! write, which places are gone. Above the leaves are words with a bit for each child that may have tasks, in at
//! most two levels.
//!
//! A consumer that finds the head's tree empty while the tail is another one *closes* its leaves before it
//! moves the head: a slow producer that publishes there later learns of it and puts its task elsewhere. So a
//! tree that was passed never comes back to life, and can be freed.
//!
//! | here | in the paper |
//! |---|---|
//! | [`Putter::put`] | `put`, Algorithm 2, 9-17 |
//! | [`Putter::grow`] | `insertNewTree`, 18-23 |
//! | [`Getter::get`] | `get`, 32-44 |
//! | [`Tree::claim`], [`Tree::leaf_with_room`] | `findNodeForPut`, Algorithm 1, 18-31 |
//! | [`Tree::leaf_with_task`] | `findNodeForGet`, 40-45 |
//! | [`Presence::show`](presence::Presence::show), [`clear`](presence::Presence::clear) | `updateNodeMetadata`, `updateFather`, 46-62 |
//! | closing | none: `moveGTBack`, `GT.prev` and `oldProducers` are not needed |
//!
//! # Progress
//! Lock-free. A put is sent away only when a consumer has closed its tree, which takes that other producers
//! have filled it. A get looks again only when somebody has put or taken something, or moved the head.
//!
//! # Proof
//! Why no task is overlooked: `README.md`, beside the module, with names for the steps.
//!
//! # Linearization
//! A put when its bits have reached the root; a get when it takes its place; `None` at the load of a root
//! that shows nothing, if the tail still names that tree afterwards: trees before it are closed and drained,
//! later ones were not in use. Where a tree is one leaf, at the load of the word of places that are published:
//! they were all gone before.
//!
//! # Overtaking
//! Let `a` and `b` lie in the same leaf, the put of `a` have returned before that of `b` began, and nobody claim
//! places ahead ([`Frame::ahead`]), so that each place is claimed in the call that fills it. Then `a` has the lower
//! place. Whoever sees `b` published sees `a` published; if `a` was not gone then, the lowest that he saw is taken
//! first, `a` before `b` or with it; if it was, its get had begun. So `b` does not overtake `a`, and those that do lie in
//! other leaves: at most the places of the tree less those of the leaf of `a`. They are not in other trees: the
//! tail is never before the tree of `a` when `b` is put, and the head not behind it while `a` is available.
//!
//! Where a producer claims ahead its places may be lower than `a`'s, and filled later: then all other places of the
//! tree count.
//!
//! # Invariants
//! * **I1** head and tail only move forward, and the head never passes the tail.
//! * **I2** a place is claimed once in the life of a tree; whoever claimed it fills it.
//! * **I3** a leaf is closed when all places that are published are gone. A place that is published later does not
//!   count, and stays with whoever claimed it.
//! * **I4** a place that is published and not gone belongs to whoever makes it gone.
//! * **I5** a tree is retired by whoever moves the head past it, once all its leaves are closed and drained.
//!   Its link to the next tree is never changed again.
//! * **I6** a place is used once, and a put changes a version at most once: no version comes again in the
//!   life of a tree.
//! * **I7** a leaf's bit is cleared by a clearer who is counted with the leaf before it looks and after it has changed something, or
//!   when all its places are gone. A word above with a bit set does not lose its own bit. So who has once shown a leaf all the way up,
//!   and finds nobody counted who came or cleared since, has nothing to show.
//!
//! # Orderings
//! Words, counts of pending clearers, head and tail are SeqCst: on the real machines their loads are plain
//! and their read-modify-writes cost the same. What they need of it is in the table.
//!
//! | edge | release or fence side | acquire or fence side | carries |
//! |---|---|---|---|
//! | `task` | publishing a place | looking at the leaf, taking the place | the task |
//! | `present` | a put: publishes, then looks at `pending`, and, unless it knows it (I7), at the bit above | a clearer: counts itself, then looks at the bit above and below | one of them sees the other |
//! | `gone` | taking a place | looking at the leaf | what the consumer did before: its own puts |
//! | `closed` | closing a leaf | the look at it when the head is moved; publishing | nothing more comes |
//! | `tail` | moving the tail | following it, the look before `None` | the tree; that the one before is full |
//! | `head` | moving the head | following it | the tree; that those before are closed |
//! | `next` | linking a tree | moving head or tail to it | the tree |
//! | `spare` | putting a tree by | taking it out | all accesses of its last life |
//!
//! Weaker than SeqCst: `next`, `spare`.
//!
//! # Lines that move
//! A producer claims several places of its leaf at once, the more the longer it goes on, and fills them one by one; as many tasks as
//! a leaf has go to a leaf of their own, with one claim. It begins below a word that no other producer has begun with, as long as
//! there are such, and asks for the lines of the next leaf when it turns to one.
//!
//! A consumer takes all places that it saw published before it looks again, goes on to the leaves beside it that it
//! saw, and tells the word above of those that are used up all at once. It asks for tasks when it looks at the word that tells of
//! them. Where somebody else takes from its leaf it goes to another one. So each looks at what the other writes
//! once for many tasks. [`Patience`](crate::pool::Patience) says when a consumer that has caught up waits.
//!
//! Leaves with neighbouring numbers do not lie beside each other: see [`Frame::spot`].
//!
//! # Memory
//! Places that a producer has claimed and not filled when the tail moves on stay empty: at most one in 64 of a tree's
//! for each producer, and at most a leaf.
//! Each end names the tree it works on by a hazard pointer, and leaves it there between its calls. Beside the
//! trees from head to tail there are at most: one for each end; one to eight, the fewer the larger trees
//! are, that each consumer waits with until it looks who names them; and spare ones ([`spares`]): up to eight
//! small ones, or up to 32 large ones, of four megabytes in all if that is more than one. That holds whoever
//! stalls wherever.

mod frame;
mod hold;
mod leaf;
mod presence;
mod put;
mod spares;
mod take;
mod tree;

pub(super) use frame::{Frame, places};
pub(super) use leaf::SLOTS;
pub(super) use put::Putter;
pub(super) use take::Getter;

pub(super) const FAN: u32 = frame::FAN;

use super::metrics::Counters;
use super::overtaking::Meter;
use crate::panics;
use crate::reclaim::{Domain, Participant};
use machine::atomic::Ordering::{Relaxed, SeqCst};
use machine::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize};
use machine::random::Random;
use machine::trace::{self, Role};
use machine::{Arc, CachePadded};
use spares::{MOST_KEPT, Spares, is_too_much, kept};
use std::ptr::NonNull;
use tree::Tree;

/// Places of the trees that a consumer waits with before it looks who names them, in all.
const WAITING_PLACES: u32 = 256;
/// The most trees that it waits with.
const MOST_WAITING: u32 = 8;

/// The list of trees.
pub(super) struct List<T> {
    /// The tree for producers: the paper's PT.
    tail: CachePadded<AtomicPtr<Tree<T>>>,
    /// The tree for consumers: the paper's GT.
    head: CachePadded<AtomicPtr<Tree<T>>>,
    domain: Domain<Tree<T>, 1>,
    spares: Spares<T>,
    /// The height of trees to come.
    height: AtomicU32,
    /// Slots of a leaf and leaves of a mid.
    widths: (u32, u32),
    seed: u64,
    /// How many ends there have been.
    ends: AtomicU64,
    /// How many trees exist.
    trees: AtomicUsize,
    /// What measures overtaking, if anything does.
    pub(super) meter: Option<Arc<Meter>>,
    pub(super) counters: CachePadded<Counters>,
}

// SAFETY: tasks are sent from thread to thread and never shared (I2 to I4). All else that is shared of a
// tree are atomics.
unsafe impl<T: Send> Send for List<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for List<T> {}

/// # Safety
/// The tree came from a box, and nobody looks at it any more.
unsafe fn free<T>(tree: NonNull<Tree<T>>) {
    // SAFETY: the caller's.
    drop(unsafe { Box::from_raw(tree.as_ptr()) });
}

impl<T> List<T> {
    /// A list of one tree. There are such trees.
    pub(super) fn new(height: u32, widths: (u32, u32), seed: u64, measured: bool) -> Self {
        let frame = Frame::new(height, widths.0, widths.1).expect("the builder has looked");
        let first = Box::into_raw(Tree::new(frame, measured));
        // SAFETY: trees are boxes and may be freed anywhere.
        let domain = unsafe { Domain::new(1, free) };
        Self {
            tail: CachePadded::new(AtomicPtr::new(first)),
            head: CachePadded::new(AtomicPtr::new(first)),
            domain,
            spares: Spares::new(MOST_KEPT),
            height: AtomicU32::new(height),
            widths,
            seed,
            ends: AtomicU64::new(0),
            trees: AtomicUsize::new(1),
            meter: Meter::new(measured),
            counters: CachePadded::new(Counters::default()),
        }
    }

    /// Says what lies where, now that it stays there.
    pub(super) fn describe(&self) {
        trace::structure(self, "list");
        trace::part(&*self.head, "head", Role::Link);
        trace::part(&*self.tail, "tail", Role::Link);
    }

    pub(super) fn height(&self) -> u32 {
        // bare: which trees are appended from now on.
        self.height.load(Relaxed)
    }

    /// Trees appended from now on have that height. There are such trees.
    pub(super) fn set_height(&self, height: u32) {
        // bare: as above.
        self.height.store(height, Relaxed);
        // Those of another height are of no use.
        while let Some(tree) = self.spares.take(MOST_KEPT) {
            self.drop_tree(tree);
        }
    }

    /// How many trees exist, in use and spare.
    pub(super) fn tree_count(&self) -> usize {
        // hint: a number for people, and for who wonders whether to give others a turn.
        self.trees.load(Relaxed)
    }

    /// Random numbers for one more end.
    fn random(&self) -> Random {
        // bare: to tell ends apart.
        let number = self.ends.fetch_add(1, Relaxed);
        Random::seeded(self.seed ^ Random::seeded(number).next_u64())
    }

    /// How many tasks it held a moment ago; fewer, when the head moves all the time.
    pub(super) fn len_hint(&self) -> usize {
        // SAFETY: both end before the list does.
        let (mut first, mut other) = unsafe { (self.domain.join(), self.domain.join()) };
        let head = first.protect(0, &self.head);
        let mut count = 0;
        let mut tree = NonNull::new(head);
        while let Some(now) = tree {
            // SAFETY: protected, or named while the head was still before it, so not retired (I5).
            let now = unsafe { now.as_ref() };
            count += now.len_hint();
            tree = self.protect_behind(&mut other, head, now);
        }
        // SAFETY: the domain they joined.
        unsafe {
            first.leave(&self.domain);
            other.leave(&self.domain);
        }
        count
    }

    /// The tree behind `tree`, named by `guard`, if there is one and the head has not moved.
    fn protect_behind(
        &self,
        guard: &mut Participant<Tree<T>, 1>,
        head: *mut Tree<T>,
        tree: &Tree<T>,
    ) -> Option<NonNull<Tree<T>>> {
        let next = NonNull::new(tree.next())?;
        guard.announce(0, next.as_ptr());
        // head: it is not past the tree that we named before we looked.
        (self.head.load(SeqCst) == head).then_some(next)
    }

    /// The frame of trees of the height that is asked for.
    fn frame(&self) -> Frame {
        let (slots, fan) = self.widths;
        Frame::new(self.height(), slots, fan).expect("`set_height` has looked")
    }

    /// A private tree of the height that is asked for, if one is kept.
    fn spare_tree(&self) -> Option<Box<Tree<T>>> {
        let frame = self.frame();
        while let Some(tree) = self.spares.take(kept::<T>(frame)) {
            if tree.frame() == frame {
                return Some(tree);
            }
            self.drop_tree(tree);
        }
        None
    }

    /// Whether others should have a turn before one more tree is made: they may give one back.
    fn is_ahead(&self) -> bool {
        is_too_much::<T>(self.frame(), self.tree_count())
    }

    /// A private tree of the height that is asked for, made anew.
    fn new_tree(&self) -> Box<Tree<T>> {
        // hint: as in `tree_count`.
        self.trees.fetch_add(1, Relaxed);
        Tree::new(self.frame(), self.meter.is_some())
    }

    /// Keeps a private tree without tasks to be used again, or frees it.
    fn keep(&self, mut tree: Box<Tree<T>>) {
        let frame = tree.frame();
        if frame != self.frame() {
            return self.drop_tree(tree);
        }
        tree.reset();
        if let Err(tree) = self.spares.put(tree, kept::<T>(frame)) {
            self.drop_tree(tree);
        }
    }

    fn drop_tree(&self, tree: Box<Tree<T>>) {
        drop(tree);
        // hint: as in `tree_count`.
        self.trees.fetch_sub(1, Relaxed);
    }
}

/// How many trees of that frame a consumer waits with.
fn waiting(frame: Frame) -> usize {
    (WAITING_PLACES / frame.places()).clamp(1, MOST_WAITING) as usize
}

impl<T> Drop for List<T> {
    fn drop(&mut self) {
        trace::gone(self);
        let mut first_panic = None;
        // own: `&mut self`.
        let mut next = self.head.load(Relaxed);
        while !next.is_null() {
            // SAFETY: from a box; nobody else is left, and those from the head on are not retired (I5).
            let mut tree = unsafe { Box::from_raw(next) };
            panics::keep_first(&mut first_panic, tree.drop_tasks());
            // own: as above.
            next = tree.next.load(Relaxed);
        }
        panics::go_on(first_panic);
    }
}
