//! What rooms promise, on real threads.

mod abused;
mod cancelled;
mod cells;
mod panics;
mod properties;
#[path = "../scenarios/rooms.rs"]
mod scenarios;
mod support;

use cantina::rooms::{Enter, EnterError, Rooms};
use machine::park::Parker;
use machine::time::{Duration, Instant};
use machine::{Arc, thread};
use support::both;

const SOON: Duration = Duration::from_millis(10);

#[test]
fn the_scenarios_come_out_right_on_real_threads() {
    let of_two = scenarios::ALL.into_iter();
    let of_three = scenarios::CROWDS.into_iter().chain(scenarios::CHANGES);
    let of_three = of_three.chain(scenarios::FICKLE).chain(scenarios::JOINED);
    for (name, scenario) in of_two.chain(of_three) {
        println!("{name}");
        (0..500).for_each(|_| scenario());
    }
}

/// In whichever way a room is asked for.
#[test]
fn what_there_is_not_is_an_error() {
    for builder in both(3) {
        let rooms = builder.build().unwrap();
        assert_eq!(rooms.enter(3).unwrap_err(), EnterError::NoSuchRoom);
        assert_eq!(rooms.try_enter(usize::MAX).unwrap_err(), EnterError::NoSuchRoom);
        assert_eq!(rooms.enter_timeout(4, SOON).unwrap_err(), EnterError::NoSuchRoom);
        assert_eq!(rooms.with(3, || ()), Err(EnterError::NoSuchRoom));
        let mut guard = rooms.enter(2).unwrap();
        assert_eq!(guard.change_to(3), Err(EnterError::NoSuchRoom));
        assert_eq!(guard.room(), 2);
        assert_eq!(guard.change_timeout(3, SOON).unwrap_err(), EnterError::NoSuchRoom);
        // It is outside, as after any error of that.
        let error = |entering: Enter<'_>| cancelled::block_on(entering).unwrap_err();
        assert_eq!(error(rooms.enter_async(3)), EnterError::NoSuchRoom);
        let guard = cancelled::block_on(rooms.enter_async(2)).unwrap();
        assert_eq!(error(guard.change_to(usize::MAX)), EnterError::NoSuchRoom);
        drop(rooms.try_enter(0).unwrap());
    }
    let refused = |rooms| Rooms::builder(rooms).build().unwrap_err().to_string();
    assert_eq!(refused(0), "rooms cannot be 0: 1 to 65536");
    assert_eq!(refused(usize::MAX), format!("rooms cannot be {}: 1 to 65536", usize::MAX));
    assert!(Rooms::builder(65_536).build().is_ok());
    let panic = std::panic::catch_unwind(|| Rooms::new(65_537)).unwrap_err();
    assert_eq!(panic.downcast_ref::<String>().unwrap(), "rooms cannot be 65537: 1 to 65536");
    let error = Rooms::builder(2).on_last_exit(2, || ()).build().unwrap_err();
    assert_eq!(error.to_string(), "on_last_exit cannot be 2: a room from 0 to 1");
}

#[test]
fn who_would_block_does_not_enter() {
    for builder in both(2) {
        let rooms = Arc::new(builder.build().unwrap());
        let guard = rooms.enter(0).unwrap();
        assert_eq!(rooms.try_enter(0).unwrap_err(), EnterError::WouldBlock);
        assert_eq!(rooms.try_enter(1).unwrap_err(), EnterError::WouldBlock);
        drop(guard);
        drop(rooms.try_enter(1).unwrap());
        drop(rooms.try_enter(0).unwrap());
    }
}

