//! The ends of a [`RoomQueue`]: each of them is the queue, seen from one side.

use super::RoomQueue;
use crate::pool::{self, Drain, Full, OneAtATime, PutAllError};
use std::fmt;
use std::marker::PhantomData;

/// The putting end.
pub struct Producer<T> {
    queue: RoomQueue<T>,
    one_at_a_time: OneAtATime,
}

/// The getting end.
pub struct Consumer<T> {
    queue: RoomQueue<T>,
    one_at_a_time: OneAtATime,
}

/// Both ends in one hand.
pub struct Worker<T> {
    queue: RoomQueue<T>,
    one_at_a_time: OneAtATime,
}

/// The methods of an end that puts.
macro_rules! puts {
    ($end:ident) => {
        impl<T> $end<T> {
            /// Puts `task` at the end of the queue.
            ///
            /// # Errors
            /// [`Full`] gives it back when there was no room.
            #[inline]
            pub fn try_put(&mut self, task: T) -> Result<(), Full<T>> {
                self.queue.enqueue(task)
            }

            /// Puts the first of `tasks`, as [`RoomQueue::append`] does.
            pub fn append(&mut self, tasks: &mut Vec<T>) -> usize {
                self.queue.append(tasks)
            }

            /// Puts all of `tasks`, one by one, and says how many they were. Several at once:
            /// [`append`](Self::append), or [`RoomQueue::enqueue_all`], which can give back more than one that it has no room for.
            ///
            /// # Errors
            /// [`PutAllError`] when there is no room: how many were put, the task that was not, and the rest.
            ///
            /// # Panics
            /// When the iterator does. Every task it gave before is put.
            pub fn put_all<I>(&mut self, tasks: I) -> Result<usize, PutAllError<T, I::IntoIter>>
            where
                I: IntoIterator<Item = T>,
            {
                pool::put_one_by_one(tasks.into_iter(), |task| self.try_put(task))
            }
        }
    };
}

/// The methods of an end that gets.
macro_rules! gets {
    ($end:ident) => {
        impl<T> $end<T> {
            /// Gets the oldest task. `None`: there was none.
            #[must_use = "a task that nobody keeps is dropped"]
            #[inline]
            pub fn get(&mut self) -> Option<T> {
                self.queue.dequeue()
            }

            /// Gets up to `max` of the oldest tasks, together, appends them to `into` and says how many.
            pub fn get_many(&mut self, max: usize, into: &mut Vec<T>) -> usize {
                self.queue.dequeue_many(max, into)
            }

            /// Gets tasks until there are none.
            pub fn drain(&mut self) -> Drain<'_, Self, T>
            where
                T: Send,
            {
                Drain::new(self)
            }
        }
    };
}

/// What all ends have.
macro_rules! is_the_queue {
    ($end:ident) => {
        impl<T> $end<T> {
            pub(super) fn new(queue: RoomQueue<T>) -> Self {
                Self { queue, one_at_a_time: PhantomData }
            }
        }

        impl<T> fmt::Debug for $end<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_tuple(stringify!($end)).field(&*self.queue.ring).finish()
            }
        }
    };
}

puts!(Producer);
puts!(Worker);
gets!(Consumer);
gets!(Worker);
is_the_queue!(Producer);
is_the_queue!(Consumer);
is_the_queue!(Worker);
pool::forward_to_own_methods!(Producer, Consumer, Worker);

impl<T> Clone for Producer<T> {
    fn clone(&self) -> Self {
        Self::new(self.queue.clone())
    }
}
