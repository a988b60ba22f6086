//! A producer and a consumer in one pair of hands: what a worker is, made of two handles.

use cantina::pool::{Consumer, Full, Producer, PutAllError, TaskPool};

/// Puts with one handle and gets with the other.
pub(super) struct Both<P, C> {
    producer: P,
    consumer: C,
}

impl<P, C> Both<P, C> {
    /// Two new handles of `pool`.
    pub(super) fn of<T: Send>(pool: &impl TaskPool<T, Producer = P, Consumer = C>) -> Self {
        Self { producer: pool.producer(), consumer: pool.consumer() }
    }
}

impl<T, P: Producer<T>, C: Send> Producer<T> for Both<P, C> {
    fn try_put(&mut self, task: T) -> Result<(), Full<T>> {
        self.producer.try_put(task)
    }

    fn put_all<I>(&mut self, tasks: I) -> Result<usize, PutAllError<T, I::IntoIter>>
    where
        I: IntoIterator<Item = T>,
    {
        self.producer.put_all(tasks)
    }
}

impl<T, P: Send, C: Consumer<T>> Consumer<T> for Both<P, C> {
    fn get(&mut self) -> Option<T> {
        self.consumer.get()
    }

    fn get_many(&mut self, max: usize, into: &mut Vec<T>) -> usize {
        self.consumer.get_many(max, into)
    }
}
