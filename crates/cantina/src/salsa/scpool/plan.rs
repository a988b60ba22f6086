//! Where things lie in a chunk.
//!
//! One block of memory: the head, an index per consumer, the bits of contended slots, and the slots in
//! groups with a header each. A header counts the slots of its group that have been published.
//!
//! A group of small tasks is a cache line, the header in front, so that a task and the word that
//! publishes it travel together. A group of tasks that would waste half a line is several lines. Either
//! way a header is behind the producer soon, and its line comes over once: one header for a whole chunk
//! would go to and fro for every task.
//!
//! How many slots a group has follows from the task alone. How far apart things lie follows from the
//! machine's types, which are larger on a model.

use super::chunk::Head;
use machine::atomic::{AtomicU32, AtomicU64};
use machine::cell::UnsafeCell;
use std::alloc::Layout;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// Where a task lies.
pub(super) type Slot<T> = UnsafeCell<MaybeUninit<T>>;
/// A byte behind a header that has a line of its own, to send that line back by.
pub(super) type Mark = UnsafeCell<MaybeUninit<u8>>;

/// The most slots of a chunk: a header counts in 16 bits.
pub(in crate::salsa) const MAX_SLOTS: usize = u16::MAX as usize;
/// Bytes of a cache line.
const LINE: usize = 64;
/// Bytes of a group of tasks that do not fit into a line, if they are not larger than that.
const SEVERAL_LINES: usize = 8 * LINE;
/// Bits in a word of the bitmap.
pub(super) const WORD: u32 = u64::BITS;

/// Sizes that follow from the task.
pub(super) struct Group<T>(PhantomData<T>);

impl<T> Group<T> {
    /// Bytes in front of the tasks: the header, and what aligns them.
    const FRONT: usize = {
        let align = if align_of::<T>() > 8 { align_of::<T>() } else { 8 };
        // Tasks of a line or more do without a piece of another one.
        if size_of::<T>() >= LINE && align < LINE { LINE } else { align }
    };

    /// Tasks that fit into the header's line.
    const PER_LINE: usize = match size_of::<T>() {
        0 => LINE,
        _ if Self::FRONT >= LINE => 0,
        size => (LINE - Self::FRONT) / size,
    };

    /// Whether a group is one line.
    pub(super) const IS_LINE: bool =
        Self::PER_LINE >= 2 || Self::PER_LINE == 1 && size_of::<T>() >= 40;

    /// Slots of a group.
    pub(super) const SLOTS: u32 = if Self::IS_LINE {
        Self::PER_LINE as u32
    } else if Self::FRONT + size_of::<T>() > SEVERAL_LINES {
        1
    } else {
        ((SEVERAL_LINES - Self::FRONT) / size_of::<T>()) as u32
    };

    /// Whether the header has a line of its own, with a mark behind it.
    pub(super) const HAS_MARK: bool = Self::FRONT >= LINE;

    /// Bytes from a header to the first slot of its group.
    pub(super) const SLOTS_AT: usize = {
        let mark = if Self::HAS_MARK { size_of::<Mark>() } else { 0 };
        let header = size_of::<AtomicU64>() + mark;
        let front = if Self::FRONT < header { header } else { Self::FRONT };
        front.next_multiple_of(align_of::<Slot<T>>())
    };

    /// Bytes from a header to the next.
    pub(super) const STRIDE: usize = {
        let align = if align_of::<Slot<T>>() > LINE { align_of::<Slot<T>>() } else { LINE };
        // More than one slot is far less than an address space, and one is less than half of it.
        (Self::SLOTS_AT + Self::SLOTS as usize * size_of::<Slot<T>>()).next_multiple_of(align)
    };
}

/// Where things lie in the chunks of a pool.
#[derive(Clone, Copy, Debug)]
pub(in crate::salsa) struct Plan {
    /// Slots of a chunk.
    pub(in crate::salsa) slots: u32,
    /// Consumers at a time.
    pub(in crate::salsa) consumers: u32,
    /// Bytes to the consumers' indices.
    pub(super) next_at: usize,
    /// Bytes to the bitmap.
    pub(super) taken_at: usize,
    /// Bytes to the first header.
    pub(super) groups_at: usize,
    /// All of it.
    pub(super) memory: Layout,
}

impl Plan {
    /// The plan of a chunk for `slots` tasks, or nothing when that is too much for an address space.
    pub(in crate::salsa) fn new<T>(slots: u32, consumers: u32) -> Option<Self> {
        let align = LINE.max(align_of::<Slot<T>>()).max(align_of::<Head<T>>());
        let next_at = size_of::<Head<T>>().next_multiple_of(LINE);
        let next = size_of::<AtomicU32>().checked_mul(consumers as usize)?;
        let taken_at = (next_at + next).next_multiple_of(LINE);
        let taken = size_of::<AtomicU64>() * slots.div_ceil(WORD) as usize;
        let groups_at = (taken_at + taken).next_multiple_of(align);
        let groups = Group::<T>::STRIDE.checked_mul(slots.div_ceil(Group::<T>::SLOTS) as usize)?;
        let bytes = groups_at.checked_add(groups)?.checked_next_multiple_of(align)?;
        let memory = Layout::from_size_align(bytes, align).ok()?;
        Some(Self { slots, consumers, next_at, taken_at, groups_at, memory })
    }

    /// Bytes of a chunk.
    pub(in crate::salsa) fn bytes(&self) -> usize {
        self.memory.size()
    }

    /// The first slot of the group that `slot` is in.
    pub(super) fn first<T>(&self, slot: u32) -> u32 {
        slot - slot % Group::<T>::SLOTS
    }

