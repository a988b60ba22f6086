//! The scheduler where chance hardly comes: schedules that are scripted, and an operating system that refuses what it had allowed.

extern crate cantina_on_sim as cantina;

use cantina::scheduler::{Eventual, Runtime};
use machine::engine::{Op, Simulation};
use machine::fence::refuse_heavy;
use machine::schedule::{Adversary, Schedule};
use machine::time::Duration;
use machine::trace::{Choice, Slot};
use machine::{Topology, thread};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// What happens next.
#[derive(Clone, Copy, Debug)]
enum Turn {
    /// The scenario goes on until it says that it has come so far.
    Scenario(usize),
    /// A thread goes on until it is about to do this.
    To(Slot, Op),
    /// It takes so many steps.
    Does(Slot, usize),
    /// It goes on as long as it can.
    GoesOn(Slot),
}

/// The scenario's place in the script.
#[derive(Clone, Default)]
struct Place(Arc<AtomicUsize>);

impl Place {
    fn reach(&self, place: usize) {
        self.0.store(place, Relaxed);
    }
}

/// A schedule that keeps to `turns`, and goes on by chance when they are over.
fn script(turns: Vec<Turn>, place: &Place) -> Schedule {
    let (place, next, done) = (place.clone(), AtomicUsize::new(0), AtomicUsize::new(0));
    Schedule::Adversary(Adversary::new(move |view, _| {
        loop {
            let turn = *turns.get(next.load(Relaxed))?;
            let goes_on = match turn {
                Turn::Scenario(to) => (place.0.load(Relaxed) < to).then_some(0),
                Turn::To(slot, op) => view.about(slot).filter(|it| it.op != op).map(|_| slot),
                Turn::Does(slot, steps) => (done.load(Relaxed) < steps).then_some(slot),
                Turn::GoesOn(slot) => Some(slot),
            };
            let ready = goes_on.filter(|slot| view.ready().any(|(ready, _)| ready == *slot));
            if let Some(slot) = ready {
                done.fetch_add(1, Relaxed);
                return Some(Choice::Run(slot));
            }
            done.store(0, Relaxed);
            next.fetch_add(1, Relaxed);
        }
    }))
}

const MAIN: Slot = 0;
const WORKER: Slot = 1;
/// More steps than it takes to look whether all rest, and to take what was spawned.
const STEPS: usize = 40;

/// A worker has found nothing, and puts itself on the list of those who sleep: who spawns counts on its last look.
fn what_was_just_spawned(place: &Place) {
    let topology = Topology::mock(1, 1);
    let runtime = Runtime::builder().workers(1).topology(topology).build().unwrap();
    let handle = runtime.handle();
    place.reach(1);
    let spawned = runtime.spawn(move || handle.spawn(|| 2));
    place.reach(2);
    assert!(runtime.shutdown(Duration::MAX).is_nothing(), "there was time");
    assert_eq!(spawned.wait().map(Eventual::wait), Ok(Ok(2)));
}

#[test]
fn a_shutdown_waits_for_what_a_worker_has_in_its_hands_that_was_about_to_sleep() {
    // So many steps after it has found all asleep, and so many of the worker that finds what there is.
    for (looks, takes) in (0..STEPS).flat_map(|looks| (0..STEPS).map(move |takes| (looks, takes))) {
        let place = Place::default();
        let turns = vec![
            Turn::Scenario(1),
            Turn::To(WORKER, Op::Lock),
            Turn::Scenario(2),
            Turn::To(WORKER, Op::HeavyFence),
            Turn::Does(MAIN, looks),
            Turn::Does(WORKER, takes),
            Turn::GoesOn(MAIN),
        ];
        let simulation = Simulation::new().schedule(script(turns, &place));
        if let Err(failure) = simulation.run(move || what_was_just_spawned(&place)) {
            panic!("{looks} and {takes} steps: {failure}");
        }
    }
}

/// As many as two workers take for what there is and a look each millisecond, and more.
const STEPS_REFUSED: u64 = 200_000;

/// Workers that cannot sleep as they would: the operating system has taken back what it had allowed.
fn goes_on_when_refused() -> u64 {
    let topology = Topology::mock(1, 2);
    let runtime = Runtime::builder().workers(2).budget(2).topology(topology).build().unwrap();
    refuse_heavy(true);
    let unit = runtime.unit(0);
    let handle = runtime.handle();
    for number in 0..5 {
        let (theirs, inner) = (unit.clone(), handle.clone());
        let sum = runtime.spawn(move || {
            inner.after((0..4).map(|_| inner.spawn(|| 1)).collect::<Vec<_>>(), |ones| ones.len())
        });
        let sent = runtime.after(sum.flatten(), move |four| {
            theirs.send(move |all| {
                *all += four;
                *all
            })
        });
        assert_eq!(sent.flatten().wait(), Ok(4 * (number + 1)));
    }
    // Long enough for either to have been asleep, and the time in which one that is not does millions of steps.
    thread::sleep(Duration::from_millis(50));
    assert_eq!(runtime.spawn(|| 1).wait(), Ok(1));
    assert!(runtime.shutdown(Duration::MAX).is_nothing());
    refuse_heavy(false);
    handle.metrics().workers.iter().map(|worker| worker.parks).sum()
}

#[test]
fn workers_that_cannot_sleep_as_they_would_do_all_there_is_and_rest() {
    for seed in 0..cantina_effort::rounds(50, 5_000) {
        let simulation = Simulation::new().seed(seed).steps(STEPS_REFUSED);
        let outcome = simulation.run(goes_on_when_refused);
        let parks = outcome.unwrap_or_else(|failure| panic!("{failure}")).value;
        assert!(parks >= 50, "{parks}, seed {seed}: nobody looks again");
    }
}
