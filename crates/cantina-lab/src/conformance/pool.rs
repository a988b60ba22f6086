//! Pools whose type is forgotten, so that a check is compiled once and not for every pool.
//!
//! They are pools themselves and hand every call on to the one inside: a virtual call, and nothing that a
//! simulated machine would count. What is measured goes without ([`workload`](crate::workload)).

use cantina::pool::{Consumer, Full, Producer, PutAllError, TaskPool, TooMany};

/// A pool.
pub(super) struct AnyPool<T>(Box<dyn Pool<T>>);

/// Its putting end.
pub(super) struct AnyProducer<T>(Box<dyn Putting<T>>);

/// Its getting end.
pub(super) struct AnyConsumer<T>(Box<dyn Getting<T>>);

/// Both ends in one hand.
pub(super) struct AnyWorker<T>(Box<dyn Working<T>>);

/// What a pool does, whatever its ends are.
trait Pool<T>: Send + Sync {
    fn again(&self) -> AnyPool<T>;
    fn producer(&self) -> AnyProducer<T>;
    fn consumer(&self) -> AnyConsumer<T>;
    fn worker(&self) -> AnyWorker<T>;
    fn try_consumer(&self) -> Result<AnyConsumer<T>, TooMany>;
    fn try_worker(&self) -> Result<AnyWorker<T>, TooMany>;
    fn full_slack(&self) -> usize;
    fn full_counts_under_way(&self) -> bool;
}

/// What a putting end does, whatever iterator it is given.
trait Putting<T>: Send {
    fn try_put(&mut self, task: T) -> Result<(), Full<T>>;
    /// What comes after the task that was not put is still in `tasks`.
    fn put_all(&mut self, tasks: &mut dyn Iterator<Item = T>) -> Result<usize, (usize, T)>;
}

/// What a getting end does.
trait Getting<T>: Send {
    fn get(&mut self) -> Option<T>;
    fn get_many(&mut self, max: usize, into: &mut Vec<T>) -> usize;
}

/// What both ends in one hand do.
trait Working<T>: Putting<T> + Getting<T> {}

impl<T: Send + 'static> AnyPool<T> {
    /// `pool`, whatever it is.
    pub(super) fn of<P>(pool: P) -> Self
    where
        P: TaskPool<T, Producer: 'static, Consumer: 'static, Worker: 'static> + 'static,
    {
        Self(Box::new(pool))
    }
}

impl<T, P> Pool<T> for P
where
    T: Send + 'static,
    P: TaskPool<T, Producer: 'static, Consumer: 'static, Worker: 'static> + 'static,
{
    fn again(&self) -> AnyPool<T> {
        AnyPool::of(self.clone())
    }

    fn producer(&self) -> AnyProducer<T> {
        AnyProducer(Box::new(TaskPool::producer(self)))
    }

    fn consumer(&self) -> AnyConsumer<T> {
        AnyConsumer(Box::new(TaskPool::consumer(self)))
    }

    fn worker(&self) -> AnyWorker<T> {
        AnyWorker(Box::new(TaskPool::worker(self)))
    }

    fn try_consumer(&self) -> Result<AnyConsumer<T>, TooMany> {
        TaskPool::try_consumer(self).map(|consumer| AnyConsumer(Box::new(consumer)))
    }

    fn try_worker(&self) -> Result<AnyWorker<T>, TooMany> {
        TaskPool::try_worker(self).map(|worker| AnyWorker(Box::new(worker)))
    }

    fn full_slack(&self) -> usize {
        TaskPool::full_slack(self)
    }

    fn full_counts_under_way(&self) -> bool {
        TaskPool::full_counts_under_way(self)
    }
}

impl<T, P: Producer<T>> Putting<T> for P {
    fn try_put(&mut self, task: T) -> Result<(), Full<T>> {
        Producer::try_put(self, task)
    }

    fn put_all(&mut self, tasks: &mut dyn Iterator<Item = T>) -> Result<usize, (usize, T)> {
        Producer::put_all(self, tasks).map_err(|PutAllError { put, task, .. }| (put, task))
    }
}

impl<T, C: Consumer<T>> Getting<T> for C {
    fn get(&mut self) -> Option<T> {
        Consumer::get(self)
    }

    fn get_many(&mut self, max: usize, into: &mut Vec<T>) -> usize {
        Consumer::get_many(self, max, into)
    }
}

impl<T, W: Producer<T> + Consumer<T>> Working<T> for W {}

impl<T> Clone for AnyPool<T> {
    fn clone(&self) -> Self {
        self.0.again()
    }
}

impl<T: Send + 'static> TaskPool<T> for AnyPool<T> {
    type Producer = AnyProducer<T>;
    type Consumer = AnyConsumer<T>;
    type Worker = AnyWorker<T>;

    fn producer(&self) -> AnyProducer<T> {
        self.0.producer()
    }

    fn consumer(&self) -> AnyConsumer<T> {
        self.0.consumer()
    }

    fn worker(&self) -> AnyWorker<T> {
        self.0.worker()
    }

    fn try_consumer(&self) -> Result<AnyConsumer<T>, TooMany> {
        self.0.try_consumer()
    }

    fn try_worker(&self) -> Result<AnyWorker<T>, TooMany> {
        self.0.try_worker()
    }

    fn full_slack(&self) -> usize {
        self.0.full_slack()
    }

    fn full_counts_under_way(&self) -> bool {
        self.0.full_counts_under_way()
    }
}

/// `Producer` for an end in a box.
macro_rules! puts {
    ($end:ident) => {
        impl<T> Producer<T> for $end<T> {
            fn try_put(&mut self, task: T) -> Result<(), Full<T>> {
                self.0.try_put(task)
            }

            fn put_all<I>(&mut self, tasks: I) -> Result<usize, PutAllError<T, I::IntoIter>>
            where
                I: IntoIterator<Item = T>,
            {
                let mut rest = tasks.into_iter();
                let put = self.0.put_all(&mut rest);
                put.map_err(|(put, task)| PutAllError { put, task, rest })
            }
        }
    };
}

/// `Consumer` for an end in a box.
macro_rules! gets {
    ($end:ident) => {
        impl<T> Consumer<T> for $end<T> {
            fn get(&mut self) -> Option<T> {
                self.0.get()
            }

            fn get_many(&mut self, max: usize, into: &mut Vec<T>) -> usize {
                self.0.get_many(max, into)
            }
        }
    };
}

puts!(AnyProducer);
gets!(AnyConsumer);
puts!(AnyWorker);
gets!(AnyWorker);
