//! The ends of a [`Bounded`](super::Bounded): those of a SALSA, and a pocket for credits each.

use super::credits::{Credits, Side};
use crate::pool::{self, Drain, Full, PutAllError};
use crate::salsa;
use machine::Arc;
use std::cell::Cell;
use std::fmt;

/// The putting end.
pub struct Producer<T> {
    pool: salsa::Producer<T>,
    pocket: Pocket,
}

/// The getting end.
pub struct Consumer<T> {
    pool: salsa::Consumer<T>,
    pocket: Pocket,
}

/// Both ends in one hand.
pub struct Worker<T> {
    pool: salsa::Worker<T>,
    put: Pocket,
    get: Pocket,
}

/// Credits that an end has: taken and not used yet, or to be given back.
struct Pocket {
    has: usize,
    /// What it takes or keeps at once.
    lot: usize,
    side: Side,
    credits: Arc<Credits>,
}

/// Tasks, as long as there are credits for them. A credit is spent when the task it is for is in the pool: when
/// the next one is asked for, or [all are there](Self::all_are_put). One that is not, because a policy panics,
/// goes back.
struct Paid<'a, T, I> {
    /// What comes before the rest.
    first: Option<T>,
    tasks: &'a mut I,
    pocket: &'a mut Pocket,
    /// Credits spent.
    spent: Cell<usize>,
    /// The last task was given out, and is not paid for.
    owes: Cell<bool>,
    /// There are no more of them.
    ended: bool,
}

impl Pocket {
    fn new(credits: Arc<Credits>, side: Side) -> Self {
        Self { has: 0, lot: credits.join(side), side, credits }
    }

    /// Whether there is a credit, one taken for the purpose if need be.
    #[inline]
    fn can_pay(&mut self) -> bool {
        if self.has == 0 {
            self.has = self.credits.draw(self.lot);
        }
        self.has > 0
    }

    /// Pays for a task that `put` puts, once it is in. A policy may panic: then the credit goes back, since it may be all that makes
    /// a lot (I2).
    #[inline]
    fn pay(&mut self, put: impl FnOnce()) {
        struct Unpaid<'a>(&'a mut Pocket);
        impl Drop for Unpaid<'_> {
            fn drop(&mut self) {
                self.0.give_one();
            }
        }
        let unpaid = Unpaid(self);
        put();
        std::mem::forget(unpaid);
        self.has -= 1;
    }

    #[cold]
    fn give_one(&mut self) {
        self.has -= 1;
        self.credits.give(1);
    }

    /// So many tasks were got; `empty` says that there was nothing then.
    #[inline]
    fn earn(&mut self, tasks: usize, empty: bool) {
        self.has += tasks;
        if self.has >= self.lot || empty {
            self.give_all();
        }
    }

    fn give_all(&mut self) {
        self.credits.give(std::mem::take(&mut self.has));
    }
}

impl Drop for Pocket {
    fn drop(&mut self) {
        self.give_all();
        self.credits.leave(self.side, self.lot);
    }
}

impl<T, I> Paid<'_, T, I> {
    /// All that was given out is in the pool. How many credits are left.
    fn all_are_put(&self) -> usize {
        self.spent.set(self.spent.get() + usize::from(self.owes.replace(false)));
        self.pocket.has - self.spent.get()
    }
}

impl<T, I: Iterator<Item = T>> Iterator for Paid<'_, T, I> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        let task = match self.all_are_put() {
            0 => return None,
            _ => self.first.take().or_else(|| self.tasks.next()),
        };
        self.owes.set(task.is_some());
        self.ended = task.is_none();
        task
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let (has, first) = (self.all_are_put(), usize::from(self.first.is_some()));
        let (least, most) = self.tasks.size_hint();
        let within = |tasks: usize| tasks.saturating_add(first).min(has);
        (within(least), Some(most.map_or(has, within)))
    }
}

impl<T, I> Drop for Paid<'_, T, I> {
    fn drop(&mut self) {
        self.pocket.has -= self.spent.get();
        if self.owes.get() {
            // As in `Pocket::pay`.
            self.pocket.give_one();
        }
    }
}

/// Puts all of `tasks` by `put`, which puts all it is given, as far as `pocket` can pay. No credit is
/// taken that there is no task for.
fn put_all<T, I: Iterator<Item = T>>(
    mut tasks: I,
    pocket: &mut Pocket,
    mut put: impl FnMut(&mut dyn Iterator<Item = T>),
) -> Result<usize, PutAllError<T, I>> {
    let mut count = 0;
    // Not asked again once it has ended: it may be one that goes on.
    loop {
        let Some(task) = tasks.next() else { break };
        if !pocket.can_pay() {
            return Err(PutAllError { put: count, task, rest: tasks });
        }
        let (spent, owes) = (Cell::new(0), Cell::new(false));
        let mut paid =
            Paid { first: Some(task), tasks: &mut tasks, pocket, spent, owes, ended: false };
        put(&mut paid);
        paid.all_are_put();
        count += paid.spent.get();
        if paid.ended {
            break;
        }
    }
    Ok(count)
}

