//! crossbeam-channel: unbounded and bounded.

use super::{CAPACITY, Peer};
use cantina_lab::experiment::{Drive, Shapes, drive, drive_stamped};
use cantina_lab::workload::{Ends, Get, Parcel, Put, Room, Shape, Subject, Tally};
use crossbeam_channel::{Receiver, Sender, bounded, unbounded};
use std::ops::Range;

pub(super) const UNBOUNDED: Peer = Peer {
    name: "crossbeam-channel",
    about: "an unbounded channel; send and try_recv",
    package: "crossbeam-channel",
    shapes: Shapes::Any,
    allocates: true,
    quick: true,
    drive: || drive(Unbounded),
};

pub(super) const BOUNDED: Peer = Peer {
    name: "crossbeam-channel-bounded",
    about: "a channel bounded to 65,536; try_send and try_recv",
    package: "crossbeam-channel",
    shapes: Shapes::Any,
    allocates: false,
    quick: false,
    drive: || drive(Bounded(CAPACITY)),
};

/// The channel bounded to so many tasks.
pub(super) fn bounded_to(tasks: usize) -> Drive {
    drive(Bounded(tasks))
}

/// Drives it with every call timed.
pub(super) fn stamped() -> Drive {
    drive_stamped(Unbounded)
}

#[derive(Clone)]
struct Unbounded;
/// To so many tasks.
struct Bounded(usize);
struct UnboundedPut<T>(Sender<T>);
struct BoundedPut<T>(Sender<T>);
struct ChannelGet<T>(Receiver<T>);

impl Subject for Unbounded {
    type Put<T: Parcel> = UnboundedPut<T>;
    type Get<T: Parcel> = ChannelGet<T>;

    fn ends<T: Parcel>(&self, shape: Shape) -> Ends<UnboundedPut<T>, ChannelGet<T>> {
        let (sender, receiver) = unbounded();
        let put = (0..shape.producers).map(|_| UnboundedPut(sender.clone()));
        let get = (0..shape.consumers).map(|_| ChannelGet(receiver.clone()));
        Ends::made(put, get)
    }
}

impl Subject for Bounded {
    type Put<T: Parcel> = BoundedPut<T>;
    type Get<T: Parcel> = ChannelGet<T>;

    fn ends<T: Parcel>(&self, shape: Shape) -> Ends<BoundedPut<T>, ChannelGet<T>> {
        let (sender, receiver) = bounded(self.0);
        let put = (0..shape.producers).map(|_| BoundedPut(sender.clone()));
        let get = (0..shape.consumers).map(|_| ChannelGet(receiver.clone()));
        Ends::made(put, get)
    }
}

impl<T: Parcel> Put<T> for UnboundedPut<T> {
    fn put(&mut self, numbers: Range<u64>, _: &Room<'_>) {
        for number in numbers {
            if self.0.send(T::numbered(number)).is_err() {
                return;
            }
        }
    }
}

impl<T: Parcel> Put<T> for BoundedPut<T> {
    fn put(&mut self, numbers: Range<u64>, room: &Room<'_>) {
        for number in numbers {
            let send = |task| self.0.try_send(task).map_err(|error| error.into_inner());
            if !room.put(T::numbered(number), send) {
                return;
            }
        }
    }
}

impl<T: Parcel> Get<T> for ChannelGet<T> {
    #[inline]
    fn get(&mut self, tally: &mut Tally) -> bool {
        let Ok(task) = self.0.try_recv() else { return false };
        tally.add(&task);
        true
    }
}
