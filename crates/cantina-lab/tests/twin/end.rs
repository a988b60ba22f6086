//! The ends of a twin: producer, consumer and worker in one type.

use super::{Bug, DYING, POISONED, Shared};
use cantina::pool::{Consumer, Full, Producer, PutAllError};
use machine::Arc;
use machine::thread;
use machine::time::Duration;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::Ordering::Relaxed;
use std::thread::ThreadId;

/// How many milliseconds an end that is kept out waits before it dies: longer than anybody waits for
/// it.
const KEPT_OUT: u32 = 10_000;
/// How many a consumer gets ahead, if it does.
const AHEAD: usize = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Producer,
    Consumer,
    Worker,
}

/// Any end.
pub(crate) struct End<T: Send + 'static> {
    shared: Arc<Shared<T>>,
    role: Role,
    name: u64,
    home: ThreadId,
    /// What it holds back, or got ahead.
    pocket: VecDeque<T>,
    found_empty: bool,
}

impl<T: Send + 'static> End<T> {
    pub(super) fn new(shared: Arc<Shared<T>>, role: Role) -> Self {
        shared.handle_comes();
        let mut state = shared.lock();
        state.calls += 1;
        let name = state.calls;
        drop(state);
        let home = std::thread::current().id();
        Self { shared, role, name, home, pocket: VecDeque::new(), found_empty: false }
    }

    fn has(&self, bug: Bug) -> bool {
        self.shared.has(bug)
    }

    /// Waits until nobody else keeps it out; keeps the others out itself if `keeps`.
    fn enter(&self, keeps: bool) {
        for _ in 0..KEPT_OUT {
            let mut state = self.shared.lock();
            if state.used_by.is_none_or(|name| name == self.name) {
                state.used_by = keeps.then_some(self.name);
                return;
            }
            drop(state);
            thread::sleep(Duration::from_millis(1));
        }
        panic!("kept out");
    }

    /// The beginning of every call; whether it is to fail.
    fn begin(&self) -> bool {
        self.enter(self.has(Bug::IdleHandleBlocksOthers));
        let poisoned = self.has(Bug::PanicPoisonsOthers) && POISONED.load(Relaxed);
        assert!(!poisoned, "poisoned");
        let abroad = std::thread::current().id() != self.home;
        // own: it only matters to the thread that drops.
        let dying = self.has(Bug::DyingPoolClosesOthers) && DYING.load(Relaxed) > 0;
        dying || abroad && self.has(Bug::HandleIsBoundToItsThread)
    }

    /// Puts what it held back.
    fn hand_in(&mut self) {
        while let Some(task) = self.pocket.pop_front() {
            if let Err(Full(task)) = self.shared.put(task) {
                self.pocket.push_front(task);
                return;
            }
        }
    }
}

impl<T: Send + 'static> Producer<T> for End<T> {
    fn try_put(&mut self, task: T) -> Result<(), Full<T>> {
        if self.begin() {
            return Err(Full(task));
        }
        if self.has(Bug::PutsLate) || self.has(Bug::LeavingProducerTakesTasksAlong) {
            self.hand_in();
            self.pocket.push_back(task);
            return Ok(());
        }
        if self.has(Bug::LeavingWorkerTakesTasksAlong) && self.role == Role::Worker {
            self.pocket.push_back(task);
            return Ok(());
        }
        self.shared.put(task)
    }

    fn put_all<I>(&mut self, tasks: I) -> Result<usize, PutAllError<T, I::IntoIter>>
    where
        I: IntoIterator<Item = T>,
    {
        let mut rest = tasks.into_iter();
        let mut put = 0;
        if self.has(Bug::BatchPutTrustsTheHint) {
            self.pocket.reserve(rest.size_hint().0);
        }
        if self.has(Bug::BatchPutCollectsFirst) {
            let all: Vec<T> = rest.by_ref().collect();
            put = all.len();
            all.into_iter().for_each(|task| assert!(self.try_put(task).is_ok(), "it is full"));
            return Ok(put);
        }
        let mut last = None;
        while let Some(task) = self.pull(&mut rest) {
            self.enter(self.has(Bug::BatchPutKeepsOthersOut));
            if self.has(Bug::BatchPutLosesItsTail) || self.has(Bug::BatchPutLosesAFullBuffer) {
                // One behind.
                let Some(task) = last.replace(task) else { continue };
                assert!(self.try_put(task).is_ok(), "it is full");
            } else if let Err(Full(task)) = self.try_put_in_batch(task) {
                if self.has(Bug::BatchPutSkipsATask) {
                    rest.next();
                }
                self.enter(false);
                return Err(PutAllError { put, task, rest });
            }
            put += 1;
        }
        self.enter(false);
        if let Some(last) = last {
            put += 1;
            if self.has(Bug::BatchPutLosesAFullBuffer) && put != 64 {
                assert!(self.try_put(last).is_ok(), "it is full");
            }
        }
        Ok(put + usize::from(self.has(Bug::BatchPutMiscounts)))
    }
}

