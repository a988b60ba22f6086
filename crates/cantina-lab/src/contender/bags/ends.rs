//! The ends of a [`Bags`](super::Bags) pool: which lists they go to.

use super::Shared;
use super::block::Block;
use super::list::{List, Lists};
use super::walk::{Walker, Way};
use cantina::pool::{self, Full};
use machine::Arc;
use std::fmt;
use std::ptr::NonNull;

/// The putting end: it has a list from its first put on.
pub struct Producer<T, const SLOTS: usize> {
    own: Option<Own<T, SLOTS>>,
    shared: Arc<Shared<T, SLOTS>>,
}

/// The getting end.
pub struct Consumer<T, const SLOTS: usize> {
    walker: Walker<T, SLOTS>,
    /// Every list it knows, by number.
    looks: Vec<Look<T, SLOTS>>,
    /// The list that it is at, or goes to next.
    at: usize,
    /// How many came before it.
    comer: usize,
}

/// Both ends in one hand: it gets from its own list first.
pub struct Worker<T, const SLOTS: usize> {
    producer: Producer<T, SLOTS>,
    consumer: Consumer<T, SLOTS>,
}

/// A list of the pool.
struct Known<T, const SLOTS: usize>(NonNull<List<T, SLOTS>>);

/// What a consumer knows of a list.
struct Look<T, const SLOTS: usize> {
    list: Known<T, SLOTS>,
    /// So many of its first tasks are taken.
    taken: u64,
}

/// A list that is ours. See I1.
struct Own<T, const SLOTS: usize> {
    list: Known<T, SLOTS>,
    newest: NonNull<Block<T, SLOTS>>,
    /// Slots of the newest block that are filled;
    filled: usize,
    /// those of them from here on are taken,
    high: usize,
    /// and those before here.
    low: usize,
}

// SAFETY: a list is shared by all threads.
unsafe impl<T: Send, const SLOTS: usize> Send for Known<T, SLOTS> {}
// SAFETY: as above, and the newest block goes with the list.
unsafe impl<T: Send, const SLOTS: usize> Send for Own<T, SLOTS> {}

impl<T, const SLOTS: usize> Known<T, SLOTS> {
    fn list(&self) -> &List<T, SLOTS> {
        // SAFETY: I1: lists stay as long as the pool, which every end has, and keeps longer than this.
        unsafe { self.0.as_ref() }
    }
}

impl<T, const SLOTS: usize> Own<T, SLOTS> {
    /// Takes one of `lists`.
    fn new(lists: &Lists<T, SLOTS>) -> Self {
        let list = lists.take();
        let newest = list.newest();
        let mut own = Self { list: Known(NonNull::from(list)), newest, filled: 0, high: 0, low: 0 };
        own.filled = own.newest().filled();
        own.high = own.filled;
        own
    }

    fn newest(&self) -> &Block<T, SLOTS> {
        // SAFETY: I4: it is not unlinked while it is the newest, and the list is ours.
        unsafe { self.newest.as_ref() }
    }

    fn put(&mut self, task: T) {
        if self.filled == SLOTS {
            // SAFETY: the list is ours.
            self.newest = unsafe { self.list.list().grow() };
            (self.filled, self.low) = (0, 0);
        }
        // SAFETY: the list is ours, and these are filled.
        unsafe { self.newest().fill(self.filled, task) };
        self.filled += 1;
        self.high = self.filled;
    }

    /// The task of the newest block that was put last.
    fn take(&mut self) -> Option<T> {
        while self.high > self.low {
            self.high -= 1;
            let task = self.newest().take_one(self.high);
            if task.is_some() {
                return task;
            }
        }
        (self.low, self.high) = (self.filled, self.filled);
        None
    }

    /// How many were put to the list, if there are no older blocks. When nothing was left in the newest
    /// one, all of them are taken.
    fn all_taken(&self) -> Option<u64> {
        let alone = self.newest().older().is_ok_and(|older| older.is_null());
        alone.then(|| self.newest().first() + self.filled as u64)
    }
}

impl<T, const SLOTS: usize> Drop for Own<T, SLOTS> {
    fn drop(&mut self) {
        // SAFETY: it was ours until now.
        unsafe { self.list.list().leave() };
    }
}

impl<T, const SLOTS: usize> Producer<T, SLOTS> {
    pub(super) fn new(shared: Arc<Shared<T, SLOTS>>) -> Self {
        Self { own: None, shared }
    }
}

