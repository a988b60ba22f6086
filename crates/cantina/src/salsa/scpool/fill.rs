//! The putting side: a producer and the chunk it fills.

use super::chunk::{Chunk, Header};
use super::plan::{Group, Slot};
use super::{Home, Pools};
use machine::Arc;
use std::mem::MaybeUninit;
use std::ptr;

/// A producer's end of the mechanism.
pub(in crate::salsa) struct Filler<T> {
    /// What the header says after all that has been published in this group.
    header: Header,
    /// What it says when the group is full. Equal to `header` when there is no room.
    full: Header,
    /// Where the group's first slot lies.
    slots: *const Slot<T>,
    /// Where the header lies.
    word: *const machine::atomic::AtomicU64,
    /// The first slot behind the group.
    group_end: u32,
    /// Slots of a chunk.
    chunk_size: u32,
    /// The chunk being filled; not to be looked at once `group_end` is its end and the group is full.
    chunk: Option<Chunk<T>>,
    home: usize,
    pools: Arc<Pools<T>>,
}

// SAFETY: it is the one producer of its chunk, on whichever thread; tasks are sent.
unsafe impl<T: Send> Send for Filler<T> {}

impl<T> Filler<T> {
    pub(in crate::salsa) fn new(pools: Arc<Pools<T>>) -> Self {
        Self {
            header: Header::empty(0),
            full: Header::empty(0),
            slots: ptr::null(),
            word: ptr::null(),
            group_end: 0,
            chunk_size: pools.settings.plan.slots,
            chunk: None,
            home: 0,
            pools,
        }
    }

    /// Whether the next task has a place in this group.
    #[inline(always)]
    pub(in crate::salsa) fn has_room(&self) -> bool {
        self.header != self.full
    }

    /// Puts `task`.
    ///
    /// # Safety
    /// [`has_room`](Self::has_room).
    #[inline(always)]
    pub(in crate::salsa) unsafe fn put(&mut self, task: T) {
        // SAFETY: there is room, so we fill this chunk (I2), and the slot behind those that the header
        // counts is ours until it is published.
        unsafe { write(self.slots.add(self.header.counts()), task) };
        self.header = self.header.plus(1);
        // SAFETY: as above; `word` is the group's header. After the chunk's last slot we look no more.
        unsafe { Header::store(self.word, self.header) };
    }

