//! A producer and a consumer of a pool that is neither empty nor ever fuller.
//!
//! Left to themselves, one of two threads is a little faster than the other, and that decides everything: either the pool is
//! always empty and both fight for the same task, or all tasks lie in it at once. Two machines that differ
//! by some per cent in a put then differ by several times in what comes out. Here the pool has a stated backlog: who
//! is too far ahead waits for the other one, and looks at how far it is after every [`BURST`] tasks, so that this
//! is next to nothing of what a task takes.
//!
//! # Orderings
//! None: who has put or got how many tasks is a number (`stat:`) that nothing is read through; tasks
//! go through the pool.

use super::race::{Consume, Course, Despair, Finish, HaltOnPanic, Produce, pin, race};
use super::{
    Assignment, Ends, Fault, Get, Make, Parcel, Put, Reading, Room, Shape, Subject, Tally,
};
use machine::atomic::AtomicU64;
use machine::atomic::Ordering::Relaxed;
use machine::topology::CoreId;
use machine::{Arc, Backoff, CachePadded};
use std::ops::Range;

/// The fewest tasks in the pool when a burst is got, unless they are the last, and the most when one has been put.
pub const BACKLOG: Range<u64> = 128..512;
/// After how many tasks either looks how far the other is.
pub(super) const BURST: u64 = 64;

/// How far both are.
#[derive(Default)]
struct Counts {
    put: CachePadded<AtomicU64>,
    got: CachePadded<AtomicU64>,
}

/// Runs `assignment` through a new subject with tasks `T`, with a producer and a consumer that keep a backlog.
///
/// # Errors
/// A [`Fault`] when a task was lost, repeated or changed, or a thread panicked.
pub fn run_backlogged<T: Parcel, S: Subject>(
    subject: &S,
    assignment: &Assignment,
) -> Result<Reading, Fault> {
    let Ends { put, get, count } = subject.ends::<T>(Shape::new(1, 1));
    let put = put.into_iter().next().expect("a shape has a producer");
    let get = get.into_iter().next().expect("a shape has a consumer");
    let counts = Arc::new(Counts::default());
    let told = counts.clone();
    let produce: Produce =
        Box::new(move |course, numbers, core| course.put_in_bursts(put, numbers, core, &told));
    let consume: Consume =
        Box::new(move |course, index, core| course.get_in_bursts(get, index, core, &counts));
    let assignment = Assignment { shape: Shape::new(1, 1), ..assignment.clone() };
    let reading = race(&assignment, vec![produce], vec![consume])?;
    Ok(Reading { counters: count(), ..reading })
}

impl Course {
    fn put_in_bursts<T: Parcel, P: Put<T>>(
        &self,
        make: Make<P>,
        numbers: Range<u64>,
        core: Option<CoreId>,
        counts: &Counts,
    ) -> Finish {
        let _halt = HaltOnPanic(self);
        let pinned = pin(core);
        let mut end = make();
        if !self.line_up() {
            return Finish::default();
        }
        let room = Room::new(&self.halted);
        let (mut put, mut got) = (0, 0);
        while put < self.tasks {
            let burst = BURST.min(self.tasks - put);
            if !wait_until(&room, &counts.got, &mut got, |got| put + burst <= got + BACKLOG.end) {
                return Finish::default();
            }
            let first = numbers.start + put;
            end.put(first..first + burst, &room);
            put += burst;
            // bare: only compared.
            counts.put.store(put, Relaxed);
        }
        self.all_put(pinned)
    }

    fn get_in_bursts<T: Parcel, G: Get<T>>(
        &self,
        make: Make<G>,
        index: usize,
        core: Option<CoreId>,
        counts: &Counts,
    ) -> Finish {
        let _halt = HaltOnPanic(self);
        let pinned = pin(core);
        let mut end = make();
        if !self.line_up() {
            return Finish::default();
        }
        let room = Room::new(&self.halted);
        let (mut tally, mut put) = (Tally::default(), 0);
        while tally.count() < self.tasks {
            let got = tally.count();
            let enough = |put| put >= self.tasks || put >= got + BACKLOG.start + BURST;
            if !wait_until(&room, &counts.put, &mut put, enough)
                || !self.get_burst(&mut end, (got + BURST).min(self.tasks), &mut tally)
            {
                return Finish { tally, at: None, pinned };
            }
            // bare: only compared.
            counts.got.store(tally.count(), Relaxed);
        }
        let (tally, at) = self.get_all(&mut end, index, tally);
        Finish { tally, at, pinned }
    }

    /// Gets until it is so many in all. False: there is no hope left.
    fn get_burst<T: Parcel, G: Get<T>>(&self, end: &mut G, all: u64, tally: &mut Tally) -> bool {
        let backoff = Backoff::new();
        let mut despair = Despair::new(self.patience);
        while tally.count() < all {
            if end.get(tally) {
                backoff.reset();
                continue;
            }
            if backoff.is_completed() && despair.sets_in(tally.count()) {
                // bare: nobody reads anything through it.
                self.halted.store(true, Relaxed);
            }
            // bare: the same.
            if self.halted.load(Relaxed) {
                return false;
            }
            backoff.snooze();
        }
        true
    }
}

/// Waits until the other's `count` is `enough`; what was `seen` of it last may do. False: the run is over.
fn wait_until(
    room: &Room<'_>,
    count: &AtomicU64,
    seen: &mut u64,
    enough: impl Fn(u64) -> bool,
) -> bool {
    let backoff = Backoff::new();
    while !enough(*seen) {
        // bare: only compared.
        *seen = count.load(Relaxed);
        if !enough(*seen) && !room.wait(&backoff) {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::{BACKLOG, BURST, run_backlogged};
    use crate::registry::{self, Family, Visitor};
    use crate::workload::{Assignment, Line, Shape, Single};
    use machine::time::Duration;

    #[test]
    fn every_pool_passes_on_what_is_put_into_a_backlog() {
        struct Run;
        impl Visitor for Run {
            fn visit<F: Family>(&mut self, family: F) {
                let (shape, patience) = (Shape::new(1, 1), Duration::from_secs(60));
                for tasks in [1, BURST + 1, 3 * BACKLOG.end + 1] {
                    let assignment =
                        Assignment { shape, tasks, pin: false, patience, watched: false };
                    let reading = run_backlogged::<Line, _>(&Single(family.clone()), &assignment);
                    let reading =
                        reading.unwrap_or_else(|fault| panic!("{}: {fault}", family.facts().name));
                    assert!(reading.elapsed >= Duration::ZERO);
                }
            }
        }
        registry::visit_all(&mut Run);
    }
}
