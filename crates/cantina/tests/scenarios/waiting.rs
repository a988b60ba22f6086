//! Waiting until something has changed.

use cantina::waiting::WaitList;
use cantina_effort::scenario::Scenario;
use machine::atomic::AtomicUsize;
use machine::atomic::Ordering::Relaxed;
use machine::fence::Pair;
use machine::park::{Parker, Unparker};
use machine::{Arc, thread};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::task::{Context, Poll, Wake, Waker};

/// All of them.
pub(crate) const ALL: [Scenario; 7] = [
    ("who waits sees the change or is seen", who_waits_sees_the_change_or_is_seen),
    ("the symmetric fences will do", the_symmetric_fences_will_do),
    ("each of two gets one", each_of_two_gets_one),
    ("who gives up hands the notification on", who_gives_up_hands_the_notification_on),
    ("a look that panics hands the notification on", a_look_that_panics_hands_the_notification_on),
    ("all who wait are woken", all_who_wait_are_woken),
    ("a future waits as a thread does", a_future_waits_as_a_thread_does),
];

/// Some things that are there to be taken, and those who wait for one.
struct Shelf {
    things: AtomicUsize,
    waiting: WaitList,
}

impl Shelf {
    fn new(fences: Pair) -> Arc<Self> {
        Arc::new(Self { things: AtomicUsize::new(0), waiting: WaitList::new(fences) })
    }

    fn add(&self) {
        self.things.fetch_add(1, Relaxed);
        self.waiting.notify_one();
    }

    fn try_take(&self) -> Option<()> {
        let one_less = |things: usize| things.checked_sub(1);
        self.things.fetch_update(Relaxed, Relaxed, one_less).ok().map(|_| ())
    }

    fn take(&self) {
        while self.try_take().is_none() {
            let listener = self.waiting.listen();
            if self.try_take().is_some() {
                break;
            }
            listener.wait();
        }
    }

    /// Takes as a future does.
    fn take_polled(&self) {
        let parker = Parker::new();
        let mut polled = self.waiting.polled();
        let waker = Waker::from(std::sync::Arc::new(Task(parker.unparker())));
        while polled.poll(&Context::from_waker(&waker), || self.try_take()) == Poll::Pending {
            parker.park();
        }
    }
}

struct Task(Unparker);

impl Wake for Task {
    fn wake(self: std::sync::Arc<Self>) {
        self.0.unpark();
    }
}

/// One adds, one takes.
fn one_takes(fences: Pair, take: fn(&Shelf)) {
    let shelf = Shelf::new(fences);
    let theirs = shelf.clone();
    let taker = thread::spawn(move || take(&theirs));
    shelf.add();
    taker.join().unwrap();
    assert_eq!(shelf.waiting.len_hint(), 0);
}

pub(crate) fn who_waits_sees_the_change_or_is_seen() {
    one_takes(Pair::best(), Shelf::take);
}

pub(crate) fn the_symmetric_fences_will_do() {
    one_takes(Pair::symmetric(), Shelf::take);
}

pub(crate) fn a_future_waits_as_a_thread_does() {
    one_takes(Pair::best(), Shelf::take_polled);
}

/// Two wait. One may be notified when it has just found something by itself.
pub(crate) fn each_of_two_gets_one() {
    let shelf = Shelf::new(Pair::best());
    let takers = [Shelf::take, Shelf::take_polled].map(|take| {
        let theirs = shelf.clone();
        thread::spawn(move || take(&theirs))
    });
    shelf.add();
    shelf.add();
    takers.into_iter().for_each(|taker| taker.join().unwrap());
    assert!(shelf.try_take().is_none());
}

/// One listens and does not wait: it may be notified all the same.
pub(crate) fn who_gives_up_hands_the_notification_on() {
    let shelf = Shelf::new(Pair::best());
    let theirs = shelf.clone();
    let fickle = thread::spawn(move || drop(theirs.waiting.listen()));
    let theirs = shelf.clone();
    let taker = thread::spawn(move || theirs.take());
    shelf.add();
    fickle.join().unwrap();
    taker.join().unwrap();
}

/// One looks three times, the last time maybe because it was notified, and panics.
pub(crate) fn a_look_that_panics_hands_the_notification_on() {
    let shelf = Shelf::new(Pair::best());
    let theirs = shelf.clone();
    let fickle = thread::spawn(move || {
        let mut polled = theirs.waiting.polled();
        let context = Context::from_waker(Waker::noop());
        assert_eq!(polled.poll(&context, || None::<()>), Poll::Pending);
        let look = || polled.poll::<()>(&context, || resume_unwind(Box::new(())));
        catch_unwind(AssertUnwindSafe(look)).unwrap_err();
    });
    let theirs = shelf.clone();
    let taker = thread::spawn(move || theirs.take());
    shelf.add();
    fickle.join().unwrap();
    taker.join().unwrap();
}

/// Two wait for the same change.
pub(crate) fn all_who_wait_are_woken() {
    let shelf = Shelf::new(Pair::best());
    let look = |shelf: &Shelf| (shelf.things.load(Relaxed) > 0).then_some(());
    let waiters = [(); 2].map(|()| {
        let theirs = shelf.clone();
        thread::spawn(move || {
            while look(&theirs).is_none() {
                let listener = theirs.waiting.listen();
                if look(&theirs).is_some() {
                    break;
                }
                listener.wait();
            }
        })
    });
    shelf.things.store(1, Relaxed);
    shelf.waiting.notify_all();
    waiters.into_iter().for_each(|waiter| waiter.join().unwrap());
}
