//! The scenarios of rooms on schedules that turn around often, each of which its seed replays: on a machine with many
//! processors, where those who wait look around before they sleep, and on one with a single one, where they do not.

extern crate cantina_on_sim as cantina;

#[path = "../../../crates/cantina/tests/scenarios/rooms.rs"]
mod scenarios;
mod turning;

use cantina::rooms::{EnterError, Rooms};
use machine::cost::Machine;
use machine::engine::{Simulation, ThreadId};
use machine::time::{Duration, Instant};
use machine::{Arc, thread};
use std::sync::atomic::Ordering::Relaxed;

/// Schedules of each scenario.
const SCHEDULES: u64 = 750;
/// Steps of a part of a scenario.
const STRETCH: u64 = 15;

#[test]
fn the_scenarios_come_out_right_on_many_schedules() {
    let of_two = scenarios::ALL.into_iter();
    let of_three = scenarios::CROWDS.into_iter().chain(scenarios::CHANGES);
    let of_three = of_three.chain(scenarios::FICKLE).chain(scenarios::JOINED);
    for (name, scenario) in of_two.chain(of_three) {
        for machine in [Machine::default(), Machine::uniform(1, 1).unwrap()] {
            let simulation = Simulation::new().machine(machine);
            turning::comes_out_right(name, scenario, &simulation, SCHEDULES, STRETCH);
        }
    }
}

/// Who opens a room for one who has given up and one who goes in, stalls, wherever it is, until that one has left.
#[test]
fn exit_code_of_a_cell_is_run_by_one_who_was_not_inside() {
    const OPENER: ThreadId = ThreadId(1);
    const STEPS: u64 = 100;
    const LONG: u64 = 200;
    for (steps, seed) in (0..STEPS).flat_map(|steps| (0..10).map(move |seed| (steps, seed))) {
        let stalled = Simulation::new().seed(seed).stall(OPENER, steps, LONG);
        if let Err(failure) =
            stalled.run(scenarios::cells::a_cell_of_four_rooms_is_closed_for_others)
        {
            panic!("stalled after {steps} steps: {failure}");
        }
    }
    assert!(scenarios::cells::CLOSED_FOR_OTHERS.load(Relaxed), "no schedule comes to it");
}

/// The one who looks for a ticket stalls, wherever it is, until the ticket that it finds is of another batch.
#[test]
fn a_ticket_of_a_later_batch_is_not_adopted_wherever_the_adopter_stalls() {
    const ADOPTER: ThreadId = ThreadId(1);
    const STEPS: u64 = 40;
    const LONG: u64 = 200;
    for (steps, seed) in (0..STEPS).flat_map(|steps| (0..10).map(move |seed| (steps, seed))) {
        for long in [LONG / 4, LONG / 2, LONG] {
            let stalled = Simulation::new().seed(seed).stall(ADOPTER, steps, long);
            if let Err(failure) = stalled.run(scenarios::a_ticket_of_a_later_batch_is_not_adopted) {
                panic!("stalled for {long} after {steps} steps: {failure}");
            }
        }
    }
}

/// Who opens the room stalls, wherever it is: between what it shows and the search for tickets that were given up, others come.
#[test]
fn a_ticket_that_is_good_is_not_adopted_wherever_the_opener_stalls() {
    const OPENER: ThreadId = ThreadId(1);
    const STEPS: u64 = 80;
    const LONG: u64 = 200;
    for (steps, seed) in (0..STEPS).flat_map(|steps| (0..10).map(move |seed| (steps, seed))) {
        let stalled = Simulation::new().seed(seed).stall(OPENER, steps, LONG);
        if let Err(failure) = stalled.run(scenarios::fickle::a_ticket_that_is_good_is_not_adopted) {
            panic!("stalled after {steps} steps: {failure}");
        }
    }
}

