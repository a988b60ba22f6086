//! The word that says who owns the queue, and what its owner keeps.

use super::SPARE_CHAINS;
use super::node::{Chain, END, Node};
use super::spare::Spare;
use crate::panics;
use machine::atomic::AtomicUsize;
use machine::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use machine::cell::UnsafeCell;
use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;

/// Nobody owns it, and nothing is in it.
const IDLE: usize = 0;
/// Somebody owns it, and nothing new is in it. No address of a node.
const BUSY: usize = 2;
/// Nobody owns it, and something is in it. No bit of an address of a node.
const LEFT: usize = 1;

/// What the handles of a queue share. Not padded: there may be a million of them.
pub(super) struct Shared<T> {
    /// See I1.
    head: AtomicUsize,
    /// See I3.
    hold: UnsafeCell<Hold>,
    pub(super) spare: Spare<T>,
    /// How many nodes are handed on at a time.
    pub(super) chain: usize,
    /// Items go in and come out: behind an address that the compiler cannot see, `T` may not become shorter nor longer.
    items: PhantomData<Cell<T>>,
}

/// What is the owner's.
struct Hold {
    /// The oldest item's node; each is linked to the next younger one.
    rest: usize,
    /// Nodes whose items are gone, fewer than a chain of them.
    empty: Chain,
}

// SAFETY: I3, I5: what is not atomic has one user at a time, and items only move between threads.
unsafe impl<T: Send> Sync for Shared<T> {}

/// The newest node that `word` leads to.
fn list(word: usize) -> usize {
    let newest = word & !LEFT;
    if newest == BUSY { END } else { newest }
}

fn is_owned(word: usize) -> bool {
    word != IDLE && word & LEFT == 0
}

impl<T> Shared<T> {
    /// Empty, and nobody's.
    pub(super) fn idle(chain: usize) -> Self {
        Self::new(IDLE, chain)
    }

    /// Empty, and the caller's.
    pub(super) fn busy(chain: usize) -> Self {
        Self::new(BUSY, chain)
    }

    fn new(word: usize, chain: usize) -> Self {
        Self {
            head: AtomicUsize::new(word),
            hold: UnsafeCell::new(Hold { rest: END, empty: Chain::NONE }),
            spare: Spare::new(SPARE_CHAINS.saturating_mul(chain)),
            chain,
            items: PhantomData,
        }
    }

    /// Adds the node at `node`, which has an item and is the caller's. Whether the queue is the caller's now.
    pub(super) fn enqueue(&self, node: usize) -> bool {
        // hint: only named; the exchange decides.
        let mut seen = self.head.load(Relaxed);
        loop {
            // SAFETY: ours until the exchange succeeds.
            unsafe { Node::<T>::link(node, list(seen)) };
            // item: the item and the link, for the owner.
            // hand: if nobody owned it we do, and `hold` is as the last owner left it.
            match self.head.compare_exchange_weak(seen, node, AcqRel, Relaxed) {
                Ok(_) => return !is_owned(seen),
                Err(now) => seen = now,
            }
        }
    }

    /// Becomes the owner if the queue was left. Whether it is.
    pub(super) fn adopt(&self) -> bool {
        // hint: only named; the exchange decides. Who finds it owned, or empty, reads nothing.
        let mut seen = self.head.load(Relaxed);
        while seen & LEFT != 0 {
            // hand: `hold` is as the last owner left it. What it has not taken off `head` the next take acquires.
            match self.head.compare_exchange_weak(seen, seen & !LEFT, Acquire, Relaxed) {
                Ok(_) => return true,
                Err(now) => seen = now,
            }
        }
        false
    }

    /// The oldest item. `None`: there was none, and the queue is nobody's.
    ///
    /// # Safety
    /// The caller is the owner, and after `None` it is not.
    pub(super) unsafe fn next_or_release(&self) -> Option<T> {
        loop {
            // SAFETY: the caller's.
            if let Some(item) = unsafe { self.pop() } {
                return Some(item);
            }
            // hand: `hold` and all we did, for the next owner. On failure there is something new.
            if self.head.compare_exchange(BUSY, IDLE, Release, Relaxed).is_ok() {
                return None;
            }
            // item: everything new, with what it holds.
            let newest = self.head.swap(BUSY, Acquire);
            // SAFETY: taken off `head`, so the owner's.
            let rest = unsafe { Node::<T>::reversed(list(newest)) };
            // SAFETY: I3.
            self.hold.with_mut(|hold| unsafe { (*hold).rest = rest });
        }
    }

    /// The oldest of what was taken off `head`.
    ///
    /// # Safety
    /// The caller is the owner.
    unsafe fn pop(&self) -> Option<T> {
        let (item, full) = self.hold.with_mut(|hold| {
            // SAFETY: I3.
            let hold = unsafe { &mut *hold };
            let node = hold.rest;
            if node == END {
                return None;
            }
            // SAFETY: I3, I5: the owner's, with an item.
            hold.rest = unsafe { Node::<T>::next(node) };
            // SAFETY: as above.
            let item = unsafe { Node::<T>::empty(node) };
            // SAFETY: in no list any more, and empty.
            unsafe { hold.empty.push::<T>(node) };
            let full = hold.empty.len >= self.chain;
            Some((item, full.then(|| std::mem::replace(&mut hold.empty, Chain::NONE))))
        })?;
        if let Some(chain) = full {
            // SAFETY: its nodes were the owner's, and are in no list but the chain's.
            unsafe { self.spare.give(chain) };
        }
        Some(item)
    }

    /// Leaves what there is to the next owner.
    ///
    /// # Safety
    /// The caller is the owner, and no longer is.
    pub(super) unsafe fn leave(&self) {
        // SAFETY: I3.
        let nothing = self.hold.with(|hold| unsafe { (*hold).rest == END });
        // hint: only named; the exchange decides.
        let mut seen = self.head.load(Relaxed);
        loop {
            let word = if nothing && seen == BUSY { IDLE } else { seen | LEFT };
            // hand: `hold` and all we did, for the next owner.
            match self.head.compare_exchange_weak(seen, word, Release, Relaxed) {
                Ok(_) => return,
                Err(now) => seen = now,
            }
        }
    }
}

impl<T> Drop for Shared<T> {
    fn drop(&mut self) {
        // own: `&mut self`; an owner would hold a reference.
        let newest = self.head.load(Relaxed);
        self.hold.with_mut(|hold| {
            // SAFETY: nobody else is left.
            let hold = unsafe { &mut *hold };
            let mut panic = None;
            // SAFETY: as above.
            for mut node in [hold.rest, unsafe { Node::<T>::reversed(list(newest)) }] {
                while node != END {
                    // SAFETY: as above, and I5.
                    let (next, item) = unsafe { (Node::<T>::next(node), Node::<T>::empty(node)) };
                    // SAFETY: as above, and empty now.
                    unsafe { hold.empty.push::<T>(node) };
                    node = next;
                    panics::catch(&mut panic, || drop(item));
                }
            }
            // SAFETY: as above.
            unsafe { std::mem::replace(&mut hold.empty, Chain::NONE).free::<T>() };
            panics::go_on(panic);
        });
    }
}

impl<T> fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // stat: a snapshot for humans.
        let word = self.head.load(Relaxed);
        f.write_str(match word {
            IDLE => "idle",
            _ if is_owned(word) => "owned",
            _ => "left",
        })
    }
}
