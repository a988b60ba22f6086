//! The ends of a [`TodoTree`](super::TodoTree).

use super::cloned::ClonedLease;
use super::lease::Lease;
use super::put::Putter;
use super::take::Getter;
use super::tree::Tree;
use crate::pool::{self, Drain, Full, OneAtATime, PutAllError, TooMany};
use machine::Arc;
use std::fmt;
use std::marker::PhantomData;

/// Names a [`Consumer`] or a [`Worker`], also when it is gone: no other one of the pool ever has its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WorkerId(u32);

/// The putting end.
pub struct Producer<T> {
    putter: Putter<T>,
    one_at_a_time: OneAtATime,
}

/// The getting end.
pub struct Consumer<T> {
    getter: Getter<T>,
    one_at_a_time: OneAtATime,
}

/// Both ends in one hand: it begins in the block where it was last, whichever it did there.
pub struct Worker<T> {
    putter: Putter<T>,
    getter: Getter<T>,
    one_at_a_time: OneAtATime,
}

impl<T> Producer<T> {
    pub(super) fn new(tree: Arc<Tree<T>>) -> Self {
        Self { putter: Putter::new(tree), one_at_a_time: PhantomData }
    }

    /// Puts `task`.
    ///
    /// # Errors
    /// [`Full`] gives it back when there is no room: at one instant every place had a task, or was in the hands
    /// of an operation under way.
    #[inline]
    pub fn try_put(&mut self, task: T) -> Result<(), Full<T>> {
        self.putter.try_put(task)
    }

    /// Puts all of `tasks` and says how many they were. Up to 16 become visible at once, if the iterator says
    /// how many are to come: as many places are claimed before they are asked for, and up to 15 tasks are nobody's to get while the iterator waits.
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
        self.putter.put_all(tasks)
    }
}

impl<T> Consumer<T> {
    pub(super) fn new(tree: Arc<Tree<T>>) -> Result<Self, TooMany> {
        Ok(Self { getter: Getter::new(tree)?, one_at_a_time: PhantomData })
    }

    /// Gets a task. `None`: at one instant there was none.
    #[must_use = "a task that nobody keeps is dropped"]
    #[inline]
    pub fn get(&mut self) -> Option<T> {
        self.getter.get()
    }

    /// Takes a task that stays in its place until the [`Lease`] ends. `None`: at one instant there was none.
    #[must_use = "a lease that is dropped puts its task back"]
    pub fn take_leased(&mut self) -> Option<Lease<T>> {
        self.getter.take_leased()
    }

    /// Its name, for [`recover`](Self::recover). All have the same in a pool that was not built with
    /// [`leases`](super::Builder::leases).
    pub fn id(&self) -> WorkerId {
        WorkerId(self.getter.number)
    }

    /// Puts back what `dead` had on leases, or had taken and not yet returned; how many tasks. Nothing, where the pool was
    /// not built with [`leases`](super::Builder::leases).
    ///
    /// # Safety
    /// Every thread that uses `dead` has stopped for ever, or was joined, and none of its leases is used or dropped from
    /// now on. It is not sound for one that is only slow: that still looks at its task while somebody else takes it out.
    ///
    /// ```
    /// use cantina::todo_tree::TodoTree;
    ///
    /// let pool = TodoTree::builder().leases(true).build().unwrap();
    /// pool.producer().try_put("wash up").unwrap();
    /// let mut unlucky = pool.consumer();
    /// let dead = unlucky.id();
    /// let lease = std::mem::ManuallyDrop::new(unlucky.take_leased().unwrap());
    /// let mut other = pool.consumer();
    /// assert_eq!(other.get(), None);
    /// // SAFETY: the lease is not used or dropped any more.
    /// assert_eq!(unsafe { other.recover(dead) }, 1);
    /// assert_eq!(other.get(), Some("wash up"));
    /// ```
    pub unsafe fn recover(&mut self, dead: WorkerId) -> usize {
        // SAFETY: the caller's.
        unsafe { self.getter.recover(dead.0) }
    }

    /// Takes a task and hands out a copy of it, which others can [`reclaim`](Self::reclaim) when it takes too long. `None`: at one
    /// instant there was none.
    ///
    /// # Panics
    /// When the pool was not built with [`leases`](super::Builder::leases); when the clone does, and the task goes back.
    #[must_use = "a copy that is dropped puts its task back"]
    pub fn take_cloned(&mut self) -> Option<ClonedLease<T>>
    where
        T: Clone,
    {
        self.getter.take_cloned()
    }

