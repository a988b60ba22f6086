//! Waiting where the clock and the operating system have a say.

extern crate cantina_on_sim as cantina;

use cantina::waiting::WaitList;
use cantina_effort::{rounds, store_buffers};
use machine::atomic::AtomicBool;
use machine::atomic::Ordering::Relaxed;
use machine::engine::{Memory, Simulation};
use machine::fence::{Pair, refuse_heavy};
use machine::park::Parker;
use machine::progress::steps;
use machine::schedule::{Schedule, crowd};
use machine::time::{Duration, Instant};
use machine::{Arc, thread};
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Wake, Waker};

/// A change that somebody waits for.
struct Change {
    made: AtomicBool,
    waiting: WaitList,
}

impl Change {
    fn new() -> Arc<Self> {
        Arc::new(Self { made: AtomicBool::new(false), waiting: WaitList::new(Pair::best()) })
    }

    fn make(&self) {
        self.made.store(true, Relaxed);
        self.waiting.notify_one();
    }

    fn is_made(&self) -> bool {
        self.made.load(Relaxed)
    }

    /// Whether it was made before `deadline`.
    fn waits_until(&self, deadline: Option<Instant>) -> bool {
        loop {
            let listener = self.waiting.listen();
            if self.is_made() {
                return true;
            }
            match deadline {
                None => listener.wait(),
                Some(deadline) if listener.wait_until(deadline) => {}
                Some(_) => return self.is_made(),
            }
        }
    }
}

fn on_many_schedules(scenario: impl Fn()) {
    for seed in 0..rounds(100, 10_000) {
        let buffered = store_buffers().unwrap_or(true);
        let memory = if buffered { Memory::Tso } else { Memory::Sequential };
        let simulation = Simulation::new().seed(seed).memory(memory);
        if let Err(failure) = simulation.run(&scenario) {
            panic!("{failure}");
        }
    }
}

#[test]
fn a_deadline_passes_while_nobody_notifies() {
    for refused in [false, true] {
        on_many_schedules(|| {
            refuse_heavy(refused);
            let (change, most) = (Change::new(), Duration::from_millis(20));
            let start = Instant::now();
            assert!(!change.waits_until(Some(start + most)));
            assert!(start.elapsed() >= most);
            assert_eq!(change.waiting.len_hint(), 0);
            refuse_heavy(false);
        });
    }
}

/// Without the fence who notifies may miss who waits.
#[test]
fn who_waits_finds_the_change_also_where_the_fence_is_refused() {
    on_many_schedules(|| {
        refuse_heavy(true);
        let change = Change::new();
        let theirs = change.clone();
        let maker = thread::spawn(move || theirs.make());
        assert!(change.waits_until(None));
        maker.join().unwrap();
        refuse_heavy(false);
    });
}

/// A thread that sleeps until its future is woken, or for a while.
struct Task(machine::park::Unparker);

impl Wake for Task {
    fn wake(self: std::sync::Arc<Self>) {
        self.0.unpark();
    }
}

#[test]
fn a_future_is_polled_again_where_the_fence_is_refused() {
    on_many_schedules(|| {
        refuse_heavy(true);
        let change = Change::new();
        let theirs = change.clone();
        let maker = thread::spawn(move || theirs.make());
        let (parker, mut polled) = (Parker::new(), change.waiting.polled());
        let waker = Waker::from(std::sync::Arc::new(Task(parker.unparker())));
        let look = || change.is_made().then_some(());
        while polled.poll(&Context::from_waker(&waker), look) == Poll::Pending {
            parker.park();
        }
        maker.join().unwrap();
        refuse_heavy(false);
    });
}

/// One that was polled by one task goes on in another.
#[test]
fn the_task_that_polled_last_is_woken() {
    let change = Change::new();
    let (first, last) = (Parker::new(), Parker::new());
    Simulation::new()
        .run(|| {
            let mut polled = change.waiting.polled();
            for parker in [&first, &last] {
                let waker = Waker::from(std::sync::Arc::new(Task(parker.unparker())));
                let look = || change.is_made().then_some(());
                assert!(polled.poll(&Context::from_waker(&waker), look).is_pending());
            }
            assert_eq!(change.waiting.len_hint(), 1);
            change.make();
            last.park();
            assert!(!first.park_timeout(Duration::ZERO));
        })
        .unwrap();
}

