//! Every registered pool as a subject: one task at a time, and in batches.

use super::{Count, Ends, Get, Make, Parcel, Put, Room, Shape, Subject, Tally};
use crate::registry::{Family, Instructions, ProducerOf};
use cantina::pool::{Consumer, Full, Producer, TaskPool};
use machine::Backoff;
use std::fmt;
use std::ops::Range;

/// How many tasks a batch has.
pub const BATCH: usize = 64;

/// The pools of a family, with one call per task.
#[derive(Clone, Debug)]
pub struct Single<F>(pub F);

/// The same where there is a [backlog](super::run_backlogged): simulated calls are as many instructions as they are then.
#[derive(Clone, Debug)]
pub struct Backlogged<F>(pub F);

/// The pools of a family, with one call per [`BATCH`] tasks.
#[derive(Clone, Debug)]
pub struct Batch<F>(pub F);

/// Puts one by one.
#[derive(Debug)]
pub struct SinglePut<P> {
    producer: P,
    /// Of a put.
    instructions: u64,
}

/// Gets one by one.
#[derive(Debug)]
pub struct SingleGet<C> {
    consumer: C,
    /// Of a get.
    instructions: u64,
}

/// Puts in batches.
pub struct BatchPut<F: Family, T: Send + 'static> {
    producer: ProducerOf<F, T>,
    run: Vec<T>,
    /// Of a task that is put.
    instructions: u64,
}

/// Gets in batches.
#[derive(Debug)]
pub struct BatchGet<C, T> {
    consumer: C,
    got: Vec<T>,
    /// Of a task that is got.
    instructions: u64,
}

type ConsumerOf<F, T> = <<F as Family>::Pool<T> as TaskPool<T>>::Consumer;

/// Ends that take one task at a time.
type OneByOne<F, T> = Ends<SinglePut<ProducerOf<F, T>>, SingleGet<ConsumerOf<F, T>>>;

impl<F: Family> Subject for Single<F> {
    type Put<T: Parcel> = SinglePut<ProducerOf<F, T>>;
    type Get<T: Parcel> = SingleGet<ConsumerOf<F, T>>;

    fn ends<T: Parcel>(&self, shape: Shape) -> Ends<Self::Put<T>, Self::Get<T>> {
        one_by_one(&self.0, shape, Instructions::of(&self.0))
    }
}

impl<F: Family> Subject for Backlogged<F> {
    type Put<T: Parcel> = SinglePut<ProducerOf<F, T>>;
    type Get<T: Parcel> = SingleGet<ConsumerOf<F, T>>;

    fn ends<T: Parcel>(&self, shape: Shape) -> Ends<Self::Put<T>, Self::Get<T>> {
        one_by_one(&self.0, shape, Instructions::of_backlogs(&self.0))
    }
}

impl<F: Family> Subject for Batch<F> {
    type Put<T: Parcel> = BatchPut<F, T>;
    type Get<T: Parcel> = BatchGet<ConsumerOf<F, T>, T>;

    fn ends<T: Parcel>(&self, shape: Shape) -> Ends<Self::Put<T>, Self::Get<T>> {
        let pool = self.0.build::<T>();
        let Instructions { put, get } = Instructions::of_batches(&self.0);
        Ends {
            put: makers(&pool, shape.producers, move |pool| BatchPut {
                producer: pool.producer(),
                run: Vec::new(),
                instructions: put,
            }),
            get: makers(&pool, shape.consumers, move |pool| BatchGet {
                consumer: pool.consumer(),
                got: Vec::with_capacity(BATCH),
                instructions: get,
            }),
            count: count(&self.0, &pool),
        }
    }
}

/// The ends of a new pool of `family` whose puts and gets are so many instructions.
fn one_by_one<F: Family, T: Parcel>(
    family: &F,
    shape: Shape,
    Instructions { put, get }: Instructions,
) -> OneByOne<F, T> {
    let pool = family.build::<T>();
    Ends {
        put: makers(&pool, shape.producers, move |pool| SinglePut {
            producer: pool.producer(),
            instructions: put,
        }),
        get: makers(&pool, shape.consumers, move |pool| SingleGet::new(pool.consumer(), get)),
        count: count(family, &pool),
    }
}

/// Reads the counters of `pool`.
pub(super) fn count<F: Family, T: Parcel>(family: &F, pool: &F::Pool<T>) -> Count {
    let (family, pool) = (family.clone(), pool.clone());
    Box::new(move || family.counters(&pool))
}

/// What makes so many ends of the same pool.
pub(super) fn makers<S, E, F>(pool: &S, count: usize, end: F) -> Vec<Make<E>>
where
    S: Clone + Send + 'static,
    E: 'static,
    F: Fn(&S) -> E + Copy + Send + 'static,
{
    let make = |pool: S| -> Make<E> { Box::new(move || end(&pool)) };
    (0..count).map(|_| make(pool.clone())).collect()
}

impl<T: Parcel, P: Producer<T>> Put<T> for SinglePut<P> {
    fn put(&mut self, numbers: Range<u64>, room: &Room<'_>) {
        for number in numbers {
            machine::instructions(self.instructions);
            let put = |task| self.producer.try_put(task).map_err(Full::into_inner);
            if !room.put(T::numbered(number), put) {
                return;
            }
        }
    }
}

impl<C> SingleGet<C> {
    pub(super) fn new(consumer: C, instructions: u64) -> Self {
        Self { consumer, instructions }
    }
}

impl<T: Parcel, C: Consumer<T>> Get<T> for SingleGet<C> {
    #[inline]
    fn get(&mut self, tally: &mut Tally) -> bool {
        match self.consumer.get() {
            Some(task) => {
                machine::instructions(self.instructions);
                tally.add(&task);
                true
            }
            None => false,
        }
    }
}

impl<F: Family, T: Send + 'static> fmt::Debug for BatchPut<F, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BatchPut").finish_non_exhaustive()
    }
}

impl<T: Parcel, F: Family> Put<T> for BatchPut<F, T> {
    fn put(&mut self, numbers: Range<u64>, room: &Room<'_>) {
        let mut next = numbers.start;
        let backoff = Backoff::new();
        while next < numbers.end {
            let end = numbers.end.min(next + BATCH as u64);
            let tasks = (next..end).map(T::numbered);
            let put = F::put_batch(&mut self.producer, tasks, &mut self.run) as u64;
            machine::instructions(put * self.instructions);
            next += put;
            if next < end {
                if put > 0 {
                    backoff.reset();
                }
                if !room.wait(&backoff) {
                    return;
                }
            }
        }
    }
}

impl<T: Parcel, C: Consumer<T>> Get<T> for BatchGet<C, T> {
    #[inline]
    fn get(&mut self, tally: &mut Tally) -> bool {
        let count = self.consumer.get_many(BATCH, &mut self.got);
        machine::instructions(count as u64 * self.instructions);
        self.got.drain(..).for_each(|task| tally.add(&task));
        count > 0
    }
}
