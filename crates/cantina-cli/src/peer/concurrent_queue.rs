//! concurrent-queue: the unbounded one.

use super::Peer;
use cantina_lab::experiment::{Drive, Shapes, drive, drive_stamped};
use cantina_lab::workload::{Ends, Get, Parcel, Put, Room, Shape, Subject, Tally};
use concurrent_queue::ConcurrentQueue;
use std::ops::Range;
use std::sync::Arc;

pub(super) const UNBOUNDED: Peer = Peer {
    name: "concurrent-queue",
    about: "an unbounded queue; push and pop",
    package: "concurrent-queue",
    shapes: Shapes::Any,
    allocates: true,
    quick: false,
    drive: || drive(Unbounded),
};

/// Drives it with every call timed.
pub(super) fn stamped() -> Drive {
    drive_stamped(Unbounded)
}

#[derive(Clone)]
struct Unbounded;
struct QueueEnd<T>(Arc<ConcurrentQueue<T>>);

impl Subject for Unbounded {
    type Put<T: Parcel> = QueueEnd<T>;
    type Get<T: Parcel> = QueueEnd<T>;

    fn ends<T: Parcel>(&self, shape: Shape) -> Ends<QueueEnd<T>, QueueEnd<T>> {
        let queue = Arc::new(ConcurrentQueue::unbounded());
        let ends = |count| (0..count).map(|_| QueueEnd(queue.clone()));
        Ends::made(ends(shape.producers), ends(shape.consumers))
    }
}

impl<T: Parcel> Put<T> for QueueEnd<T> {
    fn put(&mut self, numbers: Range<u64>, _: &Room<'_>) {
        for number in numbers {
            if self.0.push(T::numbered(number)).is_err() {
                return;
            }
        }
    }
}

impl<T: Parcel> Get<T> for QueueEnd<T> {
    #[inline]
    fn get(&mut self, tally: &mut Tally) -> bool {
        let Ok(task) = self.0.pop() else { return false };
        tally.add(&task);
        true
    }
}
