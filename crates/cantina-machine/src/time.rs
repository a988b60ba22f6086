//! The clock. Virtual on the simulated machine.

pub use std::time::{Duration, Instant};

use std::sync::OnceLock;

/// Nanoseconds since some instant of this process: the same clock on every thread.
pub fn nanos() -> u64 {
    static ORIGIN: OnceLock<Instant> = OnceLock::new();
    ORIGIN.get_or_init(Instant::now).elapsed().as_nanos() as u64
}
