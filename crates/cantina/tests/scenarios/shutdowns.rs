//! The scheduler: shutdowns that have time for all there is.

use super::scheduler::runtime;
use cantina::scheduler::Eventual;
use cantina_effort::scenario::Scenario;
use machine::time::Duration;

pub(crate) const ALL: [Scenario; 5] = [
    ("a shutdown runs what an operation that blocks sends", a_shutdown_runs_what_blocks_sends),
    ("a shutdown meets what blocks", a_shutdown_meets_what_blocks),
    ("a shutdown meets what was just spawned", || a_shutdown_meets_what_was_just_spawned(1)),
    ("a shutdown meets what was just spawned for two", || {
        a_shutdown_meets_what_was_just_spawned(2)
    }),
    ("a shutdown meets a value that has just come", a_shutdown_meets_a_value_that_has_just_come),
];

/// An operation that blocks, one that it causes, and one that blocks again which that one causes: all of them end before
/// the runtime does, and what waits for the last one too. (A shutdown that looks only
/// once at what blocks ends too early on the simulated machine's schedule 26,705.)
fn a_shutdown_meets_what_blocks() {
    let runtime = runtime(1);
    let unit = runtime.unit(0);
    let handle = runtime.handle();
    let first = runtime.spawn_blocking(|| 1);
    let last = unit.send_after(first, move |state, one| {
        *state += one;
        let sum = *state;
        handle.spawn_blocking(move || sum + 1)
    });
    let sum = unit.send_after(last.flatten(), |state, two| *state + two);
    assert!(runtime.shutdown(Duration::MAX).is_nothing(), "there was time");
    assert_eq!(sum.wait(), Ok(3));
}

/// What blocks sends to a unit, spawns, and begins what blocks again, before the runtime closes or behind.
fn a_shutdown_runs_what_blocks_sends() {
    let runtime = runtime(1);
    let unit = runtime.unit(0);
    let (theirs, handle) = (unit.clone(), runtime.handle());
    let spawned = runtime.spawn_blocking(move || {
        theirs.tell(|state| *state += 1);
        let inner = handle.clone();
        handle.spawn_blocking(move || inner.spawn(|| 2)).flatten()
    });
    assert!(runtime.shutdown(Duration::MAX).is_nothing(), "there was time");
    assert_eq!(spawned.wait().map(Eventual::wait), Ok(Ok(2)));
    assert_eq!(unit.metrics().messages, 1);
}

/// A worker that is about to sleep takes it, while the shutdown looks: it has time to spawn another one.
fn a_shutdown_meets_what_was_just_spawned(workers: usize) {
    let runtime = runtime(workers);
    let handle = runtime.handle();
    let spawned = runtime.spawn(move || handle.spawn(|| 2));
    assert!(runtime.shutdown(Duration::MAX).is_nothing(), "there was time");
    assert_eq!(spawned.wait().map(Eventual::wait), Ok(Ok(2)));
}

/// The same with what has waited for it, and what that sends to a unit.
fn a_shutdown_meets_a_value_that_has_just_come() {
    let runtime = runtime(2);
    let (unit, (promise, value)) = (runtime.unit(1), runtime.promise());
    let sent = runtime.after(value, move |two: i32| unit.send(move |state| *state + two));
    promise.keep(2);
    assert!(runtime.shutdown(Duration::MAX).is_nothing(), "there was time");
    assert_eq!(sent.wait().map(Eventual::wait), Ok(Ok(3)));
}
