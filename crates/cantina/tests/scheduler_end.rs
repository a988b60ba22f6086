//! How a runtime ends, what blocks there, and what is told to one that takes no more.

mod running;

use cantina::scheduler::{Eventual, Promise, Refused, Runtime, WaitError};
use machine::lock::Mutex;
use machine::park::Parker;
use running::{LONG, blocked, fails, runtime};
use std::collections::HashSet;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{Sender, channel};
use std::task::{Context, Wake, Waker};
use std::time::Duration;

#[test]
fn a_shutdown_waits_for_what_blocks_and_for_what_that_causes() {
    let runtime = Runtime::builder().workers(2).blocking_threads(1).build().unwrap();
    let unit = runtime.unit(0);
    let (opens, gate) = channel::<()>();
    let first = runtime.spawn_blocking(move || gate.recv().is_ok());
    // It waits for the only thread.
    let second = runtime.spawn_blocking(|| 2);
    let sum = unit.send_after((first, second), |state, (opened, two)| {
        *state += u32::from(opened) + two;
        *state
    });
    let handle = runtime.handle();
    let third = unit.send(move |_| handle.spawn_blocking(|| 4)).flatten();
    let ends = std::thread::spawn(move || runtime.shutdown(LONG));
    opens.send(()).unwrap();
    assert!(ends.join().unwrap().is_nothing());
    assert_eq!((sum.wait(), third.wait()), (Ok(3), Ok(4)));
}

/// It is no operation from outside: others are not taken meanwhile.
#[test]
fn a_shutdown_runs_what_an_operation_that_blocks_sends() {
    let runtime = runtime(1);
    let unit = runtime.unit(0);
    let (handle, theirs) = (runtime.handle(), unit.clone());
    let (opens, gate) = channel::<()>();
    let blocks = runtime.spawn_blocking(move || {
        gate.recv().unwrap();
        theirs.tell(|state| *state += 1);
        theirs.sender().tell(|state| *state += 10);
        handle.spawn(|| 5)
    });
    let outside = runtime.handle();
    let ends = std::thread::spawn(move || runtime.shutdown(LONG));
    while outside.spawn(|| ()).wait().is_ok() {}
    opens.send(()).unwrap();
    assert!(ends.join().unwrap().is_nothing());
    assert_eq!(blocks.wait().map(Eventual::wait), Ok(Ok(5)));
    assert_eq!(unit.metrics().messages, 2);
}

#[test]
fn what_is_told_to_a_runtime_that_has_stopped_comes_back() {
    let runtime = runtime(1);
    let unit = runtime.unit(0);
    let (sender, handle) = (unit.sender(), runtime.handle());
    drop(runtime);
    let told = Arc::new(());
    for _ in 0..2 {
        let theirs = told.clone();
        let back = unit.try_tell(move |_| drop(theirs)).unwrap_err();
        assert!(back.is_closed());
        let back = sender.try_tell(back.into_inner()).unwrap_err();
        assert!(matches!(back, Refused::Closed(_)), "{back:?}");
        assert_eq!(back.to_string(), WaitError::Closed.to_string());
    }
    assert_eq!(Arc::strong_count(&told), 1);
    assert_eq!(unit.try_send(|_| ()).unwrap().wait(), Err(WaitError::Closed));
    // What nobody is told of is counted.
    assert_eq!(handle.metrics().dropped_tells, 0);
    unit.tell(|_| ());
    sender.tell(|_| ());
    assert_eq!(handle.metrics().dropped_tells, 2);
}

/// A unit that has room for one, and a runtime that takes nothing more: it is not for want of room.
#[test]
fn what_is_told_to_a_full_unit_of_a_runtime_that_has_stopped_is_refused_for_good() {
    let runtime = runtime(1);
    let lets_go = blocked(&runtime);
    let unit = runtime.unit_builder().capacity(1).build(());
    assert!(unit.try_tell(|()| ()).is_ok());
    assert!(!unit.try_tell(|()| ()).unwrap_err().is_closed());
    let ends = std::thread::spawn(move || drop(runtime));
    while !unit.try_tell(|()| ()).is_err_and(|refused| refused.is_closed()) {
        std::thread::yield_now();
    }
    lets_go.unpark();
    ends.join().unwrap();
}

