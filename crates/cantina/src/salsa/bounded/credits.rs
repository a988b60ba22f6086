//! Room, as something to be handed around: a put needs a credit, a get gives one back.
//!
//! Ends take and give credits in lots, so that most operations touch nothing shared. Only so many ends
//! at a time have the right to a lot; the others take and give one by one. So the credits that lie idle
//! in the ends' pockets are never more than half of all, whatever number of ends there are.
//!
//! # Invariants
//! * **I1** tasks inside + credits in pockets + credits here = the capacity.
//! * **I2** at most [`RIGHTS`] producers and as many consumers have the right to a lot, and an end keeps
//!   fewer credits than its lot between operations.
//!
//! # Orderings
//! | edge | release side | acquire side | carries |
//! |---|---|---|---|
//! | `credit` | [`Credits::give`] | [`Credits::draw`] | that the task is taken whose place the credit is |

use machine::CachePadded;
use machine::atomic::AtomicUsize;
use machine::atomic::Ordering::{Acquire, Relaxed, Release};

/// Producers that may have a lot, and as many consumers.
pub(super) const RIGHTS: usize = 16;

/// The credits nobody has in a pocket.
pub(super) struct Credits {
    left: CachePadded<AtomicUsize>,
    /// Credits of a lot.
    lot: usize,
    pub(super) capacity: usize,
    producers: AtomicUsize,
    consumers: AtomicUsize,
}

/// Which end it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Producer,
    Consumer,
}

impl Credits {
    /// Room for `capacity` tasks, in lots of `chunk` at most.
    pub(super) fn new(capacity: usize, chunk: usize) -> Self {
        Self {
            left: CachePadded::new(AtomicUsize::new(capacity)),
            lot: (capacity / (4 * RIGHTS)).clamp(1, chunk),
            capacity,
            producers: AtomicUsize::new(0),
            consumers: AtomicUsize::new(0),
        }
    }

    /// How many credits may lie idle in pockets between operations.
    pub(super) fn slack(&self) -> usize {
        // A producer that has put one of its lot, and a consumer about to give one back, each.
        2 * RIGHTS * (self.lot - 1)
    }

    /// Takes up to a `lot` of credits.
    pub(super) fn draw(&self, lot: usize) -> usize {
        // hint: a hint; the exchange decides.
        let mut left = self.left.load(Relaxed);
        loop {
            let some = lot.min(left);
            if some == 0 {
                return 0;
            }
            // credit: the tasks are taken whose places these are. On failure nothing is read.
            match self.left.compare_exchange_weak(left, left - some, Acquire, Relaxed) {
                Ok(_) => return some,
                Err(now) => left = now,
            }
        }
    }

    /// Gives `some` credits back.
    pub(super) fn give(&self, some: usize) {
        if some > 0 {
            // credit: we have taken the tasks whose places these are.
            self.left.fetch_add(some, Release);
        }
    }

    fn rights(&self, side: Side) -> &AtomicUsize {
        match side {
            Side::Producer => &self.producers,
            Side::Consumer => &self.consumers,
        }
    }

    /// What an end of that side may take or keep at once: a lot if it can have the right to one.
    pub(super) fn join(&self, side: Side) -> usize {
        if self.lot == 1 {
            return 1;
        }
        // bare: a count that carries nothing.
        let had = self
            .rights(side)
            .fetch_update(Relaxed, Relaxed, |had| (had < RIGHTS).then_some(had + 1));
        if had.is_ok() { self.lot } else { 1 }
    }

    /// An end that had `lot` goes.
    pub(super) fn leave(&self, side: Side, lot: usize) {
        if lot > 1 {
            // bare: as above.
            self.rights(side).fetch_sub(1, Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Credits, RIGHTS, Side};

    #[test]
    fn credits_are_neither_made_nor_lost() {
        let credits = Credits::new(10, 1_000);
        assert_eq!(credits.draw(4), 4);
        assert_eq!(credits.draw(100), 6);
        assert_eq!(credits.draw(1), 0);
        credits.give(3);
        assert_eq!(credits.draw(100), 3);
    }

    #[test]
    fn few_ends_have_lots() {
        let credits = Credits::new(6_400, 1_000);
        let lots: Vec<usize> = (0..RIGHTS + 3).map(|_| credits.join(Side::Producer)).collect();
        assert_eq!(lots.iter().filter(|lot| **lot == 100).count(), RIGHTS);
        assert_eq!(lots[RIGHTS..], [1, 1, 1]);
        assert_eq!(credits.join(Side::Consumer), 100);
        credits.leave(Side::Producer, 1);
        assert_eq!(credits.join(Side::Producer), 1);
        credits.leave(Side::Producer, 100);
        assert_eq!(credits.join(Side::Producer), 100);
    }

    #[test]
    fn idle_credits_are_less_than_half() {
        for capacity in [1, 2, 64, 127, 128, 1_000, 1_024, 100_000] {
            let credits = Credits::new(capacity, 1_022);
            assert!(credits.slack() * 2 <= capacity, "{capacity}");
        }
        assert_eq!(Credits::new(127, 1_022).slack(), 0);
        assert_eq!(Credits::new(1 << 20, 1_022).slack(), 2 * RIGHTS * 1_021);
    }
}
