//! The paper's properties P1 to P5, P8 and P11; on the simulated machine P6 counts the rooms that open, P7, P9 and P10 count steps.

use crate::support::{House, both, threads};
use machine::atomic::AtomicUsize;
use machine::atomic::Ordering::SeqCst;
use machine::time::Duration;
use machine::{Arc, thread};

/// In, and out, and in: exit code is run once for each batch, and never without one.
#[test]
fn p1_who_is_inside_has_entered_and_exit_code_follows() {
    for builder in both(2) {
        let house = House::new(builder, 2);
        for turn in 1..=20 {
            house.rooms.with(turn % 2, || house.visit(turn % 2)).unwrap();
            assert_eq!(house.closed.load(SeqCst), turn);
        }
    }
}

#[test]
fn p2_only_one_room_is_open() {
    let houses = [2, 3, 4].map(|rooms| {
        let closed = both(rooms).map(|builder| House::new(builder, rooms));
        let joined = both(rooms).map(|builder| House::joined(builder, rooms));
        (rooms, closed.into_iter().chain(joined))
    });
    for (rooms, house) in houses.into_iter().flat_map(|(rooms, all)| all.map(move |h| (rooms, h))) {
        threads(8, move |number| {
            for turn in 0..150 {
                let room = (number + turn * 7) % rooms;
                house.rooms.with(room, || house.visit(room)).unwrap();
            }
        });
    }
}

/// Those of one batch are inside together: each waits there for the other.
#[test]
fn p3_users_of_a_room_are_inside_together() {
    for builder in both(2) {
        let house = House::new(builder, 2);
        let together = Arc::new(AtomicUsize::new(0));
        let guard = house.rooms.enter(1).unwrap();
        let waiting: Vec<_> = (0..2)
            .map(|_| {
                let (house, together) = (house.clone(), together.clone());
                thread::spawn(move || {
                    let guard = house.rooms.enter(0).unwrap();
                    together.fetch_add(1, SeqCst);
                    while together.load(SeqCst) < 2 {
                        thread::yield_now();
                    }
                    drop(guard);
                })
            })
            .collect();
        while !format!("{:?}", house.rooms).contains("[2, ") {
            thread::yield_now();
        }
        drop(guard);
        waiting.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(house.closed.load(SeqCst), 2);
    }
}

#[test]
fn p4_somebody_always_gets_on() {
    for builder in both(2) {
        let house = House::new(builder, 2);
        threads(16, move |number| {
            for _ in 0..100 {
                house.rooms.with(number % 2, || house.visit(number % 2)).unwrap();
            }
        });
    }
}

/// Threads that keep a room busy hold nobody up who wants another one.
#[test]
fn p5_no_room_starves() {
    for builder in both(2) {
        let house = House::new(builder, 2);
        let wanted = Arc::new(AtomicUsize::new(0));
        let (busy, seen) = (house.clone(), wanted.clone());
        let crowd = thread::spawn(move || {
            threads(3, move |_| {
                while seen.load(SeqCst) < 50 {
                    busy.rooms.with(0, || busy.visit(0)).unwrap();
                }
            });
        });
        for _ in 0..50 {
            house.rooms.with(1, || house.visit(1)).unwrap();
            wanted.fetch_add(1, SeqCst);
        }
        crowd.join().unwrap();
    }
}

/// As P5, for one who wants the very room that others keep busy.
#[test]
fn p8_no_user_starves() {
    for builder in both(2) {
        let house = House::new(builder, 2);
        let wanted = Arc::new(AtomicUsize::new(0));
        let (busy, seen) = (house.clone(), wanted.clone());
        let crowd = thread::spawn(move || {
            threads(3, move |_| {
                let mut guard = busy.rooms.enter(0).unwrap();
                while seen.load(SeqCst) < 50 {
                    guard.change_to(0).unwrap();
                    busy.visit(0);
                }
            });
        });
        for _ in 0..50 {
            house.rooms.with(0, || house.visit(0)).unwrap();
            wanted.fetch_add(1, SeqCst);
        }
        crowd.join().unwrap();
    }
}

/// Those who wait for a room that is open for long cost no processor time.
#[test]
#[cfg(target_os = "linux")]
fn p11_who_waits_takes_no_steps() {
    for builder in both(2) {
        let house = House::new(builder, 2);
        let guard = house.rooms.enter(0).unwrap();
        let waiters = house.clone();
        let waiting = thread::spawn(move || {
            threads(16, move |number| {
                waiters.rooms.with(number % 2, || waiters.visit(number % 2)).unwrap();
            });
        });
        // On a busy machine it takes them a while to come so far.
        let is_calm = |_| {
            let before = switches();
            thread::sleep(Duration::from_millis(300));
            before > 0 && switches() == before
        };
        thread::sleep(Duration::from_millis(100));
        assert!((0..30).any(is_calm), "who waits runs");
        drop(guard);
        waiting.join().unwrap();
    }
}

/// How often the other threads of this test have gone to sleep: a thread that runs has to.
#[cfg(target_os = "linux")]
fn switches() -> u64 {
    let name = std::fs::read_to_string("/proc/thread-self/comm").unwrap();
    let here = std::fs::read_link("/proc/thread-self").unwrap();
    let of = |path: std::path::PathBuf| {
        let mine = path.ends_with(here.file_name().unwrap());
        // Threads without a name of their own have that of whoever started them.
        let comm = std::fs::read_to_string(path.join("comm")).unwrap_or_default();
        let status = std::fs::read_to_string(path.join("status")).unwrap_or_default();
        let counts = status.lines().filter(|line| line.contains("ctxt_switches"));
        let counts = counts.filter_map(|line| line.split_whitespace().last()?.parse::<u64>().ok());
        if mine || comm != name { 0 } else { counts.sum() }
    };
    std::fs::read_dir("/proc/self/task").unwrap().map(|entry| of(entry.unwrap().path())).sum()
}