#[test]
fn what_is_told_to_a_poisoned_unit_is_counted() {
    let runtime = runtime(1);
    let unit = runtime.unit(());
    unit.tell(|()| fails("poison"));
    unit.tell(|()| ());
    assert_eq!(unit.send(|()| ()).wait(), Err(WaitError::Poisoned));
    assert_eq!(runtime.metrics().dropped_tells, 1);
}

/// It does not wait for itself, but for all others.
#[test]
fn an_operation_that_blocks_shuts_its_own_runtime_down() {
    let runtime = Runtime::builder().workers(1).blocking_threads(2).build().unwrap();
    let handle = runtime.handle();
    let (opens, gate) = channel::<()>();
    let (gives, given) = channel::<Runtime>();
    let other = runtime.spawn_blocking(move || gate.recv().is_ok());
    let ends =
        runtime.spawn_blocking(move || given.recv().unwrap().shutdown(Duration::MAX).is_nothing());
    gives.send(runtime).unwrap();
    while handle.spawn(|| ()).wait().is_ok() {}
    opens.send(()).unwrap();
    assert_eq!((other.wait(), ends.wait()), (Ok(true), Ok(true)));
}

/// A value that is no `Clone` is dropped once, whoever has a handle to it.
#[test]
fn two_runtimes_end_each_other() {
    let (one, other) = (runtime(1), runtime(1));
    let (tells, told) = channel();
    let ends = |runtime: &Runtime, end: fn(Runtime)| {
        let (gives, given) = channel();
        let tells = tells.clone();
        drop(runtime.spawn(move || {
            tells.send("begun").unwrap();
            end(given.recv().unwrap());
            tells.send("ended").unwrap();
        }));
        assert_eq!(told.recv_timeout(LONG), Ok("begun"));
        gives
    };
    let (to_one, to_other) = (ends(&one, drop), ends(&other, |one| drop(one.shutdown(LONG))));
    to_one.send(other).unwrap();
    to_other.send(one).unwrap();
    for _ in 0..2 {
        assert_eq!(told.recv_timeout(LONG), Ok("ended"));
    }
}

#[test]
fn what_is_shared_comes_to_all_or_fails_for_all() {
    struct Value(Arc<()>);
    let runtime = runtime(1);
    let counter = Arc::new(());
    let theirs = counter.clone();
    let shared = runtime.spawn(move || Value(theirs)).share();
    let other = shared.clone();
    let (here, there) = (shared.wait().unwrap(), other.wait().unwrap());
    assert!(Arc::ptr_eq(&here.0, &there.0) && Arc::strong_count(&counter) == 2);
    drop((here, there));
    assert_eq!(Arc::strong_count(&counter), 1);

    let panicked = runtime.spawn(|| fails::<Value>("no")).share();
    assert!(matches!(panicked.clone().wait(), Err(WaitError::Panicked(_))));
    assert!(matches!(panicked.wait(), Err(WaitError::Panicked(_))));

    // Sharing is an operation: what takes none more gives none, and drops the value.
    let theirs = counter.clone();
    let late = runtime.spawn(move || Value(theirs));
    assert!(runtime.shutdown(LONG).is_nothing());
    let late = late.share();
    assert!(matches!(late.clone().wait(), Err(WaitError::Closed)));
    assert!(matches!(late.wait(), Err(WaitError::Closed)));
    assert_eq!(Arc::strong_count(&counter), 1);
}

#[test]
fn blocking_operations_share_a_few_threads_and_queued_ones_are_cancelled() {
    let runtime = Runtime::builder().workers(1).blocking_threads(2).build().unwrap();
    let start = || {
        let (opens, gate) = channel::<()>();
        let thread = runtime.spawn_blocking(move || {
            let _opened = gate.recv();
            std::thread::current().id()
        });
        (opens, thread)
    };
    let (opens, threads): (Vec<_>, Vec<_>) = (0..8).map(|_| start()).unzip();
    drop(opens);
    let used: HashSet<_> = threads.into_iter().map(|thread| thread.wait().unwrap()).collect();
    assert!(used.len() <= 2, "{used:?}");
    // Two of them run, or are about to; the third one waits for a thread.
    let (opens, mut threads): (Vec<_>, Vec<_>) = (0..3).map(|_| start()).unzip();
    let handle = runtime.handle();
    let left = runtime.shutdown(Duration::ZERO);
    assert_eq!(threads.pop().unwrap().wait(), Err(WaitError::Cancelled));
    assert!(left.free > 0, "{left:?}");
    drop(opens);
    threads.into_iter().for_each(|thread| drop(thread.wait()));
    assert_eq!(handle.spawn_blocking(|| 1).wait(), Err(WaitError::Closed));
}

