//! A watchdog for what the step budget cannot see: a loop without a step.
//!
//! A virtual thread that loops on something outside the facade (a lock of `std`, the real clock, its own
//! arithmetic) never gives its OS thread back. A second OS thread looks whether steps are taken, and
//! says which run it is that hangs.

use crate::engine::ThreadId;
use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};
use std::thread;
use std::time::{Duration, Instant};

thread_local! {
    static BEAT: RefCell<Option<Arc<Beat>>> = const { RefCell::new(None) };
}

/// Watches the runs of the OS thread that made it, until it is dropped.
#[must_use = "it watches until it is dropped"]
#[derive(Debug)]
pub struct Watchdog {
    beat: Arc<Beat>,
    /// What was watching before.
    outer: Option<Arc<Beat>>,
    watcher: Option<thread::JoinHandle<()>>,
}

/// A run that takes no more steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hang {
    /// Its seed.
    pub seed: u64,
    /// Steps it has taken.
    pub steps: u64,
    /// The thread that took the last.
    pub thread: ThreadId,
}

/// What the watcher sees of a run.
#[derive(Debug, Default)]
pub(crate) struct Beat {
    seed: AtomicU64,
    /// Steps of all runs.
    total: AtomicU64,
    steps: AtomicU64,
    thread: AtomicU32,
    inside: AtomicBool,
    over: AtomicBool,
}

impl Watchdog {
    /// When a run takes no step for `limit` of real time: says so and ends the process, which is all
    /// that is left to do.
    pub fn new(limit: Duration) -> Self {
        Self::with(limit, |hang| {
            eprintln!("{hang}");
            std::process::abort();
        })
    }

    /// When a run takes no step for `limit` of real time: calls `report`, once, on another OS thread.
    pub fn with(limit: Duration, report: impl FnOnce(Hang) + Send + 'static) -> Self {
        let beat = Arc::new(Beat::default());
        let outer = BEAT.replace(Some(beat.clone()));
        let theirs = beat.clone();
        let watcher = thread::spawn(move || watch(&theirs, limit, report));
        Self { beat, outer, watcher: Some(watcher) }
    }
}

fn watch(beat: &Beat, limit: Duration, report: impl FnOnce(Hang)) {
    let mut seen = beat.total.load(Relaxed);
    let mut since = Instant::now();
    while !beat.over.load(Acquire) {
        thread::park_timeout(limit / 4);
        let now = beat.total.load(Relaxed);
        if now != seen || !beat.inside.load(Acquire) {
            seen = now;
            since = Instant::now();
        } else if since.elapsed() >= limit {
            return report(Hang {
                seed: beat.seed.load(Relaxed),
                steps: beat.steps.load(Relaxed),
                thread: ThreadId(beat.thread.load(Relaxed)),
            });
        }
    }
}

/// What watches the calling OS thread.
pub(crate) fn current() -> Option<Arc<Beat>> {
    BEAT.try_with(|beat| beat.borrow().clone()).ok().flatten()
}

impl Beat {
    pub(crate) fn begin(&self, seed: u64) {
        self.seed.store(seed, Relaxed);
        self.inside.store(true, Release);
    }

    pub(crate) fn step(&self, steps: u64, thread: ThreadId) {
        self.total.fetch_add(1, Relaxed);
        self.steps.store(steps, Relaxed);
        self.thread.store(thread.0, Relaxed);
    }

    pub(crate) fn end(&self) {
        self.inside.store(false, Release);
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        BEAT.set(self.outer.take());
        self.beat.over.store(true, Release);
        if let Some(watcher) = self.watcher.take() {
            watcher.thread().unpark();
            // Its panic is the reporter's, who has printed it.
            let _ = watcher.join();
        }
    }
}

impl fmt::Display for Hang {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seed, steps, thread } = self;
        write!(f, "the simulation hangs: {thread} takes no step (seed {seed}, {steps} steps)")
    }
}
