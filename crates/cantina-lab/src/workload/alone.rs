//! One thread in both roles: it puts a task, then gets one.
//!
//! The pool holds one task at most, and nobody competes for anything: what is left are the
//! instructions of a put and a get.

use super::backlog::{BACKLOG, BURST};
use super::{Assignment, Ends, Fault, Get, Parcel, Put, Reading, Room, Shape, Subject, Tally};
use machine::atomic::AtomicBool;
use machine::thread;
use machine::time::{Duration, nanos};
use machine::topology::CoreId;
use machine::{Arc, Topology};
use std::ops::Range;

/// Runs as many tasks as `assignment` says through a new subject, on one thread.
///
/// # Errors
/// A [`Fault`] when a task was lost, repeated or changed, or the thread panicked.
pub fn run_alone<T: Parcel, S: Subject>(
    subject: &S,
    assignment: &Assignment,
) -> Result<Reading, Fault> {
    let ends = subject.ends::<T>(Shape::new(1, 1));
    let (tasks, pin) = (assignment.tasks, assignment.pin);
    let first: Option<CoreId> = Topology::of_thread().cores().next().filter(|_| pin);
    let thread = thread::spawn(move || {
        let pinned = first.is_some_and(|core| thread::pin_to(core).is_ok());
        let (tally, elapsed) = take_turns(ends, tasks);
        (tally, Reading { pinned, ..Reading::took(elapsed) })
    });
    let (tally, reading) = thread.join().map_err(|panic| Fault::of_panic(&*panic))?;
    tally.judge(tasks)?;
    Ok(reading)
}

/// Not inlined: a profiler finds it, and counts the instructions of pairs.
#[inline(never)]
fn take_turns<T: Parcel, P: Put<T>, G: Get<T>>(ends: Ends<P, G>, tasks: u64) -> (Tally, Duration) {
    let Ends { put, get, .. } = ends;
    let mut put = put.into_iter().next().expect("a shape has a producer")();
    let mut get = get.into_iter().next().expect("a shape has a consumer")();
    let halted = Arc::new(AtomicBool::new(false));
    let room = Room::new(&halted);
    let mut tally = Tally::default();
    let start = nanos();
    for number in 1..=tasks {
        put.put(number..number + 1, &room);
        get.get(&mut tally);
    }
    let elapsed = Duration::from_nanos(nanos().saturating_sub(start));
    // Who hands out something else than what was just put hands out the rest now.
    while get.get(&mut tally) && tally.count() <= tasks {}
    (tally, elapsed)
}

/// Puts `tasks` tasks, so many by a call, and gets them by another. Neither call is inlined: `put_some` and `get_some` are what
/// a profiler finds that counts the instructions of either.
///
/// # Panics
/// When a task was lost, repeated or changed.
pub fn call_in_turn<S: Subject>(subject: &S, tasks: u64, at_once: usize) {
    let Ends { put, get, .. } = subject.ends::<u64>(Shape::new(1, 1));
    let mut put = put.into_iter().next().expect("a shape has a producer")();
    let mut get = get.into_iter().next().expect("a shape has a consumer")();
    let halted = Arc::new(AtomicBool::new(false));
    let room = Room::new(&halted);
    let mut tally = Tally::default();
    for first in (1..=tasks).step_by(at_once) {
        put_some(&mut put, first..(first + at_once as u64).min(tasks + 1), &room);
        get_some(&mut get, &mut tally);
    }
    while tally.count() < tasks && get.get(&mut tally) {}
    tally.judge(tasks).expect("what was put is what was got");
}

/// Puts and gets `tasks` tasks in bursts, by such calls, beside a backlog: as many instructions as each has where a pool is not empty.
///
/// # Panics
/// When a task was lost, repeated or changed.
pub fn call_in_bursts<S: Subject>(subject: &S, tasks: u64) {
    let Ends { put, get, .. } = subject.ends::<u64>(Shape::new(1, 1));
    let mut put = put.into_iter().next().expect("a shape has a producer")();
    let mut get = get.into_iter().next().expect("a shape has a consumer")();
    let halted = Arc::new(AtomicBool::new(false));
    let room = Room::new(&halted);
    let mut tally = Tally::default();
    let backlog = (BACKLOG.start + BACKLOG.end) / 2;
    put.put(1..backlog + 1, &room);
    for first in (1..=tasks).step_by(BURST as usize) {
        for number in first..(first + BURST).min(tasks + 1) {
            put_some(&mut put, backlog + number..backlog + number + 1, &room);
        }
        for _ in first..(first + BURST).min(tasks + 1) {
            get_some(&mut get, &mut tally);
        }
    }
    while tally.count() < tasks + backlog && get.get(&mut tally) {}
    tally.judge(tasks + backlog).expect("what was put is what was got");
}

#[inline(never)]
fn put_some<P: Put<u64>>(put: &mut P, numbers: Range<u64>, room: &Room<'_>) {
    put.put(numbers, room);
}

#[inline(never)]
fn get_some<G: Get<u64>>(get: &mut G, tally: &mut Tally) {
    get.get(tally);
}

#[cfg(test)]
mod tests {
    use super::run_alone;
    use crate::registry::{self, Family, Visitor};
    use crate::workload::{Assignment, Line, Shape, Single};
    use machine::time::Duration;

    #[test]
    fn every_pool_gives_one_thread_what_it_puts() {
        struct Run;
        impl Visitor for Run {
            fn visit<F: Family>(&mut self, family: F) {
                let shape = Shape::new(1, 1);
                let patience = Duration::from_secs(1);
                let assignment =
                    Assignment { shape, tasks: 1_000, pin: true, patience, watched: false };
                let reading = run_alone::<Line, _>(&Single(family.clone()), &assignment);
                let reading =
                    reading.unwrap_or_else(|fault| panic!("{}: {fault}", family.facts().name));
                assert!(reading.elapsed > Duration::ZERO);
            }
        }
        registry::visit_all(&mut Run);
    }
}
