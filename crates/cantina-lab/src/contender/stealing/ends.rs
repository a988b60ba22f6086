//! The ends of a [`Stealing`](super::Stealing) pool: which lane they go to.

use super::super::lane::{Lane, Member, Stamp};
use super::Shared;
use super::seats::Seat;
use cantina::pool::{self, Full, TooMany};
use machine::Arc;
use machine::topology::NodeId;
use std::fmt;
use std::ptr::NonNull;

/// The putting end: it feeds one consumer.
pub struct Producer<L: Lane> {
    member: Member<L>,
    here: Option<NodeId>,
    fed: Option<Fed<L>>,
    shared: Arc<Shared<L>>,
}

/// The getting end, or both ends in one hand: it has a lane of its own.
pub struct Worker<L: Lane> {
    member: Member<L>,
    own: Known<L>,
    /// Every seat it knows: its own, then the others', nearest first.
    looks: Vec<Look<L>>,
    shared: Arc<Shared<L>>,
}

/// A seat of the pool.
struct Known<L>(NonNull<Seat<L>>);

/// Whom a producer feeds.
struct Fed<L> {
    seat: Known<L>,
    /// How often consumers had come or gone when it was chosen.
    turnover: usize,
}

/// What a worker knows of a lane.
struct Look<L> {
    seat: Known<L>,
    /// What it said when it was last found empty.
    stamp: Option<Stamp>,
}

impl<L> Clone for Known<L> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<L> Copy for Known<L> {}

// SAFETY: a seat is shared by all threads.
unsafe impl<L: Send + Sync> Send for Known<L> {}

impl<L: Lane> Known<L> {
    fn new(seat: &Seat<L>) -> Self {
        Self(NonNull::from(seat))
    }

    fn seat(&self) -> &Seat<L> {
        // SAFETY: I1: seats stay as long as the pool, which every end has.
        unsafe { self.0.as_ref() }
    }
}

impl<L: Lane> Producer<L> {
    pub(super) fn new(shared: Arc<Shared<L>>) -> Self {
        Self { member: shared.member(), here: shared.here(), fed: None, shared }
    }

    /// Whom to feed: the same as before, unless consumers have come or gone.
    fn choose(&mut self) -> Known<L> {
        let turnover = self.shared.seats.turnover();
        if let Some(fed) = self.fed.as_ref().filter(|fed| fed.turnover == turnover) {
            return fed.seat;
        }
        self.stop_feeding();
        let seat = Known::new(self.shared.seats.feed(|to| self.shared.distance(self.here, to)));
        self.fed = Some(Fed { seat, turnover });
        seat
    }

    fn stop_feeding(&mut self) {
        if let Some(fed) = self.fed.take() {
            fed.seat.seat().unfeed();
        }
    }
}

impl<L: Lane> Worker<L> {
    pub(super) fn new(shared: Arc<Shared<L>>) -> Result<Self, TooMany> {
        let own = Known::new(shared.seats.take(shared.here())?);
        Ok(Self { member: shared.member(), own, looks: Vec::new(), shared })
    }

    /// Whether there were seats that it did not know; it does then.
    fn meet_new_seats(&mut self) -> bool {
        let own = self.own.seat();
        let newest = self.shared.seats.newest();
        let count = newest.map_or(0, |seat| seat.number() + 1);
        if count == self.looks.len() {
            return false;
        }
        let mut seats: Vec<&Seat<L>> = self.shared.seats.from(newest).collect();
        seats.sort_by_cached_key(|seat| {
            // Its own has no steps to go, others equally far are met in turn.
            let steps = (seat.number() + count - own.number()) % count;
            (steps > 0, self.shared.distance(own.node(), seat.node()), steps)
        });
        let look = |seat| Look { seat: Known::new(seat), stamp: None };
        self.looks = seats.into_iter().map(look).collect();
        true
    }
}

impl<L: Lane> pool::Producer<L::Task> for Producer<L> {
    fn try_put(&mut self, task: L::Task) -> Result<(), Full<L::Task>> {
        let fed = self.choose();
        // SAFETY: I3.
        unsafe { fed.seat().lane.put(&mut self.member, task) };
        Ok(())
    }
}

impl<L: Lane> pool::Producer<L::Task> for Worker<L> {
    fn try_put(&mut self, task: L::Task) -> Result<(), Full<L::Task>> {
        // SAFETY: I3.
        unsafe { self.own.seat().lane.put(&mut self.member, task) };
        Ok(())
    }
}

impl<L: Lane> pool::Consumer<L::Task> for Worker<L> {
    fn get(&mut self) -> Option<L::Task> {
        loop {
            let mut as_before = true;
            for look in &mut self.looks {
                // SAFETY: I3.
                match unsafe { look.seat.seat().lane.get(&mut self.member) } {
                    Ok(task) => return Some(task),
                    Err(stamp) => as_before &= look.stamp.replace(stamp) == Some(stamp),
                }
            }
            if !self.meet_new_seats() && as_before {
                return None;
            }
        }
    }
}

impl<L: Lane> Clone for Producer<L> {
    fn clone(&self) -> Self {
        Self::new(self.shared.clone())
    }
}

impl<L: Lane> Drop for Producer<L> {
    fn drop(&mut self) {
        self.stop_feeding();
    }
}

impl<L: Lane> Drop for Worker<L> {
    fn drop(&mut self) {
        self.shared.seats.leave(self.own.seat());
    }
}

impl<L: Lane> fmt::Debug for Producer<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let feeds = self.fed.as_ref().map(|fed| fed.seat.seat().number());
        f.debug_struct("Producer").field("feeds", &feeds).finish_non_exhaustive()
    }
}

impl<L: Lane> fmt::Debug for Worker<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker").field("seat", &self.own.seat().number()).finish_non_exhaustive()
    }
}
