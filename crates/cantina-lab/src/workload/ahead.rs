//! Producers that are ahead of consumers.
//!
//! In a long run of threads that are left alone, consumers lag behind. Here they do from the start: they begin when
//! every producer has put half of its tasks. The clock runs from the start line all the same.
//!
//! # Orderings
//! | edge | release side | acquire side | carries |
//! |---|---|---|---|
//! | `lead` | a producer has put half of its tasks | a consumer begins | those tasks are there to be got |

use super::race::{Consume, Course, Finish, HaltOnPanic, Produce, pin, race};
use super::{Assignment, Ends, Fault, Get, Make, Parcel, Put, Reading, Room, Subject, Tally};
use machine::atomic::AtomicUsize;
use machine::atomic::Ordering::{Acquire, Release};
use machine::topology::CoreId;
use machine::{Arc, Backoff};
use std::ops::Range;

/// Runs `assignment` through a new subject with tasks `T`; its consumers begin when half of them are there. The subject
/// has room for as many.
///
/// # Errors
/// A [`Fault`] when a task was lost, repeated or changed, or a thread panicked.
pub fn run_ahead<T: Parcel, S: Subject>(
    subject: &S,
    assignment: &Assignment,
) -> Result<Reading, Fault> {
    let Ends { put, get, count } = subject.ends::<T>(assignment.shape);
    let behind = Arc::new(AtomicUsize::new(put.len()));
    let (mut producing, mut consuming) = (Vec::<Produce>::new(), Vec::<Consume>::new());
    for make in put {
        let behind = behind.clone();
        producing.push(Box::new(move |course, numbers, core| {
            course.put_ahead(make, numbers, core, &behind)
        }));
    }
    for make in get {
        let behind = behind.clone();
        consuming.push(Box::new(move |course, index, core| {
            course.get_later(make, index, core, &behind)
        }));
    }
    let reading = race(assignment, producing, consuming)?;
    Ok(Reading { counters: count(), ..reading })
}

impl Course {
    /// Puts half of these tasks, tells that those `behind` are one less, and puts the others.
    fn put_ahead<T: Parcel, P: Put<T>>(
        &self,
        make: Make<P>,
        numbers: Range<u64>,
        core: Option<CoreId>,
        behind: &AtomicUsize,
    ) -> Finish {
        let _halt = HaltOnPanic(self);
        let pinned = pin(core);
        let mut end = make();
        if !self.line_up() {
            return Finish::default();
        }
        let room = Room::new(&self.halted);
        let half = numbers.start.midpoint(numbers.end);
        end.put(numbers.start..half, &room);
        // lead: they are there.
        behind.fetch_sub(1, Release);
        end.put(half..numbers.end, &room);
        self.all_put(pinned)
    }

    /// Gets all tasks once no producer is `behind`.
    fn get_later<T: Parcel, G: Get<T>>(
        &self,
        make: Make<G>,
        index: usize,
        core: Option<CoreId>,
        behind: &AtomicUsize,
    ) -> Finish {
        let _halt = HaltOnPanic(self);
        let pinned = pin(core);
        let mut end = make();
        let (room, backoff) = (Room::new(&self.halted), Backoff::new());
        if !self.line_up() {
            return Finish::default();
        }
        // lead: half of the tasks are there.
        while behind.load(Acquire) > 0 {
            if !room.wait(&backoff) {
                return Finish::default();
            }
        }
        let (tally, at) = self.get_all(&mut end, index, Tally::default());
        Finish { tally, at, pinned }
    }
}

#[cfg(test)]
mod tests {
    use super::run_ahead;
    use crate::registry::{self, Family, Visitor};
    use crate::workload::{Assignment, Line, Shape, Single};
    use machine::time::Duration;

    #[test]
    fn every_pool_that_has_room_passes_on_what_is_put_ahead() {
        struct Run;
        impl Visitor for Run {
            fn visit<F: Family>(&mut self, family: F) {
                for tasks in [1, 2, 301] {
                    let (shape, patience) = (Shape::new(3, 2), Duration::from_secs(60));
                    let assignment =
                        Assignment { shape, tasks, pin: false, patience, watched: false };
                    run_ahead::<Line, _>(&Single(family.clone()), &assignment)
                        .unwrap_or_else(|fault| panic!("{}: {fault}", family.facts().name));
                }
            }
        }
        registry::visit_all(&mut Run);
    }
}
