//! A chunk: slots that one producer fills front to back, and one consumer at a time empties.

mod describe;

use super::home::Place;
use super::plan::{Group, Mark, Plan, Slot, WORD};
use super::word::Word;
use crate::panics::{self, Panic};
use machine::Topology;
use machine::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use machine::atomic::{AtomicU32, AtomicU64};
use machine::cell::UnsafeCell;
use machine::placement::Block;
use machine::topology::NodeId;
use machine::trace;
use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};

/// Bits of a header that count; the rest is the lap.
const COUNT_BITS: u32 = 16;

/// The front of a chunk's memory.
#[repr(C, align(64))]
pub(in crate::salsa) struct Head<T> {
    owner: AtomicU64,
    /// The producer's last slot, as far as anybody may go.
    limit: AtomicU32,
    /// How many slots are filled, for the producer that goes on where another left off.
    filled: AtomicU32,
    /// What changes only while the chunk is private (I1).
    life: UnsafeCell<Life<T>>,
    block: Block,
    plan: Plan,
}

/// What is settled while a chunk is private, for one life of it.
#[repr(C)]
pub(super) struct Life<T> {
    /// Which life: headers of earlier ones count for nothing.
    pub(super) lap: u64,
    /// Where it is published.
    pub(super) place: Option<Place<T>>,
}

/// A chunk, by its address.
///
/// Not a reference: a chunk may be used again or freed while whoever let go of it is still in the
/// function that did. Whoever holds one uses it only while I2 lets them.
pub(super) struct Chunk<T>(NonNull<Head<T>>);

impl<T> Clone for Chunk<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Chunk<T> {}

impl<T> PartialEq for Chunk<T> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

/// What a header says.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Header(u64);

impl Header {
    /// The header of a group without tasks, in this lap.
    pub(super) fn empty(lap: u64) -> Self {
        Self(lap << COUNT_BITS)
    }

    /// The word of a group without tasks, less the number of slots before it.
    pub(super) fn less(lap: u64, slots: u32) -> u64 {
        (lap << COUNT_BITS).wrapping_sub(u64::from(slots))
    }

    /// One that counts `slots` more.
    pub(super) fn plus(self, slots: u32) -> Self {
        Self(self.0 + u64::from(slots))
    }

    /// The header of a group without tasks, in the same lap.
    pub(super) fn restarted(self) -> Self {
        Self(self.0 >> COUNT_BITS << COUNT_BITS)
    }

    /// How many slots it counts.
    #[inline(always)]
    pub(super) fn counts(self) -> usize {
        self.0 as usize & ((1 << COUNT_BITS) - 1)
    }

    /// How many slots it counts more than `other`, of the same lap.
    pub(super) fn minus(self, other: Self) -> u32 {
        (self.0 - other.0) as u32
    }

    /// Publishes the slots that `header` counts, in the group of `word`.
    ///
    /// # Safety
    /// `word` is a header of the chunk that the caller fills (I2).
    #[inline(always)]
    pub(super) unsafe fn store(word: *const AtomicU64, header: Self) {
        // SAFETY: the caller's.
        // task: the tasks in the slots.
        unsafe { (*word).store(header.0, Release) };
    }

    /// What `word` says.
    ///
    /// # Safety
    /// `word` is a header of a chunk that the caller may look at (I2).
    #[inline(always)]
    pub(super) unsafe fn load(word: *const AtomicU64) -> Self {
        // SAFETY: the caller's.
        // task: the tasks that the header counts.
        Self(unsafe { (*word).load(Acquire) })
    }

    /// What it says over `nothing`.
    #[inline(always)]
    pub(super) fn over(self, nothing: u64) -> i64 {
        self.0.wrapping_sub(nothing) as i64
    }

    /// How many slots it counts in `lap`.
    pub(super) fn count(self, lap: u64) -> u32 {
        if self.0 >> COUNT_BITS == lap { self.counts() as u32 } else { 0 }
    }
}