/// Also where the fence is refused, and it would sleep for longer than there is time left: what it was told is not lost.
#[test]
fn who_is_notified_as_time_is_up_is_told() {
    for refused in [false, true] {
        on_many_schedules(|| {
            refuse_heavy(refused);
            let waiting = WaitList::new(Pair::best());
            let deadline = Instant::now() + Duration::from_micros(500);
            let listener = waiting.listen();
            waiting.notify_one();
            assert!(listener.wait_until(deadline));
            assert!(!waiting.listen().wait_until(Instant::now()));
            refuse_heavy(false);
        });
    }
}

/// A fence and a load, whatever the others do, and after somebody has listened as before.
#[test]
fn to_notify_nobody_takes_two_steps() {
    for seed in 0..rounds(200, 10_000) {
        let schedule = match seed % 3 {
            0 => Schedule::Random,
            1 => crowd(2),
            _ => Schedule::Pct { depth: 4, length: 40 },
        };
        let play = || {
            let change = Change::new();
            drop(change.waiting.listen());
            let notifies = |all: bool| {
                let theirs = change.clone();
                thread::spawn(move || {
                    let took = |_| {
                        let before = steps();
                        if all {
                            theirs.waiting.notify_all()
                        } else {
                            theirs.waiting.notify_one()
                        }
                        steps() - before
                    };
                    (0..5).map(took).max().unwrap()
                })
            };
            let others = [true, false, false].map(notifies);
            let most = others.into_iter().map(|other| other.join().unwrap()).max().unwrap();
            assert!(most <= 2, "{most} steps");
        };
        if let Err(failure) = Simulation::new().seed(seed).schedule(schedule).run(play) {
            panic!("{failure}");
        }
    }
}

/// A waker that panics when it is dropped.
const BURSTS: RawWakerVTable = RawWakerVTable::new(
    |nothing| RawWaker::new(nothing, &BURSTS),
    |_| (),
    |_| (),
    |_| resume_unwind(Box::new("a waker's")),
);

fn bursts() -> ManuallyDrop<Waker> {
    // SAFETY: it does nothing with what it points to, on whichever thread.
    ManuallyDrop::new(unsafe { Waker::new(std::ptr::null(), &BURSTS) })
}

/// Who is polled by another task goes on, and who unwinds does not end the program.
#[test]
fn a_waker_that_panics_when_it_is_dropped_goes_no_further() {
    let play = || {
        let bursts = bursts();
        let waiting = WaitList::new(Pair::best());
        let mut polled = waiting.polled();
        for waker in [&*bursts, Waker::noop()] {
            assert!(polled.poll(&Context::from_waker(waker), || None::<()>).is_pending());
        }
        drop(polled);
        let mut polled = waiting.polled();
        assert!(polled.poll(&Context::from_waker(&bursts), || None::<()>).is_pending());
        let unwinds = move || {
            let _polled = polled;
            resume_unwind(Box::new("its own"));
        };
        let heard = catch_unwind(AssertUnwindSafe(unwinds)).unwrap_err();
        assert_eq!(heard.downcast_ref(), Some(&"its own"));
        assert_eq!(waiting.len_hint(), 0);
    };
    Simulation::new().run(play).unwrap();
}

/// Its clone for the list is not used then.
#[test]
fn who_was_notified_is_polled_by_a_task_whose_waker_panics_when_it_is_dropped() {
    let play = || {
        let (bursts, change) = (bursts(), Change::new());
        let mut polled = change.waiting.polled();
        let look = || change.is_made().then_some(());
        let mut poll = |waker: &Waker| polled.poll(&Context::from_waker(waker), look);
        assert!(poll(Waker::noop()).is_pending());
        change.make();
        assert!(poll(&bursts).is_ready());
        assert_eq!(change.waiting.len_hint(), 0);
    };
    Simulation::new().run(play).unwrap();
}
