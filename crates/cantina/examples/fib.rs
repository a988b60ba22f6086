//! Fibonacci numbers as the paper computes them: each call is two operations and one that waits for both.
//!
//! `cargo run --release --example fib -- 25`

use cantina::scheduler::{Handle, Runtime, Tail};
use std::time::Instant;

fn fib(runtime: &Handle, number: u64) -> Tail<u64> {
    if number < 2 {
        return number.into();
    }
    let part = |less: u64| {
        let handle = runtime.clone();
        runtime.spawn_tail(move || fib(&handle, number - less))
    };
    runtime.tail((part(1), part(2)), |(one, two)| one + two)
}

/// The same, one number after the other.
fn expected(number: u64) -> u64 {
    (0..number).fold((0, 1), |(this, next), _| (next, this + next)).0
}

fn main() {
    let number = std::env::args().nth(1).map_or(15, |text| text.parse().expect("a number"));
    let runtime = Runtime::new();
    let begin = Instant::now();
    let handle = runtime.handle();
    let value = runtime.spawn_tail(move || fib(&handle, number));
    let value = value.wait().expect("no operation fails");
    let took = begin.elapsed();
    assert_eq!(value, expected(number));
    println!("fib({number}) = {value}, {took:?}");
    println!("{} operations", runtime.metrics().operations());
}
