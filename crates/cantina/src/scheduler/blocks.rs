//! Memory of operations and messages, which a worker uses again.
//!
//! Blocks come in a few sizes. A worker keeps those that it has freed and takes from there. What it has too many of it
//! hands on, a chain at a time, to workers that have none: so messages from one worker to another use the same blocks
//! again and again. A thread that is no worker, and what fits no size, goes to the allocator.
//!
//! # Invariants
//! * **I1** a block that is kept has no value, and begins with the address of the next one. Nobody but whoever has the
//!   chain knows it.

use super::context::Context;
use machine::lock::Mutex;
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::cell::Cell;
use std::mem;
use std::ptr::NonNull;

/// Sizes are multiples of it.
const STEP: usize = 32;
/// How many sizes there are.
const SIZES: usize = 16;
/// The alignment of all blocks.
const ALIGN: usize = 16;
/// How many blocks are handed on at a time. A worker keeps up to twice as many of each size.
const CHAIN: usize = 128;
/// How many chains of each size are kept for others.
const CHAINS: usize = 32;

/// The beginning of a block that is kept: the next one.
#[derive(Clone, Copy)]
struct Link(Option<NonNull<Link>>);

/// Blocks of one size (I1).
#[derive(Default)]
struct Chain {
    first: Cell<Option<NonNull<Link>>>,
    len: Cell<usize>,
}

/// Blocks that a worker keeps, by their sizes.
#[derive(Default)]
pub(super) struct Blocks([Chain; SIZES]);

/// Blocks that are handed on, by their sizes.
#[derive(Default)]
pub(super) struct Spare([Mutex<Vec<Chain>>; SIZES]);

// SAFETY: I1.
unsafe impl Send for Chain {}

impl Blocks {
    #[inline(always)]
    fn take(&self, number: usize, spare: &Spare) -> Option<NonNull<u8>> {
        let own = &self.0[number];
        own.pop().or_else(|| own.refill(number, spare)).map(NonNull::cast)
    }

    #[inline(always)]
    fn give(&self, number: usize, block: NonNull<u8>, spare: &Spare) {
        let own = &self.0[number];
        if own.len.get() >= 2 * CHAIN {
            own.hand_on(number, spare);
        }
        own.push(block.cast());
    }
}

impl Chain {
    #[inline(always)]
    fn pop(&self) -> Option<NonNull<Link>> {
        let block = self.first.get()?;
        // SAFETY: I1.
        self.first.set(unsafe { block.read() }.0);
        self.len.set(self.len.get() - 1);
        Some(block)
    }

    #[inline(always)]
    fn push(&self, block: NonNull<Link>) {
        // SAFETY: I1: ours, large enough, and aligned.
        unsafe { block.write(Link(self.first.get())) };
        self.first.set(Some(block));
        self.len.set(self.len.get() + 1);
    }

    /// A block of those for others; the rest of its chain is kept.
    #[cold]
    fn refill(&self, number: usize, spare: &Spare) -> Option<NonNull<Link>> {
        let chain = spare.0[number].lock().pop()?;
        self.first.swap(&chain.first);
        self.len.swap(&chain.len);
        self.pop()
    }

    /// Leaves a chain of them to others.
    #[cold]
    fn hand_on(&self, number: usize, spare: &Spare) {
        let chain = Self::default();
        (0..CHAIN).map_while(|_| self.pop()).for_each(|block| chain.push(block));
        let mut chains = spare.0[number].lock();
        if chains.len() < CHAINS {
            chains.push(chain);
        } else {
            drop(chains);
            chain.free(number);
        }
    }

    fn free(&self, number: usize) {
        let Some(layout) = layout(number) else { return };
        while let Some(block) = self.pop() {
            // SAFETY: from the allocator with that layout, and ours.
            unsafe { dealloc(block.as_ptr().cast(), layout) };
        }
    }
}

/// The layout of blocks of a size.
const fn layout(number: usize) -> Option<Layout> {
    match Layout::from_size_align((number + 1) * STEP, ALIGN) {
        Ok(layout) => Some(layout),
        Err(_) => None,
    }
}

/// The number of its size, and the layout of its block, if there is such a size.
const fn size<T>() -> Option<(usize, Layout)> {
    let number = size_of::<T>().saturating_sub(1) / STEP;
    match layout(number) {
        Some(layout) if number < SIZES && align_of::<T>() <= ALIGN => Some((number, layout)),
        _ => None,
    }
}

/// `value` in memory of its own, until [`free`].
#[inline(always)]
pub(super) fn boxed<T>(value: T) -> NonNull<T> {
    let place = place::<T>();
    // SAFETY: large enough, aligned, and ours.
    unsafe { place.write(value) };
    place
}

/// Memory for a value that is written there next, and stays until [`free`].
#[inline(always)]
pub(super) fn place<T>() -> NonNull<T> {
    let Some((number, layout)) = (const { size::<T>() }) else {
        return NonNull::from(Box::leak(Box::<T>::new_uninit())).cast();
    };
    let kept = Context::with_blocks(|blocks, spare| blocks.take(number, spare)).flatten();
    kept.unwrap_or_else(|| allocated(layout)).cast()
}

#[cold]
fn allocated(layout: Layout) -> NonNull<u8> {
    // SAFETY: a size is not 0.
    NonNull::new(unsafe { alloc(layout) }).unwrap_or_else(|| handle_alloc_error(layout))
}

/// The value of [`boxed`], whose memory goes.
///
/// # Safety
/// From there, once, and nobody looks at it any more.
#[inline(always)]
pub(super) unsafe fn unboxed<T>(place: NonNull<T>) -> T {
    // SAFETY: the caller's.
    let value = unsafe { place.read() };
    // SAFETY: as above.
    unsafe { give(place) };
    value
}

/// Drops the value of [`boxed`], and frees its memory, also when the drop panics.
///
/// # Safety
/// As of [`unboxed`].
#[inline(always)]
pub(super) unsafe fn free<T>(place: NonNull<T>) {
    struct Give<T>(NonNull<T>);
    impl<T> Drop for Give<T> {
        #[inline(always)]
        fn drop(&mut self) {
            // SAFETY: the caller's, and it was dropped.
            unsafe { give(self.0) };
        }
    }
    let give = Give(place);
    // SAFETY: the caller's.
    unsafe { place.drop_in_place() };
    drop(give);
}

/// # Safety
/// From [`boxed`], and without a value.
#[inline(always)]
unsafe fn give<T>(place: NonNull<T>) {
    let Some((number, layout)) = (const { size::<T>() }) else {
        // SAFETY: from such a box; what is in it is not dropped again.
        return drop(unsafe { Box::from_raw(place.cast::<mem::MaybeUninit<T>>().as_ptr()) });
    };
    let block = place.cast::<u8>();
    let kept = Context::with_blocks(|blocks, spare| blocks.give(number, block, spare));
    if kept.is_none() {
        // SAFETY: from the allocator with that layout, and the caller's.
        unsafe { dealloc(block.as_ptr(), layout) };
    }
}

impl Drop for Blocks {
    fn drop(&mut self) {
        self.0.iter().enumerate().for_each(|(number, chain)| chain.free(number));
    }
}

impl Drop for Spare {
    fn drop(&mut self) {
        for (number, chains) in self.0.iter_mut().enumerate() {
            mem::take(&mut *chains.lock()).into_iter().for_each(|chain| chain.free(number));
        }
    }
}
