//! Threads for operations that block: they are started when they are needed, and stay for a while.
//!
//! # Invariants
//! * **I1** a job in the queue has a thread that comes for it: one that was just started or woken, or, where there may be
//!   no more of them, each that ends what it does. All of that is said under the lock.

use machine::Arc;
use machine::lock::Mutex;
use machine::park::{Parker, Unparker};
use machine::thread;
use machine::time::Duration;
use std::collections::VecDeque;

/// How long a thread waits for something to do before it goes.
const STAYS: Duration = Duration::from_secs(10);

/// Something that blocks. It is told whether it runs; otherwise it is cancelled. It does not panic.
type Job = Box<dyn FnOnce(bool) + Send>;

/// The threads of one runtime.
#[derive(Clone)]
pub(super) struct Blocking {
    state: Arc<Mutex<State>>,
    /// What they are called.
    name: Arc<String>,
}

struct State {
    jobs: VecDeque<Job>,
    /// Threads that wait, by their numbers.
    idle: Vec<(usize, Unparker)>,
    /// How many threads there are, and how many there may be.
    threads: usize,
    most: usize,
    /// How many were started so far.
    started: usize,
    /// How many jobs run, and how many there ever were.
    running: usize,
    accepted: u64,
    /// Who waits until there are none.
    watcher: Option<Unparker>,
    /// How many of those that run are the watcher's own: the one that waits.
    own: usize,
    stopped: bool,
}

impl Blocking {
    pub(super) fn new(most: usize, name: String) -> Self {
        let state = State {
            jobs: VecDeque::new(),
            idle: Vec::new(),
            threads: 0,
            most,
            started: 0,
            running: 0,
            accepted: 0,
            watcher: None,
            own: 0,
            stopped: false,
        };
        Self { state: Arc::new(Mutex::new(state)), name: Arc::new(name) }
    }

    /// Runs `job` on a thread that waits, or on a new one, or when there is one again.
    pub(super) fn run(&self, job: impl FnOnce(bool) + Send + 'static) {
        let mut state = self.state.lock();
        if state.stopped {
            drop(state);
            return job(false);
        }
        state.accepted += 1;
        state.jobs.push_back(Box::new(job));
        if let Some((_, thread)) = state.idle.pop() {
            drop(state);
            return thread.unpark();
        }
        if state.threads == state.most {
            return;
        }
        state.threads += 1;
        state.started += 1;
        let number = state.started;
        drop(state);
        let this = self.clone();
        let builder = thread::Builder::new().name(String::clone(&self.name));
        if builder.spawn(move || this.work(number)).is_err() {
            self.not_started();
        }
    }

    /// There can be no more threads: what nobody comes for is cancelled.
    #[cold]
    fn not_started(&self) {
        let mut state = self.state.lock();
        state.threads -= 1;
        if state.threads > 0 {
            return;
        }
        let left = std::mem::take(&mut state.jobs);
        // Until they are cancelled: those that depend on them are something to do.
        state.running += left.len();
        drop(state);
        for job in left {
            job(false);
            self.ended();
        }
    }

    /// What a thread does.
    fn work(&self, number: usize) {
        let parker = Parker::new();
        loop {
            let mut state = self.state.lock();
            if let Some(job) = state.jobs.pop_front() {
                state.running += 1;
                drop(state);
                job(true);
                self.ended();
                continue;
            }
            if state.stopped {
                state.threads -= 1;
                return;
            }
            state.idle.push((number, parker.unparker()));
            drop(state);
            // Woken or not, what counts is whether somebody has taken it off the list.
            let _woken = parker.park_timeout(STAYS);
            let mut state = self.state.lock();
            let before = state.idle.len();
            state.idle.retain(|(idle, _)| *idle != number);
            if state.idle.len() < before {
                state.threads -= 1;
                return;
            }
        }
    }

    fn ended(&self) {
        let mut state = self.state.lock();
        state.running -= 1;
        let watcher = if state.rests() { state.watcher.take() } else { None };
        drop(state);
        if let Some(watcher) = watcher {
            watcher.unpark();
        }
    }

    /// How many jobs there ever were, if all of them have ended but for the watcher's `own`; if not, `watcher` is woken when
    /// they have.
    pub(super) fn rests(&self, watcher: &Unparker, own: usize) -> Option<u64> {
        let mut state = self.state.lock();
        state.watcher = Some(watcher.clone());
        state.own = own;
        state.rests().then_some(state.accepted)
    }

    /// Begins nothing more. How many jobs were left.
    pub(super) fn stop(&self) -> usize {
        let mut state = self.state.lock();
        state.stopped = true;
        let left = std::mem::take(&mut state.jobs);
        let idle = std::mem::take(&mut state.idle);
        drop(state);
        idle.into_iter().for_each(|(_, thread)| thread.unpark());
        let count = left.len();
        left.into_iter().for_each(|job| job(false));
        count
    }
}

impl State {
    fn rests(&self) -> bool {
        self.jobs.is_empty() && self.running == self.own
    }
}

#[cfg(test)]
mod tests {
    use super::Blocking;
    use machine::Arc;
    use machine::lock::Mutex;
    use machine::park::Parker;
    use machine::time::Duration;

    #[test]
    fn a_thread_that_is_not_started_leaves_nobody_waiting_for_its_jobs() {
        let blocking = Blocking::new(1, String::new());
        // As if a thread were about to be started for each.
        blocking.state.lock().threads = 1;
        let told: Arc<Mutex<Vec<bool>>> = Arc::default();
        for _ in 0..2 {
            let told = told.clone();
            blocking.run(move |runs| told.lock().push(runs));
        }
        let watcher = Parker::new();
        assert_eq!(blocking.rests(&watcher.unparker(), 0), None);
        blocking.not_started();
        assert_eq!(*told.lock(), [false, false]);
        assert!(watcher.park_timeout(Duration::ZERO), "nobody has woken it");
        assert_eq!(blocking.rests(&watcher.unparker(), 0), Some(2));
    }

    #[test]
    fn a_thread_that_is_not_started_leaves_the_jobs_to_others() {
        let blocking = Blocking::new(2, String::new());
        blocking.state.lock().threads = 2;
        blocking.run(|_| ());
        blocking.not_started();
        assert_eq!(blocking.rests(&Parker::new().unparker(), 0), None);
        blocking.not_started();
        assert_eq!(blocking.rests(&Parker::new().unparker(), 0), Some(1));
    }

    #[test]
    fn what_is_about_to_be_cancelled_does_not_rest() {
        let blocking = Blocking::new(1, String::new());
        blocking.state.lock().threads = 1;
        let (this, watcher) = (blocking.clone(), Parker::new());
        let unparker = watcher.unparker();
        blocking.run(move |_| assert_eq!(this.rests(&unparker, 0), None));
        blocking.not_started();
        assert!(watcher.park_timeout(Duration::ZERO));
    }
}
