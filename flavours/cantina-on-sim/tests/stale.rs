//! CAFÉ's list of binary trees with ends that are stopped for long just before they change something: scripted, for chance
//! hardly finds them all at the wrong places.

extern crate cantina_on_sim as cantina;

use cantina::cafe::{Cafe, Consumer, Producer};
use machine::engine::{Memory, Simulation};
use machine::schedule::{Adversary, Schedule};
use machine::thread;
use machine::trace::{Choice, Slot};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// What happens next.
#[derive(Clone, Copy, Debug)]
enum Turn {
    /// The scenario goes on until it says that it has come so far.
    Scenario(usize),
    /// A thread goes on until it is about to do a read-modify-write.
    To(Slot),
    /// It does it, or whatever is next.
    Does(Slot),
    /// It goes on to its end.
    Ends(Slot),
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
    let (place, next) = (place.clone(), AtomicUsize::new(0));
    Schedule::Adversary(Adversary::new(move |view, _| {
        loop {
            let turn = *turns.get(next.load(Relaxed))?;
            let goes_on = match turn {
                Turn::Scenario(to) => (place.0.load(Relaxed) < to).then_some(0),
                Turn::To(slot) => view.about(slot).filter(|about| !about.op.is_rmw()).map(|_| slot),
                Turn::Ends(slot) => view.ready().any(|(ready, _)| ready == slot).then_some(slot),
                Turn::Does(slot) => {
                    next.fetch_add(1, Relaxed);
                    if view.ready().any(|(ready, _)| ready == slot) {
                        return Some(Choice::Run(slot));
                    }
                    continue;
                }
            };
            if let Some(slot) = goes_on {
                return Some(Choice::Run(slot));
            }
            next.fetch_add(1, Relaxed);
        }
    }))
}

/// Threads in the order in which they are made.
const PRODUCER: Slot = 1;
const ONE: Slot = 2;
const OTHER: Slot = 3;

fn trees_of_one() -> Cafe<u64> {
    Cafe::builder().height(0).wait_free(true).seed(0).build().unwrap()
}

fn put(mut end: Producer<u64>, task: u64) -> Producer<u64> {
    end.put(task);
    end
}

fn get(mut end: Consumer<u64>) -> (Option<u64>, Consumer<u64>) {
    (end.get(), end)
}

/// A slow producer has claimed the place of the first tree. One consumer has seen that tree empty, another one the first two,
/// and both are about to move the head on. Then the producer comes to its end and moves the head back.
const TWO_CONSUMERS: [Turn; 16] = [
    Turn::Scenario(1),
    Turn::To(PRODUCER),
    Turn::Does(PRODUCER),
    Turn::To(PRODUCER),
    Turn::Scenario(2),
    Turn::To(ONE),
    Turn::Scenario(3),
    Turn::To(OTHER),
    Turn::Scenario(4),
    Turn::Ends(PRODUCER),
    // Each as often as it takes to compare by value.
    Turn::Does(ONE),
    Turn::To(ONE),
    Turn::Does(ONE),
    Turn::Does(OTHER),
    Turn::To(OTHER),
    Turn::Does(OTHER),
];

fn two_consumers_that_looked_long_ago(place: &Place) {
    let pool = trees_of_one();
    let (slow, one, other) = (pool.producer(), pool.consumer(), pool.consumer());
    let mut here = pool.worker();
    let producer = thread::spawn(move || put(slow, 1));
    let consumers = [thread::spawn(move || get(one)), thread::spawn(move || get(other))];
    place.reach(1);
    // The first tree's place is claimed. Two more trees:
    here.put(2);
    here.put(3);
    place.reach(2);
    assert_eq!(here.get(), Some(2));
    place.reach(3);
    assert_eq!(here.get(), Some(3));
    place.reach(4);
    let _producer = producer.join().unwrap();
    let ends = consumers.map(|consumer| consumer.join().unwrap());
    let got: Vec<u64> = ends.iter().filter_map(|(got, _)| *got).chain(here.drain()).collect();
    assert_eq!(got, [1], "put, and got by nobody");
}

#[test]
fn two_consumers_that_looked_long_ago_do_not_carry_the_head_past_a_task() {
    for seed in 0..20 {
        let place = Place::default();
        let schedule = script(TWO_CONSUMERS.to_vec(), &place);
        let simulation = Simulation::new().seed(seed).memory(Memory::Sequential).schedule(schedule);
        if let Err(failure) = simulation.run(|| two_consumers_that_looked_long_ago(&place)) {
            panic!("{failure}");
        }
    }
}

/// Places of the trees behind the first are claimed by a slow producer, and a slow one has moved the head back and still holds
/// it. The consumer that comes then goes on without the head, and is held no longer in the middle of that.
const WHILE_HELD: [Turn; 24] = [
    Turn::Scenario(1),
    // Claims the first tree's place.
    Turn::To(PRODUCER),
    Turn::Does(PRODUCER),
    Turn::To(PRODUCER),
    // Finds it used: counts a tree, links it, moves the tail, says so, claims its place.
    Turn::To(ONE),
    Turn::Does(ONE),
    Turn::To(ONE),
    Turn::Does(ONE),
    Turn::To(ONE),
    Turn::Does(ONE),
    Turn::To(ONE),
    Turn::Does(ONE),
    Turn::To(ONE),
    Turn::Does(ONE),
    Turn::To(ONE),
    Turn::Scenario(2),
    // Publishes, refers to the list, holds the head, moves it back.
    Turn::Does(PRODUCER),
    Turn::To(PRODUCER),
    Turn::Does(PRODUCER),
    Turn::To(PRODUCER),
    Turn::Does(PRODUCER),
    Turn::To(PRODUCER),
    Turn::Does(PRODUCER),
    Turn::Scenario(3),
];

fn a_consumer_goes_on_without_the_head(place: &Place) {
    let pool = trees_of_one();
    let (slow, second, consumer) = (pool.producer(), pool.producer(), pool.consumer());
    let mut here = pool.worker();
    let producers = [thread::spawn(move || put(slow, 1)), thread::spawn(move || put(second, 2))];
    let other = thread::spawn(move || get(consumer));
    place.reach(1);
    here.put(3);
    here.put(4);
    assert_eq!([here.get(), here.get()], [Some(3), Some(4)]);
    place.reach(2);
    assert_eq!(here.get(), Some(1), "the head is back");
    place.reach(3);
    let _producers = producers.map(|producer| producer.join().unwrap());
    let (got, _consumer) = other.join().unwrap();
    let got: Vec<u64> = got.into_iter().chain(here.drain()).collect();
    assert_eq!(got, [2], "put, and got by nobody");
}

#[test]
fn a_consumer_that_went_on_without_the_head_does_not_carry_it_past_a_task() {
    // It takes so many steps before the head is held no longer, and so many before the other task is there.
    for (held, empty) in (0..40).flat_map(|held| (0..12).map(move |empty| (held, empty))) {
        let (place, mut turns) = (Place::default(), WHILE_HELD.to_vec());
        turns.extend((0..held).map(|_| Turn::Does(OTHER)));
        turns.push(Turn::Ends(PRODUCER));
        turns.extend((0..empty).map(|_| Turn::Does(OTHER)));
        turns.extend([Turn::Ends(ONE), Turn::Ends(OTHER)]);
        let simulation = Simulation::new().memory(Memory::Sequential);
        let simulation = simulation.schedule(script(turns, &place));
        if let Err(failure) = simulation.run(|| a_consumer_goes_on_without_the_head(&place)) {
            panic!("{held} and {empty} steps: {failure}");
        }
    }
}
