//! Handles for those outside who have much to tell.

use cantina::scheduler::{Runtime, WaitError};
use machine::park::Parker;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

/// More than fit into a slab, by some.
const MANY: usize = 1_000;

fn runtime() -> Runtime {
    Runtime::builder().workers(2).build().unwrap()
}

#[test]
fn what_several_tell_runs_once_each_in_the_order_of_each() {
    let runtime = runtime();
    let unit = runtime.unit(vec![Vec::new(); 3]);
    let tell = |sender: usize| {
        let tells = unit.sender();
        thread::spawn(move || {
            (0..MANY).for_each(|number| tells.tell(move |seen| seen[sender].push(number)));
        })
    };
    let threads: Vec<_> = (0..3).map(tell).collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    let seen = unit.send(std::mem::take).wait().unwrap();
    assert!(seen.iter().all(|numbers| numbers.iter().copied().eq(0..MANY)));
    assert_eq!(unit.metrics().messages, 3 * MANY as u64 + 1);
}

#[test]
fn operations_of_any_size_come_in_their_order() {
    let runtime = runtime();
    let unit = runtime.unit(Vec::new());
    let tells = unit.sender();
    for number in (0..MANY).step_by(2) {
        let large = [number; 9];
        tells.tell(move |seen| seen.push(large[8]));
        tells.tell(move |seen| seen.push(number + 1));
    }
    assert!(unit.send(std::mem::take).wait().unwrap().into_iter().eq(0..MANY));
}

#[test]
fn a_sender_goes_on_where_others_have_left() {
    let runtime = runtime();
    let unit = runtime.unit(0);
    // Some end in the middle of a slab, some with it, and two are left at a time.
    for count in [1, 100, 255, 254, 3] {
        let (one, other) = (unit.sender(), unit.sender());
        (0..count).for_each(|_| one.tell(|sum| *sum += 1));
        (0..count).for_each(|_| other.tell(|sum| *sum += 1));
        assert_eq!(one.unit().name(), unit.name());
    }
    assert_eq!(unit.send(|sum| *sum).wait(), Ok(2 * 613));
}

#[test]
fn what_is_told_is_dropped_once_whether_it_runs_or_not() {
    struct Counts(Arc<AtomicUsize>);
    impl Drop for Counts {
        fn drop(&mut self) {
            self.0.fetch_add(1, Relaxed);
        }
    }
    let dropped = Arc::new(AtomicUsize::new(0));
    let counts = || Counts(dropped.clone());
    let runtime = Runtime::builder().workers(1).build().unwrap();
    let unit = runtime.unit(0);
    let tells = unit.sender();
    let (begins, waits) = (Parker::new(), Parker::new());
    let (begun, lets_go) = (begins.unparker(), waits.unparker());
    let blocks = unit.send(move |_| {
        begun.unpark();
        waits.park();
    });
    begins.park();
    for _ in 0..MANY {
        let counts = counts();
        tells.tell(move |_| drop(counts));
    }
    assert_eq!(dropped.load(Relaxed), 0);
    let handle = runtime.handle();
    let ends = thread::spawn(move || runtime.shutdown(Duration::ZERO));
    // Until it has stopped: then the operation that runs is the last one.
    while handle.spawn(|| ()).wait() != Err(WaitError::Closed) {
        thread::yield_now();
    }
    thread::sleep(Duration::from_millis(20));
    lets_go.unpark();
    let left = ends.join().unwrap();
    assert_eq!(blocks.wait(), Ok(()));
    let failed: usize = left.units.iter().map(|unit| unit.1).sum();
    assert_eq!((failed, dropped.load(Relaxed)), (MANY, MANY));
    let late = counts();
    tells.tell(move |_| drop(late));
    assert_eq!(dropped.load(Relaxed), MANY + 1);
}

#[test]
fn a_full_unit_gives_the_operation_back_to_its_sender() {
    let runtime = Runtime::builder().workers(1).build().unwrap();
    let unit = runtime.unit_builder().capacity(1).build(0);
    let tells = unit.sender();
    let (begins, waits) = (Parker::new(), Parker::new());
    let (begun, lets_go) = (begins.unparker(), waits.unparker());
    drop(runtime.spawn(move || {
        begun.unpark();
        waits.park();
    }));
    begins.park();
    assert!(tells.try_tell(|sum| *sum += 1).is_ok());
    let full = tells.try_tell(|sum| *sum += 10).unwrap_err();
    lets_go.unpark();
    tells.tell(full.into_inner());
    assert_eq!(unit.send(|sum| *sum).wait(), Ok(11));
}
