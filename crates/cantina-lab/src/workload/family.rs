//! Every registered pool as a subject: one task at a time, and in batches.

use super::{Ends, Get, Put, Room, Seat, Shape, Subject, Tally, Task};
use crate::registry::Family;
use cantina::pool::{Consumer, Full, Producer, TaskPool};
use machine::Backoff;
use std::ops::Range;

/// How many tasks a batch has.
pub const BATCH: usize = 64;

/// The pools of a family, with one call per task.
#[derive(Clone, Debug)]
pub struct Single<F>(pub F);

/// The pools of a family, with one call per [`BATCH`] tasks.
#[derive(Clone, Debug)]
pub struct Batch<F>(pub F);

/// Puts one by one.
#[derive(Debug)]
pub struct SinglePut<P>(P);

/// Gets one by one.
#[derive(Debug)]
pub struct SingleGet<C>(C);

/// Puts in batches.
#[derive(Debug)]
pub struct BatchPut<P>(P);

/// Gets in batches.
#[derive(Debug)]
pub struct BatchGet<C, T> {
    consumer: C,
    got: Vec<T>,
}

type ProducerOf<F, T> = <<F as Family>::Pool<T> as TaskPool<T>>::Producer;
type ConsumerOf<F, T> = <<F as Family>::Pool<T> as TaskPool<T>>::Consumer;

impl<F: Family> Subject for Single<F> {
    type Put<T: Task> = SinglePut<ProducerOf<F, T>>;
    type Get<T: Task> = SingleGet<ConsumerOf<F, T>>;

    fn ends<T: Task>(&self, shape: Shape) -> Ends<Self::Put<T>, Self::Get<T>> {
        let pool = self.0.build::<T>();
        Ends {
            put: seats(&pool, shape.producers, |pool| SinglePut(pool.producer())),
            get: seats(&pool, shape.consumers, |pool| SingleGet(pool.consumer())),
        }
    }
}

impl<F: Family> Subject for Batch<F> {
    type Put<T: Task> = BatchPut<ProducerOf<F, T>>;
    type Get<T: Task> = BatchGet<ConsumerOf<F, T>, T>;

    fn ends<T: Task>(&self, shape: Shape) -> Ends<Self::Put<T>, Self::Get<T>> {
        let pool = self.0.build::<T>();
        Ends {
            put: seats(&pool, shape.producers, |pool| BatchPut(pool.producer())),
            get: seats(&pool, shape.consumers, |pool| BatchGet {
                consumer: pool.consumer(),
                got: Vec::with_capacity(BATCH),
            }),
        }
    }
}

/// Seats at the same pool.
fn seats<S, E>(pool: &S, count: usize, sit: fn(&S) -> E) -> Vec<Seat<E>>
where
    S: Clone + Send + 'static,
    E: 'static,
{
    let seat = |pool: S| -> Seat<E> { Box::new(move || sit(&pool)) };
    (0..count).map(|_| seat(pool.clone())).collect()
}

impl<T: Task, P: Producer<T>> Put<T> for SinglePut<P> {
    fn put(&mut self, numbers: Range<u64>, room: &Room<'_>) {
        for number in numbers {
            let put = |task| self.0.try_put(task).map_err(Full::into_inner);
            if !room.put(T::numbered(number), put) {
                return;
            }
        }
    }
}

impl<T: Task, C: Consumer<T>> Get<T> for SingleGet<C> {
    #[inline]
    fn get(&mut self, tally: &mut Tally) -> bool {
        match self.0.get() {
            Some(task) => {
                tally.add(&task);
                true
            }
            None => false,
        }
    }
}

impl<T: Task, P: Producer<T>> Put<T> for BatchPut<P> {
    fn put(&mut self, numbers: Range<u64>, room: &Room<'_>) {
        let mut next = numbers.start;
        let backoff = Backoff::new();
        while next < numbers.end {
            let end = numbers.end.min(next + BATCH as u64);
            match self.0.put_all((next..end).map(T::numbered)) {
                Ok(put) => next += put as u64,
                Err(full) => {
                    if full.put > 0 {
                        backoff.reset();
                    }
                    next += full.put as u64;
                    if !room.wait(&backoff) {
                        return;
                    }
                }
            }
        }
    }
}

impl<T: Task, C: Consumer<T>> Get<T> for BatchGet<C, T> {
    #[inline]
    fn get(&mut self, tally: &mut Tally) -> bool {
        let count = self.consumer.get_many(BATCH, &mut self.got);
        self.got.drain(..).for_each(|task| tally.add(&task));
        count > 0
    }
}