    /// Puts back what `slow` has [copies](Self::take_cloned) of, as if it had dropped them; how many tasks. It need not be dead: a copy
    /// that is completed later is told that it was [`Reclaimed`](super::Reclaimed). Leases are left alone, and so are those who are
    /// just about to copy.
    pub fn reclaim(&mut self, slow: WorkerId) -> usize {
        self.getter.reclaim(slow.0)
    }

    /// Gets up to `max` tasks, appends them to `into` and says how many. 0 with `max > 0`: at one
    /// instant there was none. Those of one block are taken in one step.
    pub fn get_many(&mut self, max: usize, into: &mut Vec<T>) -> usize {
        self.getter.get_many(max, into)
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
    pub(super) fn new(tree: Arc<Tree<T>>) -> Result<Self, TooMany> {
        let putter = Putter::new(tree.clone());
        let mut getter = Getter::new(tree)?;
        getter.begin_in(putter.last());
        Ok(Self { putter, getter, one_at_a_time: PhantomData })
    }

    /// Puts `task`.
    ///
    /// # Errors
    /// [`Full`] gives it back when there is no room; see [`Producer::try_put`].
    #[inline]
    pub fn try_put(&mut self, task: T) -> Result<(), Full<T>> {
        let put = self.putter.try_put(task);
        self.getter.begin_in(self.putter.last());
        put
    }

    /// Puts all of `tasks`, as [`Producer::put_all`] does.
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
        let put = self.putter.put_all(tasks);
        self.getter.begin_in(self.putter.last());
        put
    }

    /// Gets a task. `None`: at one instant there was none.
    #[must_use = "a task that nobody keeps is dropped"]
    #[inline]
    pub fn get(&mut self) -> Option<T> {
        let task = self.getter.get();
        self.putter.begin_in(self.getter.last());
        task
    }

    /// Takes a task on a [`Lease`], as [`Consumer::take_leased`] does.
    #[must_use = "a lease that is dropped puts its task back"]
    pub fn take_leased(&mut self) -> Option<Lease<T>> {
        let lease = self.getter.take_leased();
        self.putter.begin_in(self.getter.last());
        lease
    }

    /// Its name, for [`recover`](Self::recover). All have the same in a pool that was not built with
    /// [`leases`](super::Builder::leases).
    pub fn id(&self) -> WorkerId {
        WorkerId(self.getter.number)
    }

    /// Puts back what `dead` had, as [`Consumer::recover`] does.
    ///
    /// # Safety
    /// As there: every thread that uses `dead` has stopped for ever, and none of its leases is used or dropped from now on.
    pub unsafe fn recover(&mut self, dead: WorkerId) -> usize {
        // SAFETY: the caller's.
        unsafe { self.getter.recover(dead.0) }
    }

    /// Takes a task and hands out a copy of it, as [`Consumer::take_cloned`] does.
    ///
    /// # Panics
    /// When the pool was not built with [`leases`](super::Builder::leases); when the clone does, and the task goes back.
    #[must_use = "a copy that is dropped puts its task back"]
    pub fn take_cloned(&mut self) -> Option<ClonedLease<T>>
    where
        T: Clone,
    {
        let copy = self.getter.take_cloned();
        self.putter.begin_in(self.getter.last());
        copy
    }

    /// Puts back what `slow` has copies of, as [`Consumer::reclaim`] does.
    pub fn reclaim(&mut self, slow: WorkerId) -> usize {
        self.getter.reclaim(slow.0)
    }

    /// Gets up to `max` tasks, as [`Consumer::get_many`] does.
    pub fn get_many(&mut self, max: usize, into: &mut Vec<T>) -> usize {
        let got = self.getter.get_many(max, into);
        self.putter.begin_in(self.getter.last());
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
    /// One more producer.
    fn clone(&self) -> Self {
        Self::new(self.putter.tree.clone())
    }
}

impl<T> fmt::Debug for Producer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Producer").field(&*self.putter.tree).finish()
    }
}

impl<T> fmt::Debug for Consumer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Consumer").field(&*self.getter.tree).finish()
    }
}

impl<T> fmt::Debug for Worker<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Worker").field(&*self.putter.tree).finish()
    }
}