    /// The first slot behind the group that `slot` is in.
    pub(super) fn end<T>(&self, slot: u32) -> u32 {
        (self.first::<T>(slot) + Group::<T>::SLOTS).min(self.slots)
    }

    /// Bytes to the header of the group that `slot` is in.
    pub(super) fn header_at<T>(&self, slot: u32) -> usize {
        self.groups_at + (slot / Group::<T>::SLOTS) as usize * Group::<T>::STRIDE
    }

    /// Bytes to `slot`.
    pub(super) fn slot_at<T>(&self, slot: u32) -> usize {
        let place = slot - self.first::<T>(slot);
        self.header_at::<T>(slot) + Group::<T>::SLOTS_AT + place as usize * size_of::<Slot<T>>()
    }
}

/// How many tasks a chunk has unless told otherwise: about a thousand in full groups, fewer of large
/// tasks.
pub(in crate::salsa) fn default_slots<T>() -> usize {
    const TASKS: usize = 1_022;
    // Spare chunks go round: all of them together should stay in a core's cache.
    const BYTES: usize = 8 << 10;
    let fit = (BYTES / size_of::<T>().max(1)).clamp(64, TASKS);
    fit.next_multiple_of(Group::<T>::SLOTS as usize)
}

#[cfg(test)]
mod tests {
    use super::{Group, LINE, Plan, default_slots};

    #[test]
    fn a_chunk_fits_into_the_address_space_or_there_is_none() {
        // Here and not through a pool: a sanitizer lays out the stack of all that moves a task.
        assert!(Plan::new::<[u8; 1 << 50]>(60_000, 1).is_none());
        assert!(Plan::new::<[u8; 1 << 40]>(60_000, 1).is_some());
    }

    #[test]
    fn a_line_holds_what_fits_behind_its_header() {
        fn of<T>() -> u32 {
            assert!(Group::<T>::IS_LINE);
            assert_eq!(Group::<T>::STRIDE, LINE);
            Group::<T>::SLOTS
        }
        assert_eq!(of::<()>(), 64);
        assert_eq!(of::<u8>(), 56);
        assert_eq!(of::<u64>(), 7);
        assert_eq!(of::<[u64; 2]>(), 3);
        assert_eq!(of::<u128>(), 3);
        assert_eq!(of::<[u8; 28]>(), 2);
        assert_eq!(of::<[u64; 5]>(), 1);
        assert_eq!(of::<[u64; 7]>(), 1);
    }

    #[test]
    fn what_would_waste_half_a_line_has_several() {
        #[repr(align(32))]
        struct Half(#[expect(dead_code)] u8);
        #[repr(align(64))]
        struct Whole(#[expect(dead_code)] u8);
        #[repr(align(128))]
        struct Double(#[expect(dead_code)] u8);
        fn of<T>() -> (u32, usize) {
            assert!(!Group::<T>::IS_LINE);
            (Group::<T>::SLOTS, Group::<T>::STRIDE / LINE)
        }
        assert_eq!(of::<[u8; 29]>(), (17, 8));
        assert_eq!(of::<[u8; 39]>(), (12, 8));
        assert_eq!(of::<Half>(), (15, 8));
        assert_eq!(of::<[u64; 8]>(), (7, 8));
        assert_eq!(of::<Whole>(), (7, 8));
        assert_eq!(of::<Double>(), (3, 8));
        assert_eq!(of::<[u64; 16]>(), (3, 7));
        assert_eq!(of::<[u8; 448]>(), (1, 8));
        assert_eq!(of::<[u8; 449]>(), (1, 9));
    }

    #[test]
    fn slots_lie_behind_each_other_and_nothing_overlaps() {
        fn check<T>(slots: u32) {
            let plan = Plan::new::<T>(slots, 5).unwrap();
            let mut end = plan.groups_at;
            assert!(plan.taken_at >= plan.next_at + 5 * 4);
            assert!(plan.groups_at >= plan.taken_at + slots.div_ceil(64) as usize * 8);
            for slot in 0..slots {
                let at = plan.slot_at::<T>(slot);
                assert!(at >= end, "slot {slot} at {at}");
                assert_eq!(at.next_multiple_of(align_of::<T>()), at);
                assert!(at >= plan.header_at::<T>(slot) + 8);
                assert!(plan.first::<T>(slot) <= slot && slot < plan.end::<T>(slot));
                if Group::<T>::IS_LINE {
                    let line = plan.header_at::<T>(slot) / LINE;
                    assert_eq!((at + size_of::<T>() - 1) / LINE, line, "slot {slot}");
                }
                end = at + size_of::<T>();
            }
            assert!(plan.bytes() >= end);
        }
        for slots in [1, 2, 7, 8, 63, 64, 65, 1_000] {
            check::<u8>(slots);
            check::<u64>(slots);
            check::<[u64; 2]>(slots);
            check::<u128>(slots);
            check::<[u8; 33]>(slots);
            check::<[u64; 8]>(slots);
            check::<()>(slots);
        }
    }

    #[test]
    fn the_default_fills_its_groups_and_stays_small() {
        assert_eq!(default_slots::<u64>(), 1_022);
        assert_eq!(default_slots::<()>(), 1_024);
        assert_eq!(default_slots::<[u64; 8]>(), 133);
        assert_eq!(default_slots::<[u8; 1_024]>(), 64);
        assert_eq!(default_slots::<[u8; 1 << 20]>(), 64);
        assert!(Plan::new::<[u8; 1 << 40]>(u16::MAX.into(), 1).is_some());
        assert!(Plan::new::<[u8; 1 << 50]>(u16::MAX.into(), 1).is_none());
    }
}
