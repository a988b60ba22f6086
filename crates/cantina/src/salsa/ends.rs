//! The ends of a [`Salsa`](super::Salsa): the policy over the mechanism.

use super::Shared;
use super::policy::{Candidate, Route, Seeker};
use super::scpool::{Appetite, Emptiness, Filler, Taker};
use crate::pool::{self, Drain, Full, PutAllError, TooMany};
use machine::Arc;
use machine::Backoff;
use machine::thread;
use machine::time::{Duration, Instant};
use machine::topology::NodeId;
use std::fmt;

/// A producer asks homes that are farther than the one it prefers with one of so many chunks.
const FAR_EVERY: u32 = 64;

/// The putting end.
pub struct Producer<T> {
    filler: Filler<T>,
    route: Route,
    /// Chunks begun.
    chunks: u32,
    shared: Arc<Shared<T>>,
}

/// The getting end.
pub struct Consumer<T> {
    taker: Taker<T>,
    route: Route,
    shared: Arc<Shared<T>>,
}

/// Both ends in one hand: it puts to itself first.
pub struct Worker<T> {
    put: Producer<T>,
    get: Consumer<T>,
}

/// How long a consumer looks at tasks that others are about to take, before it steals them.
struct Wait {
    turns: u32,
    /// Turns since the task that was there was another one.
    same: u32,
    task: Option<u64>,
    backoff: Backoff,
    /// When turns became long.
    began: Option<Instant>,
    /// The last turn, or when turns became long, at which the task was another one.
    changed: Option<Instant>,
    /// It has taken too long.
    is_over: bool,
}

/// A consumer waits so many times as long as it is patient while the owner takes tasks.
const WHILE_OTHERS_WORK: u32 = 20;
/// A turn of waiting lasts so many yields at most, and so long.
const MOST_YIELDS: u32 = 24;
const TURN: Duration = Duration::from_micros(100);
/// So long patience lasts at most while nothing happens: a turn takes long when other programs want the
/// processor.
const LONG: Duration = Duration::from_millis(1);

impl Wait {
    fn new() -> Self {
        let backoff = Backoff::new();
        let (began, changed) = (None, None);
        Self { turns: 0, same: 0, task: None, backoff, began, changed, is_over: false }
    }

    fn appetite(&self, patience: u32) -> Appetite {
        let most = patience.saturating_mul(WHILE_OTHERS_WORK);
        if self.same >= patience || self.turns >= most || self.is_over {
            Appetite::Any
        } else if self.turns <= patience / 4 {
            Appetite::Whole
        } else {
            Appetite::Hearty
        }
    }

    /// One more turn, in which `task` was there. For how many yields to look at nothing but one's own:
    /// the longer, the longer others have been at work, for to look at what they work on slows them down.
    fn turn(&mut self, task: Option<u64>) -> u32 {
        self.turns = self.turns.saturating_add(1);
        if task == self.task {
            self.same = self.same.saturating_add(1);
        } else {
            (self.same, self.task, self.changed) = (0, task, None);
        }
        self.backoff.snooze();
        if self.backoff.is_completed() {
            let now = Instant::now();
            let still = now - *self.changed.get_or_insert(now);
            let waited = now - *self.began.get_or_insert(now);
            self.is_over = still >= LONG || waited >= LONG * WHILE_OTHERS_WORK;
        }
        (self.turns - self.same).min(MOST_YIELDS)
    }
}

impl<T> Shared<T> {
    fn update(&self, route: &mut Route) {
        let pools = &self.pools;
        let homes = (0..pools.used()).filter_map(|home| {
            let node = pools.home(home)?.node();
            Some(Candidate { home, node })
        });
        let known = (pools.changes(), pools.used());
        route.update(&*self.policy, &pools.settings.topology, known, homes);
    }
}

impl<T> Producer<T> {
    pub(super) fn new(shared: Arc<Shared<T>>, node: Option<NodeId>, home: Option<usize>) -> Self {
        let route = Route::new(Seeker { node, home, number: shared.number_producer(node) });
        Self { filler: Filler::new(shared.pools.clone()), route, chunks: 0, shared }
    }

