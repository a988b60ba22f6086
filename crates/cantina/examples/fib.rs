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

fn main() {
    let number = std::env::args().nth(1).map_or(15, |text| text.parse().expect("a number"));
    let runtime = Runtime::new();
    let begin = Instant::now();
    let handle = runtime.handle();
    let value = runtime.spawn_tail(move || fib(&handle, number));
    let value = value.wait().expect("no operation fails");
    println!("fib({number}) = {value}, {:?}", begin.elapsed());
    println!("{} operations", runtime.metrics().operations());
}
