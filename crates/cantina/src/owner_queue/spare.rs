//! Empty nodes on their way from owners to producers: a stack that is pushed to in chains and taken whole.
//!
//! Taken whole, because an exchange that takes the first node alone could find it there again with another one
//! behind it.

use super::node::{Chain, END, Node};
use machine::atomic::AtomicUsize;
use machine::atomic::Ordering::{Acquire, Relaxed, Release};
use std::marker::PhantomData;

/// A stack of empty nodes.
pub(super) struct Spare<T> {
    /// The first of them, each linked to the next.
    top: AtomicUsize,
    /// How many there are, about: those on the way count.
    count: AtomicUsize,
    /// Beyond how many they are freed.
    most: usize,
    nodes: PhantomData<T>,
}

impl<T> Spare<T> {
    /// Without nodes, for up to about `most`.
    pub(super) fn new(most: usize) -> Self {
        let (top, count) = (AtomicUsize::new(END), AtomicUsize::new(0));
        Self { top, count, most, nodes: PhantomData }
    }

    /// Gives back the nodes of `chain`, or frees them if there are enough.
    ///
    /// # Safety
    /// The chain is the caller's, of nodes `Node<T>`.
    pub(super) unsafe fn give(&self, chain: Chain) {
        // hint: how many there are about.
        if self.count.load(Relaxed) >= self.most {
            // SAFETY: the caller's.
            unsafe { chain.free::<T>() };
        } else {
            // SAFETY: as above.
            unsafe { self.push(chain) };
        }
    }

    /// # Safety
    /// As of [`give`](Self::give).
    unsafe fn push(&self, chain: Chain) {
        if chain.len == 0 {
            return;
        }
        // hint: how many there are about.
        self.count.fetch_add(chain.len, Relaxed);
        // hint: only named; the exchange decides.
        let mut top = self.top.load(Relaxed);
        loop {
            // SAFETY: ours until the exchange succeeds.
            unsafe { Node::<T>::link(chain.last, top) };
            // spare: the nodes are empty and linked, for whoever takes them.
            match self.top.compare_exchange_weak(top, chain.first, Release, Relaxed) {
                Ok(_) => return,
                Err(now) => top = now,
            }
        }
    }

    /// Takes up to `most` nodes.
    pub(super) fn take(&self, most: usize) -> Chain {
        // hint: a look that costs nobody anything; the swap decides.
        if self.top.load(Relaxed) == END {
            return Chain::NONE;
        }
        // spare: the nodes are empty and linked.
        let first = self.top.swap(END, Acquire);
        // SAFETY: the swap has taken all of the list, so its nodes are ours.
        let (taken, behind) = unsafe { Self::part(first, most) };
        // SAFETY: as above.
        let (back, _) = unsafe { Self::part(behind, usize::MAX) };
        // hint: how many there are about.
        self.count.fetch_sub(taken.len + back.len, Relaxed);
        // SAFETY: as above. Back as they are, or the first to come would have them all.
        unsafe { self.push(back) };
        taken
    }

    /// The first up to `most` nodes of a list, and what is behind them.
    ///
    /// # Safety
    /// A list of nodes that are all the caller's.
    unsafe fn part(first: usize, most: usize) -> (Chain, usize) {
        let mut chain = Chain { first, last: END, len: 0 };
        let mut next = first;
        while next != END && chain.len < most {
            chain.last = next;
            chain.len += 1;
            // SAFETY: the caller's.
            next = unsafe { Node::<T>::next(next) };
        }
        (chain, next)
    }
}

impl<T> Drop for Spare<T> {
    fn drop(&mut self) {
        // SAFETY: nobody else is left, and the nodes are empty (I5).
        unsafe { self.take(usize::MAX).free::<T>() };
    }
}
