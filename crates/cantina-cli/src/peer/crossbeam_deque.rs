//! crossbeam-deque: a work-stealing deque per producer, or one injector for all.

use super::Peer;
use cantina_lab::experiment::{Shapes, drive};
use cantina_lab::workload::{Ends, Get, Parcel, Put, Room, Shape, Subject, Tally};
use crossbeam_deque::{Injector, Steal, Stealer, Worker};
use std::ops::Range;
use std::sync::Arc;

pub(super) const WORKER: Peer = Peer {
    name: "crossbeam-deque",
    about: "a FIFO worker per producer; push one by one, steal a batch, pop one by one",
    package: "crossbeam-deque",
    shapes: Shapes::Any,
    allocates: true,
    quick: true,
    drive: || drive(Workers),
};

pub(super) const INJECTOR: Peer = Peer {
    name: "crossbeam-injector",
    about: "one injector for all; push one by one, steal a batch, pop one by one",
    package: "crossbeam-deque",
    shapes: Shapes::Any,
    allocates: true,
    quick: false,
    drive: || drive(OneInjector),
};

/// Tasks stolen from the injector at a time, at most: a block of it.
const LIMIT: usize = 64;

struct Workers;
struct WorkerPut<T>(Worker<T>);

/// Goes from worker to worker, and stays where there is something.
struct Thief<T> {
    victims: Vec<Stealer<T>>,
    next: usize,
    stolen: Worker<T>,
}

struct OneInjector;
struct InjectorPut<T>(Arc<Injector<T>>);
struct InjectorGet<T> {
    injector: Arc<Injector<T>>,
    stolen: Worker<T>,
}

impl Subject for Workers {
    type Put<T: Parcel> = WorkerPut<T>;
    type Get<T: Parcel> = Thief<T>;

    fn ends<T: Parcel>(&self, shape: Shape) -> Ends<WorkerPut<T>, Thief<T>> {
        let workers: Vec<Worker<T>> = (0..shape.producers).map(|_| Worker::new_fifo()).collect();
        let thieves = (0..shape.consumers).map(|index| Thief {
            victims: workers.iter().map(Worker::stealer).collect(),
            next: index % shape.producers,
            stolen: Worker::new_fifo(),
        });
        let thieves: Vec<_> = thieves.collect();
        Ends::made(workers.into_iter().map(WorkerPut), thieves)
    }
}

impl<T: Parcel> Put<T> for WorkerPut<T> {
    fn put(&mut self, numbers: Range<u64>, _: &Room<'_>) {
        for number in numbers {
            self.0.push(T::numbered(number));
        }
    }
}

impl<T: Parcel> Get<T> for Thief<T> {
    #[inline]
    fn get(&mut self, tally: &mut Tally) -> bool {
        for _ in 0..self.victims.len() {
            if let Steal::Success(task) = self.victims[self.next].steal_batch_and_pop(&self.stolen)
            {
                count(task, &self.stolen, tally);
                return true;
            }
            self.next = if self.next + 1 == self.victims.len() { 0 } else { self.next + 1 };
        }
        false
    }
}

impl Subject for OneInjector {
    type Put<T: Parcel> = InjectorPut<T>;
    type Get<T: Parcel> = InjectorGet<T>;

    fn ends<T: Parcel>(&self, shape: Shape) -> Ends<InjectorPut<T>, InjectorGet<T>> {
        let injector = Arc::new(Injector::new());
        let put = (0..shape.producers).map(|_| InjectorPut(injector.clone()));
        let get = (0..shape.consumers)
            .map(|_| InjectorGet { injector: injector.clone(), stolen: Worker::new_fifo() });
        Ends::made(put, get)
    }
}

impl<T: Parcel> Put<T> for InjectorPut<T> {
    fn put(&mut self, numbers: Range<u64>, _: &Room<'_>) {
        for number in numbers {
            self.0.push(T::numbered(number));
        }
    }
}

impl<T: Parcel> Get<T> for InjectorGet<T> {
    #[inline]
    fn get(&mut self, tally: &mut Tally) -> bool {
        match self.injector.steal_batch_with_limit_and_pop(&self.stolen, LIMIT) {
            Steal::Success(task) => {
                count(task, &self.stolen, tally);
                true
            }
            Steal::Empty | Steal::Retry => false,
        }
    }
}

/// Counts the task a steal gave, and those it brought along.
#[inline]
fn count<T: Parcel>(task: T, stolen: &Worker<T>, tally: &mut Tally) {
    tally.add(&task);
    while let Some(task) = stolen.pop() {
        tally.add(&task);
    }
}
