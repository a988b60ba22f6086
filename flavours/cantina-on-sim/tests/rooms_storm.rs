//! Random programs of all that one can ask of rooms, on schedules that turn around often: two rooms are never open at once, exit code is alone,
//! and everybody comes to an end, whoever gives up.

extern crate cantina_on_sim as cantina;

mod turning;

use cantina::rooms::{AsyncGuard, Enter, EnterError, Rooms};
use machine::cost::Machine;
use machine::engine::Simulation;
use machine::park::{Parker, Unparker};
use machine::random::{self, Random};
use machine::time::Duration;
use machine::{Arc, thread};
use std::future::Future;
use std::pin::pin;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::task::{Context, Poll, Wake, Waker};

/// Schedules of each kind of rooms, on each machine.
const SCHEDULES: u64 = 400;
/// Steps of a part of a program.
const STRETCH: u64 = 40;

/// Rooms that know who is inside: in words that are no part of the run, so that they order nothing.
#[derive(Clone)]
struct House {
    rooms: Arc<Rooms>,
    inside: std::sync::Arc<[AtomicUsize]>,
}

impl House {
    fn visit(&self, room: usize) {
        self.inside[room].fetch_add(1, Relaxed);
        thread::yield_now();
        for (other, inside) in self.inside.iter().enumerate() {
            assert!(other == room || inside.load(Relaxed) == 0, "two rooms are open");
        }
        self.inside[room].fetch_sub(1, Relaxed);
    }
}

struct Task(Unparker);

impl Wake for Task {
    fn wake(self: std::sync::Arc<Self>) {
        self.0.unpark();
    }
}

/// Polls until it is inside, or, if it is `fickle`, a few times, and drops it.
fn finish<'a>(entering: Enter<'a>, fickle: Option<usize>) -> Result<AsyncGuard<'a>, EnterError> {
    let (mut entering, parker) = (pin!(entering), Parker::new());
    let waker = Waker::from(std::sync::Arc::new(Task(parker.unparker())));
    let mut polls = fickle.unwrap_or(usize::MAX);
    loop {
        match entering.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(result) => return result,
            Poll::Pending if polls == 0 => return Err(EnterError::TimedOut),
            Poll::Pending if fickle.is_some() => thread::yield_now(),
            Poll::Pending => parker.park(),
        }
        polls -= 1;
    }
}

/// Does one thing after the other, drawn by chance.
fn use_them(house: &House, random: &mut Random) -> Result<(), EnterError> {
    let House { rooms, inside } = house;
    let mut room = || random.below(inside.len());
    let (first, second) = (room(), room());
    let fickle = (!random.one_in(2)).then(|| random.below(3));
    let short = Duration::from_nanos(random.below(3_000) as u64);
    match random.below(7) {
        0 => rooms.with(first, || house.visit(first))?,
        1 => rooms.try_enter(first).map(|_inside| house.visit(first))?,
        2 => rooms.enter_timeout(first, short).map(|_inside| house.visit(first))?,
        3 => finish(rooms.enter_async(first), fickle).map(|_inside| house.visit(first))?,
        4 => {
            let guard = finish(rooms.enter_async(first), None)?;
            house.visit(first);
            let _inside = finish(guard.change_to(second), fickle)?;
            house.visit(second);
        }
        5 => {
            let guard = rooms.enter(first)?;
            house.visit(first);
            let _inside = guard.change_timeout(second, short)?;
            house.visit(second);
        }
        _ => {
            let mut guard = rooms.enter(first)?;
            house.visit(first);
            guard.change_to(second)?;
            house.visit(second);
        }
    }
    Ok(())
}

/// Rooms by chance, and who uses them.
fn storm(counted: bool, joined: bool) {
    let mut random = Random::seeded(random::seed());
    let many = 2 + random.below(2);
    let inside: std::sync::Arc<[_]> = (0..many).map(|_| AtomicUsize::new(0)).collect();
    let mut builder = Rooms::builder(many).counted(counted).joined(joined).start(u64::MAX - 9);
    if random.one_in(2) {
        builder = builder.limit(4);
    }
    for room in (0..many).filter(|_| !joined) {
        let inside = inside.clone();
        let is_alone = move || inside.iter().all(|inside| inside.load(Relaxed) == 0);
        builder = builder.on_last_exit(room, move || assert!(is_alone(), "somebody is inside"));
    }
    let house = House { rooms: Arc::new(builder.build().unwrap()), inside };
    let user = |mut random: Random| {
        let house = house.clone();
        thread::spawn(move || (0..4).for_each(|_| _ = use_them(&house, &mut random)))
    };
    let users: Vec<_> =
        (0..2 + random.below(3)).map(|_| user(Random::seeded(random.next_u64()))).collect();
    users.into_iter().for_each(|user| user.join().unwrap());
    drop(house.rooms.try_enter(0).expect("all have left"));
}

#[test]
fn all_come_to_an_end_and_one_room_is_open_at_a_time() {
    let kinds: [(&str, fn()); 4] = [
        ("rooms in one word", || storm(false, false)),
        ("joined rooms", || storm(false, true)),
        ("counted rooms", || storm(true, false)),
        ("counted rooms without exit code", || storm(true, true)),
    ];
    for (name, storm) in kinds {
        for machine in [Machine::default(), Machine::uniform(1, 1).unwrap()] {
            let simulation = Simulation::new().machine(machine);
            turning::comes_out_right(name, storm, &simulation, SCHEDULES, STRETCH);
        }
    }
}
