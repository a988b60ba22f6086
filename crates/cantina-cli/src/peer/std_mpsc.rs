//! The standard library's channel, for one consumer.

use super::Peer;
use cantina_lab::experiment::{Shapes, drive};
use cantina_lab::workload::{Ends, Get, Parcel, Put, Room, Shape, Subject, Tally};
use std::ops::Range;
use std::sync::mpsc::{Receiver, Sender, channel};

pub(super) const UNBOUNDED: Peer = Peer {
    name: "std-mpsc",
    about: "the standard library's unbounded channel; send and try_recv",
    package: "std",
    shapes: Shapes::OneConsumer,
    allocates: true,
    quick: false,
    drive: || drive(Unbounded),
};

struct Unbounded;
struct ChannelPut<T>(Sender<T>);
struct ChannelGet<T>(Receiver<T>);

impl Subject for Unbounded {
    type Put<T: Parcel> = ChannelPut<T>;
    type Get<T: Parcel> = ChannelGet<T>;

    fn ends<T: Parcel>(&self, shape: Shape) -> Ends<ChannelPut<T>, ChannelGet<T>> {
        let (sender, receiver) = channel();
        let put = (0..shape.producers).map(|_| ChannelPut(sender.clone()));
        Ends::made(put, [ChannelGet(receiver)])
    }
}

impl<T: Parcel> Put<T> for ChannelPut<T> {
    fn put(&mut self, numbers: Range<u64>, _: &Room<'_>) {
        for number in numbers {
            if self.0.send(T::numbered(number)).is_err() {
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
