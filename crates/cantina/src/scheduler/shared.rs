//! What all handles, workers, units and eventuals of a runtime share.

use super::blocking::Blocking;
use super::blocks::Spare;
use super::context::{self, Context};
use super::metrics::{Counters, Metrics};
use super::places::Places;
use super::run::{Idle, Left, Queues, Task};
use super::unheard::{Hook, Unheard};
use super::waits::{Wait, Waiting};
use machine::CachePadded;
use machine::atomic::AtomicUsize;
use machine::atomic::Ordering::{AcqRel, Relaxed};
use machine::fence::Pair;
use machine::lock::Mutex;
use machine::park::{Parker, Unparker};
use machine::time::{Duration, Instant};
use std::ops::Deref;
use std::ptr::NonNull;

/// Everything is taken.
const OPEN: usize = 0;
/// Nothing more is taken from outside.
const CLOSING: usize = 1;
/// Nothing more is begun.
const STOPPED: usize = 2;

pub(super) struct Shared {
    /// Of handles, and of workers with what they have in stock.
    references: AtomicUsize,
    pub(super) queues: Queues,
    pub(super) idle: Idle,
    /// Operations that wait, and were told so outside. `None`: no more do.
    waiting: Mutex<Option<Waiting>>,
    pub(super) counters: Vec<CachePadded<Counters>>,
    /// Blocks for workers that have none.
    pub(super) spare: Spare,
    pub(super) budget: usize,
    pub(super) turn_time: Option<Duration>,
    /// What its workers are called, with a number behind it.
    pub(super) name: String,
    pub(super) places: Places,
    pub(super) blocking: Blocking,
    pub(super) unheard: Unheard,
    /// Between whoever does something all the time and whoever waits for it now and then.
    pub(super) fences: Pair,
    /// `OPEN`, `CLOSING` or `STOPPED`.
    phase: AtomicUsize,
    /// What workers had to give up after it was stopped.
    left: Mutex<Left>,
}

/// What it is made with.
pub(super) struct Settings {
    pub(super) workers: usize,
    pub(super) room: usize,
    pub(super) fences: Pair,
    pub(super) budget: usize,
    pub(super) turn_time: Option<Duration>,
    pub(super) name: String,
    pub(super) places: Places,
    pub(super) blocking: Blocking,
    pub(super) on_panic: Option<Hook>,
}

/// A reference to it.
pub(super) struct Reference(NonNull<Shared>);

// SAFETY: it is shared by threads, and the last reference drops it.
unsafe impl Send for Reference {}
// SAFETY: as above.
unsafe impl Sync for Reference {}

impl Reference {
    pub(super) fn new(settings: Settings, idle: Idle) -> Self {
        let Settings { workers, room, fences, budget, turn_time, .. } = settings;
        let Settings { name, places, blocking, on_panic, .. } = settings;
        let shared = Shared {
            references: AtomicUsize::new(1),
            queues: Queues::new(workers, room, fences),
            idle,
            waiting: Mutex::new(Some(Waiting::default())),
            counters: (0..workers).map(|_| CachePadded::default()).collect(),
            spare: Spare::default(),
            budget,
            turn_time,
            name,
            places,
            blocking,
            unheard: Unheard::new(on_panic),
            fences,
            phase: AtomicUsize::new(OPEN),
            left: Mutex::new(Left::default()),
        };
        Self(NonNull::from(Box::leak(Box::new(shared))))
    }
}

impl Deref for Reference {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        // SAFETY: it stays while there is a reference.
        unsafe { self.0.as_ref() }
    }
}

impl Clone for Reference {
    #[inline]
    fn clone(&self) -> Self {
        Context::take_reference(self);
        Self(self.0)
    }
}

impl Reference {
    /// Sees to it that `task` is done, or failed. It may be what this reference lies in.
    ///
    /// # Safety
    /// The reference is there until then.
    #[inline]
    pub(super) unsafe fn schedule(this: *const Self, task: Task) {
        // SAFETY: the caller's.
        let shared = unsafe { &*this };
        match shared.own_worker() {
            // SAFETY: we are that worker, and so `shared` stays.
            Some(worker) => unsafe { shared.0.as_ref().schedule_own(worker, task) },
            // A reference of its own: once it is scheduled the task may be gone, and all others with it.
            None => shared.clone().schedule_outside(task),
        }
    }
}

impl Drop for Reference {
    #[inline]
    fn drop(&mut self) {
        if !Context::stock_reference(self.0.as_ptr()) {
            self.give_up_last();
        }
    }
}

impl Reference {
    #[cold]
    fn give_up_last(&mut self) {
        // gone: this reference is not used any more.
        // gone: nor are all the others.
        if self.references.fetch_sub(1, AcqRel) == 1 {
            // SAFETY: from a box, and this was the last reference.
            drop(unsafe { Box::from_raw(self.0.as_ptr()) });
        }
    }
}

impl Shared {
    /// More references; the caller has one.
    pub(super) fn take(&self, count: usize) {
        // bare: there is one at least, the caller's.
        self.references.fetch_add(count, Relaxed);
    }

    /// References that are not used any more; the caller has another one.
    pub(super) fn give_back(&self, count: usize) {
        // bare: the caller has another one, and gives that up behind these.
        self.references.fetch_sub(count, Relaxed);
    }

    /// The calling thread's number among the workers.
    #[inline]
    pub(super) fn own_worker(&self) -> Option<usize> {
        context::worker_of(self)
    }

    /// Whether an operation of the calling thread is not taken any more.
    #[inline]
    pub(super) fn refuses(&self) -> bool {
        // bare: it carries nothing.
        match self.phase.load(Relaxed) {
            OPEN => false,
            CLOSING => !context::runs_for(self),
            _ => true,
        }
    }

