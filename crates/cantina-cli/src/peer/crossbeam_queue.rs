//! crossbeam-queue: a linked list of segments, and an array.

use super::{CAPACITY, Peer};
use cantina_lab::experiment::rooms_stack::{self, Holding, Store};
use cantina_lab::experiment::{Contestant, Drive, Shapes, drive, drive_stamped};
use cantina_lab::workload::{
    Chore, Ends, Get, Make, Parcel, Put, Room, Shape, Shared, Subject, Tally,
};
use crossbeam_queue::{ArrayQueue, SegQueue};
use std::ops::Range;
use std::sync::Arc;

pub(super) const SEG_QUEUE: Peer = Peer {
    name: "crossbeam-segqueue",
    about: "an unbounded queue of linked segments; push and pop",
    package: "crossbeam-queue",
    shapes: Shapes::Any,
    allocates: true,
    quick: true,
    drive: || drive(Segments),
};

pub(super) const ARRAY_QUEUE: Peer = Peer {
    name: "crossbeam-arrayqueue",
    about: "a bounded queue in an array; push and pop",
    package: "crossbeam-queue",
    shapes: Shapes::Any,
    allocates: false,
    quick: false,
    drive: || drive(Array(CAPACITY)),
};

/// Drives it with every call timed.
pub(super) fn stamped_segments() -> Drive {
    drive_stamped(Segments)
}

/// Drives it with every call timed.
pub(super) fn stamped_array() -> Drive {
    drive_stamped(Array(CAPACITY))
}

/// The array with so many places.
pub(super) fn array(places: usize) -> Drive {
    drive(Array(places))
}

/// As something that workers share, with each of these amounts of work.
pub(super) fn shared_segments(percent: &[u64]) -> Vec<Contestant> {
    let chore = |percent| Chore { batch: rooms_stack::BATCH, percent };
    let contestant = || Contestant {
        about: "an unbounded queue of linked segments, a push and a pop for each node".to_owned(),
        ..SEG_QUEUE.contestant()
    };
    rooms_stack::each(percent, contestant, |percent| {
        rooms_stack::drive_shared(Segments, chore(percent))
    })
}

#[derive(Clone)]
struct Segments;
struct SegmentsEnd<T>(Arc<SegQueue<T>>);
/// So many places.
#[derive(Clone)]
struct Array(usize);
struct ArrayEnd<T>(Arc<ArrayQueue<T>>);

impl Subject for Segments {
    type Put<T: Parcel> = SegmentsEnd<T>;
    type Get<T: Parcel> = SegmentsEnd<T>;

    fn ends<T: Parcel>(&self, shape: Shape) -> Ends<SegmentsEnd<T>, SegmentsEnd<T>> {
        let queue = Arc::new(SegQueue::new());
        let ends = |count| (0..count).map(|_| SegmentsEnd(queue.clone()));
        Ends::made(ends(shape.producers), ends(shape.consumers))
    }
}

impl<T: Parcel> Put<T> for SegmentsEnd<T> {
    fn put(&mut self, numbers: Range<u64>, _: &Room<'_>) {
        for number in numbers {
            self.0.push(T::numbered(number));
        }
    }
}

impl<T: Parcel> Get<T> for SegmentsEnd<T> {
    #[inline]
    fn get(&mut self, tally: &mut Tally) -> bool {
        let Some(task) = self.0.pop() else { return false };
        tally.add(&task);
        true
    }
}

impl Subject for Array {
    type Put<T: Parcel> = ArrayEnd<T>;
    type Get<T: Parcel> = ArrayEnd<T>;

    fn ends<T: Parcel>(&self, shape: Shape) -> Ends<ArrayEnd<T>, ArrayEnd<T>> {
        let queue = Arc::new(ArrayQueue::new(self.0));
        let ends = |count| (0..count).map(|_| ArrayEnd(queue.clone()));
        Ends::made(ends(shape.producers), ends(shape.consumers))
    }
}

impl<T: Parcel> Put<T> for ArrayEnd<T> {
    fn put(&mut self, numbers: Range<u64>, room: &Room<'_>) {
        for number in numbers {
            if !room.put(T::numbered(number), |task| self.0.push(task)) {
                return;
            }
        }
    }
}

impl<T: Parcel> Get<T> for ArrayEnd<T> {
    #[inline]
    fn get(&mut self, tally: &mut Tally) -> bool {
        let Some(task) = self.0.pop() else { return false };
        tally.add(&task);
        true
    }
}

impl Shared for Segments {
    type Hand<T: Parcel> = Holding<OneByOne<T>, T>;

    fn hands<T: Parcel>(&self, workers: usize, first: Vec<T>) -> Vec<Make<Self::Hand<T>>> {
        rooms_stack::hands(workers, OneByOne(Arc::new(SegQueue::new())), first)
    }
}

/// Nodes are taken and put one by one.
struct OneByOne<T>(Arc<SegQueue<T>>);

impl<T> Clone for OneByOne<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> Store<T> for OneByOne<T> {
    fn take(&mut self, most: usize, into: &mut Vec<T>) {
        into.extend((0..most).map_while(|_| self.0.pop()));
    }

    fn give(&mut self, from: &mut Vec<T>) {
        from.drain(..).for_each(|node| self.0.push(node));
    }
}
