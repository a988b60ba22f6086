//! Threads. They run nowhere in particular.

pub use cantina_machine::thread::PinError;
pub use loom::thread::{Builder, JoinHandle, spawn, yield_now};
pub use std::thread::panicking;

use crate::time::{self, Duration};
use crate::topology::CoreId;
use std::cell::Cell;

/// Lets the others go on.
pub fn spin_loop() {
    yield_now();
}

/// Lets the others go on; then it is that much later.
pub fn sleep(duration: Duration) {
    yield_now();
    time::pass(duration);
}

/// As many threads as a small model has.
pub fn available_parallelism() -> usize {
    2
}

/// As [`available_parallelism`].
pub fn own_parallelism() -> usize {
    available_parallelism()
}

/// Any core will do.
///
/// # Errors
/// Never.
pub fn pin_to(_: CoreId) -> Result<(), PinError> {
    Ok(())
}

loom::thread_local! {
    static WORD: Cell<usize> = Cell::new(0);
}

/// The calling thread's own word: 0 until it is set.
pub fn word() -> usize {
    WORD.with(Cell::get)
}

/// Sets the calling thread's own word.
pub fn set_word(word: usize) {
    WORD.with(|own| own.set(word));
}

/// Nowhere in particular.
pub fn current_core() -> Option<CoreId> {
    None
}
