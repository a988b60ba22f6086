//! Those who give up, and those who are too many.

use crate::support::{House, both, threads};
use cantina::rooms::{EnterError, Rooms};
use machine::atomic::AtomicBool;
use machine::atomic::Ordering::SeqCst;
use machine::lock::Mutex;
use machine::park::{Parker, Unparker};
use machine::time::Duration;
use machine::{Arc, thread};
use std::future::Future;
use std::mem::ManuallyDrop;
use std::panic::resume_unwind;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Wake, Waker};

pub(crate) fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

struct Task(Unparker);

impl Wake for Task {
    fn wake(self: std::sync::Arc<Self>) {
        self.0.unpark();
    }
}

pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let (mut future, parker) = (pin!(future), Parker::new());
    let waker = Waker::from(std::sync::Arc::new(Task(parker.unparker())));
    loop {
        if let Poll::Ready(result) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return result;
        }
        parker.park();
    }
}

#[test]
fn ten_thousand_futures_are_ordinary_in_both_forms() {
    for builder in both(2) {
        let rooms = builder.build().unwrap();
        let guard = rooms.enter(0).unwrap();
        let mut waiting: Vec<_> = (0..10_000).map(|_| Box::pin(rooms.enter_async(1))).collect();
        assert!(waiting.iter_mut().all(|entering| poll(entering.as_mut()).is_pending()));
        // Every other one gives up.
        let mut number = 0;
        waiting.retain(|_| {
            number += 1;
            number % 2 == 0
        });
        drop(guard);
        let inside: Vec<_> = waiting.iter_mut().map(|entering| poll(entering.as_mut())).collect();
        assert!(inside.iter().all(|guard| matches!(guard, Poll::Ready(Ok(_)))));
        drop(inside);
        drop(rooms.try_enter(0).unwrap());
    }
}

#[test]
fn fourteen_thousand_futures_wait_and_one_too_many_is_told() {
    let rooms = Rooms::new(2);
    let guard = rooms.enter(0).unwrap();
    let mut waiting: Vec<_> = (0..14_336).map(|_| Box::pin(rooms.enter_async(1))).collect();
    assert!(waiting.iter_mut().all(|entering| poll(entering.as_mut()).is_pending()));
    let Poll::Ready(Err(error)) = poll(pin!(rooms.enter_async(1))) else {
        panic!("there is room for one more");
    };
    assert_eq!(error, EnterError::TooManyWaiters);
    assert_eq!(rooms.enter_timeout(1, Duration::MAX).unwrap_err(), EnterError::TooManyWaiters);
    let mut guard = guard;
    assert_eq!(guard.change_to(1), Err(EnterError::TooManyWaiters));
    assert_eq!(guard.room(), 0);
    // The other room has places, and one that is given up is free again.
    assert!(poll(pin!(rooms.enter_async(0))).is_pending());
    waiting.pop();
    waiting.push(Box::pin(rooms.enter_async(1)));
    assert!(poll(waiting.last_mut().unwrap().as_mut()).is_pending());
    drop(guard);
    let inside: Vec<_> = waiting.iter_mut().map(|entering| poll(entering.as_mut())).collect();
    assert!(inside.iter().all(|guard| matches!(guard, Poll::Ready(Ok(_)))));
    drop(inside);
    drop(rooms.try_enter(0).unwrap());
}

#[test]
fn a_limit_holds_in_both_forms() {
    // Who is inside waits no more, but is counted where rooms are.
    for (builder, limit) in both(2).into_iter().zip([1, 2]) {
        let rooms = builder.limit(limit).build().unwrap();
        let mut first = rooms.enter(0).unwrap();
        let mut second = Box::pin(rooms.enter_async(0));
        assert!(poll(second.as_mut()).is_pending());
        assert_eq!(first.change_to(0), Err(EnterError::TooManyWaiters));
        assert_eq!(rooms.enter_timeout(0, Duration::MAX).unwrap_err(), EnterError::TooManyWaiters);
        drop(second);
        first.change_to(0).unwrap();
    }
}

/// Who gives up again and again leaves one ticket behind, not many.
#[test]
fn a_ticket_that_was_given_up_is_adopted() {
    for builder in both(2) {
        let rooms = builder.limit(3).build().unwrap();
        let guard = rooms.enter(0).unwrap();
        for _ in 0..100 {
            assert!(poll(pin!(rooms.enter_async(1))).is_pending());
            let timed = rooms.enter_timeout(1, Duration::ZERO);
            assert_eq!(timed.unwrap_err(), EnterError::TimedOut);
        }
        drop(guard);
        drop(rooms.try_enter(0).unwrap());
    }
}