/// As it goes it keeps its promise, and then waits for what comes of that.
struct Waits<T: FnOnce() -> Option<u32>> {
    promise: Option<Promise<u32>>,
    awaits: Option<T>,
    tells: Sender<Option<u32>>,
}

impl<T: FnOnce() -> Option<u32>> Drop for Waits<T> {
    fn drop(&mut self) {
        self.promise.take().unwrap().keep(1);
        self.tells.send(self.awaits.take().unwrap()()).unwrap();
    }
}

fn in_time(value: &Eventual<u32>) -> Option<u32> {
    value.wait_timeout(LONG)?.ok()
}

/// Tells that it was woken.
struct Tells(Mutex<Sender<u32>>);

impl Wake for Tells {
    fn wake(self: Arc<Self>) {
        self.0.lock().send(1).unwrap();
    }
}

/// The state may go on to wait for them: a thread that it joins, say.
#[test]
fn a_state_that_goes_wakes_those_who_wait_for_its_promise() {
    let runtime = runtime(1);
    let (promise, mut eventual) = runtime.promise();
    let (wakes, woken) = channel();
    let waker = Waker::from(Arc::new(Tells(Mutex::new(wakes))));
    assert!(Pin::new(&mut eventual).poll(&mut Context::from_waker(&waker)).is_pending());
    let (tells, told) = channel();
    let awaits = Some(move || woken.try_recv().ok());
    drop(runtime.unit(Waits { promise: Some(promise), awaits, tells }));
    assert_eq!(told.recv(), Ok(Some(1)));
}

#[test]
fn a_value_that_goes_waits_for_what_its_promise_causes() {
    let runtime = runtime(1);
    // Wake-ups inside wake-ups: none, and more of them than nest.
    for nested in [0, 100] {
        let (promise, first) = runtime.promise();
        let last = (0..nested).fold(first, |inner, _| {
            let (outer, nests) = runtime.promise();
            outer.keep(inner);
            nests.flatten()
        });
        let answer = last.map(|one| one + 1);
        let (tells, told) = channel();
        let awaits = Some(move || in_time(&answer));
        let (keeps, held) = runtime.promise();
        keeps.keep(Waits { promise: Some(promise), awaits, tells });
        drop(held);
        assert_eq!(told.recv(), Ok(Some(2)));
    }
}

/// A waker that panics when it is woken, and whenever it is dropped.
struct Loud;

impl Wake for Loud {
    fn wake(self: Arc<Self>) {
        fails("woken")
    }
}

impl Drop for Loud {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            fails("dropped")
        }
    }
}

fn polled(eventual: &mut Eventual<Arc<()>>, waker: impl Wake + Send + Sync + 'static) {
    // The handle has a clone, so that is not the last one to be dropped.
    let waker = Waker::from(Arc::new(waker));
    assert!(Pin::new(eventual).poll(&mut Context::from_waker(&waker)).is_pending());
}

#[test]
fn wakers_that_panic_harm_nobody() {
    let runtime = runtime(1);
    let (promise, mut gone) = runtime.promise();
    let (mut loud, mut waits, value) = (gone.clone(), gone.clone(), Arc::new(()));
    let (wakes, woken) = channel();
    // Polled again it drops the one before; dropped, the last one.
    polled(&mut gone, Loud);
    polled(&mut gone, Loud);
    drop(gone);
    polled(&mut loud, Loud);
    polled(&mut waits, Tells(Mutex::new(wakes)));
    promise.keep(value.clone());
    assert_eq!(woken.try_recv(), Ok(1));
    drop((loud, waits));
    assert_eq!(Arc::strong_count(&value), 1);
}

type Number = Eventual<u32>;

/// A value that is still in its place when two handles have had copies: each was made while the other one was.
#[derive(Default)]
struct Stays {
    other: Arc<Mutex<Option<Eventual<Self>>>>,
    /// What it flattens as it goes, and whom it tells.
    goes: Option<(Eventual<Number>, Sender<Number>)>,
}

impl Clone for Stays {
    fn clone(&self) -> Self {
        let other = self.other.lock().take();
        other.iter().for_each(|other| drop(other.try_get()));
        Self::default()
    }
}

impl Drop for Stays {
    fn drop(&mut self) {
        if let Some((nested, tells)) = self.goes.take() {
            tells.send(nested.flatten()).unwrap();
        }
    }
}

