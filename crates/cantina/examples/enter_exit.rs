//! What it costs to enter a room and to leave it where nobody else is, beside a lock of parking_lot that is taken and released.
//!
//! `cargo run --release -p cantina --example enter_exit` takes the time of each, in turn, and shows the medians: also of rooms that are counted,
//! as they are from four rooms on, with two and with four.
//!
//! `enter_exit crowd THREADS` has so many threads enter rooms by chance: three in one word, three that are counted, and four.
//!
//! `enter_exit WHAT PAIRS` does only `rooms`, `counted` (four rooms), `stack` (a push and a pop) or `lock`, so many times: for
//! `ci/deep.sh instructions` to count.

use cantina::rooms::{RoomStack, Rooms};
use parking_lot::Mutex;
use std::env;
use std::hint::black_box;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::thread;
use std::time::{Duration, Instant};

/// How often each is timed, and how many pairs each time.
const ROUNDS: usize = 101;
const PAIRS: u64 = 100_000;

/// Milliseconds that a crowd works each time.
const CROWD: u64 = 20;

/// So many rooms, which are counted from four on and where that is wanted.
fn so_many(rooms: usize, counted: bool) -> Rooms {
    Rooms::builder(rooms).counted(counted).build().expect("at least one room")
}

fn visits(rooms: &Rooms, pairs: u64) {
    for _ in 0..pairs {
        let guard = black_box(rooms).enter(black_box(0)).expect("there is such a room");
        black_box(&guard);
    }
}

#[inline(never)]
fn rooms(pairs: u64) {
    visits(&so_many(2, false), pairs);
}

#[inline(never)]
fn two_counted(pairs: u64) {
    visits(&so_many(2, true), pairs);
}

#[inline(never)]
fn counted(pairs: u64) {
    visits(&so_many(4, true), pairs);
}

#[inline(never)]
fn stack(pairs: u64) {
    let stack = RoomStack::new();
    for task in 0..pairs {
        black_box(&stack).push(task);
        black_box(black_box(&stack).pop());
    }
}

#[inline(never)]
fn lock(pairs: u64) {
    let lock = Mutex::new(());
    for _ in 0..pairs {
        let guard = black_box(&lock).lock();
        black_box(&guard);
    }
}

/// Nanoseconds of a pair.
fn time(pairs: fn(u64)) -> f64 {
    let start = Instant::now();
    pairs(PAIRS);
    start.elapsed().as_nanos() as f64 / PAIRS as f64
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Million visits per second of so many threads that go to rooms by chance, and do next to nothing there.
fn crowd(rooms: &Rooms, threads: usize) -> f64 {
    let (end, all) = (AtomicBool::new(false), AtomicU64::new(0));
    let start = Instant::now();
    thread::scope(|scope| {
        for seed in 1..=threads as u64 {
            let (end, all) = (&end, &all);
            scope.spawn(move || {
                let (mut random, mut visits) = (seed.wrapping_mul(0x9e37_79b9_7f4a_7c15), 0);
                while !end.load(Relaxed) {
                    // Xorshift: Marsaglia 2003.
                    random ^= random << 13;
                    random ^= random >> 7;
                    random ^= random << 17;
                    let room = random as usize % rooms.rooms();
                    rooms.with(room, || black_box(room)).expect("there is such a room");
                    visits += 1;
                }
                all.fetch_add(visits, Relaxed);
            });
        }
        thread::sleep(Duration::from_millis(CROWD));
        end.store(true, Relaxed);
    });
    all.into_inner() as f64 / start.elapsed().as_micros() as f64
}

fn crowds(threads: usize) {
    let all = [(3, false), (3, true), (4, true)];
    let rooms = all.map(|(rooms, counted)| so_many(rooms, counted));
    let rounds: Vec<[f64; 3]> =
        (0..ROUNDS).map(|_| [0, 1, 2].map(|form| crowd(&rooms[form], threads))).collect();
    for (form, (rooms, counted)) in all.into_iter().enumerate() {
        let visits = median(rounds.iter().map(|round| round[form]).collect());
        let what = if counted { "counted" } else { "in one word" };
        println!("{threads} threads, {rooms} rooms, {what}: {visits:.2} M visits/s");
    }
}

fn main() {
    let mut arguments = env::args().skip(1);
    let Some(what) = arguments.next() else {
        let all = [rooms, lock, two_counted, counted];
        let rounds: Vec<[f64; 4]> = (0..ROUNDS).map(|_| all.map(time)).collect();
        let of = |what: usize| median(rounds.iter().map(|round| round[what]).collect());
        let (entered, locked) = (of(0), of(1));
        println!("enter and leave: {entered:.1} ns; lock and unlock: {locked:.1} ns");
        println!("{:.2} times", entered / locked);
        println!("counted: two rooms {:.1} ns, four {:.1} ns", of(2), of(3));
        return;
    };
    let number = arguments.next().map(|number| number.parse().expect("it is a number"));
    match what.as_str() {
        "rooms" => rooms(number.unwrap_or(PAIRS)),
        "counted" => counted(number.unwrap_or(PAIRS)),
        "stack" => stack(number.unwrap_or(PAIRS)),
        "lock" => lock(number.unwrap_or(PAIRS)),
        "crowd" => crowds(number.unwrap_or(2) as usize),
        _ => panic!("no {what}: rooms, counted, stack, lock or crowd"),
    }
}
