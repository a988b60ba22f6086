//! Waiting until something has changed, of threads and tasks alike, without a lock for who changes it.
//!
//! Who waits [listens](WaitList::listen), looks once more, and only then [waits](Listener::wait). Who changes something does so, and
//! then [notifies](WaitList::notify_one): that is a fence and a load while nobody listens.
//!
//! ```
//! # use cantina::waiting::WaitList;
//! # use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
//! # let (list, ready) = (WaitList::new(machine::fence::Pair::best()), AtomicBool::new(false));
//! # std::thread::scope(|scope| {
//! # scope.spawn(|| {
//! while !ready.load(Relaxed) {
//!     let listener = list.listen();
//!     if ready.load(Relaxed) {
//!         break;
//!     }
//!     listener.wait();
//! }
//! # });
//! ready.store(true, Relaxed);
//! list.notify_one();
//! # });
//! ```
//!
//! # Progress
//! Notifying is wait-free while nobody listens: a fence and a load. All else takes a lock, under which no foreign code runs.
//!
//! # Invariants
//! * **I1** `count` is how many are in the list, whenever the lock is free.
//! * **I2** a listener is taken out of the list by itself, or by one that notifies, who wakes it. So one that finds itself gone has
//!   been notified; if it does not wait for that, it notifies another: each notification reaches somebody who looks after it, or nobody
//!   listens.
//!
//! # Orderings
//! | edge | release or fence side | acquire or fence side | carries |
//! |---|---|---|---|
//! | `heard` | [`WaitList::listen`], then the look of who waits | the change, then [`WaitList::notify_one`] | who waits sees the change, or who changes sees it wait |
//!
//! The list itself goes by its lock, and a wake-up by [`machine::park`].

use crate::panics::alone;
use machine::CachePadded;
use machine::atomic::AtomicUsize;
use machine::atomic::Ordering::Relaxed;
use machine::fence::Pair;
use machine::lock::{Mutex, MutexGuard};
use machine::park::{Parker, Unparker};
use machine::time::{Duration, Instant};
use std::collections::BTreeMap;
use std::fmt;
use std::task::{Context, Poll, Waker};

/// How long who listens sleeps at a time where the operating system refuses the fence: then it may be missed.
const NAP: Duration = Duration::from_millis(1);

/// Those who wait for a change, in the order in which they came.
pub struct WaitList {
    /// See I1. Who notifies looks at it without the lock.
    count: CachePadded<AtomicUsize>,
    list: Mutex<List>,
    /// The light side notifies.
    fences: Pair,
}

#[derive(Default)]
struct List {
    /// See I2.
    listeners: BTreeMap<u64, Wake>,
    /// The place of the next one.
    next: u64,
}

/// How to wake somebody.
enum Wake {
    Thread(Unparker),
    Task(Waker),
}

/// A thread that is in the list. Dropped, it does not wait.
#[must_use = "who does not wait need not listen"]
pub struct Listener<'a> {
    parker: Parker,
    entry: Entry<'a>,
}

/// A future's part in the list, for as long as it is polled. Dropped, it does not wait any more.
#[derive(Debug)]
#[must_use = "who does not poll need not listen"]
pub struct Polled<'a> {
    entry: Entry<'a>,
}

/// A place in the list, or none.
struct Entry<'a> {
    list: &'a WaitList,
    place: Option<u64>,
    /// Whether who notifies sees it for sure.
    is_seen: bool,
}

impl WaitList {
    /// Nobody waits. Those who notify have the light side of `fences`.
    pub fn new(fences: Pair) -> Self {
        Self { count: CachePadded::default(), list: Mutex::default(), fences }
    }

    /// Wakes the one that has waited for longest, if somebody waits. What it waits for was changed before.
    #[inline]
    pub fn notify_one(&self) {
        if self.is_anybody() {
            self.wake_one();
        }
    }

    /// Wakes all who wait.
    #[inline]
    pub fn notify_all(&self) {
        if self.is_anybody() {
            self.wake_all();
        }
    }

    /// Puts the calling thread into the list. It must look once more whether it has to wait.
    ///
    /// One that is forgotten ([`std::mem::forget`]) stays in the list, and a notification that it gets reaches nobody. So it is with a
    /// [`Polled`] that waits.
    pub fn listen(&self) -> Listener<'_> {
        let parker = Parker::new();
        let mut entry = Entry { list: self, place: None, is_seen: false };
        entry.take(Wake::Thread(parker.unparker()));
        Listener { parker, entry }
    }

    /// For a future, which is not in the list until it has been polled.
    pub fn polled(&self) -> Polled<'_> {
        Polled { entry: Entry { list: self, place: None, is_seen: true } }
    }

    /// How many wait, a moment ago.
    pub fn len_hint(&self) -> usize {
        // stat: a number for humans.
        self.count.load(Relaxed)
    }

    #[inline]
    fn is_anybody(&self) -> bool {
        // heard: the change, then whether somebody waits for it.
        self.fences.light();
        // heard: behind the fence.
        self.count.load(Relaxed) > 0
    }

    #[cold]
    fn wake_one(&self) {
        let mut list = self.list.lock();
        let first = list.listeners.pop_first();
        self.unlock(list);
        first.into_iter().for_each(|(_, wake)| wake.wake());
    }

    #[cold]
    fn wake_all(&self) {
        let mut list = self.list.lock();
        let all = std::mem::take(&mut list.listeners);
        self.unlock(list);
        all.into_values().for_each(Wake::wake);
    }

    fn unlock(&self, list: MutexGuard<'_, List>) {
        // heard: the fence of whoever came makes it seen.
        self.count.store(list.listeners.len(), Relaxed);
    }
}

