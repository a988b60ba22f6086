//! Memory for the messages of one sender: slots that lie behind each other, used once, and freed together.
//!
//! The messages of a sender run in the order it sent them. So the one in the last slot is the last one to be run, and
//! frees them all.
//!
//! # Invariants
//! * **I1** a slab has one user at a time: a sender, or the list that senders leave theirs to. Who takes one off that
//!   list sends behind all those who used it before.
//! * **I2** a slot is read once, by whoever runs its message. The last slot of a slab is filled last, and read last.

use machine::atomic::AtomicUsize;
use machine::atomic::Ordering::{Acquire, Relaxed, Release};
use machine::cell::UnsafeCell;
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ptr::{self, NonNull};

/// How large a slot is. Cells of a model are larger.
const SLOT: usize = if machine::SPINS < 16 { 256 } else { 32 };
/// How large a slab is: that of a model is soon used up.
const SIZE: usize = if machine::SPINS < 16 { 4 * SLOT } else { 8192 };
/// The layout of a slab.
const LAYOUT: Layout = match Layout::from_size_align(SIZE, 32) {
    Ok(layout) => layout,
    Err(_) => panic!("a size and an alignment"),
};

/// The first slot of a slab is taken by what is known of the others. See I1.
struct Header {
    /// Where the next slot is, from the beginning.
    used: UnsafeCell<usize>,
    /// The next slab in a list.
    next: UnsafeCell<usize>,
}

/// The slabs of one sender.
pub(super) struct Slabs(Option<NonNull<Header>>);

/// Slabs that senders have left.
pub(super) struct Left(AtomicUsize);

// SAFETY: I1: nobody else has them.
unsafe impl Send for Slabs {}

/// Whether a value goes into a slot.
pub(super) const fn fits<T>() -> bool {
    size_of::<T>() <= SLOT && align_of::<T>() <= LAYOUT.align()
}

impl Slabs {
    /// A value in a slot of its own, until it is [read] or [read last](read_last). It is made for that slot: it is
    /// told whether it is the last one.
    #[inline(always)]
    pub(super) fn place<T>(&mut self, value: impl FnOnce(bool) -> T) -> NonNull<T> {
        debug_assert!(fits::<T>());
        let slab = self.0.unwrap_or_else(|| self.more());
        // SAFETY: it stays: its last slot is not used.
        let header = unsafe { slab.as_ref() };
        // SAFETY: I1.
        let used = header.used.with(|used| unsafe { *used });
        // SAFETY: as above.
        header.used.with_mut(|place| unsafe { *place = used + SLOT });
        let is_last = used + SLOT == SIZE;
        if is_last {
            // SAFETY: as above.
            self.0 = unsafe { next_of(slab) };
        }
        // SAFETY: within the slab.
        let slot = unsafe { slab.byte_add(used).cast::<T>() };
        // SAFETY: I2: large enough, aligned, and not used yet.
        unsafe { slot.write(value(is_last)) };
        slot
    }

    #[cold]
    fn more(&mut self) -> NonNull<Header> {
        // SAFETY: it has a size.
        let slab = NonNull::new(unsafe { alloc(LAYOUT) }.cast::<Header>());
        let slab = slab.unwrap_or_else(|| handle_alloc_error(LAYOUT));
        // SAFETY: new, and large enough.
        unsafe { slab.write(Header { used: UnsafeCell::new(SLOT), next: UnsafeCell::new(0) }) };
        self.0 = Some(slab);
        slab
    }
}

/// The one behind it.
///
/// # Safety
/// The caller's (I1).
unsafe fn next_of(slab: NonNull<Header>) -> Option<NonNull<Header>> {
    // SAFETY: the caller's.
    let next = unsafe { slab.as_ref().next.with(|next| *next) };
    NonNull::new(ptr::with_exposed_provenance_mut(next))
}

/// The value of a slot, which is not looked at any more.
///
/// # Safety
/// From [`Slabs::place`], not the last one, and read once.
pub(super) unsafe fn read<T>(slot: NonNull<T>) -> T {
    // SAFETY: the caller's.
    unsafe { slot.read() }
}

/// The value of the last slot of a slab, which goes.
///
/// # Safety
/// From [`Slabs::place`], the last one, read once, and all before it have been read.
pub(super) unsafe fn read_last<T>(slot: NonNull<T>) -> T {
    // SAFETY: the caller's.
    let value = unsafe { slot.read() };
    // SAFETY: I2: from there, all slots have been used and read.
    unsafe { dealloc(slot.byte_sub(SIZE - SLOT).as_ptr().cast(), LAYOUT) };
    value
}

impl Left {
    pub(super) fn new() -> Self {
        Self(AtomicUsize::new(0))
    }

    /// Takes all of them.
    pub(super) fn take(&self) -> Slabs {
        // slabs: as they were left, and that others have sent before.
        Slabs(NonNull::new(ptr::with_exposed_provenance_mut(self.0.swap(0, Acquire))))
    }

    /// Leaves all of them.
    pub(super) fn give(&self, slabs: &mut Slabs) {
        while let Some(slab) = slabs.0 {
            // SAFETY: I1.
            slabs.0 = unsafe { next_of(slab) };
            let address = slab.as_ptr().expose_provenance();
            let push = |seen| {
                // SAFETY: I1: ours until the exchange succeeds.
                unsafe { slab.as_ref().next.with_mut(|next| *next = seen) };
                Some(address)
            };
            // slabs: as it is, and that we have sent. On failure only named.
            let _before = self.0.fetch_update(Release, Relaxed, push);
        }
    }
}

impl Drop for Slabs {
    fn drop(&mut self) {
        while let Some(slab) = self.0 {
            // SAFETY: I1.
            self.0 = unsafe { next_of(slab) };
            // SAFETY: from there; its last slot was not used, so nobody else frees it.
            unsafe { dealloc(slab.as_ptr().cast(), LAYOUT) };
        }
    }
}

impl Drop for Left {
    fn drop(&mut self) {
        drop(self.take());
    }
}
