//! kanal: an unbounded channel, got from one by one or all at once.

use super::Peer;
use cantina_lab::experiment::{Shapes, drive};
use cantina_lab::workload::{Ends, Get, Parcel, Put, Room, Shape, Subject, Tally};
use kanal::{Receiver, Sender, unbounded};
use std::ops::Range;

pub(super) const SINGLE: Peer = Peer {
    name: "kanal",
    about: "an unbounded channel; send and try_recv",
    package: "kanal",
    shapes: Shapes::Any,
    allocates: true,
    quick: true,
    drive: || drive(Single),
};

pub(super) const BATCH: Peer = Peer {
    name: "kanal-batch",
    about: "the same channel; sent one by one, received with drain_into",
    package: "kanal",
    shapes: Shapes::Any,
    allocates: true,
    quick: true,
    drive: || drive(Batch),
};

struct Single;
struct Batch;
struct SinglePut<T>(Sender<T>);
struct SingleGet<T>(Receiver<T>);
struct BatchGet<T> {
    receiver: Receiver<T>,
    got: Vec<T>,
}

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
        let get =
            (0..shape.consumers).map(|_| BatchGet { receiver: receiver.clone(), got: Vec::new() });
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
        let Ok(Some(task)) = self.0.try_recv() else { return false };
        tally.add(&task);
        true
    }
}

impl<T: Parcel> Get<T> for BatchGet<T> {
    #[inline]
    fn get(&mut self, tally: &mut Tally) -> bool {
        // An error only says that the senders are gone.
        let drained = self.receiver.drain_into(&mut self.got);
        self.got.drain(..).for_each(|task| tally.add(&task));
        drained.is_ok_and(|count| count > 0)
    }
}
