//! Those who sleep until a room opens, threads and tasks alike.
//!
//! The lock is taken by who goes to sleep, and by who wakes sleepers; a room that opens and has none only
//! looks at `count`. Nobody is woken and no waker is dropped or cloned under it: that may run foreign code.
//!
//! # A chain
//! Who opens a room wakes one sleeper. Whoever was woken, and only he, wakes two more before he goes in, or away. So
//! nobody has much to do, and all are awake soon. A sleeper is taken out of the list by whoever wakes him, and only
//! when his ticket is good: being gone from it *is* having been woken.

use machine::atomic::AtomicUsize;
use machine::atomic::Ordering::Relaxed;
use machine::fence;
use machine::lock::Mutex;
use machine::park::Unparker;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Waker;

/// How many a woken one wakes.
const PASSED_ON: usize = 2;

/// A list of sleepers. The tickets of its front are good before those of its end.
#[derive(Default)]
pub(crate) struct Sleepers {
    /// How many there are; written under the lock.
    count: AtomicUsize,
    list: Mutex<List>,
}

#[derive(Default)]
struct List {
    asleep: BTreeMap<u64, Asleep>,
    /// Places given to those who have none by their ticket.
    places: u64,
    /// How many there ever were.
    slept: u64,
}

struct Asleep {
    ticket: u64,
    wake: Wake,
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
    /// The place in the list, from the first [`Sleepers::add`] on.
    place: Option<u64>,
}

impl Sleeper {
    pub(super) fn new(ticket: u64, wanted: Option<u64>) -> Self {
        Self { ticket, wanted, place: None }
    }
}

impl Wake {
    fn wake(self) {
        match self {
            Self::Thread(thread) => thread.unpark(),
            // What an executor panics with goes no further, or a room might be left open.
            Self::Task(task) => drop(catch_unwind(AssertUnwindSafe(|| task.wake()))),
        }
    }
}

impl Sleepers {
    /// Puts `sleeper` into the list, or, if it is there, lets it be woken by `wake` from now on. Then it must look once
    /// more whether its ticket is good before it sleeps. One that was in the list and is no more was woken meanwhile, and is not put
    /// there again: so [`remove`](Self::remove) knows that it has to wake others.
    pub(super) fn add(&self, sleeper: &mut Sleeper, wake: Wake) {
        let mut list = self.list.lock();
        list.places += 1;
        let free = sleeper.wanted.unwrap_or(list.places);
        let was_woken = sleeper.place.is_some_and(|place| !list.asleep.contains_key(&place));
        let place = *sleeper.place.get_or_insert(free);
        let was = match list.asleep.entry(place) {
            Entry::Vacant(_) if was_woken => Some(wake),
            Entry::Vacant(vacant) => {
                vacant.insert(Asleep { ticket: sleeper.ticket, wake });
                list.slept += 1;
                None
            }
            Entry::Occupied(mut there) => Some(std::mem::replace(&mut there.get_mut().wake, wake)),
        };
        self.counted(&list);
        drop(list);
        // asleep: the list, then whether the ticket is good.
        fence::full();
        drop(was);
    }

    /// Takes `sleeper` out, whose ticket is good or who does not want it any more. If it is not there it was woken, and
    /// wakes others.
    pub(super) fn remove(&self, sleeper: Sleeper, is_good: impl Fn(u64) -> bool) {
        let Some(place) = sleeper.place else { return };
        let mut list = self.list.lock();
        let was = list.asleep.remove(&place);
        self.counted(&list);
        drop(list);
        if was.is_none() {
            self.wake(PASSED_ON, is_good);
        }
    }

    /// Wakes one, if somebody sleeps whose ticket is good. What made it so was stored before.
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
            self.wake(1, is_good);
        }
    }

    #[cold]
    fn wake(&self, most: usize, is_good: impl Fn(u64) -> bool) {
        let mut list = self.list.lock();
        let mut woken = [const { None }; PASSED_ON];
        for woken in woken.iter_mut().take(most) {
            let Some(first) = list.asleep.first_entry() else { break };
            if !is_good(first.get().ticket) {
                break;
            }
            *woken = Some(first.remove().wake);
        }
        self.counted(&list);
        drop(list);
        woken.into_iter().flatten().for_each(Wake::wake);
    }

    /// How often somebody went to sleep here.
    pub(super) fn slept(&self) -> u64 {
        self.list.lock().slept
    }

    fn counted(&self, list: &List) {
        // asleep: the fence of whoever went to sleep makes it seen.
        self.count.store(list.asleep.len(), Relaxed);
    }
}

impl fmt::Debug for Sleepers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // stat: a snapshot for humans.
        write!(f, "{} asleep", self.count.load(Relaxed))
    }
}