impl<T, const SLOTS: usize> Consumer<T, SLOTS> {
    pub(super) fn new(shared: Arc<Shared<T, SLOTS>>) -> Self {
        let comer = shared.come();
        Self { walker: Walker::new(shared), looks: Vec::new(), at: 0, comer }
    }

    /// Whether there were lists that it did not know; it does then, and goes to the one that is its own among so many: those who
    /// came when there was one list do not stay together.
    fn meet_new_lists(&mut self) -> bool {
        let lists = &self.walker.shared().lists;
        let (known, count) = (self.looks.len(), lists.count());
        if known == count {
            return false;
        }
        let met = lists.all().take_while(|list| list.number() >= known);
        let met = met.map(|list| Look { list: Known(NonNull::from(list)), taken: 0 });
        self.looks.extend(met);
        self.looks[known..].reverse();
        self.walker.rest();
        self.at = self.comer % self.looks.len();
        true
    }

    /// Goes to list `number` next, unless it knows from its owner how many tasks were put to it and that all
    /// of them are taken.
    fn turn_to(&mut self, number: usize, all_taken: Option<u64>) {
        if number >= self.looks.len() {
            self.meet_new_lists();
        }
        match all_taken {
            Some(count) => self.looks[number].taken = count,
            None if self.at != number => {
                self.walker.rest();
                self.at = number;
            }
            None => {}
        }
    }
}

impl<T, const SLOTS: usize> Worker<T, SLOTS> {
    pub(super) fn new(shared: Arc<Shared<T, SLOTS>>) -> Self {
        Self { producer: Producer::new(shared.clone()), consumer: Consumer::new(shared) }
    }
}

impl<T: Send, const SLOTS: usize> pool::Producer<T> for Producer<T, SLOTS> {
    fn try_put(&mut self, task: T) -> Result<(), Full<T>> {
        self.own.get_or_insert_with(|| Own::new(&self.shared.lists)).put(task);
        Ok(())
    }
}

impl<T: Send, const SLOTS: usize> pool::Consumer<T> for Consumer<T, SLOTS> {
    fn get(&mut self) -> Option<T> {
        match self.walker.go_on() {
            Way::Found(task) => return Some(task),
            Way::End(count) => self.looks[self.at].taken = count,
            Way::Lost => {}
        }
        self.meet_new_lists();
        // Lists in a row that were as they are remembered.
        let mut as_before = 0;
        loop {
            if as_before == self.looks.len() {
                if !self.meet_new_lists() {
                    self.walker.rest();
                    return None;
                }
                as_before = 0;
            }
            let look = &mut self.looks[self.at];
            match self.walker.through(look.list.list(), look.taken) {
                Ok(task) => return Some(task),
                Err(count) if count == look.taken => as_before += 1,
                Err(count) => (look.taken, as_before) = (count, 0),
            }
            self.at = (self.at + 1) % self.looks.len();
        }
    }
}

impl<T: Send, const SLOTS: usize> pool::Producer<T> for Worker<T, SLOTS> {
    fn try_put(&mut self, task: T) -> Result<(), Full<T>> {
        self.producer.try_put(task)
    }
}

impl<T: Send, const SLOTS: usize> pool::Consumer<T> for Worker<T, SLOTS> {
    fn get(&mut self) -> Option<T> {
        if let Some(own) = &mut self.producer.own {
            let task = own.take();
            if task.is_some() {
                return task;
            }
            self.consumer.turn_to(own.list.list().number(), own.all_taken());
        }
        self.consumer.get()
    }
}

impl<T, const SLOTS: usize> Clone for Producer<T, SLOTS> {
    fn clone(&self) -> Self {
        Self::new(self.shared.clone())
    }
}

impl<T, const SLOTS: usize> fmt::Debug for Producer<T, SLOTS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = self.own.as_ref().map(|own| own.list.list().number());
        f.debug_struct("Producer").field("list", &list).finish_non_exhaustive()
    }
}

impl<T, const SLOTS: usize> fmt::Debug for Consumer<T, SLOTS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Consumer").field("at", &self.at).finish_non_exhaustive()
    }
}

impl<T, const SLOTS: usize> fmt::Debug for Worker<T, SLOTS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = self.producer.own.as_ref().map(|own| own.list.list().number());
        f.debug_struct("Worker").field("list", &list).finish_non_exhaustive()
    }
}
