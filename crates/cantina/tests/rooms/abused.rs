//! Those who ask too much of rooms: who wait for themselves, who sleep inside, who are far more than processors.

use crate::support::{House, both, threads};
use cantina::rooms::{Room, RoomCell};
use machine::atomic::AtomicUsize;
use machine::atomic::Ordering::SeqCst;
use machine::topology::Topology;
use machine::{Arc, thread};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Whether it is told that it would wait for itself.
fn is_told<R>(f: impl FnOnce() -> R) -> bool {
    let panic = catch_unwind(AssertUnwindSafe(f)).err();
    let text = panic.as_ref().and_then(|panic| panic.downcast_ref::<&str>());
    text.is_some_and(|text| text.contains("would wait for itself"))
}

struct Only;

// SAFETY: the only one of its number; it hands out nothing.
unsafe impl Room<()> for Only {
    const INDEX: usize = 0;
    type View<'a> = ();
    fn view((): &()) {}
}

/// Also of the room that it is in, and of a cell; not when it has left, nor another thread, nor of other rooms.
#[test]
#[cfg(debug_assertions)]
fn a_thread_that_enters_twice_is_told() {
    for builder in both(2) {
        let rooms = Arc::new(builder.build().unwrap());
        let mut guard = rooms.enter(0).unwrap();
        assert!(is_told(|| rooms.enter(1)) && is_told(|| rooms.enter(0)));
        assert!(is_told(|| rooms.with(1, || ())));
        guard.change_to(1).unwrap();
        assert!(is_told(|| rooms.enter(0)));
        let theirs = rooms.clone();
        let other = thread::spawn(move || drop(theirs.enter(0).unwrap()));
        for other in both(2) {
            drop(other.build().unwrap().enter(0).unwrap());
        }
        drop(guard);
        other.join().unwrap();
        drop(rooms.enter(0).unwrap());
    }
    let cell = RoomCell::<(), 1>::new(());
    let guard = cell.enter::<Only>().unwrap();
    assert!(is_told(|| cell.enter::<Only>().map(drop)));
    drop(guard);
    drop(cell.enter::<Only>().unwrap());
}

/// As many as wait come in together when it has left, and none before.
#[test]
fn one_who_sleeps_inside_keeps_the_others_waiting_and_no_longer() {
    for builder in both(2) {
        let house = House::new(builder, 2);
        let (guard, came) = (house.rooms.enter(0).unwrap(), Arc::new(AtomicUsize::new(0)));
        let (waiters, arrived) = (house.clone(), came.clone());
        let waiting = thread::spawn(move || {
            threads(8, move |number| {
                waiters.rooms.with(number % 2, || waiters.visit(number % 2)).unwrap();
                arrived.fetch_add(1, SeqCst);
            });
        });
        // All of them have a ticket, and some of them sleep.
        while !format!("{:?}", house.rooms).contains(", 4]") {
            thread::yield_now();
        }
        thread::sleep(crate::SOON);
        assert_eq!(came.load(SeqCst), 0);
        drop(guard);
        waiting.join().unwrap();
        drop(house.rooms.try_enter(1).unwrap());
    }
}

/// Where there are more cores they are all on two of them.
#[test]
fn sixty_four_threads_on_two_cores_get_on() {
    let cores: Vec<_> = Topology::detect().cores().take(2).collect();
    for builder in both(3) {
        let (house, cores) = (House::new(builder, 3), cores.clone());
        threads(64, move |number| {
            // Where that is not allowed they run wherever they do.
            let _ = thread::pin_to(cores[number % cores.len()]);
            let mut room = number % 3;
            let mut guard = house.rooms.enter(room).unwrap();
            for turn in 0..30 {
                house.visit(room);
                room = (room + 1 + (turn + number) % 2) % 3;
                guard.change_to(room).unwrap();
            }
            house.visit(room);
        });
    }
}
