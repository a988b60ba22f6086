//! The limit: one producer, one consumer, and nothing between them but lines of memory.
//!
//! Nobody's crate and no pool, but what two threads can reach that share nothing beside the tasks. Seven
//! tasks and a header make a group; of words it is one cache line, so the line that says that tasks
//! are there brings them along. The producer publishes a group at a time. The consumer writes nothing
//! into the groups; it counts the chunks of groups that it has emptied, and the producer comes around again.
//!
//! # Progress
//! Put waits for a chunk to be emptied, get for nothing.
//!
//! # Invariants
//! - I1: group `n` lies in place `n % GROUPS`; its header is `n / GROUPS + 1` above the lowest three bits,
//!   which hold how many tasks it has, 1 to 7. A place that was never filled has 0.
//! - I2: the producer writes into a place before it stores that header, and only when the consumer has
//!   counted the chunk of the group that lay there before.
//! - I3: the consumer reads as many tasks of a group as its header says, each once, and then counts the
//!   chunk.
//! - I4: a ring has one producer and one consumer.
//!
//! # Orderings
//! | edge | release side | acquire side | carries |
//! |---|---|---|---|
//! | `full` | the producer stores a header | the consumer finds it | the tasks of the group |
//! | `free` | the consumer counts a chunk | the producer reads the count | the tasks have been read |
//!
//! # Memory
//! Tasks that nobody gets are forgotten, so they may own nothing.

use super::{OWN, Peer};
use cantina_lab::experiment::{Shapes, drive};
use cantina_lab::workload::{Ends, Get, Parcel, Put, Room, Shape, Subject, Tally};
use cantina_machine::{Backoff, CachePadded};
use std::cell::UnsafeCell;
use std::mem::{MaybeUninit, needs_drop};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Release};

pub(super) const STREAM: Peer = Peer {
    name: "stream",
    about: "no pool, but the limit: cache lines from one thread to another, seven words each",
    package: OWN,
    shapes: Shapes::OneToOne,
    allocates: false,
    quick: true,
    drive: || drive(Stream),
};

/// Tasks of a group: with the header, a cache line of words.
const TASKS: usize = 7;
/// Bits of a header that count tasks.
const COUNT_BITS: u32 = 3;
/// The size of the ring: it stays in a core's first cache.
const RING_BYTES: usize = 16 << 10;
/// Chunks of a ring.
const CHUNKS: u64 = 8;

struct Stream;

/// What may be written at a time, and read at a time.
#[repr(C, align(64))]
struct Group<T> {
    /// See I1.
    header: AtomicU64,
    tasks: UnsafeCell<[MaybeUninit<T>; TASKS]>,
}

/// What both ends share.
struct Ring<T> {
    groups: Box<[Group<T>]>,
    /// Chunks that the consumer has emptied.
    emptied: CachePadded<AtomicU64>,
}

// SAFETY: tasks move from one thread to the other, and who touches a group when is I2 and I3.
unsafe impl<T: Send> Sync for Ring<T> {}

/// The producer's end.
struct Writer<T> {
    ring: Arc<Ring<T>>,
    /// The number of the next group.
    next: u64,
    /// The first group that must not be written yet.
    end: u64,
}

/// The consumer's end.
struct Reader<T> {
    ring: Arc<Ring<T>>,
    /// The number of the next group.
    next: u64,
}

impl<T> Ring<T> {
    const GROUPS: u64 = (RING_BYTES / size_of::<Group<T>>()) as u64;
    const PER_CHUNK: u64 = Self::GROUPS / CHUNKS;

    fn new() -> Self {
        const {
            assert!(Self::GROUPS.is_power_of_two() && Self::PER_CHUNK > 0);
            assert!(!needs_drop::<T>() && TASKS < 1 << COUNT_BITS);
        }
        let group = |_| Group {
            header: AtomicU64::new(0),
            tasks: UnsafeCell::new([const { MaybeUninit::uninit() }; TASKS]),
        };
        let groups = (0..Self::GROUPS).map(group).collect();
        Self { groups, emptied: CachePadded::new(AtomicU64::new(0)) }
    }

    /// The place of group `number`.
    #[inline(always)]
    fn place(&self, number: u64) -> &Group<T> {
        &self.groups[(number % Self::GROUPS) as usize]
    }

    /// The upper bits of the header of group `number`.
    #[inline(always)]
    fn lap(number: u64) -> u64 {
        number / Self::GROUPS + 1
    }
}

impl Subject for Stream {
    type Put<T: Parcel> = Writer<T>;
    type Get<T: Parcel> = Reader<T>;

    fn ends<T: Parcel>(&self, _: Shape) -> Ends<Writer<T>, Reader<T>> {
        let ring = Arc::new(Ring::new());
        let writer = Writer { ring: ring.clone(), next: 0, end: Ring::<T>::GROUPS };
        Ends::made([writer], [Reader { ring, next: 0 }])
    }
}

