//! flume: an unbounded channel, got from one by one or all at once.

use super::Peer;
use cantina_lab::experiment::{Shapes, drive};
use cantina_lab::workload::{Ends, Get, Parcel, Put, Room, Shape, Subject, Tally};
use flume::{Receiver, Sender, unbounded};
use std::ops::Range;

pub(super) const SINGLE: Peer = Peer {
    name: "flume",
    about: "an unbounded channel; send and try_recv",
    package: "flume",
    shapes: Shapes::Any,
    allocates: true,
    quick: false,
    drive: || drive(Single),
};

pub(super) const BATCH: Peer = Peer {
    name: "flume-batch",
    about: "the same channel; sent one by one, received with drain",
    package: "flume",
    shapes: Shapes::Any,
    allocates: true,
    quick: false,
    drive: || drive(Batch),
};

struct Single;
struct Batch;
struct SinglePut<T>(Sender<T>);
struct SingleGet<T>(Receiver<T>);
struct BatchGet<T>(Receiver<T>);

impl Subject for Single {
    type Put<T: Parcel> = SinglePut<T>;
    type Get<T: Parcel> = SingleGet<T>;

    fn ends<T: Parcel>(&self, shape: Shape) -> Ends<SinglePut<T>, SingleGet<T>> {
        let (sender, receiver) = unbounded();
        let put = (0..shape.producers).map(|_| SinglePut(sender.clone()));
        let get = (0..shape.consumers).map(|_| SingleGet(receiver.clone()));
        Ends::made(put, get)
    }
}

impl Subject for Batch {
    type Put<T: Parcel> = SinglePut<T>;
    type Get<T: Parcel> = BatchGet<T>;

    fn ends<T: Parcel>(&self, shape: Shape) -> Ends<SinglePut<T>, BatchGet<T>> {
        let (sender, receiver) = unbounded();
        let put = (0..shape.producers).map(|_| SinglePut(sender.clone()));
        let get = (0..shape.consumers).map(|_| BatchGet(receiver.clone()));
        Ends::made(put, get)
    }
}

impl<T: Parcel> Put<T> for SinglePut<T> {
    fn put(&mut self, numbers: Range<u64>, _: &Room<'_>) {
        for number in numbers {
            if self.0.send(T::numbered(number)).is_err() {
                return;
            }
        }
    }
}

impl<T: Parcel> Get<T> for SingleGet<T> {
    #[inline]
    fn get(&mut self, tally: &mut Tally) -> bool {
        let Ok(task) = self.0.try_recv() else { return false };
        tally.add(&task);
        true
    }
}

impl<T: Parcel> Get<T> for BatchGet<T> {
    #[inline]
    fn get(&mut self, tally: &mut Tally) -> bool {
        let before = tally.count();
        self.0.drain().for_each(|task| tally.add(&task));
        tally.count() > before
    }
}
