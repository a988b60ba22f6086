//! SALSA's answer that there is nothing, where four consumers stop just so: one that looks, an owner that has announced
//! a task it has lost, the thief that it has lost it to, and one that comes last. Scripted, for chance does not come to it.

extern crate cantina_on_sim as cantina;

use cantina::salsa::{Consumer, Mode, Salsa};
use machine::atomic::AtomicBool;
use machine::engine::{Memory, Simulation};
use machine::schedule::{Adversary, Schedule};
use machine::thread::{self, JoinHandle};
use machine::topology::Topology;
use machine::trace::{Choice, Slot};
use std::iter::repeat_n;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// What happens next.
#[derive(Clone, Copy, Debug)]
enum Turn {
    /// The scenario goes on until it says that it has come so far.
    Scenario(usize),
    /// A thread takes a step.
    Does(Slot),
    /// It goes on until it is about to do a read-modify-write.
    To(Slot),
    /// It goes on to its end.
    Ends(Slot),
}

/// The scenario's place in the script.
#[derive(Clone, Default)]
struct Place(Arc<AtomicUsize>);

/// A schedule that keeps to `turns`, and goes on by chance when they are over.
fn script(turns: Vec<Turn>, place: &Place) -> Schedule {
    let (place, next) = (place.clone(), AtomicUsize::new(0));
    Schedule::Adversary(Adversary::new(move |view, _| {
        loop {
            let turn = *turns.get(next.load(Relaxed))?;
            let can_go_on = |slot| {
                view.choices().any(|choice| matches!(choice, Choice::Run(other) if other == slot))
            };
            let (slot, goes_on) = match turn {
                Turn::Scenario(to) => (0, place.0.load(Relaxed) < to),
                Turn::To(slot) => (slot, view.about(slot).is_some_and(|about| !about.op.is_rmw())),
                Turn::Does(slot) | Turn::Ends(slot) => (slot, true),
            };
            let goes_on = goes_on && view.about(slot).is_some();
            if !goes_on || matches!(turn, Turn::Does(_)) {
                next.fetch_add(1, Relaxed);
            }
            if goes_on {
                // Who yields goes on when somebody else has.
                let now = [slot, IDLE].into_iter().find(|slot| can_go_on(*slot));
                return now.map(Choice::Run);
            }
        }
    }))
}

/// Threads in the order in which they are made.
const LOOKS: Slot = 1;
const THIEF: Slot = 2;
const OWNER: Slot = 3;
const IDLE: Slot = 4;

/// Read-modify-writes of a thief before it claims a task: its two changes of the owner word.
const CHANGES: usize = 2;
/// More steps than it takes to find nothing.
const STEPS: usize = 120;

fn gets(mut consumer: Consumer<u64>) -> JoinHandle<(Option<u64>, Consumer<u64>)> {
    thread::spawn(move || (consumer.get(), consumer))
}

/// One task is left in a chunk that its owner has begun, and four come for it, the last when the first has its answer.
/// Whether that was wrong.
fn is_wrong(place: &Place) -> bool {
    let pool: Salsa<u64> = Salsa::builder()
        .chunk_size(8)
        .max_consumers(4)
        .mode(Mode::Asymmetric)
        // Who begins to look does not steal at once.
        .patience(1)
        .topology(Topology::mock(1, 1))
        .build()
        .unwrap();
    let (mut owner, thief) = (pool.consumer(), pool.consumer());
    let (looks, mut last) = (pool.consumer(), pool.consumer());
    pool.producer().put_all([1, 2]).unwrap();
    assert_eq!(owner.get(), Some(1));
    let (looks, thief, owner) = (gets(looks), gets(thief), gets(owner));
    let over = machine::Arc::new(AtomicBool::new(false));
    let theirs = over.clone();
    // stat: to be there.
    let idle = thread::spawn(move || while !theirs.load(Relaxed) {});
    place.0.store(1, Relaxed);
    let (looked, _looks) = looks.join().unwrap();
    let came_last = last.get();
    place.0.store(2, Relaxed);
    // stat: as above.
    over.store(true, Relaxed);
    idle.join().unwrap();
    let ((stolen, _thief), (own, _owner)) = (thief.join().unwrap(), owner.join().unwrap());
    let got: Vec<u64> = [looked, came_last, stolen, own].into_iter().flatten().collect();
    assert_eq!(got, [2], "not got once");
    looked.is_none() && came_last.is_some()
}

/// One looks for so many steps; a thief makes so many of its changes; the owner announces the task and finds itself robbed;
/// the first looks on, and has its answer; the thief makes the rest of its changes; another one comes.
fn turns(steps: usize, changes: usize) -> Vec<Turn> {
    let change = |times| repeat_n([Turn::Does(THIEF), Turn::To(THIEF)], times).flatten();
    let mut turns = vec![Turn::Scenario(1)];
    turns.extend(repeat_n(Turn::Does(LOOKS), steps));
    turns.push(Turn::To(THIEF));
    turns.extend(change(changes));
    turns.extend([Turn::To(OWNER), Turn::Ends(LOOKS)]);
    turns.extend(change(CHANGES - changes));
    turns.push(Turn::Scenario(2));
    turns
}

#[test]
fn there_is_not_nothing_where_an_owner_has_announced_a_task_that_a_thief_has() {
    for (steps, changes) in
        (0..STEPS).flat_map(|steps| (0..=CHANGES).map(move |some| (steps, some)))
    {
        let place = Place::default();
        let simulation = Simulation::new().memory(Memory::Sequential);
        let simulation = simulation.schedule(script(turns(steps, changes), &place));
        let wrong = simulation.run(|| is_wrong(&place));
        let wrong = wrong.unwrap_or_else(|failure| panic!("{steps}, {changes}: {failure}")).value;
        assert!(!wrong, "{steps} steps, {changes} changes: a task after one had found nothing");
    }
}
