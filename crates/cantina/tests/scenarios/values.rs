//! Values that arrive, their handles and those of units, of a runtime without workers.

use cantina::scheduler::{Argument, Eventual, Runtime, WaitError};
use cantina_effort::scenario::Scenario;
use machine::atomic::AtomicUsize;
use machine::atomic::Ordering::Relaxed;
use machine::cell::UnsafeCell;
use machine::time::Duration;
use machine::{Arc, Topology, thread};

/// Loom tries them with more preemptions than it has for workers.
pub(crate) const ALL: [Scenario; 15] = [
    ("a value arrives while somebody waits", a_value_arrives_while_somebody_waits),
    ("clones share a value", clones_share_a_value),
    ("a nested value meets the end", a_nested_value_meets_the_end),
    ("an inner value comes as it is asked", an_inner_value_comes_as_it_is_asked),
    ("two wakers meet a value", two_wakers_meet_a_value),
    ("two wait with one handle", two_wait_with_one_handle),
    ("a handle goes while its value comes", a_handle_goes_while_its_value_comes),
    ("a handle is copied while it is read", a_handle_is_copied_while_it_is_read),
    ("a handle goes beside one that was read", a_handle_goes_beside_one_that_was_read),
    ("an argument is resolved beside a copy", an_argument_is_resolved_beside_a_copy),
    ("two handles go while their value comes", two_handles_go_while_their_value_comes),
    ("a used handle is copied while another goes", a_used_handle_is_copied_while_another_goes),
    ("a used handle is copied beside an argument", a_used_handle_is_copied_beside_an_argument),
    ("what was spawned meets the end", what_was_spawned_meets_the_end),
    ("a weak handle meets the last one", a_weak_handle_meets_the_last_one),
];

fn runtime() -> Runtime {
    Runtime::builder().topology(Topology::mock(1, 1)).without_workers()
}

/// A value of which a model knows who makes it, who copies it and who drops it.
struct Seven(UnsafeCell<usize>);

// SAFETY: copied by several at a time, changed when nobody else has it: what is tried here.
unsafe impl Send for Seven {}
// SAFETY: as above.
unsafe impl Sync for Seven {}

impl Seven {
    fn new() -> Self {
        Self(UnsafeCell::new(7))
    }

    fn get(&self) -> usize {
        // SAFETY: as above.
        self.0.with(|seven| unsafe { *seven })
    }
}

impl Clone for Seven {
    fn clone(&self) -> Self {
        Self(UnsafeCell::new(self.get()))
    }
}

impl Drop for Seven {
    fn drop(&mut self) {
        // SAFETY: as above.
        self.0.with_mut(|seven| unsafe { *seven = 0 });
    }
}

/// What is in a handle that has its value.
fn seven(value: Option<Result<Seven, WaitError>>) -> Option<Result<usize, WaitError>> {
    value.map(|value| value.map(|seven| seven.get()))
}

fn a_value_arrives_while_somebody_waits() {
    let runtime = runtime();
    let (promise, eventual) = runtime.promise();
    let keeps = thread::spawn(move || promise.keep(Box::new(7)));
    assert_eq!(eventual.wait(), Ok(Box::new(7)));
    keeps.join().unwrap();
}

fn clones_share_a_value() {
    let runtime = runtime();
    let (promise, eventual) = runtime.promise();
    let theirs = eventual.clone();
    promise.keep(Box::new(7));
    let other = thread::spawn(move || theirs.wait());
    assert_eq!(eventual.wait(), Ok(Box::new(7)));
    assert_eq!(other.join().unwrap(), Ok(Box::new(7)));
}

/// What waits for the inner value of a nested one is resolved when the runtime goes, also while it turns to it.
fn a_nested_value_meets_the_end() {
    let runtime = runtime();
    let (promise, outer) = runtime.promise();
    let (never, inner) = runtime.promise::<u8>();
    let flat = outer.flatten();
    let keeps = thread::spawn(move || promise.keep(inner));
    drop(runtime);
    assert_eq!(flat.wait(), Err(WaitError::Cancelled));
    keeps.join().unwrap();
    drop(never);
}

/// What has waited for the outer value, and was listed for that, turns to the inner one, which may come meanwhile.
fn an_inner_value_comes_as_it_is_asked() {
    let runtime = runtime();
    let (promise, outer) = runtime.promise();
    let (inner_promise, inner) = runtime.promise();
    let flat = outer.flatten();
    let keeps = thread::spawn(move || promise.keep(inner));
    inner_promise.keep(Box::new(7));
    assert_eq!(flat.wait(), Ok(Box::new(7)));
    keeps.join().unwrap();
}

/// Two threads wait with one handle: the value goes to one of them, and the other one learns that it has gone.
fn two_wakers_meet_a_value() {
    let runtime = runtime();
    let (promise, eventual) = runtime.promise();
    let eventual = Arc::new(eventual);
    let theirs = eventual.clone();
    let other = thread::spawn(move || theirs.try_get());
    promise.keep(Box::new(7));
    let (mine, theirs) = (eventual.try_get(), other.join().unwrap());
    let got = |value: &Option<Result<Box<u8>, _>>| matches!(value, Some(Ok(seven)) if **seven == 7);
    assert!(got(&mine) != got(&theirs), "{mine:?} {theirs:?}");
}

