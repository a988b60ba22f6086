//! flume: an unbounded channel, got from one by one or all at once.

use super::Peer;
use cantina_lab::experiment::{Shapes, drive};
use cantina_lab::workload::{Ends, Get, Put, Room, Shape, Subject, Tally, Task};
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
    type Put<T: Task> = SinglePut<T>;
    type Get<T: Task> = SingleGet<T>;

    fn ends<T: Task>(&self, shape: Shape) -> Ends<SinglePut<T>, SingleGet<T>> {
        let (sender, receiver) = unbounded();
        let put = (0..shape.producers).map(|_| SinglePut(sender.clone()));
        let get = (0..shape.consumers).map(|_| SingleGet(receiver.clone()));
        Ends::made(put, get)
    }
}

impl Subject for Batch {
    type Put<T: Task> = SinglePut<T>;
    type Get<T: Task> = BatchGet<T>;

    fn ends<T: Task>(&self, shape: Shape) -> Ends<SinglePut<T>, BatchGet<T>> {
        let (sender, receiver) = unbounded();
        let put = (0..shape.producers).map(|_| SinglePut(sender.clone()));
        let get = (0..shape.consumers).map(|_| BatchGet(receiver.clone()));
        Ends::made(put, get)
    }
}

impl<T: Task> Put<T> for SinglePut<T> {
    fn put(&mut self, numbers: Range<u64>, _: &Room<'_>) {
        for number in numbers {
            if self.0.send(T::numbered(number)).is_err() {
                return;
            }
        }
    }
}

impl<T: Task> Get<T> for SingleGet<T> {
    #[inline]
    fn get(&mut self, tally: &mut Tally) -> bool {
        let Ok(task) = self.0.try_recv() else { return false };
        tally.add(&task);
        true
    }
}

impl<T: Task> Get<T> for BatchGet<T> {
    #[inline]
    fn get(&mut self, tally: &mut Tally) -> bool {
        let before = tally.count();
        self.0.drain().for_each(|task| tally.add(&task));
        tally.count() > before
    }
}