    /// Puts tasks from `tasks` into the rest of this group, and publishes them together. How many they
    /// were.
    ///
    /// # Panics
    /// When the iterator does; what it gave before is published.
    pub(in crate::salsa) fn put_run(&mut self, tasks: &mut impl Iterator<Item = T>) -> usize {
        /// Publishes what has been written, whatever the iterator does.
        struct Run<'a, T> {
            filler: &'a mut Filler<T>,
            written: Header,
        }
        impl<T> Drop for Run<'_, T> {
            fn drop(&mut self) {
                if self.written != self.filler.header {
                    self.filler.header = self.written;
                    // SAFETY: something was written, so there was room: as in `put`.
                    unsafe { Header::store(self.filler.word, self.written) };
                }
            }
        }
        let has_so_many = tasks.size_hint().0 >= Group::<T>::SLOTS as usize;
        let room = self.room();
        let written = self.header;
        let slots = self.slots.wrapping_add(written.counts());
        let mut run = Run { filler: self, written };
        let mut put = |place| {
            let Some(task) = tasks.next() else { return false };
            // SAFETY: `place` is less than the room there was, and what is written here is not published.
            unsafe { write(slots.add(place), task) };
            run.written = run.written.plus(1);
            true
        };
        let whole = Group::<T>::SLOTS as usize;
        if room == whole && has_so_many {
            // So often is known when this is compiled, and to many iterators that each time there is one.
            (0..whole).find(|&place| !put(place)).unwrap_or(room)
        } else {
            (0..room).find(|&place| !put(place)).unwrap_or(room)
        }
    }

    /// How many tasks [`put_run`](Self::put_run) puts at most.
    pub(in crate::salsa) fn room(&self) -> usize {
        self.full.minus(self.header) as usize
    }

    /// Goes on to the next group of the same chunk. Whether there is one.
    pub(in crate::salsa) fn next_group(&mut self) -> bool {
        match self.chunk {
            Some(_) if self.group_end < self.chunk_size => {
                self.word = self.word.wrapping_byte_add(Group::<T>::STRIDE);
                self.slots = self.word.wrapping_byte_add(Group::<T>::SLOTS_AT).cast();
                let more = Group::<T>::SLOTS.min(self.chunk_size - self.group_end);
                self.group_end += more;
                self.header = self.full.restarted();
                self.full = self.header.plus(more);
                true
            }
            _ => {
                // Its last slot is published: it is not ours to look at any more.
                self.chunk = None;
                false
            }
        }
    }

    /// Goes on at `filled`, with the lap of `lap`.
    fn open_group(&mut self, chunk: Chunk<T>, filled: u32, lap: Header) {
        let plan = &self.pools.settings.plan;
        let first = plan.first::<T>(filled);
        self.group_end = plan.end::<T>(filled);
        self.header = lap.restarted().plus(filled - first);
        self.full = lap.restarted().plus(self.group_end - first);
        self.slots = chunk.slot(plan, first);
        self.word = chunk.header_at(plan, filled);
    }

    /// Goes on with a half-filled chunk that a producer left in home `id`. Whether there was one.
    pub(in crate::salsa) fn resume_in(&mut self, id: usize) -> bool {
        self.let_go();
        let Some(chunk) = self.pools.home(id).and_then(Home::take_open) else { return false };
        let lap = chunk.life(|life| life.lap);
        self.home = id;
        self.chunk = Some(chunk);
        self.open_group(chunk, chunk.filled(), Header::empty(lap));
        true
    }

    /// Makes room in home `id` with a spare chunk. Whether there was one: a consumer without is behind
    /// with its work.
    pub(in crate::salsa) fn room_in(&mut self, id: usize) -> bool {
        self.let_go();
        let Some(home) = self.pools.lasting_home(id) else { return false };
        let spare = home.pop_spare();
        spare.into_iter().for_each(|chunk| self.begin(chunk, id, home));
        spare.is_some()
    }

    /// Makes room in home `id` with a new chunk.
    pub(in crate::salsa) fn force_room_in(&mut self, id: usize) {
        self.let_go();
        let settings = &self.pools.settings;
        let Some(home) = self.pools.lasting_home(id) else { return self.force_room_in(0) };
        let chunk = Chunk::allocate(&settings.plan, &settings.topology, home.node());
        self.pools.count_chunks(1, 0);
        self.begin(chunk, id, home);
    }

    /// Begins to fill `chunk`, which is private, at home `id`.
    fn begin(&mut self, chunk: Chunk<T>, id: usize, home: &Home<T>) {
        let plan = &self.pools.settings.plan;
        let place = home.table.claim();
        // SAFETY: private.
        let lap = unsafe {
            chunk.settle(|life| life.place = Some(place));
            chunk.begin(plan, id)
        };
        place.publish(chunk);
        // I7: now that it can be found, and before its first task.
        home.count_append();
        self.home = id;
        self.chunk = Some(chunk);
        self.open_group(chunk, 0, Header::empty(lap));
    }

    /// Lets go of the chunk: leaves it to the home's next producer, or seals it.
    fn let_go(&mut self) {
        let (header, full, end) = (self.header, self.full, self.group_end);
        self.full = self.header;
        let Some(chunk) = self.chunk.take() else { return };
        let filled = end - full.minus(header);
        if filled == self.chunk_size {
            // Its last slot is published: it is not ours to look at any more.
            return;
        }
        chunk.set_filled(filled);
        let left = self.pools.home(self.home).is_some_and(|home| home.leave_open(chunk));
        if !left {
            chunk.seal(filled);
        }
    }
}

/// Writes `task` into `slot`.
///
/// # Safety
/// It is a slot of the chunk that the caller fills (I2), not published yet.
#[inline(always)]
unsafe fn write<T>(slot: *const Slot<T>, task: T) {
    // SAFETY: the caller's.
    unsafe { (*slot).with_mut(|slot| slot.write(MaybeUninit::new(task))) };
}

impl<T> Drop for Filler<T> {
    fn drop(&mut self) {
        self.let_go();
    }
}
