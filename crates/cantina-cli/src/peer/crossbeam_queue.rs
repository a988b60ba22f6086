//! crossbeam-queue: a linked list of segments, and an array.

use super::{CAPACITY, Peer};
use cantina_lab::experiment::{Shapes, drive};
use cantina_lab::workload::{Ends, Get, Put, Room, Shape, Subject, Tally, Task};
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
    drive: || drive(Array),
};

struct Segments;
struct SegmentsEnd<T>(Arc<SegQueue<T>>);
struct Array;
struct ArrayEnd<T>(Arc<ArrayQueue<T>>);

impl Subject for Segments {
    type Put<T: Task> = SegmentsEnd<T>;
    type Get<T: Task> = SegmentsEnd<T>;

    fn ends<T: Task>(&self, shape: Shape) -> Ends<SegmentsEnd<T>, SegmentsEnd<T>> {
        let queue = Arc::new(SegQueue::new());
        let ends = |count| (0..count).map(|_| SegmentsEnd(queue.clone()));
        Ends::made(ends(shape.producers), ends(shape.consumers))
    }
}

impl<T: Task> Put<T> for SegmentsEnd<T> {
    fn put(&mut self, numbers: Range<u64>, _: &Room<'_>) {
        for number in numbers {
            self.0.push(T::numbered(number));
        }
    }
}

impl<T: Task> Get<T> for SegmentsEnd<T> {
    #[inline]
    fn get(&mut self, tally: &mut Tally) -> bool {
        let Some(task) = self.0.pop() else { return false };
        tally.add(&task);
        true
    }
}

impl Subject for Array {
    type Put<T: Task> = ArrayEnd<T>;
    type Get<T: Task> = ArrayEnd<T>;

    fn ends<T: Task>(&self, shape: Shape) -> Ends<ArrayEnd<T>, ArrayEnd<T>> {
        let queue = Arc::new(ArrayQueue::new(CAPACITY));
        let ends = |count| (0..count).map(|_| ArrayEnd(queue.clone()));
        Ends::made(ends(shape.producers), ends(shape.consumers))
    }
}

impl<T: Task> Put<T> for ArrayEnd<T> {
    fn put(&mut self, numbers: Range<u64>, room: &Room<'_>) {
        for number in numbers {
            if !room.put(T::numbered(number), |task| self.0.push(task)) {
                return;
            }
        }
    }
}

impl<T: Task> Get<T> for ArrayEnd<T> {
    #[inline]
    fn get(&mut self, tally: &mut Tally) -> bool {
        let Some(task) = self.0.pop() else { return false };
        tally.add(&task);
        true
    }
}
