//! Threads, and where they run.

pub use std::thread::{Builder, JoinHandle, panicking, sleep, spawn, yield_now};

use crate::os;
use crate::topology::CoreId;
use std::cell::Cell;
use std::fmt;
use std::sync::OnceLock;

/// The calling thread cannot be bound to that core.
#[derive(Debug)]
pub struct PinError {
    core: CoreId,
    reason: String,
}

/// Tells the processor that this is a spin loop.
#[inline(always)]
pub fn spin_loop() {
    std::hint::spin_loop();
}

/// How many threads of this process can run at once, as far as the operating system tells, whichever of them asks: one that is pinned to a
/// core, too. Read once, when first asked for: it takes some files to know.
pub fn available_parallelism() -> usize {
    static DETECTED: OnceLock<usize> = OnceLock::new();
    *DETECTED.get_or_init(|| os::parallelism(own_parallelism()))
}

/// How many threads can run at once of those that the calling one starts, which have its cores: as it is now.
pub fn own_parallelism() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Binds the calling thread to `core`, until it ends or is bound to another.
///
/// # Errors
/// Where the operating system has no such core, forbids it, or cannot bind threads at all (macOS).
pub fn pin_to(core: CoreId) -> Result<(), PinError> {
    os::pin_to(core).map_err(|reason| PinError { core, reason })
}

thread_local! {
    static WORD: Cell<usize> = const { Cell::new(0) };
}

/// The calling thread's own word: 0 until it is set.
#[inline]
pub fn word() -> usize {
    WORD.get()
}

/// Sets the calling thread's own word.
#[inline]
pub fn set_word(word: usize) {
    WORD.set(word);
}

/// The core the calling thread runs on right now, where the operating system tells.
pub fn current_core() -> Option<CoreId> {
    os::current_core()
}

impl fmt::Display for PinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot bind the thread to {}: {}", self.core, self.reason)
    }
}

impl std::error::Error for PinError {}

#[cfg(test)]
mod tests {
    use super::{current_core, pin_to, set_word, word};
    use crate::topology::{CoreId, Topology};

    #[test]
    fn a_pinned_thread_runs_where_it_was_told() {
        for core in Topology::detect().cores() {
            let ran = std::thread::spawn(move || pin_to(core).map(|()| current_core())).join();
            if let Ok(at) = ran.unwrap() {
                assert!(at.is_none_or(|at| at == core));
            }
        }
    }

    #[test]
    fn each_thread_has_a_word_of_its_own() {
        assert_eq!(word(), 0);
        set_word(1);
        assert_eq!(std::thread::spawn(word).join().unwrap(), 0);
        assert_eq!(word(), 1);
    }

    #[test]
    fn a_core_that_does_not_exist_is_refused() {
        let error = std::thread::spawn(|| pin_to(CoreId(1_000_000))).join().unwrap().unwrap_err();
        assert!(error.to_string().contains("core 1000000"), "{error}");
    }
}