/// It is with what has waited, and that is the last to go.
#[test]
fn what_begins_to_wait_as_the_last_of_a_worker_goes_is_cancelled() {
    let runtime = runtime(1);
    let (never, nested) = runtime.promise::<Eventual<u32>>();
    let (begins, begun) = runtime.promise::<()>();
    let (tells, told) = channel();
    let handle = runtime.handle();
    let other = Arc::new(Mutex::new(None));
    let stays = Stays { other: other.clone(), goes: Some((nested, tells)) };
    // It is a worker that keeps it while it waits.
    let kept = runtime.spawn(move || handle.after(begun, move |()| stays)).wait().unwrap();
    begins.keep(());
    *other.lock() = Some(kept.clone());
    assert!(kept.wait_timeout(LONG).is_some());
    drop(kept);
    assert!(told.try_recv().is_err(), "it is still there");
    drop(runtime);
    assert_eq!(told.recv().unwrap().wait_timeout(LONG), Some(Err(WaitError::Cancelled)));
    drop(never);
}

/// What it did is seen by whoever shuts the runtime down, also when there was no time.
#[test]
fn a_shutdown_without_time_waits_for_what_a_worker_has_begun() {
    let runtime = runtime(1);
    let (waits, begins) = (Parker::new(), Parker::new());
    let (lets_go, begun) = (waits.unparker(), begins.unparker());
    let ended = Arc::new(AtomicBool::new(false));
    let theirs = ended.clone();
    let value = runtime.spawn(move || {
        begun.unpark();
        waits.park();
        theirs.store(true, Relaxed);
    });
    begins.park();
    let queued = runtime.spawn(|| ());
    let ends = std::thread::spawn(move || {
        let left = runtime.shutdown(Duration::ZERO);
        (left.free, ended.load(Relaxed))
    });
    // Its time was over before that one comes to its end.
    assert_eq!(queued.wait(), Err(WaitError::Cancelled));
    assert!(!ends.is_finished());
    lets_go.unpark();
    assert_eq!(ends.join().unwrap(), (1, true));
    assert_eq!(value.wait(), Ok(()));
}

/// It waits for nobody there, not for itself either: what is left in its own hands it does not know.
#[test]
fn a_shutdown_on_a_worker_tells_what_is_known_then() {
    let runtime = runtime(1);
    let (handle, unit) = (runtime.handle(), runtime.unit(()));
    let (gives, given) = channel::<Runtime>();
    let begins = Parker::new();
    let begun = begins.unparker();
    let left = unit.send(move |()| {
        begun.unpark();
        given.recv().unwrap().shutdown(LONG)
    });
    begins.park();
    let (behind, free) = (unit.send(|()| ()), handle.spawn(|| ()));
    let other = runtime.unit_builder().name("other").build(());
    let elsewhere = other.send(|()| ());
    gives.send(runtime).unwrap();
    let left = left.wait().unwrap();
    assert_eq!((left.free, left.waiting), (1, 0));
    assert_eq!(left.units, [("other".to_owned(), 1)]);
    for value in [behind, free, elsewhere] {
        assert_eq!(value.wait(), Err(WaitError::Cancelled));
    }
}

/// What it had left is failed, which causes what is sent to it again.
#[test]
fn what_is_left_names_a_unit_once() {
    let runtime = runtime(1);
    let (waits, begins) = (Parker::new(), Parker::new());
    let (lets_go, begun) = (waits.unparker(), begins.unparker());
    let one = runtime.unit_builder().name("one").build(());
    let two = runtime.unit_builder().name("two").build(());
    let first = one.send(move |()| {
        begun.unpark();
        waits.park();
    });
    begins.park();
    one.tell(|()| ());
    let second = two.send_after(first, |(), ()| ());
    let third = one.send_after(second.clone(), |(), ()| ());
    let free = runtime.spawn(|| ());
    let ends = std::thread::spawn(move || runtime.shutdown(Duration::ZERO));
    assert_eq!(free.wait(), Err(WaitError::Cancelled));
    lets_go.unpark();
    let left = ends.join().unwrap();
    assert_eq!((left.free, left.waiting), (1, 0));
    assert_eq!(left.units, [("one".to_owned(), 2), ("two".to_owned(), 1)]);
    assert_eq!(
        (second.wait(), third.wait()),
        (Err(WaitError::Cancelled), Err(WaitError::Cancelled))
    );
}