impl<T: Parcel> Writer<T> {
    /// Waits until the next group may be written. False: the run is over.
    #[inline(always)]
    fn reserve(&mut self, room: &Room<'_>) -> bool {
        self.next < self.end || self.look(room)
    }

    #[cold]
    #[inline(never)]
    fn look(&mut self, room: &Room<'_>) -> bool {
        let backoff = Backoff::new();
        loop {
            // free: what lay in the places that are written next has been read.
            let emptied = self.ring.emptied.load(Acquire);
            self.end = (emptied + CHUNKS) * Ring::<T>::PER_CHUNK;
            if self.next < self.end {
                return true;
            }
            if !room.wait(&backoff) {
                return false;
            }
        }
    }
}

impl<T: Parcel> Put<T> for Writer<T> {
    fn put(&mut self, mut numbers: Range<u64>, room: &Room<'_>) {
        while !numbers.is_empty() {
            if !self.reserve(room) {
                return;
            }
            let group = self.ring.place(self.next);
            let count = (numbers.end - numbers.start).min(TASKS as u64);
            // SAFETY: I2, I4: the group that lay here is emptied, and nobody looks at this one before its
            // header is stored.
            let tasks = unsafe { &mut *group.tasks.get() };
            if count == TASKS as u64 {
                // A loop of a length that the compiler knows.
                for (task, number) in tasks.iter_mut().zip(numbers.start..) {
                    task.write(T::numbered(number));
                }
            } else {
                for (task, number) in tasks.iter_mut().zip(numbers.clone()) {
                    task.write(T::numbered(number));
                }
            }
            // full: the tasks are in their places.
            group.header.store(Ring::<T>::lap(self.next) << COUNT_BITS | count, Release);
            self.next += 1;
            numbers.start += count;
        }
    }
}

impl<T: Parcel> Get<T> for Reader<T> {
    #[inline]
    fn get(&mut self, tally: &mut Tally) -> bool {
        let group = self.ring.place(self.next);
        // full: the tasks, if it is this group's header.
        let header = group.header.load(Acquire);
        if header >> COUNT_BITS != Ring::<T>::lap(self.next) {
            return false;
        }
        let count = (header & ((1 << COUNT_BITS) - 1)) as usize;
        // SAFETY: I1, I2: it is filled, and stays so until this end has counted its chunk.
        let tasks = unsafe { &*group.tasks.get() };
        if count == TASKS {
            for task in tasks {
                // SAFETY: I1: all seven are there. I3: each is read once.
                tally.add(&unsafe { task.assume_init_read() });
            }
        } else {
            for task in &tasks[..count] {
                // SAFETY: I1: so many are there. I3: each is read once.
                tally.add(&unsafe { task.assume_init_read() });
            }
        }
        self.next += 1;
        if self.next.is_multiple_of(Ring::<T>::PER_CHUNK) {
            // free: all of the chunk has been read.
            self.ring.emptied.store(self.next / Ring::<T>::PER_CHUNK, Release);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::{CHUNKS, Group, Ring, Stream};
    use cantina_lab::workload::{Assignment, Line, Parcel, Shape, Tally, run, run_alone};
    use std::time::Duration;

    const ONE_TO_ONE: Shape = Shape::new(1, 1);

    fn assignment(tasks: u64) -> Assignment {
        let patience = Duration::from_secs(60);
        Assignment { shape: ONE_TO_ONE, tasks, pin: false, patience, watched: false }
    }

    fn runs<T: Parcel>() {
        let ring = Ring::<T>::GROUPS * 7;
        for tasks in [1, 6, 7, 8, ring - 1, ring, ring + 1, 3 * ring + 5, 20 * ring] {
            run::<T, _>(&Stream, &assignment(tasks)).unwrap();
        }
        // A group for each task, so that headers come around with other counts.
        run_alone::<T, _>(&Stream, &assignment(3 * Ring::<T>::GROUPS + 1)).unwrap();
    }

    #[test]
    fn every_task_arrives_however_often_the_ring_comes_around() {
        runs::<u64>();
        runs::<Line>();
    }

    #[test]
    fn a_group_of_words_is_a_cache_line() {
        assert_eq!((size_of::<Group<u64>>(), align_of::<Group<u64>>()), (64, 64));
        assert_eq!((Ring::<u64>::GROUPS, Ring::<u64>::PER_CHUNK * CHUNKS), (256, 256));
        assert_eq!(size_of::<Group<Line>>(), 512);
    }

    #[test]
    fn an_empty_stream_has_nothing_and_says_so() {
        use cantina_lab::workload::{Get, Subject};
        let ends = Stream.ends::<u64>(ONE_TO_ONE);
        let mut reader = ends.get.into_iter().next().unwrap()();
        let mut tally = Tally::default();
        assert!(!reader.get(&mut tally));
        assert_eq!(tally, Tally::default());
    }
}
