//! What pools and their ends have by their own methods, or by those of their parts.

/// Implements [`TaskPool`](super::TaskPool) for a pool, by its own methods, with more of the trait's items
/// where the pool has them; and [`Producer`](super::Producer) and [`Consumer`](super::Consumer) for its
/// ends.
macro_rules! forward_to_own_methods {
    (@producer $end:ident) => {
        impl<T: Send> $crate::pool::Producer<T> for $end<T> {
            #[inline]
            fn try_put(&mut self, task: T) -> Result<(), $crate::pool::Full<T>> {
                self.try_put(task)
            }

            fn put_all<I>(
                &mut self,
                tasks: I,
            ) -> Result<usize, $crate::pool::PutAllError<T, I::IntoIter>>
            where
                I: IntoIterator<Item = T>,
            {
                self.put_all(tasks)
            }
        }
    };
    (@consumer $end:ident) => {
        impl<T: Send> $crate::pool::Consumer<T> for $end<T> {
            #[inline]
            fn get(&mut self) -> Option<T> {
                self.get()
            }

            fn get_many(&mut self, max: usize, into: &mut Vec<T>) -> usize {
                self.get_many(max, into)
            }
        }
    };
    ($producer:ident, $consumer:ident, $worker:ident) => {
        $crate::pool::forward_to_own_methods!(@producer $producer);
        $crate::pool::forward_to_own_methods!(@consumer $consumer);
        $crate::pool::forward_to_own_methods!(@producer $worker);
        $crate::pool::forward_to_own_methods!(@consumer $worker);
    };
    ($pool:ident { $($more:tt)* }) => {
        impl<T: Send> $crate::pool::TaskPool<T> for $pool<T> {
            type Producer = Producer<T>;
            type Consumer = Consumer<T>;
            type Worker = Worker<T>;

            fn producer(&self) -> Producer<T> {
                self.producer()
            }

            fn consumer(&self) -> Consumer<T> {
                self.consumer()
            }

            fn worker(&self) -> Worker<T> {
                self.worker()
            }

            $($more)*
        }
    };
}

/// The methods of a worker that is a producer `put` and a consumer `get`, of a pool that is never full.
macro_rules! worker_of_two_ends {
    ($producer:ident, $consumer:ident, $worker:ident) => {
        impl<T> $worker<T> {
            /// Puts `task`.
            #[inline]
            pub fn put(&mut self, task: T) {
                self.put.put(task);
            }

            /// Puts `task`; there is always room.
            ///
            /// # Errors
            /// Never.
            #[inline]
            pub fn try_put(&mut self, task: T) -> Result<(), $crate::pool::Full<T>> {
                self.put.try_put(task)
            }

            #[doc = concat!("Puts all of `tasks`, as [`", stringify!($producer), "::put_all`] does.")]
            ///
            /// # Errors
            /// Never.
            ///
            /// # Panics
            /// When the iterator does. Every task it gave before is put.
            pub fn put_all<I>(
                &mut self,
                tasks: I,
            ) -> Result<usize, $crate::pool::PutAllError<T, I::IntoIter>>
            where
                I: IntoIterator<Item = T>,
            {
                self.put.put_all(tasks)
            }

            #[doc = concat!("Gets a task, as [`", stringify!($consumer), "::get`] does.")]
            #[must_use = "a task that nobody keeps is dropped"]
            #[inline]
            pub fn get(&mut self) -> Option<T> {
                self.get.get()
            }

            #[doc = concat!(
                "Gets up to `max` tasks, as [`", stringify!($consumer), "::get_many`] does."
            )]
            pub fn get_many(&mut self, max: usize, into: &mut Vec<T>) -> usize {
                self.get.get_many(max, into)
            }

            /// Gets tasks until there are none.
            pub fn drain(&mut self) -> $crate::pool::Drain<'_, Self, T>
            where
                T: Send,
            {
                $crate::pool::Drain::new(self)
            }
        }

        impl<T> Extend<T> for $producer<T> {
            fn extend<I: IntoIterator<Item = T>>(&mut self, tasks: I) {
                // There is always room.
                let _ = self.put_all(tasks);
            }
        }

        impl<T> Extend<T> for $worker<T> {
            fn extend<I: IntoIterator<Item = T>>(&mut self, tasks: I) {
                self.put.extend(tasks);
            }
        }
    };
}

pub(crate) use {forward_to_own_methods, worker_of_two_ends};
