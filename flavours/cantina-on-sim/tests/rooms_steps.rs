//! How many own steps it takes to enter, to wait and to leave, for 2 to 64 users: P7, P9, P10 and P11 of the paper. P6 counts which rooms open
//! before one's own, not steps.
//!
//! A step is one access to something shared, or a call to sleep or to wake. Who sleeps takes none. So what is counted
//! is what an agent has to do, and that is the same for any number of users: rooms are opened, and sleepers woken, by
//! somebody who does a constant amount of work.

extern crate cantina_on_sim as cantina;

use cantina::rooms::{Rooms, WorkStack};
use machine::cost::Machine;
use machine::engine::{Op, Simulation};
use machine::lock::Mutex;
use machine::progress::steps;
use machine::schedule::Schedule;
use machine::trace::What;
use machine::{Arc, thread};
use std::future::Future;
use std::task::{Context, Poll, Waker};

/// Numbers of users.
const USERS: [usize; 6] = [2, 4, 8, 16, 32, 64];
/// Schedules for each of them.
const SCHEDULES: u64 = 40;
/// How often each user enters.
const TURNS: usize = 6;

/// The most own steps of a call, on all schedules.
#[derive(Clone, Copy, Debug, Default)]
struct Most {
    enter: u64,
    leave: u64,
}

impl Most {
    fn or(self, other: Self) -> Self {
        Self { enter: self.enter.max(other.enter), leave: self.leave.max(other.leave) }
    }
}

/// `users` users of `rooms` rooms, who come again and again.
fn play(users: usize, rooms: usize, counted: bool) -> Most {
    let house = Arc::new(Rooms::builder(rooms).counted(counted).build().unwrap());
    let user = |number: usize| {
        let house = house.clone();
        thread::spawn(move || {
            let turn = |turn| {
                let before = steps();
                let guard = house.enter((number + turn) % rooms).unwrap();
                let inside = steps();
                drop(guard);
                Most { enter: inside - before, leave: steps() - inside }
            };
            (0..TURNS).map(turn).fold(Most::default(), Most::or)
        })
    };
    let users: Vec<_> = (0..users).map(user).collect();
    let users = users.into_iter().map(|user| user.join().unwrap());
    users.fold(Most::default(), Most::or)
}

/// The most on all schedules, on a machine with one processor: so nobody looks around, and all sleep.
///
/// The schedules interrupt seldom. Whoever finds the list of sleepers locked tries again when it is not, and others may be
/// faster: that is the lock's affair, and is not counted here.
fn most(users: usize, rooms: usize, counted: bool) -> Most {
    let on = |seed| {
        let schedule = match seed % 2 {
            0 => Schedule::RoundRobin { quantum: 100 + seed },
            _ => Schedule::Pct { depth: 20, length: 200 * users },
        };
        let simulation = Simulation::new()
            .seed(seed)
            .schedule(schedule)
            .machine(Machine::uniform(1, 1).unwrap());
        simulation.run(|| play(users, rooms, counted)).unwrap_or_else(|failure| panic!("{failure}"))
    };
    (0..SCHEDULES).map(|seed| on(seed).value).fold(Most::default(), Most::or)
}

/// Number of rooms, whether they are counted, and the most steps to enter and to leave them.
const BOUNDS: [(usize, bool, Most); 4] = [
    (2, false, Most { enter: 28, leave: 16 }),
    (3, false, Most { enter: 28, leave: 16 }),
    (2, true, Most { enter: 28, leave: 22 }),
    (5, true, Most { enter: 28, leave: 27 }),
];

#[test]
fn p9_and_p10_to_enter_and_to_leave_takes_the_same_for_any_number_of_users() {
    for (rooms, counted, bound) in BOUNDS {
        for users in USERS {
            let most = most(users, rooms, counted);
            let what = format!("{users} users of {rooms} rooms, counted: {counted}");
            assert!(most.enter <= bound.enter && most.leave <= bound.leave, "{what}: {most:?}");
            // Somebody sleeps, and somebody wakes him.
            assert!(users < 8 || most.enter * 4 > bound.enter * 3, "{what}: {most:?}");
            assert!(users < 8 || most.leave * 4 > bound.leave * 3, "{what}: {most:?}");
        }
    }
}

/// Whoever is inside leaves, with `users` waiting for all rooms. In which order these open, and how many steps the one who
/// leaves takes and the most that one who waited does.
fn leave_to(users: usize, rooms: usize, counted: bool) -> (Vec<usize>, u64, u64) {
    let order = std::sync::Arc::new(Mutex::new(Vec::new()));
    let mut builder = Rooms::builder(rooms).counted(counted);
    for room in 0..rooms {
        let order = order.clone();
        builder = builder.on_last_exit(room, move || order.lock().push(room));
    }
    let house = builder.build().unwrap();
    let guard = house.enter(0).unwrap();
    let mut cx = Context::from_waker(Waker::noop());
    let mut waiting: Vec<_> =
        (0..users).map(|user| Box::pin(house.enter_async(user % rooms))).collect();
    for entering in &mut waiting {
        assert!(entering.as_mut().poll(&mut cx).is_pending());
    }
    let before = steps();
    drop(guard);
    let (left, mut most) = (steps() - before, 0);
    while !waiting.is_empty() {
        let many = waiting.len();
        waiting.retain_mut(|entering| {
            let before = steps();
            match entering.as_mut().poll(&mut cx) {
                Poll::Ready(guard) => {
                    most = most.max(steps() - before);
                    drop(guard);
                    false
                }
                Poll::Pending => true,
            }
        });
        assert!(waiting.len() < many, "no room is open");
    }
    let order = order.lock().clone();
    (order, left, most)
}