/// Who opens a room stalls before it wakes anybody: whom it has let in has come and gone meanwhile, and sleeps again when it goes on, until the room
/// opens for it as often as there are generations, or more.
#[test]
fn a_wake_up_that_comes_generations_late_wakes_nobody_too_soon() {
    const OPENER: ThreadId = ThreadId(1);
    const STEPS: u64 = 60;
    const VISITS: usize = 9;
    let scenario = |counted: bool| {
        let rooms = Arc::new(Rooms::builder(2).counted(counted).build().unwrap());
        let user = |room: usize, visits: usize| {
            let rooms = rooms.clone();
            let visit = move || rooms.with(room, || (0..4).for_each(|_| thread::yield_now()));
            thread::spawn(move || (0..visits).for_each(|_| visit().unwrap()))
        };
        // The first one opens the room of the second one, who sleeps as often as the third one is inside.
        let users = [user(1, 1), user(0, VISITS), user(1, VISITS)];
        users.into_iter().for_each(|user| user.join().unwrap());
    };
    let machine = Machine::uniform(1, 1).unwrap();
    for (steps, seed) in (10..STEPS).flat_map(|steps| (0..6).map(move |seed| (steps, seed))) {
        for (counted, long) in [2, 5, 6, 7, 8, 9, 10, 11].map(|n| (n == 2, 50 * n)) {
            let stalled = Simulation::new().machine(machine.clone()).seed(seed);
            let stalled = stalled.stall(OPENER, steps, long);
            if let Err(failure) = stalled.run(|| scenario(counted)) {
                panic!("stalled for {long} after {steps} steps: {failure}");
            }
        }
    }
}

/// Rooms for all who have a processor are open for microseconds, and to sleep takes longer.
#[test]
fn who_has_a_processor_seldom_sleeps() {
    const USERS: usize = 32;
    const VISITS: usize = 400;
    const STEPS: u64 = 100_000_000;
    for counted in [false, true] {
        let sleeps =
            Simulation::new().machine(Machine::opteron_8x4()).steps(STEPS).run_timed(|| {
                let rooms = Rooms::builder(2).counted(counted).metrics(true).build().unwrap();
                let rooms = Arc::new(rooms);
                let user = |user: usize| {
                    let rooms = rooms.clone();
                    thread::spawn(move || {
                        for visit in 0..VISITS {
                            rooms.with((user + visit) % 2, || machine::work(100)).unwrap();
                        }
                    })
                };
                let users: Vec<_> = (0..USERS).map(user).collect();
                users.into_iter().for_each(|user| user.join().unwrap());
                rooms.metrics().unwrap().sleeps
            });
        // Some see a batch that is about to be counted; of those who left before it ended all would sleep.
        let (sleeps, visits) = (sleeps.unwrap().value, (USERS * VISITS) as u64);
        assert!(20 * sleeps < visits, "{sleeps} of {visits}, counted: {counted}");
    }
}

/// However many wait beside it, and however long a look takes.
#[test]
fn who_has_little_time_waits_no_longer() {
    const STEPS: u64 = 10_000_000;
    /// To take a ticket, to look, and to give it up.
    const MORE: Duration = Duration::from_micros(6);
    let late = |counted: bool, users: usize, time: Duration| {
        let simulation = Simulation::new().machine(Machine::opteron_8x4()).steps(STEPS);
        let late = simulation.run_timed(|| {
            let rooms = Arc::new(Rooms::builder(2).counted(counted).build().unwrap());
            let guard = rooms.enter(0).unwrap();
            let wait = |user: usize| {
                let rooms = rooms.clone();
                thread::spawn(move || drop(rooms.enter(user % 2).unwrap()))
            };
            let waiting: Vec<_> = (0..users).map(wait).collect();
            let begin = Instant::now();
            assert_eq!(rooms.enter_timeout(1, time).unwrap_err(), EnterError::TimedOut);
            let took = begin.elapsed();
            drop(guard);
            waiting.into_iter().for_each(|user| user.join().unwrap());
            took.checked_sub(time).expect("it gave up before its time")
        });
        late.unwrap_or_else(|failure| panic!("{failure}")).value
    };
    for (counted, users) in [false, true].into_iter().flat_map(|c| [0, 8, 24].map(|u| (c, u))) {
        for time in [0, 2, 20, 200].map(Duration::from_micros) {
            let late = late(counted, users, time);
            assert!(late < MORE, "{users} others, counted: {counted}, {time:?}: {late:?} late");
        }
    }
}