impl Wake {
    /// What an executor panics with goes no further: somebody else may wait to be woken.
    fn wake(self) {
        match self {
            Self::Thread(thread) => thread.unpark(),
            Self::Task(task) => alone(|| task.wake()),
        }
    }
}

impl Listener<'_> {
    /// Waits until somebody notifies; it may return without that.
    pub fn wait(mut self) {
        if self.entry.is_seen {
            self.parker.park();
            self.entry.place = None;
        } else {
            self.nap(NAP);
        }
    }

    /// Waits until somebody notifies, or it is `deadline`. Whether it was notified, or it may not be that late yet; then the caller is to look again.
    #[must_use = "false: time is up"]
    pub fn wait_until(mut self, deadline: Instant) -> bool {
        let left = deadline.saturating_duration_since(Instant::now());
        if self.entry.is_seen {
            return self.nap(left);
        }
        // Told in the nap it was notified, be the time up or not.
        self.nap(left.min(NAP)) || left > NAP
    }

    /// Whether somebody has notified it.
    fn nap(&mut self, most: Duration) -> bool {
        let notified = self.parker.park_timeout(most);
        if notified {
            self.entry.place = None;
        }
        notified
    }
}

impl Polled<'_> {
    /// What `look` finds; where it finds nothing, the task of `context` is woken when somebody notifies.
    pub fn poll<R>(
        &mut self,
        context: &Context<'_>,
        mut look: impl FnMut() -> Option<R>,
    ) -> Poll<R> {
        if self.entry.renew(context.waker()) {
            // Nobody has notified it since it was polled before; but who polls may know more.
            return self.look_or_wait(context, look);
        }
        // Notified, or it comes for the first time. What it looks at now it was notified of; where `look` panics somebody else is (I2).
        let found = look();
        self.entry.place = None;
        if let Some(found) = found {
            return Poll::Ready(found);
        }
        self.entry.take(Wake::Task(context.waker().clone()));
        self.look_or_wait(context, look)
    }

    /// Looks, in the list.
    fn look_or_wait<R>(
        &mut self,
        context: &Context<'_>,
        mut look: impl FnMut() -> Option<R>,
    ) -> Poll<R> {
        if let Some(found) = look() {
            self.entry.leave();
            return Poll::Ready(found);
        }
        if !self.entry.is_seen {
            context.waker().wake_by_ref();
        }
        Poll::Pending
    }
}

impl Entry<'_> {
    /// Goes to the end of the list.
    fn take(&mut self, wake: Wake) {
        let mut list = self.list.list.lock();
        let place = list.next;
        list.next += 1;
        list.listeners.insert(place, wake);
        self.list.unlock(list);
        self.place = Some(place);
        // heard: we are in the list, then the look of who waits. Refused, it is as if we were not.
        self.is_seen = self.list.fences.heavy().is_ok();
    }

    /// Lets the task be woken by `waker` from now on. Whether it is in the list.
    fn renew(&mut self, waker: &Waker) -> bool {
        let Some(place) = self.place else { return false };
        // A waker is foreign code: cloned and dropped without the lock, and what it panics with when it is dropped goes no further.
        let mut unused = Wake::Task(waker.clone());
        let mut list = self.list.list.lock();
        let own = list.listeners.get_mut(&place);
        let is_there = own.map(|own| std::mem::swap(own, &mut unused)).is_some();
        self.list.unlock(list);
        alone(|| drop(unused));
        is_there
    }

    /// Does not wait any more. Who was notified in vain notifies another (I2).
    fn leave(&mut self) {
        let Some(place) = self.place.take() else { return };
        let mut list = self.list.list.lock();
        let own = list.listeners.remove(&place);
        self.list.unlock(list);
        if own.is_none() {
            self.list.notify_one();
        }
        alone(|| drop(own));
    }
}

impl Drop for Entry<'_> {
    fn drop(&mut self) {
        self.leave();
    }
}

impl fmt::Debug for WaitList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} wait", self.len_hint())
    }
}

impl fmt::Debug for Listener<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Listener").field(&self.entry).finish()
    }
}

impl fmt::Debug for Entry<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "place {:?} of a list where {:?}", self.place, self.list)
    }
}
