//! Nodes by their addresses, and chains of empty ones.
//!
//! A node is made by a box, and is from then on only reached by its exposed address, until it is freed.

use machine::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::ptr;

/// The address behind the last node of a list.
pub(super) const END: usize = 0;

/// An item and the way to the next node. Their place is aligned to at least 8.
#[repr(align(8))]
pub(super) struct Node<T> {
    next: UnsafeCell<usize>,
    /// See I5.
    item: UnsafeCell<MaybeUninit<T>>,
}

/// Empty nodes, linked.
#[derive(Debug)]
pub(super) struct Chain {
    pub(super) first: usize,
    /// Of no meaning when it has none.
    pub(super) last: usize,
    pub(super) len: usize,
}

impl<T> Node<T> {
    /// The address of a new node with `item`.
    pub(super) fn boxed(item: T) -> usize {
        let empty =
            Self { next: UnsafeCell::new(END), item: UnsafeCell::new(MaybeUninit::uninit()) };
        let address = Box::into_raw(Box::new(empty)).expose_provenance();
        // SAFETY: from a box, and nobody else knows it.
        unsafe { Self::fill(address, item) };
        address
    }

    /// # Safety
    /// `address` is that of a node, which stays for as long as the reference is used.
    unsafe fn at<'a>(address: usize) -> &'a Self {
        // SAFETY: the caller's.
        unsafe { &*ptr::with_exposed_provenance(address) }
    }

    /// Puts `item` into an empty node.
    ///
    /// # Safety
    /// An empty node that is the caller's.
    pub(super) unsafe fn fill(address: usize, item: T) {
        // SAFETY: the caller's.
        unsafe { Self::at(address).item.with_mut(|place| (*place).write(item)) };
    }

    /// Takes the item out; the node is empty.
    ///
    /// # Safety
    /// A node with an item that is the caller's.
    pub(super) unsafe fn empty(address: usize) -> T {
        // SAFETY: the caller's, and I5.
        unsafe { Self::at(address).item.with_mut(|place| (*place).assume_init_read()) }
    }

    /// # Safety
    /// A node that is the caller's, or linked where the caller may look.
    pub(super) unsafe fn next(address: usize) -> usize {
        // SAFETY: the caller's.
        unsafe { Self::at(address).next.with(|next| *next) }
    }

    /// # Safety
    /// A node that is the caller's.
    pub(super) unsafe fn link(address: usize, next: usize) {
        // SAFETY: the caller's.
        unsafe { Self::at(address).next.with_mut(|place| *place = next) };
    }

    /// Turns a list round: what was last is first.
    ///
    /// # Safety
    /// A list of nodes that are all the caller's.
    pub(super) unsafe fn reversed(mut list: usize) -> usize {
        let mut done = END;
        while list != END {
            // SAFETY: the caller's.
            let next = unsafe { Self::next(list) };
            // SAFETY: as above.
            unsafe { Self::link(list, done) };
            done = list;
            list = next;
        }
        done
    }

    /// Frees a node without an item.
    ///
    /// # Safety
    /// An empty node that is the caller's and in no list.
    unsafe fn free(address: usize) {
        // SAFETY: it came from a box, and the caller's.
        drop(unsafe { Box::from_raw(ptr::with_exposed_provenance_mut::<Self>(address)) });
    }
}

impl Chain {
    /// Without nodes.
    pub(super) const NONE: Self = Self { first: END, last: END, len: 0 };

    /// Adds an empty node.
    ///
    /// # Safety
    /// An empty `Node<T>` that is the caller's, as are those in the chain.
    pub(super) unsafe fn push<T>(&mut self, node: usize) {
        // SAFETY: the caller's.
        unsafe { Node::<T>::link(node, self.first) };
        self.first = node;
        if self.len == 0 {
            self.last = node;
        }
        self.len += 1;
    }

    /// Takes a node.
    ///
    /// # Safety
    /// The chain is the caller's, of nodes `Node<T>`.
    pub(super) unsafe fn pop<T>(&mut self) -> Option<usize> {
        if self.len == 0 {
            return None;
        }
        let node = self.first;
        // SAFETY: the caller's.
        self.first = unsafe { Node::<T>::next(node) };
        self.len -= 1;
        Some(node)
    }

    /// Frees the nodes.
    ///
    /// # Safety
    /// As of [`pop`](Self::pop).
    pub(super) unsafe fn free<T>(mut self) {
        // SAFETY: the caller's.
        while let Some(node) = unsafe { self.pop::<T>() } {
            // SAFETY: as above, and in no list any more.
            unsafe { Node::<T>::free(node) };
        }
    }
}
