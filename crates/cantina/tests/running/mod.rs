//! A runtime, and operations that do something unusual, for tests of the scheduler.

#![allow(dead_code, reason = "not everybody needs all of it")]

use cantina::scheduler::Runtime;
use machine::park::{Parker, Unparker};
use std::panic::resume_unwind;
use std::time::Duration;

/// Nobody waits that long, unless something is wrong.
pub(crate) const LONG: Duration = Duration::from_secs(30);

/// With so many workers.
pub(crate) fn runtime(workers: usize) -> Runtime {
    Runtime::builder().workers(workers).build().unwrap()
}

/// Panics, and prints nothing.
pub(crate) fn fails<T>(why: &str) -> T {
    resume_unwind(Box::new(why.to_owned()))
}

/// Keeps the only worker of `runtime` busy, from the time this returns until it is let go.
pub(crate) fn blocked(runtime: &Runtime) -> Unparker {
    let (waits, begins) = (Parker::new(), Parker::new());
    let (lets_go, begun) = (waits.unparker(), begins.unparker());
    drop(runtime.spawn(move || {
        begun.unpark();
        waits.park();
    }));
    begins.park();
    lets_go
}
