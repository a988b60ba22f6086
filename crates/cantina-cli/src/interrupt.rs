//! Ctrl-C: once to stop at the next good moment, or soon, twice to stop at once.
//!
//! The handler sets a flag. Whoever runs for long asks [`requested`] between two steps and
//! ends with [`Failure::Interrupted`](crate::failure::Failure::Interrupted). Who is in the middle of a long step has
//! [`GRACE`]; then the process ends in the same way, as it does with a second Ctrl-C. But not in the middle of [`whole`]: files
//! are written entirely or not at all, and when they are, it ends as if nobody had interrupted.

use crate::failure::Failure;
use std::io::Write;
use std::process;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

static REQUESTED: AtomicBool = AtomicBool::new(false);
/// Held while something must not be cut off. Whether that has been done.
static WHOLE: Mutex<bool> = Mutex::new(false);
/// Whether it has been told that nothing was written. Held while it is told.
static TOLD: Mutex<bool> = Mutex::new(false);
/// How long a step may take that does not ask.
const GRACE: Duration = Duration::from_millis(700);

/// Takes Ctrl-C over from the operating system.
pub(crate) fn install() -> Result<(), Failure> {
    listen(tell)
}

/// The same for a process that ends without a word: whoever has started it hears the same Ctrl-C, and tells of it.
pub(crate) fn install_silently() -> Result<(), Failure> {
    listen(|| {})
}

/// Tells that nothing was written, whoever comes to say so first: the command that stops, or its time being up.
pub(crate) fn tell() {
    let mut told = TOLD.lock().unwrap_or_else(PoisonError::into_inner);
    if !std::mem::replace(&mut *told, true) {
        // Where nobody listens the exit code still tells.
        let _ = writeln!(std::io::stderr(), "error: {}", Failure::Interrupted);
    }
}

fn listen(last_word: fn()) -> Result<(), Failure> {
    ctrlc::set_handler(move || {
        if REQUESTED.swap(true, SeqCst) {
            let _whole = hold();
            process::exit(i32::from(Failure::INTERRUPTED));
        }
        thread::spawn(move || {
            thread::sleep(GRACE);
            let is_written = hold();
            if !*is_written {
                last_word();
                process::exit(i32::from(Failure::INTERRUPTED));
            }
        });
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

/// The same, for what the command was run for: once that is written, it ends as if nobody had interrupted.
pub(crate) fn writes<R>(run: impl FnOnce() -> R) -> R {
    let mut is_written = hold();
    let result = run();
    *is_written = true;
    result
}

fn hold() -> MutexGuard<'static, bool> {
    WHOLE.lock().unwrap_or_else(PoisonError::into_inner)
}