    /// Puts `task`.
    #[inline]
    pub fn put(&mut self, task: T) {
        if !self.filler.has_room() {
            return self.put_elsewhere(task);
        }
        // SAFETY: it has room.
        unsafe { self.filler.put(task) };
    }

    #[inline(never)]
    fn put_elsewhere(&mut self, task: T) {
        self.make_room();
        // SAFETY: it has room.
        unsafe { self.filler.put(task) };
    }

    /// Puts `task`; there is always room.
    ///
    /// # Errors
    /// Never.
    #[inline]
    pub fn try_put(&mut self, task: T) -> Result<(), Full<T>> {
        self.put(task);
        Ok(())
    }

    /// Puts all of `tasks` and says how many they were. They become visible by the cache line, larger ones by half
    /// a kilobyte, so that as many as lie there less one are nobody's to get while the iterator waits.
    ///
    /// # Errors
    /// Never.
    ///
    /// # Panics
    /// When the iterator does. Every task it gave before is put.
    pub fn put_all<I>(&mut self, tasks: I) -> Result<usize, PutAllError<T, I::IntoIter>>
    where
        I: IntoIterator<Item = T>,
    {
        let mut tasks = tasks.into_iter();
        let mut count = 0;
        loop {
            if self.filler.has_room() || self.filler.next_group() {
                let room = self.filler.room();
                let put = self.filler.put_run(&mut tasks);
                count += put;
                if put < room {
                    break;
                }
            } else {
                // No memory without a task.
                let Some(task) = tasks.next() else { break };
                self.put(task);
                count += 1;
            }
        }
        Ok(count)
    }

    /// Room for the next task: in the same chunk, in another one where the policy says, or in new memory.
    #[inline]
    fn make_room(&mut self) {
        if !self.filler.next_group() {
            self.next_chunk();
        }
    }

    #[inline(never)]
    fn next_chunk(&mut self) {
        self.shared.update(&mut self.route);
        self.chunks = self.chunks.wrapping_add(1);
        let Err(preferred) = self.recycle() else { return };
        if preferred.is_some() && self.shared.pools.are_behind() {
            // Memory that is new costs more than a turn of somebody who gives some back.
            thread::yield_now();
            if self.recycle().is_ok() {
                return;
            }
        }
        let home = preferred.or(self.route.first()).unwrap_or(0);
        // Nobody is there: puts wait for whoever comes.
        if preferred.is_none() && self.filler.resume_in(home) {
            return;
        }
        self.filler.force_room_in(home);
    }

    /// Makes room in a chunk that has been used before. Where there should be room otherwise, if there is
    /// a consumer.
    fn recycle(&mut self) -> Result<(), Option<usize>> {
        let Self { filler, route, chunks, shared } = self;
        let is_active = |home| shared.pools.home(home).is_some_and(|home| home.is_active());
        let begin = route.begin(&*shared.policy);
        let mut preferred = None;
        let asks_all = *chunks % FAR_EVERY == 0;
        // A worker's own before all, whatever the policy: so it stands twice in its route.
        let own = route.seeker.home;
        let others = (0..route.len()).map(|turn| (route.at(begin, turn), Some(turn)));
        for (home, turn) in own.map(|home| (home, None)).into_iter().chain(others) {
            let is_far = preferred.is_some_and(|nearest| !route.are_equally_near(nearest, home));
            let is_again = turn.is_some() && own == Some(home);
            if is_far && !asks_all || is_again || !is_active(home) {
                continue;
            }
            let first = preferred.is_none();
            preferred = preferred.or(Some(home));
            if first && filler.resume_in(home) || filler.room_in(home) {
                if let Some(turn) = turn {
                    route.hit(begin, turn);
                }
                return Ok(());
            }
            // A worker keeps what it is not behind with.
            let keeps = route.seeker.home == Some(home) && !shared.pools.is_behind(home);
            if keeps || !shared.balancing {
                break;
            }
        }
        Err(preferred)
    }
}

impl<T> Consumer<T> {
    pub(super) fn new(shared: Arc<Shared<T>>, node: Option<NodeId>) -> Result<Self, TooMany> {
        let taker = Taker::join(shared.pools.clone(), node)?;
        let route = Route::new(Seeker { node, home: Some(taker.id()), number: taker.id() });
        Ok(Self { taker, route, shared })
    }