fn on_one_schedule<T>(scenario: impl FnOnce() -> T) -> T {
    Simulation::new().run(scenario).unwrap_or_else(|failure| panic!("{failure}")).value
}

#[test]
fn p6_a_room_opens_when_each_other_one_has_been_open_at_most_once() {
    for (rooms, counted) in [(2, false), (3, false), (2, true), (5, true)] {
        for users in USERS {
            let (order, ..) = on_one_schedule(|| leave_to(users, rooms, counted));
            // First whoever left, then all rooms in turn for which there were tickets.
            let turns = (1..=rooms).map(|step| step % rooms).filter(|room| *room < users);
            let turns: Vec<usize> = std::iter::once(0).chain(turns).collect();
            assert_eq!(order, turns, "{users} users");
        }
    }
}

/// The most own steps of who has a good ticket and is polled, until it is inside.
const ARRIVE: u64 = 4;

/// But for a look at each task that it wakes; threads wake each other (`p9_and_p10`).
#[test]
fn p7_to_open_the_next_room_takes_the_same_for_any_number_of_users() {
    for (rooms, counted, bound) in [(2, false, 15), (3, false, 15), (2, true, 20), (5, true, 20)] {
        let of = |users| {
            let (_, left, most) = on_one_schedule(|| leave_to(users, rooms, counted));
            let woken = (0..users).filter(|user| user % rooms == 1).count();
            (left - woken as u64, most)
        };
        let (left, most) = of(16);
        for users in [32, 64] {
            assert_eq!(of(users), (left, most), "{users} users of {rooms} rooms");
        }
        let (few_left, few_most) = of(2);
        assert!(few_left <= left && few_most <= most, "few take more than many");
        for users in USERS {
            let (left, most) = of(users);
            let what = format!("{users} users of {rooms} rooms, counted: {counted}");
            assert!(left <= bound && most <= ARRIVE, "{what}: {left} to leave, {most} to arrive");
        }
    }
}

/// How long somebody keeps the others waiting, in turns of its own.
const LONG: [usize; 2] = [1_000, 20_000];

/// Runs `play` on a machine with one processor: nobody looks around.
fn in_turns<T>(play: impl FnOnce() -> T) -> T {
    let simulation = Simulation::new().schedule(Schedule::RoundRobin { quantum: 100 });
    let simulation = simulation.machine(Machine::uniform(1, 1).unwrap()).steps(10_000_000);
    simulation.run(play).unwrap_or_else(|failure| panic!("{failure}")).value
}

/// How many own steps each of `users` takes who do this while `holds` is held for so `long`, the fewest first.
fn meanwhile<G>(
    users: usize,
    long: usize,
    holds: G,
    waits: impl Fn(usize) + Clone + Send + 'static,
) -> Vec<u64> {
    let user = |user| {
        let waits = waits.clone();
        thread::spawn(move || {
            let before = steps();
            waits(user);
            steps() - before
        })
    };
    let users: Vec<_> = (0..users).map(user).collect();
    (0..long).for_each(|_| thread::yield_now());
    drop(holds);
    let mut steps: Vec<u64> = users.into_iter().map(|user| user.join().unwrap()).collect();
    steps.sort_unstable();
    steps
}

#[test]
fn p11_who_waits_takes_no_steps_however_long_a_room_is_open() {
    for ((rooms, counted, bound), users) in BOUNDS.into_iter().flat_map(|b| USERS.map(|p| (b, p))) {
        for long in LONG {
            let steps = in_turns(|| {
                let house = Arc::new(Rooms::builder(rooms).counted(counted).build().unwrap());
                let theirs = house.clone();
                let waits = move |user| drop(theirs.enter(user % rooms).unwrap());
                meanwhile(users, long, house.enter(0).unwrap(), waits)
            });
            let most = steps.last().unwrap();
            assert!(*most <= bound.enter + bound.leave, "{users} users of {rooms} rooms: {most}");
        }
    }
}

/// A worker that finds nothing, while another has a batch for however long: it looks once or twice, sleeps, and is told the end.
#[test]
fn a_worker_that_waits_takes_no_steps_however_long_a_batch_is_out() {
    for users in USERS {
        for long in LONG {
            let mut steps = in_turns(|| {
                let work = WorkStack::new();
                work.push(());
                let theirs = work.clone();
                let mut batch = work.borrow(1).unwrap();
                batch.clear();
                meanwhile(users, long, batch, move |_| assert!(theirs.borrow(1).is_none()))
            });
            // Who finds the end tells all the others.
            let told = steps.pop().unwrap();
            assert!(steps.iter().all(|steps| *steps <= 12), "{users} workers: {steps:?}");
            assert!(told < 28 + users as u64, "{users} workers: {told}");
        }
    }
}

/// How many read-modify-writes, and fences, one user takes who is alone: to enter and to leave.
fn exchanges(rooms: usize, times: usize) -> usize {
    let play = || {
        let house = Rooms::new(rooms);
        (0..times).for_each(|time| drop(house.enter(time % rooms).unwrap()));
    };
    let log = Simulation::new().log(true).run(play).unwrap().log.unwrap();
    let costly = |what: &What| matches!(what, What::Update { .. } | What::Did(Op::Fence));
    log.events().iter().filter(|event| costly(&event.what)).count()
}

#[test]
fn alone_it_takes_two_read_modify_writes() {
    for rooms in [1, 2, 3] {
        assert_eq!(exchanges(rooms, 11) - exchanges(rooms, 1), 2 * 10, "{rooms} rooms");
    }
}