impl<T> Chunk<T> {
    /// New memory, on `node` where that can be had. Private.
    pub(super) fn allocate(plan: &Plan, topology: &Topology, node: Option<NodeId>) -> Self {
        let block = match node {
            Some(node) => Block::on_node(plan.memory, topology, node),
            None => Block::new(plan.memory),
        };
        let start = block.start();
        let head: Head<T> = Head {
            owner: AtomicU64::new(Word::UNUSED.bits()),
            limit: AtomicU32::new(0),
            filled: AtomicU32::new(0),
            life: UnsafeCell::new(Life { lap: 0, place: None }),
            block,
            plan: *plan,
        };
        // SAFETY: the plan leaves room for a head at the start, indices, bits and headers behind it,
        // each aligned; nobody else knows the memory. Slots need no beginning.
        unsafe {
            start.cast().write(head);
            let chunk = Self(start.cast());
            for id in 0..plan.consumers {
                chunk.next_at(plan, id as usize).write(AtomicU32::new(0));
            }
            for word in 0..plan.slots.div_ceil(WORD) {
                chunk.taken_at(plan, word * WORD).write(AtomicU64::new(0));
            }
            let mut slot = 0;
            while slot < plan.slots {
                let header = chunk.header_at(plan, slot);
                header.write(AtomicU64::new(0));
                if Group::<T>::HAS_MARK {
                    mark_at(header).cast_mut().write(Mark::new(MaybeUninit::uninit()));
                }
                let end = plan.end::<T>(slot);
                for slot in slot..end {
                    chunk.slot(plan, slot).cast_mut().write(Slot::new(MaybeUninit::uninit()));
                }
                slot = end;
            }
            chunk.describe(plan);
            chunk
        }
    }

    /// Frees the memory and drops no task.
    ///
    /// # Safety
    /// The chunk is private and is not used again.
    pub(super) unsafe fn free(self) {
        // SAFETY: private, so nobody else looks; what `allocate` wrote is dropped once. The block is
        // moved out before it goes.
        unsafe {
            trace::gone(self.0.as_ref());
            let Head { block, plan, .. } = self.0.read();
            for id in 0..plan.consumers {
                self.next_at(&plan, id as usize).drop_in_place();
            }
            for word in 0..plan.slots.div_ceil(WORD) {
                self.taken_at(&plan, word * WORD).drop_in_place();
            }
            let mut slot = 0;
            while slot < plan.slots {
                let header = self.header_at(&plan, slot);
                header.drop_in_place();
                if Group::<T>::HAS_MARK {
                    mark_at(header).cast_mut().drop_in_place();
                }
                let end = plan.end::<T>(slot);
                for slot in slot..end {
                    self.slot(&plan, slot).cast_mut().drop_in_place();
                }
                slot = end;
            }
            drop(block);
        }
    }

    pub(super) fn from_raw(head: NonNull<Head<T>>) -> Self {
        Self(head)
    }

    pub(super) fn as_raw(self) -> NonNull<Head<T>> {
        self.0
    }

    fn at(self, bytes: usize) -> *mut u8 {
        // Within the block: a plan only has such offsets.
        self.0.as_ptr().cast::<u8>().wrapping_add(bytes)
    }

    fn next_at(self, plan: &Plan, id: usize) -> *mut AtomicU32 {
        debug_assert!(id < plan.consumers as usize);
        self.at(plan.next_at).cast::<AtomicU32>().wrapping_add(id)
    }

    fn taken_at(self, plan: &Plan, slot: u32) -> *mut AtomicU64 {
        debug_assert!(slot < plan.slots);
        self.at(plan.taken_at).cast::<AtomicU64>().wrapping_add((slot / WORD) as usize)
    }

    /// The bitmap.
    pub(super) fn taken(self, plan: &Plan) -> *const AtomicU64 {
        self.taken_at(plan, 0)
    }

    /// Where the header of the group lies that `slot` is in: of all of the chunk, for the next group's is
    /// found from there.
    pub(super) fn header_at(self, plan: &Plan, slot: u32) -> *mut AtomicU64 {
        debug_assert!(slot < plan.slots);
        self.at(plan.header_at::<T>(slot)).cast()
    }

    /// The owner word.
    pub(super) fn owner<'a>(self) -> &'a AtomicU64 {
        // SAFETY: I2. Only the field is referred to, and it is atomic.
        unsafe { &(*self.0.as_ptr()).owner }
    }

    /// The index of consumer `id`.
    pub(super) fn next<'a>(self, plan: &Plan, id: usize) -> &'a AtomicU32 {
        // SAFETY: I2, and as above.
        unsafe { &*self.next_at(plan, id) }
    }

    /// Where the task of `slot` lies.
    pub(super) fn slot(self, plan: &Plan, slot: u32) -> *const Slot<T> {
        debug_assert!(slot < plan.slots);
        self.at(plan.slot_at::<T>(slot)).cast_const().cast()
    }

    fn limit<'a>(self) -> &'a AtomicU32 {
        // SAFETY: I2, and as above.
        unsafe { &(*self.0.as_ptr()).limit }
    }

