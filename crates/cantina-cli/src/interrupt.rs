//! Ctrl-C: once to stop at the next good moment, twice to stop at once.
//!
//! The handler only sets a flag. Whoever runs for long asks [`requested`] between two steps and
//! ends with [`Failure::Interrupted`](crate::failure::Failure::Interrupted). A second Ctrl-C ends
//! the process, but not in the middle of [`whole`]: files are written entirely or not at all.

use crate::failure::Failure;
use std::process;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Mutex, MutexGuard, PoisonError};

static REQUESTED: AtomicBool = AtomicBool::new(false);
/// Held while something must not be cut off.
static WHOLE: Mutex<()> = Mutex::new(());

/// Takes Ctrl-C over from the operating system.
pub(crate) fn install() -> Result<(), Failure> {
    ctrlc::set_handler(|| {
        if REQUESTED.swap(true, SeqCst) {
            let _whole = hold();
            process::exit(130);
        }
    })
    .map_err(|error| Failure::Failed(format!("cannot listen for Ctrl-C: {error}")))
}

/// Whether somebody wants to stop.
pub(crate) fn requested() -> bool {
    REQUESTED.load(SeqCst)
}

/// Runs something that not even a second Ctrl-C cuts off.
pub(crate) fn whole<R>(run: impl FnOnce() -> R) -> R {
    let _whole = hold();
    run()
}

fn hold() -> MutexGuard<'static, ()> {
    WHOLE.lock().unwrap_or_else(PoisonError::into_inner)
}
