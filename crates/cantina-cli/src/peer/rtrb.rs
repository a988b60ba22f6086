//! rtrb: a ring for one producer and one consumer.

use super::Peer;
use cantina_lab::experiment::{Shapes, drive};
use cantina_lab::workload::{Ends, Get, Parcel, Put, Room, Shape, Subject, Tally};
use cantina_machine::Backoff;
use rtrb::{Consumer, Producer, PushError, RingBuffer};
use std::ops::Range;

pub(super) const SINGLE: Peer = Peer {
    name: "rtrb",
    about: "a single-producer single-consumer ring of 16 KiB; push and pop",
    package: "rtrb",
    shapes: Shapes::OneToOne,
    allocates: false,
    quick: true,
    drive: || drive(Single),
};

pub(super) const BATCH: Peer = Peer {
    name: "rtrb-batch",
    about: "the same ring; chunks of up to 64 in, all that is there out",
    package: "rtrb",
    shapes: Shapes::OneToOne,
    allocates: false,
    quick: true,
    drive: || drive(Batch),
};

/// Tasks written at a time.
const CHUNK: usize = 64;
/// The size of the ring: it stays in a core's first cache, which makes the ring half as fast again.
const RING_BYTES: usize = 16 << 10;

struct Single;
struct SinglePut<T>(Producer<T>);
struct SingleGet<T>(Consumer<T>);

impl Subject for Single {
    type Put<T: Parcel> = SinglePut<T>;
    type Get<T: Parcel> = SingleGet<T>;

    fn ends<T: Parcel>(&self, _: Shape) -> Ends<SinglePut<T>, SingleGet<T>> {
        let (producer, consumer) = RingBuffer::new(RING_BYTES / size_of::<T>());
        Ends::made([SinglePut(producer)], [SingleGet(consumer)])
    }
}

impl<T: Parcel> Put<T> for SinglePut<T> {
    fn put(&mut self, numbers: Range<u64>, room: &Room<'_>) {
        for number in numbers {
            let push = |task| self.0.push(task).map_err(|PushError::Full(task)| task);
            if !room.put(T::numbered(number), push) {
                return;
            }
        }
    }
}

impl<T: Parcel> Get<T> for SingleGet<T> {
    #[inline]
    fn get(&mut self, tally: &mut Tally) -> bool {
        let Ok(task) = self.0.pop() else { return false };
        tally.add(&task);
        true
    }
}

struct Batch;
struct BatchPut<T>(Producer<T>);
struct BatchGet<T>(Consumer<T>);

impl Subject for Batch {
    type Put<T: Parcel> = BatchPut<T>;
    type Get<T: Parcel> = BatchGet<T>;

    fn ends<T: Parcel>(&self, _: Shape) -> Ends<BatchPut<T>, BatchGet<T>> {
        let (producer, consumer) = RingBuffer::new(RING_BYTES / size_of::<T>());
        Ends::made([BatchPut(producer)], [BatchGet(consumer)])
    }
}

impl<T: Parcel> Put<T> for BatchPut<T> {
    fn put(&mut self, numbers: Range<u64>, room: &Room<'_>) {
        let mut next = numbers.start;
        let backoff = Backoff::new();
        while next < numbers.end {
            let wanted = CHUNK.min((numbers.end - next) as usize);
            let slots = match self.0.cached_slots() {
                cached if cached >= wanted => wanted,
                _ => self.0.slots().min(wanted),
            };
            match self.0.write_chunk_uninit(slots) {
                Ok(chunk) if slots > 0 => {
                    next += chunk.fill_from_iter((next..numbers.end).map(T::numbered)) as u64;
                    backoff.reset();
                }
                Ok(_) | Err(_) => {
                    if !room.wait(&backoff) {
                        return;
                    }
                }
            }
        }
    }
}

impl<T: Parcel> Get<T> for BatchGet<T> {
    #[inline]
    fn get(&mut self, tally: &mut Tally) -> bool {
        let slots = self.0.slots();
        let Ok(chunk) = self.0.read_chunk(slots) else { return false };
        chunk.into_iter().for_each(|task| tally.add(&task));
        slots > 0
    }
}