    /// Reads what is settled for this life.
    pub(super) fn life<R>(self, look: impl FnOnce(&Life<T>) -> R) -> R {
        // SAFETY: I1, I2: nobody writes while anybody else can look.
        unsafe { (*self.0.as_ptr()).life.with(|life| look(&*life)) }
    }

    /// Settles what changes only while the chunk is private.
    ///
    /// # Safety
    /// The chunk is private, or only its producer looks at what changes (I1).
    pub(super) unsafe fn settle<R>(self, change: impl FnOnce(&mut Life<T>) -> R) -> R {
        // SAFETY: the caller's.
        unsafe { (*self.0.as_ptr()).life.with_mut(|life| change(&mut *life)) }
    }

    /// The owner word, and with it all that its last change followed.
    pub(super) fn word(self) -> Word {
        // owner: the index that the word makes valid, and what its writer knew to be taken.
        Word::from_bits(self.owner().load(Acquire))
    }

    /// Changes the owner word if it still is `old`.
    pub(super) fn change(self, old: Word, new: Word) -> bool {
        // owner: what we published before, and what we know to be taken. On failure nothing is read.
        self.owner().compare_exchange(old.bits(), new.bits(), AcqRel, Relaxed).is_ok()
    }

    /// As far as anybody may go.
    pub(super) fn end(self) -> u32 {
        // limit: the producer has let go of the chunk.
        self.limit().load(Acquire)
    }

    /// Nothing more will come: the producer lets go of the chunk after `filled` slots.
    pub(super) fn seal(self, filled: u32) {
        // limit: our last look at the chunk comes before its end is seen.
        self.limit().store(filled, Release);
    }

    /// How far the producer that left it had filled it.
    pub(super) fn filled(self) -> u32 {
        // SAFETY: I2.
        let filled = unsafe { &(*self.0.as_ptr()).filled };
        // own: a chunk has one producer at a time; `open` carries it.
        filled.load(Relaxed)
    }

    /// Notes how far it is filled, for the producer that goes on.
    pub(super) fn set_filled(self, slots: u32) {
        // SAFETY: I2.
        let filled = unsafe { &(*self.0.as_ptr()).filled };
        // own: as above.
        filled.store(slots, Relaxed);
    }

    /// The index of consumer `id`.
    pub(super) fn index(self, plan: &Plan, id: usize) -> u32 {
        // index: what its owner knew to be taken.
        self.next(plan, id).load(Acquire)
    }

    /// The header of the group that `slot` is in.
    pub(super) fn look(self, plan: &Plan, slot: u32) -> Header {
        // SAFETY: I2.
        unsafe { Header::load(self.header_at(plan, slot)) }
    }

    /// The first slot, in the group that `slot` is in, that is not published in `lap`.
    pub(super) fn published(self, plan: &Plan, slot: u32, lap: u64) -> u32 {
        plan.first::<T>(slot) + self.look(plan, slot).count(lap)
    }

    /// Whether somebody has won `slot` by a claim.
    pub(super) fn is_taken(self, plan: &Plan, slot: u32) -> bool {
        // SAFETY: I2.
        let word = unsafe { &*self.taken_at(plan, slot) };
        // taken: what the winner knew to be taken.
        word.load(Acquire) & (1 << (slot % WORD)) != 0
    }

    /// The first slot from `slot` on that nobody has won by a claim, or that is behind this word of the
    /// bitmap.
    pub(super) fn past_taken(self, plan: &Plan, slot: u32) -> u32 {
        // SAFETY: I2.
        let word = unsafe { &*self.taken_at(plan, slot) };
        // taken: what the winners knew to be taken.
        slot + (word.load(Acquire) >> (slot % WORD)).trailing_ones()
    }

    /// Claims `slot`. Whether it is won.
    pub(super) fn claim(self, plan: &Plan, slot: u32) -> bool {
        // SAFETY: I2.
        Self::claim_in(unsafe { &*self.taken_at(plan, slot) }, slot)
    }

    /// The same, in its word of the bitmap.
    #[inline(always)]
    pub(super) fn claim_in(word: &AtomicU64, slot: u32) -> bool {
        let bit = 1 << (slot % WORD);
        // taken: what we know to be taken, to whoever finds this slot gone; and the same from whoever was
        // first.
        word.fetch_or(bit, AcqRel) & bit == 0
    }