impl<T> Producer<T> {
    pub(super) fn new(pool: salsa::Producer<T>, credits: Arc<Credits>) -> Self {
        Self { pool, pocket: Pocket::new(credits, Side::Producer) }
    }

    /// Puts `task`.
    ///
    /// # Errors
    /// [`Full`] gives it back when there is no room.
    #[inline]
    pub fn try_put(&mut self, task: T) -> Result<(), Full<T>> {
        if !self.pocket.can_pay() {
            return Err(Full(task));
        }
        self.pocket.pay(|| self.pool.put(task));
        Ok(())
    }

    /// Puts all of `tasks` and says how many they were. They become visible by the cache line, larger ones by half
    /// a kilobyte, so that as many as lie there less one are nobody's to get while the iterator waits.
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
        let pool = &mut self.pool;
        put_all(tasks.into_iter(), &mut self.pocket, |tasks| pool.extend(tasks))
    }
}

impl<T> Consumer<T> {
    pub(super) fn new(pool: salsa::Consumer<T>, credits: Arc<Credits>) -> Self {
        Self { pool, pocket: Pocket::new(credits, Side::Consumer) }
    }

    /// Gets a task. `None`: at one instant there was none.
    #[must_use = "a task that nobody keeps is dropped"]
    #[inline]
    pub fn get(&mut self) -> Option<T> {
        let task = self.pool.get();
        self.pocket.earn(usize::from(task.is_some()), task.is_none());
        task
    }

    /// Gets up to `max` tasks, appends them to `into` and says how many. 0 with `max > 0`: at one
    /// instant there was none.
    pub fn get_many(&mut self, max: usize, into: &mut Vec<T>) -> usize {
        let got = self.pool.get_many(max, into);
        self.pocket.earn(got, got == 0);
        got
    }

    /// Gets tasks until there are none.
    pub fn drain(&mut self) -> Drain<'_, Self, T>
    where
        T: Send,
    {
        Drain::new(self)
    }
}

impl<T> Worker<T> {
    pub(super) fn new(pool: salsa::Worker<T>, credits: Arc<Credits>) -> Self {
        let put = Pocket::new(credits.clone(), Side::Producer);
        Self { pool, put, get: Pocket::new(credits, Side::Consumer) }
    }

    /// Puts `task`.
    ///
    /// # Errors
    /// [`Full`] gives it back when there is no room.
    #[inline]
    pub fn try_put(&mut self, task: T) -> Result<(), Full<T>> {
        self.pay_oneself();
        if !self.put.can_pay() {
            return Err(Full(task));
        }
        self.put.pay(|| self.pool.put(task));
        Ok(())
    }

    /// What was earned by getting pays for putting, as much as may be kept for that.
    #[inline]
    fn pay_oneself(&mut self) {
        if self.put.has == 0 {
            self.put.has = self.get.has.min(self.put.lot);
            self.get.has -= self.put.has;
        }
    }

    /// Puts all of `tasks` and says how many they were. They become visible by the cache line, larger ones by half
    /// a kilobyte, so that as many as lie there less one are nobody's to get while the iterator waits.
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
        self.get.give_all();
        let pool = &mut self.pool;
        put_all(tasks.into_iter(), &mut self.put, |tasks| pool.extend(tasks))
    }

    /// Gets a task. `None`: at one instant there was none.
    #[must_use = "a task that nobody keeps is dropped"]
    #[inline]
    pub fn get(&mut self) -> Option<T> {
        let task = self.pool.get();
        self.get.earn(usize::from(task.is_some()), task.is_none());
        task
    }

    /// Gets up to `max` tasks, appends them to `into` and says how many. 0 with `max > 0`: at one
    /// instant there was none.
    pub fn get_many(&mut self, max: usize, into: &mut Vec<T>) -> usize {
        let got = self.pool.get_many(max, into);
        self.get.earn(got, got == 0);
        got
    }

    /// Gets tasks until there are none.
    pub fn drain(&mut self) -> Drain<'_, Self, T>
    where
        T: Send,
    {
        Drain::new(self)
    }
}

pool::forward_to_own_methods!(Producer, Consumer, Worker);

impl<T> Clone for Producer<T> {
    /// One more producer, on the same node.
    fn clone(&self) -> Self {
        Self::new(self.pool.clone(), self.pocket.credits.clone())
    }
}

impl<T> fmt::Debug for Producer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Producer").field(&self.pool).finish()
    }
}

impl<T> fmt::Debug for Consumer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Consumer").field(&self.pool).finish()
    }
}

impl<T> fmt::Debug for Worker<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Worker").field(&self.pool).finish()
    }
}