/// One of them has the value, the other one learns that it has gone: neither sleeps on.
fn two_wait_with_one_handle() {
    let runtime = runtime();
    let (promise, eventual) = runtime.promise();
    let eventual = Arc::new(eventual);
    let theirs = eventual.clone();
    let other = thread::spawn(move || theirs.wait_timeout(Duration::MAX));
    let keeps = thread::spawn(move || promise.keep(7));
    let values = [eventual.wait_timeout(Duration::MAX), other.join().unwrap()];
    keeps.join().unwrap();
    let (value, taken) = (Some(Ok(7)), Some(Err(WaitError::Taken)));
    assert!(values.contains(&value) && values.contains(&taken), "{values:?}");
}

/// Whoever comes second drops the value, and frees the place.
fn a_handle_goes_while_its_value_comes() {
    let runtime = runtime();
    let (promise, eventual) = runtime.promise();
    let value = Arc::new(7);
    let theirs = value.clone();
    let keeps = thread::spawn(move || promise.keep(theirs));
    drop(eventual);
    keeps.join().unwrap();
    assert_eq!(Arc::strong_count(&value), 1);
}

/// The copy is made by way of the same handle, which is read meanwhile: who finds two handles knows how to copy.
fn a_handle_is_copied_while_it_is_read() {
    let runtime = runtime();
    let (promise, eventual) = runtime.promise();
    promise.keep(Seven::new());
    let eventual = Arc::new(eventual);
    let theirs = eventual.clone();
    let other = thread::spawn(move || seven((*theirs).clone().try_get()));
    assert_eq!(seven(eventual.try_get()), Some(Ok(7)));
    assert!(matches!(other.join().unwrap(), Some(Ok(7) | Err(WaitError::Taken))));
}

/// One has copied the value, or taken it, and goes; the other one goes without.
fn a_handle_goes_beside_one_that_was_read() {
    let runtime = runtime();
    let (promise, eventual) = runtime.promise();
    promise.keep(Seven::new());
    let theirs = eventual.clone();
    let other = thread::spawn(move || {
        assert_eq!(seven(theirs.try_get()), Some(Ok(7)));
        drop(theirs);
    });
    drop(eventual);
    other.join().unwrap();
}

/// An operation has the value as its argument, which it moves out or copies while another one copies it.
fn an_argument_is_resolved_beside_a_copy() {
    let runtime = runtime();
    let (promise, eventual) = runtime.promise();
    promise.keep(Seven::new());
    let theirs = eventual.clone();
    // It carries nothing: so that a model tries who comes first.
    let first = Arc::new(AtomicUsize::new(0));
    let comes = first.clone();
    let other = thread::spawn(move || {
        let value = seven(theirs.try_get());
        comes.store(1, Relaxed);
        value
    });
    first.load(Relaxed);
    assert_eq!(seven(Some(eventual.resolve())), Some(Ok(7)));
    assert_eq!(other.join().unwrap(), Some(Ok(7)));
}

/// A handle is used up and copied at the same time, while `last` does something with the only other one: the copy has the
/// value, or learns that it has gone, and nobody has it twice.
fn used_and_copied(last: impl FnOnce(Eventual<Seven>)) {
    let runtime = runtime();
    let (promise, eventual) = runtime.promise();
    promise.keep(Seven::new());
    let other = eventual.clone();
    let eventual = Arc::new(eventual);
    let (used, copied) = (eventual.clone(), eventual);
    let uses = thread::spawn(move || seven(used.try_get()));
    let copies = thread::spawn(move || seven((*copied).clone().try_get()));
    last(other);
    assert_eq!(uses.join().unwrap(), Some(Ok(7)));
    assert!(matches!(copies.join().unwrap(), Some(Ok(7) | Err(WaitError::Taken))));
}

fn a_used_handle_is_copied_while_another_goes() {
    used_and_copied(drop);
}

fn a_used_handle_is_copied_beside_an_argument() {
    used_and_copied(|other| assert_eq!(seven(Some(Argument::resolve(other))), Some(Ok(7))));
}

/// Whoever is the last drops the value.
fn two_handles_go_while_their_value_comes() {
    let runtime = runtime();
    let (promise, eventual) = runtime.promise();
    let theirs = eventual.clone();
    let value = Arc::new(7);
    let held = value.clone();
    let keeps = thread::spawn(move || promise.keep((Seven::new(), held)));
    let goes = thread::spawn(move || drop(theirs));
    drop(eventual);
    goes.join().unwrap();
    keeps.join().unwrap();
    assert_eq!(Arc::strong_count(&value), 1);
}

/// Whoever ends the runtime fails what another thread has spawned, or that one does.
fn what_was_spawned_meets_the_end() {
    let runtime = runtime();
    let handle = runtime.handle();
    let spawns = thread::spawn(move || handle.spawn(|| 7));
    drop(runtime);
    let fails = |error| matches!(error, WaitError::Cancelled | WaitError::Closed);
    assert!(spawns.join().unwrap().wait().is_err_and(fails));
}

/// Whoever drops the last strong handle knows of the weak one, which another thread has made: the state goes.
fn a_weak_handle_meets_the_last_one() {
    let runtime = runtime();
    let state = Arc::new(());
    let unit = runtime.unit(state.clone());
    let theirs = unit.clone();
    let weak = thread::spawn(move || theirs.downgrade());
    drop(unit);
    let weak = weak.join().unwrap();
    drop(runtime);
    assert!(weak.upgrade().is_none());
    assert_eq!(Arc::strong_count(&state), 1);
}