#[test]
fn an_open_room_is_joined_where_that_is_wanted() {
    let rooms = Arc::new(Rooms::builder(3).joined(true).build().unwrap());
    let guard = rooms.enter(1).unwrap();
    let theirs = rooms.clone();
    let joins = thread::spawn(move || {
        drop(theirs.enter(1).unwrap());
        drop(theirs.try_enter(1).unwrap());
        drop(theirs.enter_timeout(1, Duration::ZERO).unwrap());
        assert_eq!(theirs.try_enter(0).unwrap_err(), EnterError::WouldBlock);
    });
    joins.join().unwrap();
    drop(guard);
    // Exit code is run when all of a batch have left, so that one must end.
    let closed = Rooms::builder(2).joined(true).on_last_exit(1, || ()).build().unwrap();
    let guard = closed.enter(1).unwrap();
    assert_eq!(closed.try_enter(1).unwrap_err(), EnterError::WouldBlock);
    drop(guard);
}

#[test]
fn who_waits_is_not_passed_by_those_who_join() {
    let rooms = Arc::new(Rooms::builder(2).joined(true).build().unwrap());
    let guard = rooms.enter(0).unwrap();
    let theirs = rooms.clone();
    let waits = thread::spawn(move || theirs.enter_timeout(1, Duration::MAX).map(drop));
    while !format!("{rooms:?}").contains(", 1]") {
        thread::yield_now();
    }
    assert_eq!(rooms.try_enter(0).unwrap_err(), EnterError::WouldBlock);
    drop(guard);
    waits.join().unwrap().unwrap();
    drop(rooms.try_enter(0).unwrap());
}

/// As long as one is left who waits they do. Whoever has given up does not.
#[test]
fn a_ticket_that_was_given_up_keeps_nobody_from_joining() {
    let rooms = Arc::new(Rooms::builder(3).joined(true).build().unwrap());
    let guard = rooms.enter(0).unwrap();
    let joins = || {
        let theirs = rooms.clone();
        let joins = thread::spawn(move || {
            let joins = [(); 2].map(|()| theirs.try_enter(0).map(drop));
            assert_eq!(theirs.try_enter(1).unwrap_err(), EnterError::WouldBlock);
            joins
        });
        joins.join().unwrap()
    };
    let others = Err(EnterError::WouldBlock);
    assert_eq!(rooms.enter_timeout(1, Duration::ZERO).unwrap_err(), EnterError::TimedOut);
    assert_eq!(joins(), [Ok(()); 2]);
    for order in [[0, 1, 2], [1, 2, 0]] {
        let mut waits = [1, 1, 2].map(|room| Some(Box::pin(rooms.enter_async(room))));
        for waits in waits.iter_mut().flatten() {
            assert!(cancelled::poll(waits.as_mut()).is_pending());
        }
        for gives_up in order {
            assert_eq!(joins(), [others; 2]);
            waits[gives_up] = None;
        }
        assert_eq!(joins(), [Ok(()); 2]);
    }
    drop(guard);
    // All rooms have opened for nobody, and tickets are of the generation after.
    let guard = rooms.enter(0).unwrap();
    assert!(cancelled::poll(std::pin::pin!(rooms.enter_async(1))).is_pending());
    assert_eq!(joins(), [Ok(()); 2]);
    drop(guard);
    drop(rooms.try_enter(1).unwrap());
}

#[test]
fn time_runs_out_and_leaves_nothing_behind() {
    for builder in both(2) {
        let rooms = Arc::new(builder.build().unwrap());
        let guard = rooms.enter(0).unwrap();
        let start = Instant::now();
        for _ in 0..3 {
            assert_eq!(rooms.enter_timeout(1, SOON).unwrap_err(), EnterError::TimedOut);
            assert_eq!(rooms.enter_timeout(0, SOON).unwrap_err(), EnterError::TimedOut);
        }
        assert!(start.elapsed() >= 6 * SOON);
        let guard = guard.change_timeout(0, Duration::MAX).unwrap();
        assert_eq!(guard.room(), 0);
        drop(guard);
        drop(rooms.enter_timeout(1, Duration::ZERO).unwrap());
        drop(rooms.try_enter(0).unwrap());
    }
}

