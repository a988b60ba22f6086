//! Those who ask too much of rooms: who wait for themselves, who sleep inside, who are far more than processors.

use crate::support::{House, both, threads};
use cantina::rooms::{EnterError, Room, RoomCell, Rooms};
use machine::atomic::AtomicUsize;
use machine::atomic::Ordering::SeqCst;
use machine::time::Duration;
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

struct Whole;

// SAFETY: the only one of its number; it hands out what can be shared.
unsafe impl<S: Sync> Room<S> for Whole {
    const INDEX: usize = 0;
    type View<'a>
        = &'a S
    where
        S: 'a;
    fn view(state: &S) -> &S {
        state
    }
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

/// Also where it has two guards, of which one is outside after a panic of exit code, or leaves to wait; but not where it need not wait.
#[test]
#[cfg(debug_assertions)]
fn a_thread_that_waits_for_its_other_guard_is_told() {
    for builder in both(2) {
        let burst = || std::panic::resume_unwind(Box::new(()));
        let rooms = builder.on_last_exit(1, burst).build().unwrap();
        let mut outside = rooms.enter(1).unwrap();
        assert!(catch_unwind(AssertUnwindSafe(|| outside.change_to(0))).is_err());
        let guard = rooms.enter(0).unwrap();
        assert!(is_told(|| outside.change_to(0)) && is_told(|| outside.change_to(1)));
        assert_eq!(outside.change_to(2), Err(EnterError::NoSuchRoom));
        drop(guard);
        outside.change_to(0).unwrap();
        drop(outside);
        drop(rooms.try_enter(0).unwrap());
    }
    let rooms = Rooms::builder(2).joined(true).build().unwrap();
    let (mut first, second) = (rooms.enter(0).unwrap(), rooms.try_enter(0).unwrap());
    first.change_to(0).unwrap();
    assert!(is_told(|| first.change_to(1)));
    drop(second);
    first.change_to(1).unwrap();
}

/// It would never learn it from the clock.
#[test]
#[cfg(debug_assertions)]
fn a_thread_that_waits_for_itself_without_end_is_told() {
    for builder in both(2) {
        let rooms = builder.build().unwrap();
        let guard = rooms.enter(0).unwrap();
        for room in [0, 1] {
            assert!(is_told(|| rooms.enter_timeout(room, Duration::MAX)));
            let error = rooms.enter_timeout(room, Duration::ZERO).unwrap_err();
            assert_eq!(error, EnterError::TimedOut);
        }
        // It waits for nobody but those of other threads.
        let guard = guard.change_timeout(1, Duration::MAX).unwrap();
        drop(guard);
        drop(rooms.enter_timeout(0, Duration::MAX).unwrap());
    }
    let rooms = Rooms::builder(2).joined(true).build().unwrap();
    let (first, second) = (rooms.enter(0).unwrap(), rooms.try_enter(0).unwrap());
    drop(rooms.enter_timeout(0, Duration::MAX).unwrap());
    assert!(is_told(|| first.change_timeout(1, Duration::MAX)));
    drop(second);
    drop(rooms.try_enter(1).unwrap());
}

/// Whoever holds one thing is not told that it holds another one that lies in the same place: in it, or later.
#[test]
fn only_who_is_inside_is_told() {
    let mut rooms = Rooms::new(2);
    std::mem::forget(rooms.enter(0).unwrap());
    assert_eq!(rooms.try_enter(0).unwrap_err(), EnterError::WouldBlock);
    rooms = Rooms::new(2);
    drop(rooms.enter(0).unwrap());
    let cell = RoomCell::<RoomCell<Rooms, 1>, 1>::new(RoomCell::new(rooms));
    let outer = cell.enter::<Whole>().unwrap();
    let inner = outer.view().enter::<Whole>().unwrap();
    drop(inner.view().enter(0).unwrap());
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
