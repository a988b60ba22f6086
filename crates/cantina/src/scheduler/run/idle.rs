//! Workers that have nothing to do sleep, and no wake-up is lost.
//!
//! Who adds a task looks, behind a fence, whether somebody sleeps and nobody searches, and then wakes one, which
//! searches. A worker that finds something is no searcher any more; the last one to find something wakes another, as
//! there may be more. One that finds nothing stops searching, puts itself on the list of sleepers, and looks once
//! more, behind a fence. If something is there it does not take it and run: it goes back to searching, for all those
//! who relied on it. Tasks from outside that a worker makes its own are added once more: on their way nobody saw them.
//!
//! A worker that has nothing left looks around a few times before it counts as a searcher: what it finds then nobody
//! relied on it for, and those who add tasks all the time keep their copy of the word that says who searches.
//!
//! A worker that finds units that others get through with [naps](Idle::nap): it looks again after a while. Who adds a unit
//! to its own ones relies on it, as on a searcher, and wakes nobody; for all else it does not count.
//!
//! The fences are a [pair](machine::fence::Pair), the runtime's: tasks are added all the time, and the heavy one comes
//! before a sleep. Where that is refused, whoever sleeps wakes up again by itself.

use machine::CachePadded;
use machine::atomic::AtomicUsize;
use machine::atomic::Ordering::Relaxed;
use machine::fence::Pair;
use machine::lock::Mutex;
use machine::park::Unparker;

/// One sleeper, in `state`.
const ASLEEP: usize = 1;
/// One that naps, in `state`.
const NAPS: usize = 1 << 16;
/// One searcher, in `state`.
const SEARCHES: usize = 1 << 32;

/// Who sleeps, and how many search.
pub(in crate::scheduler) struct Idle {
    /// How many sleep, how many nap, and how many search. Sleepers change it under the lock. Who adds looks at it.
    state: CachePadded<AtomicUsize>,
    list: CachePadded<Mutex<List>>,
    workers: Vec<Unparker>,
    fences: Pair,
}

#[derive(Default)]
struct List {
    sleepers: Vec<usize>,
    /// How often one was taken off.
    gone: u64,
    /// Who waits until all of them sleep.
    watcher: Option<Unparker>,
}

impl Idle {
    pub(in crate::scheduler) fn new(workers: Vec<Unparker>, fences: Pair) -> Self {
        let (state, list) = (CachePadded::default(), CachePadded::default());
        Self { state, list, workers, fences }
    }

    /// A task was added: sees to it that somebody finds it.
    #[inline]
    pub(in crate::scheduler) fn added(&self) {
        self.wake_if(|state| state % NAPS > 0 && state < SEARCHES);
    }

    /// A worker has added a unit to its own: sees to it that somebody finds it, now or after a nap.
    #[inline]
    pub(in crate::scheduler) fn added_unit(&self) {
        self.wake_if(|state| state > 0 && state < NAPS);
    }

    /// Whether somebody has nothing to do, as it seems.
    pub(super) fn is_anybody(&self) -> bool {
        // hint: a look, on which only time depends.
        self.state.load(Relaxed) > 0
    }

    #[inline(always)]
    fn wake_if(&self, is_wanted: impl FnOnce(usize) -> bool) {
        // sleep: the task, for whoever is about to sleep.
        self.fences.light();
        // bare: behind the fence.
        let state = self.state.load(Relaxed);
        if is_wanted(state) {
            self.wake_one();
        }
    }

    /// Wakes one that sleeps; it searches.
    #[cold]
    fn wake_one(&self) {
        let sleeper = {
            let mut list = self.list.lock();
            let sleeper = list.sleepers.pop();
            if sleeper.is_some() {
                list.gone += 1;
                // bare: a read-modify-write sees the last value; what it is about goes by fences.
                self.state.fetch_add(SEARCHES - ASLEEP, Relaxed);
            }
            sleeper
        };
        sleeper.into_iter().for_each(|sleeper| self.workers[sleeper].unpark());
    }

    /// The caller begins to search.
    pub(super) fn search(&self) {
        // bare: as in `wake_one`.
        self.state.fetch_add(SEARCHES, Relaxed);
    }

    /// The caller searches no more: the runtime stops.
    pub(super) fn give_up(&self) {
        // bare: as in `wake_one`.
        self.state.fetch_sub(SEARCHES, Relaxed);
    }

    /// The caller searches no more, as it has found something. Is there more than that, for which others relied on it,
    /// somebody else is to search.
    pub(super) fn found(&self, has_more: impl FnOnce() -> bool) {
        // bare: as in `wake_one`.
        let before = self.state.fetch_sub(SEARCHES, Relaxed);
        let asleep = before % NAPS;
        if asleep > 0 && before < 2 * SEARCHES {
            // sleep: what was added before somebody saw it search. Refused, there may be more.
            let seen = self.fences.heavy().is_ok();
            if !seen || has_more() {
                self.wake_one();
            }
        }
    }

    /// The caller, a searcher, does `nap`, and then searches again.
    pub(super) fn nap(&self, nap: impl FnOnce()) {
        // bare: as in `wake_one`.
        self.state.fetch_sub(SEARCHES - NAPS, Relaxed);
        nap();
        // bare: as in `wake_one`.
        self.state.fetch_add(SEARCHES - NAPS, Relaxed);
    }

    /// The searcher `worker` finds nothing and is about to sleep, unless a look behind this finds something. `false`: the
    /// look finds not everything, as the operating system refuses the fence, and it may not be woken.
    pub(super) fn add(&self, worker: usize) -> bool {
        {
            let mut list = self.list.lock();
            list.sleepers.push(worker);
            // bare: as in `wake_one`.
            self.state.fetch_sub(SEARCHES - ASLEEP, Relaxed);
            if list.sleepers.len() == self.workers.len() {
                list.watcher.iter().for_each(Unparker::unpark);
            }
        }
        // sleep: what was added before somebody saw it search, or not sleep.
        self.fences.heavy().is_ok()
    }

    /// `worker` searches again. Whether it was on the list: otherwise somebody has taken it off, and wakes it.
    pub(super) fn remove(&self, worker: usize) -> bool {
        let mut list = self.list.lock();
        let before = list.sleepers.len();
        list.sleepers.retain(|sleeper| *sleeper != worker);
        let was_there = list.sleepers.len() < before;
        if was_there {
            list.gone += 1;
            // bare: as in `wake_one`.
            self.state.fetch_add(SEARCHES - ASLEEP, Relaxed);
        }
        was_there
    }

    /// Wakes all of them, asleep or not.
    pub(in crate::scheduler) fn wake_all(&self) {
        self.workers.iter().for_each(Unparker::unpark);
    }

    /// If all sleep, or are about to, how often one was woken so far, or has gone on instead; if not, `watcher` is woken when all do.
    ///
    /// Who is about to sleep may find something in its last look. If two looks at this tell the same, nobody had anything in hand
    /// between them, nor took or added anything.
    pub(in crate::scheduler) fn all_sleep(&self, watcher: &Unparker) -> Option<u64> {
        let mut list = self.list.lock();
        list.watcher = Some(watcher.clone());
        (list.sleepers.len() == self.workers.len()).then_some(list.gone)
    }
}