#[test]
fn who_changes_in_time_is_inside_and_who_does_not_is_outside() {
    for builder in both(2) {
        let rooms = Arc::new(builder.build().unwrap());
        let other = rooms.clone();
        let guard = rooms.enter(0).unwrap();
        let stay = Parker::new();
        let go = stay.unparker();
        let inside = thread::spawn(move || {
            let guard = other.enter(1).unwrap();
            stay.park();
            drop(guard);
        });
        // Somebody waits for room 1, and is inside it until it is told.
        while !format!("{rooms:?}").contains(", 1]") {
            thread::sleep(SOON);
        }
        assert_eq!(guard.change_timeout(0, SOON).unwrap_err(), EnterError::TimedOut);
        go.unpark();
        inside.join().unwrap();
        drop(rooms.try_enter(0).unwrap());
    }
}

/// What the metrics say of three who have entered, one of whom waited and slept: in either form.
#[test]
fn what_happened_is_counted_where_that_is_asked_for() {
    for builder in both(2) {
        assert_eq!(builder.build().unwrap().metrics(), None);
    }
    for builder in both(2) {
        let rooms = Arc::new(builder.metrics(true).on_last_exit(0, || ()).build().unwrap());
        let guard = rooms.enter(1).unwrap();
        let waiter = {
            let rooms = rooms.clone();
            thread::spawn(move || rooms.with(0, || ()).unwrap())
        };
        while rooms.metrics().unwrap().sleeps == 0 {
            thread::sleep(SOON);
        }
        let asleep = rooms.metrics().unwrap();
        assert_eq!((asleep.entries, asleep.waits, asleep.exit_codes), (1, 0, 0));
        drop(guard);
        waiter.join().unwrap();
        let before = rooms.metrics().unwrap();
        assert_eq!((before.entries, before.joins, before.waits, before.sleeps), (2, 0, 1, 1));
        assert_eq!(before.exit_codes, 1);
        let mut guard = rooms.enter(1).unwrap();
        guard.change_to(0).unwrap();
        drop(guard);
        let metrics = rooms.metrics().unwrap();
        assert_eq!((metrics.entries, metrics.waits, metrics.sleeps), (4, 2, 1));
        assert_eq!(metrics.exit_codes, 2);
        // Nobody waited when it was opened for those who came alone.
        assert_eq!((metrics.batches, metrics.let_in, metrics.batch_size()), (2, 2, Some(1.0)));
    }
}

/// Who has given up is not let in, has not entered, and is no batch.
#[test]
fn a_batch_is_as_large_as_many_were_let_in() {
    for builder in both(2) {
        let rooms = builder.metrics(true).build().unwrap();
        let guard = rooms.enter(0).unwrap();
        let waiting = || {
            let mut waits = [(); 3].map(|()| Box::pin(rooms.enter_async(1)));
            assert!(waits.iter_mut().all(|waits| cancelled::poll(waits.as_mut()).is_pending()));
            waits
        };
        let [first, second, third] = waiting();
        drop(first);
        drop(guard);
        let before = rooms.metrics().unwrap();
        // One is dropped although it could come in, and so it has not entered.
        drop(second);
        drop(cancelled::block_on(third).unwrap());
        let metrics = rooms.metrics().unwrap();
        assert_eq!((before.entries, metrics.entries, metrics.waits), (1, 2, 3));
        assert_eq!((metrics.batches, metrics.let_in, metrics.batch_size()), (1, 2, Some(2.0)));
        let guard = rooms.enter(0).unwrap();
        drop(waiting());
        drop(guard);
        drop(rooms.try_enter(1).unwrap());
        let last = rooms.metrics().unwrap();
        assert_eq!((last.batches, last.let_in, last.waits, last.entries), (1, 2, 6, 4));
    }
}

#[test]
fn who_joins_is_counted() {
    let rooms = Rooms::builder(2).joined(true).metrics(true).build().unwrap();
    let guard = rooms.enter(0).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| drop(rooms.enter(0).unwrap()));
    });
    drop(guard);
    let metrics = rooms.metrics().unwrap();
    assert_eq!((metrics.entries, metrics.joins, metrics.waits, metrics.batches), (2, 1, 0, 0));
    assert_eq!(metrics.batch_size(), None);
}