    /// Claims `count` slots from `slot` on, all of them in one word of the bitmap. The bits that are won,
    /// the lowest for `slot`.
    pub(super) fn claim_run(self, plan: &Plan, slot: u32, count: u32) -> u64 {
        debug_assert!(count >= 1 && slot % WORD + count <= WORD);
        let wanted = (u64::MAX >> (WORD - count)) << (slot % WORD);
        // SAFETY: I2.
        let word = unsafe { &*self.taken_at(plan, slot) };
        // taken: what we know to be taken, to whoever finds these slots gone; and the same from whoever
        // was first.
        let before = word.fetch_or(wanted, AcqRel);
        (wanted & !before) >> (slot % WORD)
    }

    /// Begins another life at `home`: nothing published, nothing taken.
    ///
    /// # Safety
    /// The chunk is private.
    pub(super) unsafe fn begin(self, plan: &Plan, home: usize) -> u64 {
        for word in 0..plan.slots.div_ceil(WORD) {
            // SAFETY: within the bitmap.
            let word = unsafe { &*self.taken_at(plan, word * WORD) };
            // own: private.
            if word.load(Relaxed) != 0 {
                // own: private.
                word.store(0, Relaxed);
            }
        }
        // own: private; `place` carries it to whoever finds it.
        self.limit().store(plan.slots, Relaxed);
        // own: as above.
        self.next(plan, home).store(0, Relaxed);
        // own: private.
        let word = Word::from_bits(self.owner().load(Relaxed)).published_at(home);
        // SAFETY: the caller's.
        let lap = unsafe {
            self.settle(|life| {
                life.lap += 1;
                life.lap
            })
        };
        // own: private; `place` carries it to whoever finds it.
        self.owner().store(word.bits(), Relaxed);
        lap
    }

    /// Drops the tasks nobody has taken, all of them. The first panic of a task's `Drop`, if there was
    /// one.
    ///
    /// # Safety
    /// Nobody else is left, and the chunk is published. Its tasks are not looked at again.
    pub(super) unsafe fn drop_tasks(self, plan: &Plan) -> Option<Panic> {
        let mut first_panic = None;
        let lap = self.life(|life| life.lap);
        for slot in self.index(plan, self.word().from())..self.end() {
            if slot >= self.published(plan, slot, lap) {
                break;
            }
            if !self.is_taken(plan, slot) {
                // SAFETY: published, taken by nobody, and nobody else is left; each slot once.
                let task = unsafe { take(self.slot(plan, slot)) };
                panics::catch(&mut first_panic, || drop(task));
            }
        }
        first_panic
    }
}

/// Moves the task out of `slot`.
///
/// # Safety
/// The slot holds a task, and nobody else takes it.
#[inline(always)]
pub(super) unsafe fn take<T>(slot: *const Slot<T>) -> T {
    // SAFETY: the caller's.
    unsafe { (*slot).with(|task| ptr::read(task).assume_init()) }
}

/// Writes to `slot`, whose task has been moved out, and so takes the line away from its producer's cache.
///
/// A line that two caches share has to be asked for when its producer writes to it again, in the next
/// lap, and processors do not do that ahead. One that only we have comes over when it is needed, several
/// at a time: a put then costs a third.
///
/// # Safety
/// The caller has taken the task of this slot, and the chunk is not retired yet.
#[inline(always)]
pub(super) unsafe fn send_back<T>(slot: *const Slot<T>) {
    if size_of::<T>() > 0 {
        // SAFETY: nobody looks at a slot whose task is taken; it has a byte.
        unsafe {
            (*slot).with_mut(|slot| slot.cast::<MaybeUninit<u8>>().write(MaybeUninit::new(0)))
        };
    }
}

/// Where the mark lies that is behind `header`, if there is one.
fn mark_at(header: *const AtomicU64) -> *const Mark {
    header.wrapping_add(1).cast()
}

/// As [`send_back`], for what is left of a group with this `header` when its `last` slot is taken: the
/// line of the header.
///
/// # Safety
/// The caller has taken the task of the group's last slot, and the chunk is not retired yet.
#[inline(always)]
pub(super) unsafe fn send_group_back<T>(header: *const AtomicU64, last: *const Slot<T>) {
    // SAFETY: the caller's. The mark is for whoever took the last slot, and that is one.
    unsafe {
        if Group::<T>::IS_LINE {
            send_back(last);
        } else if Group::<T>::HAS_MARK {
            (*mark_at(header)).with_mut(|mark| mark.write(MaybeUninit::new(0)));
        }
    }
}
