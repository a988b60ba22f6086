//! st3: bounded work-stealing queues, here one per producer.

use super::{CAPACITY, Peer};
use cantina_lab::experiment::{Shapes, drive};
use cantina_lab::workload::{Ends, Get, Parcel, Put, Room, Shape, Subject, Tally};
use cantina_machine::Backoff;
use st3::fifo::{Stealer, Worker};
use std::ops::Range;

pub(super) const SINGLE: Peer = Peer {
    name: "st3",
    about: "a bounded work-stealing queue per producer; push one by one, steal what is there, pop \
            one by one",
    package: "st3",
    shapes: Shapes::Any,
    allocates: false,
    quick: true,
    drive: || drive(Single),
};

pub(super) const BATCH: Peer = Peer {
    name: "st3-batch",
    about: "the same; extend by 64, steal what is there, drain it",
    package: "st3",
    shapes: Shapes::Any,
    allocates: false,
    quick: true,
    drive: || drive(Batch),
};

/// Tasks put at a time.
const CHUNK: u64 = 64;

struct Single;
struct Batch;
struct SinglePut<T>(Worker<T>);
struct BatchPut<T>(Worker<T>);

struct SingleGet<T>(Thief<T>);
struct BatchGet<T>(Thief<T>);

/// Goes from queue to queue, and stays where there is something.
struct Thief<T> {
    victims: Vec<Stealer<T>>,
    next: usize,
    /// What was stolen and is not counted yet. Nobody steals from here.
    stolen: Worker<T>,
}

impl Subject for Single {
    type Put<T: Parcel> = SinglePut<T>;
    type Get<T: Parcel> = SingleGet<T>;

    fn ends<T: Parcel>(&self, shape: Shape) -> Ends<SinglePut<T>, SingleGet<T>> {
        let (workers, thieves) = workers_and_thieves(shape);
        Ends::made(workers.into_iter().map(SinglePut), thieves.into_iter().map(SingleGet))
    }
}

impl Subject for Batch {
    type Put<T: Parcel> = BatchPut<T>;
    type Get<T: Parcel> = BatchGet<T>;

    fn ends<T: Parcel>(&self, shape: Shape) -> Ends<BatchPut<T>, BatchGet<T>> {
        let (workers, thieves) = workers_and_thieves(shape);
        Ends::made(workers.into_iter().map(BatchPut), thieves.into_iter().map(BatchGet))
    }
}

fn workers_and_thieves<T: Parcel>(shape: Shape) -> (Vec<Worker<T>>, Vec<Thief<T>>) {
    let workers: Vec<Worker<T>> = (0..shape.producers).map(|_| Worker::new(CAPACITY)).collect();
    let thieves = (0..shape.consumers).map(|index| Thief {
        victims: workers.iter().map(Worker::stealer).collect(),
        next: index % shape.producers,
        stolen: Worker::new(CAPACITY),
    });
    let thieves = thieves.collect();
    (workers, thieves)
}

impl<T: Parcel> Put<T> for SinglePut<T> {
    fn put(&mut self, numbers: Range<u64>, room: &Room<'_>) {
        for number in numbers {
            if !room.put(T::numbered(number), |task| self.0.push(task)) {
                return;
            }
        }
    }
}

impl<T: Parcel> Put<T> for BatchPut<T> {
    fn put(&mut self, numbers: Range<u64>, room: &Room<'_>) {
        let mut next = numbers.start;
        let backoff = Backoff::new();
        while next < numbers.end {
            let end = numbers.end.min(next + CHUNK.min(self.0.spare_capacity() as u64));
            if end > next {
                self.0.extend((next..end).map(T::numbered));
                next = end;
                backoff.reset();
            } else if !room.wait(&backoff) {
                return;
            }
        }
    }
}

impl<T> Thief<T> {
    /// Steals all there is somewhere. Whether there was any.
    #[inline]
    fn steal(&mut self) -> bool {
        for _ in 0..self.victims.len() {
            if self.victims[self.next].steal(&self.stolen, |all| all).is_ok() {
                return true;
            }
            self.next = if self.next + 1 == self.victims.len() { 0 } else { self.next + 1 };
        }
        false
    }
}

impl<T: Parcel> Get<T> for SingleGet<T> {
    #[inline]
    fn get(&mut self, tally: &mut Tally) -> bool {
        let found = self.0.steal();
        while let Some(task) = self.0.stolen.pop() {
            tally.add(&task);
        }
        found
    }
}

impl<T: Parcel> Get<T> for BatchGet<T> {
    #[inline]
    fn get(&mut self, tally: &mut Tally) -> bool {
        let found = self.0.steal();
        if let Ok(stolen) = self.0.stolen.drain(|all| all) {
            stolen.for_each(|task| tally.add(&task));
        }
        found
    }
}