/// Nobody was inside: there is nothing to close.
#[test]
fn a_batch_that_gave_up_runs_no_exit_code() {
    for builder in both(3) {
        let house = House::new(builder, 3);
        let guard = house.rooms.enter(0).unwrap();
        let mut waiting: Vec<_> =
            [1, 1, 2].into_iter().map(|room| Box::pin(house.rooms.enter_async(room))).collect();
        assert!(waiting.iter_mut().all(|entering| poll(entering.as_mut()).is_pending()));
        let mut last = waiting.pop().unwrap();
        drop(waiting);
        drop(guard);
        let Poll::Ready(guard) = poll(last.as_mut()) else { panic!("room 1 is open for nobody") };
        drop(guard);
        assert_eq!(house.closed.load(machine::atomic::Ordering::SeqCst), 2);
        drop(house.rooms.try_enter(1).unwrap());
    }
}

/// A future that was woken need not be polled for others to come in: neither futures nor threads wait behind it.
#[test]
fn a_future_that_is_left_unpolled_holds_up_nobody_else() {
    for builder in both(2) {
        let rooms = Arc::new(builder.build().unwrap());
        let guard = rooms.enter(0).unwrap();
        let mut first = Box::pin(rooms.enter_async(1));
        assert!(poll(first.as_mut()).is_pending());
        let parkers: Vec<Parker> = (0..5).map(|_| Parker::new()).collect();
        let mut others: Vec<_> = parkers.iter().map(|_| Box::pin(rooms.enter_async(1))).collect();
        for (other, parker) in others.iter_mut().zip(&parkers) {
            let waker = Waker::from(std::sync::Arc::new(Task(parker.unparker())));
            assert!(other.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        }
        let theirs = rooms.clone();
        let sleeper = thread::spawn(move || theirs.with(1, || ()).unwrap());
        while !format!("{rooms:?}").contains(", 7]") {
            thread::yield_now();
        }
        drop(guard);
        for (other, parker) in others.iter_mut().zip(&parkers) {
            assert!(parker.park_timeout(Duration::from_secs(60)), "nobody woke it");
            let Poll::Ready(Ok(guard)) = poll(other.as_mut()) else { panic!("it is open") };
            drop(guard);
        }
        sleeper.join().unwrap();
        let Poll::Ready(Ok(guard)) = poll(first.as_mut()) else { panic!("it is open") };
        drop(guard);
        drop(rooms.try_enter(0).unwrap());
    }
}

#[test]
fn a_future_that_is_dropped_after_it_was_woken_holds_up_nobody() {
    for builder in both(2) {
        let rooms = Arc::new(builder.build().unwrap());
        let guard = rooms.enter(0).unwrap();
        let mut first = Box::pin(rooms.enter_async(1));
        assert!(poll(first.as_mut()).is_pending());
        let sleeps = rooms.clone();
        let sleeper = thread::spawn(move || sleeps.with(1, || ()).unwrap());
        while !format!("{rooms:?}").contains(", 2]") {
            thread::yield_now();
        }
        // It goes to sleep behind the future.
        thread::sleep(Duration::from_millis(20));
        drop(guard);
        drop(first);
        sleeper.join().unwrap();
        drop(rooms.try_enter(0).unwrap());
    }
}

/// A future that is polled by another task wakes that one.
#[test]
fn the_last_waker_counts() {
    for builder in both(2) {
        let rooms = Arc::new(builder.build().unwrap());
        let guard = rooms.enter(0).unwrap();
        let mut entering = pin!(rooms.enter_async(1));
        assert!(poll(entering.as_mut()).is_pending());
        let parker = Parker::new();
        let waker = Waker::from(std::sync::Arc::new(Task(parker.unparker())));
        assert!(entering.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        drop(guard);
        assert!(parker.park_timeout(Duration::from_secs(10)), "nobody woke it");
        let Poll::Ready(Ok(guard)) = poll(entering.as_mut()) else { panic!("it is open") };
        drop(guard);
    }
}

/// A task that is run by who wakes it.
struct Inline(Mutex<Option<Pin<Box<dyn Future<Output = ()> + Send>>>>);

impl Inline {
    /// Runs `task` until it waits.
    fn start(task: impl Future<Output = ()> + Send + 'static) {
        std::sync::Arc::new(Self(Mutex::new(Some(Box::pin(task))))).wake();
    }
}

impl Wake for Inline {
    fn wake(self: std::sync::Arc<Self>) {
        let task = self.0.lock().take();
        let waker = Waker::from(self.clone());
        if let Some(mut task) = task {
            if task.as_mut().poll(&mut Context::from_waker(&waker)).is_pending() {
                *self.0.lock() = Some(task);
            }
        }
    }
}

/// Who wakes it has left: the task need not wait for that one.
#[test]
fn a_task_that_is_polled_as_it_is_woken_is_not_taken_for_who_wakes_it() {
    for builder in both(2) {
        let rooms = Arc::new(builder.build().unwrap());
        let (theirs, came) = (rooms.clone(), Arc::new(AtomicBool::new(false)));
        let tell = came.clone();
        let guard = rooms.enter(0).unwrap();
        Inline::start(async move {
            drop(theirs.enter_async(1).await.unwrap());
            drop(theirs.enter(1).unwrap());
            tell.store(true, SeqCst);
        });
        drop(guard);
        assert!(came.load(SeqCst), "it was told that it would wait for itself");
        drop(rooms.try_enter(0).unwrap());
    }
}

/// An executor that polls a task as it is woken: the task comes and goes before whoever opened the room has come back, and finds that its batch
/// has ended, which was of one who gave up besides.
#[test]
fn a_task_that_is_polled_as_it_is_woken_ends_its_batch() {
    for builder in both(2) {
        let rooms = Arc::new(builder.build().unwrap());
        let guard = rooms.enter(0).unwrap();
        let mut fickle = Box::pin(rooms.enter_async(1));
        assert!(poll(fickle.as_mut()).is_pending());
        let (theirs, ended) = (rooms.clone(), Arc::new(AtomicBool::new(false)));
        let tell = ended.clone();
        let task = async move {
            drop(theirs.enter_async(1).await.unwrap());
            tell.store(theirs.try_enter(1).is_ok(), SeqCst);
        };
        Inline::start(task);
        drop(fickle);
        drop(guard);
        assert!(ended.load(SeqCst), "it waits for who wakes it");
    }
}

/// A waker that panics is its executor's affair.
#[test]
fn a_waker_that_panics_holds_nobody_up() {
    struct Bursts;
    impl Wake for Bursts {
        fn wake(self: std::sync::Arc<Self>) {
            std::panic::resume_unwind(Box::new(()));
        }
    }
    for builder in both(3) {
        let rooms = builder.build().unwrap();
        let guard = rooms.enter(0).unwrap();
        let waker = Waker::from(std::sync::Arc::new(Bursts));
        let mut entering = Box::pin(rooms.enter_async(1));
        assert!(entering.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        drop(guard);
        drop(entering);
        drop(rooms.try_enter(0).unwrap());
    }
}

/// A waker that panics when it is dropped: who gives up has given up all the same, and who is inside leaves.
#[test]
fn a_waker_that_panics_when_it_is_dropped_holds_nobody_up() {
    const BURSTS: RawWakerVTable = RawWakerVTable::new(
        |nothing| RawWaker::new(nothing, &BURSTS),
        |_| (),
        |_| (),
        |_| resume_unwind(Box::new("a waker's")),
    );
    // SAFETY: it does nothing with what it points to, on whichever thread. It is never dropped here.
    let waker = ManuallyDrop::new(unsafe { Waker::new(std::ptr::null(), &BURSTS) });
    for builder in both(3) {
        let rooms = builder.build().unwrap();
        let guard = rooms.enter(0).unwrap();
        let mut entering = Box::pin(rooms.enter_async(1));
        assert!(entering.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        drop(entering);
        let mut changing = Box::pin(rooms.enter_async(2));
        assert!(changing.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        drop(guard);
        let Poll::Ready(Ok(guard)) = poll(changing.as_mut()) else { panic!("it is open") };
        drop(guard);
        drop(rooms.try_enter(0).unwrap());
    }
}

/// Threads, threads with little time, tasks, and tasks that are dropped, all at once: also where so many are too many, and adopt what others gave
/// up, and where they join.
#[test]
fn a_storm_of_those_who_give_up_holds_nobody_up() {
    let few = || both(3).map(|builder| builder.limit(4));
    let closed = both(3).into_iter().chain(few()).map(|builder| House::new(builder, 3));
    let joined = both(3).into_iter().chain(few()).map(|builder| House::joined(builder, 3));
    for house in closed.chain(joined) {
        let stormed = house.clone();
        threads(12, move |number| {
            for turn in 0..200 {
                let room = (number / 4 + turn) % 3;
                match number % 4 {
                    0 => in_time(stormed.rooms.with(room, || _ = stormed.visit(room))),
                    1 => {
                        let short = Duration::from_micros((turn % 50) as u64);
                        let entered = stormed.rooms.enter_timeout(room, short);
                        in_time(entered.map(|_inside| _ = stormed.visit(room)));
                    }
                    2 => {
                        let entered = block_on(stormed.rooms.enter_async(room));
                        in_time(entered.map(|_inside| _ = stormed.visit(room)));
                    }
                    _ => {
                        let mut entering = pin!(stormed.rooms.enter_async(room));
                        for _ in 0..turn % 3 + 1 {
                            if let Poll::Ready(entered) = poll(entering.as_mut()) {
                                in_time(entered.map(|_inside| _ = stormed.visit(room)));
                                break;
                            }
                            thread::yield_now();
                        }
                    }
                }
            }
        });
        drop(house.rooms.try_enter(0).unwrap());
    }
}

/// It was inside, or there was no time or no place.
fn in_time(entered: Result<(), EnterError>) {
    match entered {
        Ok(()) | Err(EnterError::TimedOut) => {}
        Err(EnterError::TooManyWaiters) => thread::yield_now(),
        Err(error) => panic!("{error}"),
    }
}