    /// Gets a task. `None`: at one instant there was none.
    #[must_use = "a task that nobody keeps is dropped"]
    #[inline]
    pub fn get(&mut self) -> Option<T> {
        match self.taker.next() {
            None => self.get_otherwise(),
            task => task,
        }
    }

    /// From the next group of the same chunk, from another chunk, or from another consumer.
    #[inline(never)]
    fn get_otherwise(&mut self) -> Option<T> {
        match self.taker.next_group() {
            None => self.get_elsewhere(),
            task => task,
        }
    }

    #[inline(never)]
    fn get_elsewhere(&mut self) -> Option<T> {
        let patience = self.shared.pools.settings.patience;
        let mut wait = Wait::new();
        let mut yields = 0;
        loop {
            if let Some(task) = self.consume_within(yields) {
                return Some(task);
            }
            if let Some(task) = self.steal(wait.appetite(patience)) {
                return Some(task);
            }
            if self.taker.has_news() {
                yields = 0;
                continue;
            }
            yields = match self.taker.scan() {
                Emptiness::Empty => {
                    self.taker.report();
                    return None;
                }
                Emptiness::Task(_) if self.taker.cannot_steal() => {
                    self.taker.report();
                    panic!(
                        "the operating system refuses a memory barrier (membarrier) that it allowed when the pool was built"
                    );
                }
                Emptiness::Task(task) => wait.turn(Some(task)),
                Emptiness::Disturbed => wait.turn(None),
            };
        }
    }

    /// From its own home, for as long as so many `yields` take.
    fn consume_within(&mut self, yields: u32) -> Option<T> {
        let end = (yields > 0).then(|| Instant::now() + TURN);
        for _ in 0..yields {
            if let Some(task) = self.taker.consume() {
                return Some(task);
            }
            thread::yield_now();
            if end.is_some_and(|end| Instant::now() >= end) {
                break;
            }
        }
        self.taker.consume()
    }

    fn steal(&mut self, appetite: Appetite) -> Option<T> {
        self.shared.update(&mut self.route);
        let begin = self.route.begin(&*self.shared.policy);
        for turn in 0..self.route.len() {
            // What comes to our own home is nearer than anything.
            if self.taker.has_news() {
                break;
            }
            if let Some(task) = self.taker.steal(self.route.at(begin, turn), appetite) {
                self.route.hit(begin, turn);
                return Some(task);
            }
        }
        None
    }

    /// Gets up to `max` tasks, appends them to `into` and says how many. 0 with `max > 0`: at one
    /// instant there was none.
    pub fn get_many(&mut self, max: usize, into: &mut Vec<T>) -> usize {
        let before = into.len();
        loop {
            let got = into.len() - before;
            let got = got + self.taker.consume_many(max - got, into);
            if got > 0 || max == 0 {
                return got;
            }
            match self.get() {
                Some(task) => into.push(task),
                None => return got,
            }
        }
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
    pub(super) fn new(shared: Arc<Shared<T>>, node: Option<NodeId>) -> Result<Self, TooMany> {
        let get = Consumer::new(shared.clone(), node)?;
        Ok(Self { put: Producer::new(shared, node, Some(get.taker.id())), get })
    }
}

pool::forward_to_own_methods!(Producer, Consumer, Worker);
pool::worker_of_two_ends!(Producer, Consumer, Worker);

impl<T> Clone for Producer<T> {
    /// One more producer, on the same node.
    fn clone(&self) -> Self {
        let Seeker { node, home, .. } = self.route.seeker;
        Self::new(self.shared.clone(), node, home)
    }
}

impl<T> fmt::Debug for Producer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Producer").field(&*self.shared).finish()
    }
}

impl<T> fmt::Debug for Consumer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Consumer").field(&self.taker.id()).field(&*self.shared).finish()
    }
}

impl<T> fmt::Debug for Worker<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Worker").field(&self.get.taker.id()).field(&*self.get.shared).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::{Appetite, Wait};

    #[test]
    fn there_are_never_too_many_turns() {
        let mut wait = Wait { turns: u32::MAX, same: u32::MAX, ..Wait::new() };
        wait.turn(None);
        assert_eq!(wait.appetite(u32::MAX), Appetite::Any);
    }
}