impl<T: Send + 'static> End<T> {
    /// The next task of a batch.
    fn pull(&self, rest: &mut impl Iterator<Item = T>) -> Option<T> {
        catch_unwind(AssertUnwindSafe(|| rest.next())).unwrap_or_else(|panic| {
            self.shared.lock().closed |= self.has(Bug::BatchPutPanicEndsPuts);
            if self.has(Bug::BatchPutHidesThePanic) { None } else { resume_unwind(panic) }
        })
    }

    /// Puts as many of `tasks` as there is room for, together. How many.
    pub(super) fn put_batch(&mut self, tasks: Vec<T>) -> usize {
        self.shared.put_batch(tasks)
    }

    fn try_put_in_batch(&mut self, task: T) -> Result<(), Full<T>> {
        let outcome = self.try_put(task);
        self.enter(self.has(Bug::BatchPutKeepsOthersOut));
        outcome
    }
}

impl<T: Send + 'static> Consumer<T> for End<T> {
    fn get(&mut self) -> Option<T> {
        if self.begin() {
            return None;
        }
        if self.has(Bug::LeavingWorkerTakesTasksAlong) && !self.pocket.is_empty() {
            return self.pocket.pop_front();
        }
        if self.has(Bug::PutsLate) {
            self.hand_in();
        }
        if self.has(Bug::LeavingConsumerTakesTasksAlong)
            || self.has(Bug::ForgottenConsumerKeepsTasks)
        {
            if self.pocket.is_empty() {
                let ahead = std::iter::from_fn(|| self.shared.get());
                self.pocket.extend(ahead.take(AHEAD));
            }
            return self.pocket.pop_front();
        }
        if self.found_empty {
            return None;
        }
        let task = self.shared.get();
        self.found_empty = task.is_none() && self.has(Bug::RemembersThatItWasEmpty);
        task
    }

    fn get_many(&mut self, max: usize, into: &mut Vec<T>) -> usize {
        if self.shared.setting.together {
            return self.shared.get_batch(max, into);
        }
        if self.has(Bug::BatchGetOverwrites) {
            into.clear();
        }
        if self.has(Bug::BatchGetOverReserves) {
            into.reserve(max.min(10_000));
        }
        let max = max.max(usize::from(self.has(Bug::BatchGetOfNoneGetsOne)));
        let one_more = max > 0 && self.has(Bug::BatchGetExceedsItsMaximum);
        let max = max.saturating_add(usize::from(one_more));
        let before = into.len();
        while into.len() - before < max {
            let Some(task) = self.get() else { break };
            into.push(task);
            into.rotate_right(usize::from(self.has(Bug::BatchGetPrepends)));
        }
        if self.has(Bug::BatchGetLosesItsTail) && into.len() - before > 1 {
            into.pop();
        }
        into.len() - before + usize::from(self.has(Bug::BatchGetMiscounts))
    }
}

impl<T: Send + 'static> Drop for End<T> {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        if state.used_by == Some(self.name) {
            state.used_by = None;
        }
        state.consumers -=
            usize::from(self.role != Role::Producer && !self.has(Bug::PlaceIsNeverGivenBack));
        state.closed |= thread::panicking() && self.has(Bug::DyingThreadClosesThePool);
        let ends =
            self.has(Bug::LeavingConsumerEndsPuts) || self.has(Bug::LeavingConsumerHidesPuts);
        state.closed |= self.role == Role::Consumer && ends;
        if self.has(Bug::LeavingConsumerRaces) && self.role != Role::Producer {
            let tasks = std::mem::take(&mut state.tasks);
            drop(state);
            thread::yield_now();
            self.shared.lock().tasks = tasks;
        } else {
            drop(state);
        }
        if self.has(Bug::PutsLate) || self.has(Bug::ForgottenConsumerKeepsTasks) {
            self.hand_in();
        }
        self.pocket.clear();
        self.shared.handle_goes();
    }
}
