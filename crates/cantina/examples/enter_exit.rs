//! What it costs to enter a room and to leave it where nobody else is, beside a lock of parking_lot that is taken and released.
//!
//! `cargo run --release -p cantina --example enter_exit` takes the time of both, in turn, and shows the medians.
//!
//! `enter_exit WHAT PAIRS` does only `rooms`, `stack` (a push and a pop) or `lock`, so many times: for `ci/deep.sh instructions` to count.

use cantina::rooms::{RoomStack, Rooms};
use parking_lot::Mutex;
use std::env;
use std::hint::black_box;
use std::time::Instant;

/// How often each is timed, and how many pairs each time.
const ROUNDS: usize = 101;
const PAIRS: u64 = 100_000;

#[inline(never)]
fn rooms(pairs: u64) {
    let rooms = Rooms::new(2);
    for _ in 0..pairs {
        let guard = black_box(&rooms).enter(black_box(0)).expect("there is such a room");
        black_box(&guard);
    }
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

fn main() {
    let mut arguments = env::args().skip(1);
    let Some(what) = arguments.next() else {
        let both: Vec<(f64, f64)> = (0..ROUNDS).map(|_| (time(rooms), time(lock))).collect();
        let (entered, locked): (Vec<f64>, Vec<f64>) = both.into_iter().unzip();
        let (entered, locked) = (median(entered), median(locked));
        println!("enter and leave: {entered:.1} ns; lock and unlock: {locked:.1} ns");
        println!("{:.2} times", entered / locked);
        return;
    };
    let pairs = arguments.next().map_or(Ok(PAIRS), |pairs| pairs.parse());
    let pairs = pairs.expect("the number of pairs is a number");
    match what.as_str() {
        "rooms" => rooms(pairs),
        "stack" => stack(pairs),
        "lock" => lock(pairs),
        _ => panic!("no {what}: rooms, stack or lock"),
    }
}