    #[inline]
    pub(super) fn is_stopped(&self) -> bool {
        // bare: it carries nothing. Who sees it late finds the queues closed, and who sleeps is woken by what does.
        self.phase.load(Relaxed) == STOPPED
    }

    /// What worker `index` is called.
    pub(super) fn worker_name(&self, index: usize) -> String {
        format!("{}-{index}", self.name)
    }

    pub(super) fn metrics(&self) -> Metrics {
        let read = |(index, counters): (usize, &CachePadded<Counters>)| {
            counters.read(self.worker_name(index), self.queues.len(index))
        };
        let workers = self.counters.iter().enumerate().map(read).collect();
        let (unheard_panics, dropped_tells) = (self.unheard.count(), self.unheard.dropped());
        Metrics { workers, unheard_panics, dropped_tells }
    }

    /// Sees to it that `task` is done, or failed.
    #[inline]
    pub(super) fn schedule(&self, task: Task) {
        match self.own_worker() {
            // SAFETY: we are that worker.
            Some(worker) => unsafe { self.schedule_own(worker, task) },
            None => self.schedule_outside(task),
        }
    }

    /// # Safety
    /// The caller is that worker.
    #[inline]
    unsafe fn schedule_own(&self, worker: usize, task: Task) {
        let is_unit = task.is_unit();
        // SAFETY: the caller's.
        unsafe { self.queues.push_own(worker, task) };
        if is_unit { self.idle.added_unit() } else { self.idle.added() }
    }

    fn schedule_outside(&self, task: Task) {
        match self.queues.push(task) {
            Ok(()) => self.idle.added(),
            Err(task) => context::later(move || task.cancel(&mut Left::default())),
        }
    }

    /// Has what waits kept in a place where it is found when the runtime stops. `Err`: it has stopped.
    pub(super) fn keep(&self, wait: Wait) -> Result<(), Wait> {
        if self.own_worker().is_some() {
            self.with_own(|own| own.add(wait)).flatten().into_iter().for_each(|mut list| {
                Waiting::look_through(&mut list);
                self.with_own(|own| own.put_back(list));
            });
            return Ok(());
        }
        let full = match &mut *self.waiting.lock() {
            None => return Err(wait),
            Some(waiting) => waiting.add(wait),
        };
        if let Some(mut list) = full {
            Waiting::look_through(&mut list);
            let mut place = self.waiting.lock();
            match &mut *place {
                Some(waiting) => waiting.put_back(list),
                None => {
                    drop(place);
                    // It has stopped meanwhile.
                    let mut waiting = Waiting::default();
                    waiting.put_back(list);
                    let waiting = waiting.cancel();
                    self.left_over(Left { waiting, ..Left::default() });
                }
            }
        }
        Ok(())
    }

    fn with_own<R>(&self, f: impl FnOnce(&mut Waiting) -> R) -> Option<R> {
        Context::with_waiting(self, |waiting| f(&mut waiting.borrow_mut()))
    }

    /// A worker could not go on with `task`: it was stopped.
    pub(super) fn give_up(&self, task: Task) {
        let mut left = Left::default();
        context::quietly(|| task.cancel(&mut left));
        self.left_over(left);
    }

    pub(super) fn left_over(&self, left: Left) {
        self.left.lock().add(left);
    }

    /// What workers had to give up.
    pub(super) fn take_left(&self) -> Left {
        std::mem::take(&mut *self.left.lock()).merged()
    }

    /// Takes nothing more from outside, and waits until all workers sleep, nothing is to be done and nothing blocks, but no
    /// longer than `deadline`. An operation that waits for this itself is not waited for; a worker cannot wait.
    pub(super) fn come_to_rest(&self, deadline: Duration) {
        // bare: it carries nothing. Who sees it late was as good as earlier.
        self.phase.fetch_max(CLOSING, Relaxed);
        if context::is_worker() {
            return;
        }
        let parker = Parker::new();
        let unparker = parker.unparker();
        let end = Instant::now().checked_add(deadline);
        while !self.rests(&unparker) {
            let left = end.map_or(deadline, |end| end.saturating_duration_since(Instant::now()));
            if left.is_zero() || !parker.park_timeout(left) {
                return;
            }
        }
    }

    /// Whether there is nothing to be done; if there is, `watcher` is woken when there may be nothing.
    ///
    /// What blocks gives workers something to do as it ends, and they may begin what blocks. So nothing may have blocked from
    /// before the look at them until after it. Workers give queues something to do, and take it from there; one that was about to
    /// sleep too. So all of them have to sleep from before the look at the queues until after it.
    fn rests(&self, watcher: &Unparker) -> bool {
        let own = usize::from(context::runs_for(self));
        let Some(before) = self.blocking.rests(watcher, own) else { return false };
        let Some(asleep) = self.idle.all_sleep(watcher) else { return false };
        !self.queues.has_work()
            && Some(asleep) == self.idle.all_sleep(watcher)
            && Some(before) == self.blocking.rests(watcher, own)
    }

    pub(super) fn stop(&self) {
        // bare: it carries nothing: the injector and the wake-ups below do.
        self.phase.store(STOPPED, Relaxed);
        self.idle.wake_all();
        let mut left = Left::default();
        for task in self.queues.close() {
            context::quietly(|| task.cancel(&mut left));
        }
        let waiting = self.waiting.lock().take();
        left.waiting += waiting.map_or(0, Waiting::cancel);
        left.free += self.blocking.stop();
        self.left_over(left);
    }
}
