//! Those who sleep until a room opens, threads and tasks alike.
//!
//! The lock is taken by who goes to sleep, and by who wakes sleepers; a room that opens and has none only
//! looks at `count`. Nobody is woken and no waker is dropped or cloned under it: that may run foreign code.
//!
//! # A chain
//! Who opens a room wakes one thread, and all tasks that it opens for. A thread that was woken, and only it, wakes two more
//! before it goes in, or away. So no thread has much to do for other threads, and all are awake soon. No task is part of the chain: a
//! future that was woken may be left unpolled, for ever or until the others have been inside. A sleeper is taken out of
//! its list by whoever wakes it, and only when its ticket is good: being gone from it *is* having been woken.

use crate::panics::alone;
use machine::atomic::AtomicUsize;
use machine::atomic::Ordering::Relaxed;
use machine::fence;
use machine::lock::Mutex;
use machine::park::Unparker;
use std::collections::BTreeMap;
use std::fmt;
use std::task::Waker;

/// How many threads a woken one wakes.
const PASSED_ON: usize = 2;

/// The sleepers of a room. The tickets of those in front are good before those of the last.
#[derive(Default)]
pub(crate) struct Sleepers {
    /// How many there are; written under the lock.
    count: AtomicUsize,
    list: Mutex<List>,
}

#[derive(Default)]
struct List {
    threads: BTreeMap<u64, Asleep<Unparker>>,
    tasks: BTreeMap<u64, Asleep<Waker>>,
    /// Places given to those who have none by their ticket.
    places: u64,
    /// How many there ever were.
    slept: u64,
}

struct Asleep<W> {
    ticket: u64,
    wake: W,
}

/// How to wake somebody.
pub(super) enum Wake {
    Thread(Unparker),
    Task(Waker),
}

/// Somebody who may go to sleep.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sleeper {
    ticket: u64,
    /// The place that the ticket asks for. `None`: behind those who are there.
    wanted: Option<u64>,
    /// The place in its list, from the first [`Sleepers::add`] on.
    place: Option<u64>,
    /// Whether it is a thread: a part of the chain.
    is_thread: bool,
}

impl Sleeper {
    pub(super) fn new(ticket: u64, wanted: Option<u64>) -> Self {
        Self { ticket, wanted, place: None, is_thread: false }
    }
}

/// Drops a waker, if there is one.
fn drop_waker(waker: Option<Asleep<Waker>>) {
    if let Some(waker) = waker {
        alone(|| drop(waker));
    }
}

/// Takes the first one out, if its ticket is good.
fn take_good<W>(asleep: &mut BTreeMap<u64, Asleep<W>>, is_good: impl Fn(u64) -> bool) -> Option<W> {
    let first = asleep.first_entry()?;
    is_good(first.get().ticket).then(|| first.remove().wake)
}

impl Sleepers {
    /// Puts `sleeper` into its list, or, if it is there, lets it be woken by `wake` from now on. Then it must look once
    /// more whether its ticket is good before it sleeps.
    pub(super) fn add(&self, sleeper: &mut Sleeper, wake: Wake) {
        let mut list = self.list.lock();
        list.places += 1;
        list.slept += u64::from(sleeper.place.is_none());
        let free = sleeper.wanted.unwrap_or(list.places);
        let (place, ticket) = (*sleeper.place.get_or_insert(free), sleeper.ticket);
        let was = match wake {
            Wake::Thread(wake) => {
                sleeper.is_thread = true;
                let was = list.threads.insert(place, Asleep { ticket, wake });
                debug_assert!(was.is_none(), "a thread goes to sleep once");
                None
            }
            Wake::Task(wake) => list.tasks.insert(place, Asleep { ticket, wake }),
        };
        self.counted(&list);
        drop(list);
        // asleep: the list, then whether the ticket is good.
        fence::full();
        drop_waker(was);
    }

    /// Takes `sleeper` out, whose ticket is good or who does not want it any more. A thread that is not there was woken, and
    /// wakes others.
    pub(super) fn remove(&self, sleeper: Sleeper, is_good: impl Fn(u64) -> bool) {
        let Some(place) = sleeper.place else { return };
        let mut list = self.list.lock();
        if sleeper.is_thread {
            let was_woken = list.threads.remove(&place).is_none();
            self.counted(&list);
            drop(list);
            if was_woken {
                self.pass_on(is_good);
            }
        } else {
            let was = list.tasks.remove(&place);
            self.counted(&list);
            drop(list);
            drop_waker(was);
        }
    }

    /// Wakes all tasks and one thread, of those whose ticket is good. What made it so was stored before.
    #[inline]
    pub(super) fn opened(&self, is_good: impl Fn(u64) -> bool) {
        // asleep: the room is open, then who sleeps.
        fence::full();
        self.look(is_good);
    }

    /// As [`opened`](Self::opened), behind a fence of the caller's.
    #[inline]
    pub(super) fn look(&self, is_good: impl Fn(u64) -> bool) {
        // asleep: behind the fence.
        if self.count.load(Relaxed) > 0 {
            self.wake(is_good);
        }
    }

    #[cold]
    fn wake(&self, is_good: impl Fn(u64) -> bool) {
        let mut list = self.list.lock();
        let thread = take_good(&mut list.threads, &is_good);
        let mut tasks = Vec::new();
        while let Some(task) = take_good(&mut list.tasks, &is_good) {
            tasks.push(task);
        }
        self.counted(&list);
        drop(list);
        if let Some(thread) = thread {
            thread.unpark();
        }
        for task in tasks {
            alone(|| task.wake());
        }
    }

    /// Wakes those threads that a woken one wakes.
    #[cold]
    fn pass_on(&self, is_good: impl Fn(u64) -> bool) {
        let mut list = self.list.lock();
        let woken: [_; PASSED_ON] = std::array::from_fn(|_| take_good(&mut list.threads, &is_good));
        self.counted(&list);
        drop(list);
        woken.into_iter().flatten().for_each(|thread| thread.unpark());
    }

    /// How often somebody went to sleep here.
    pub(super) fn slept(&self) -> u64 {
        self.list.lock().slept
    }

    fn counted(&self, list: &List) {
        // asleep: the fence of whoever went to sleep makes it seen.
        self.count.store(list.threads.len() + list.tasks.len(), Relaxed);
    }
}

impl fmt::Debug for Sleepers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // stat: a snapshot for humans.
        write!(f, "{} asleep", self.count.load(Relaxed))
    }
}
