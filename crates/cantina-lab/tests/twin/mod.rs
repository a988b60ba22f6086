//! A pool over a lock, obviously right, with one bug if it is told to have one.
//!
//! Its ends are all of one kind, and what a bug changes is asked for where it matters:
//! `self.has(Bug::..)`. No bug is undefined behaviour: a task can only come out twice if it is a
//! number, and one that is "leaked" is kept where a leak checker finds it.

mod bug;
mod end;
mod plant;
mod setting;

pub(crate) use bug::Bug;
pub(crate) use plant::{Plant, plants};
pub(crate) use setting::Setting;

use cantina::pool::{Full, TaskPool, TooMany, drop_all};
use cantina_lab::registry::Order;
use end::{End, Role};
use machine::Arc;
use machine::lock::{Mutex, MutexGuard};
use machine::thread;
use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicUsize};

/// Now and then: each time that this many calls were made.
const NOW_AND_THEN: u64 = 7;

/// Tasks that were "leaked".
static LEAKED: std::sync::Mutex<Vec<Box<dyn Any + Send>>> = std::sync::Mutex::new(Vec::new());

/// Whether a task has panicked as it was dropped, for those that take it badly.
static POISONED: AtomicBool = AtomicBool::new(false);

/// Pools that are being dropped, of those that close the others meanwhile.
static DYING: AtomicUsize = AtomicUsize::new(0);

/// The pool.
pub(crate) struct Twin<T: Send + 'static> {
    shared: Arc<Shared<T>>,
}

struct Shared<T: Send + 'static> {
    setting: Setting,
    state: Mutex<State<T>>,
    /// For [`Bug::MiscountsHandles`].
    handles: AtomicUsize,
}

struct State<T> {
    /// The oldest is first.
    tasks: VecDeque<T>,
    pools: usize,
    consumers: usize,
    calls: u64,
    /// The end that keeps all the others out.
    used_by: Option<u64>,
    closed: bool,
}

impl<T: Send + 'static> Shared<T> {
    fn has(&self, bug: Bug) -> bool {
        self.setting.bug == Some(bug)
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        let guard = self.state.lock();
        if self.has(Bug::SaysEmptyWhenContended) || self.has(Bug::PutsAtTheWrongEndWhenContended) {
            // So that there is contention on one core too.
            thread::yield_now();
        }
        guard
    }

    /// Puts `task`, if there is room.
    fn put(&self, task: T) -> Result<(), Full<T>> {
        if self.has(Bug::PutsAtTheWrongEndWhenContended) && self.state.try_lock().is_none() {
            self.lock().tasks.push_front(task);
            return Ok(());
        }
        if self.has(Bug::PutsInTwoSteps) {
            if self.is_full(&mut self.lock()) {
                return Err(Full(task));
            }
            thread::yield_now();
            self.lock().tasks.push_back(task);
            return Ok(());
        }
        let mut state = self.lock();
        if self.is_full(&mut state) {
            return self.refuse(&mut state, task);
        }
        let lost = self.has(Bug::LosesATask) && state.calls % NOW_AND_THEN == 1
            || self.has(Bug::LosesTasksWithoutSize) && size_of::<T>() == 0
            || self.has(Bug::LeavingConsumerHidesPuts) && state.closed;
        if !lost {
            state.tasks.push_back(task);
        }
        Ok(())
    }

    /// Puts as many of `tasks` as there is room for, together. How many.
    fn put_batch(&self, mut tasks: Vec<T>) -> usize {
        if self.has(Bug::TurnsABatchPutAround) {
            tasks.reverse();
        }
        let all = tasks.len();
        let mut tasks = tasks.into_iter();
        let mut state = self.lock();
        let room = self.setting.capacity.map_or(all, |capacity| capacity - state.tasks.len());
        let fits = if self.has(Bug::PutsOneOfABatch) && room < all { room.min(1) } else { room };
        for task in tasks.by_ref().take(fits) {
            if self.has(Bug::TearsABatchPut) {
                drop(state);
                thread::yield_now();
                state = self.lock();
            }
            state.tasks.push_back(task);
        }
        all - tasks.len()
    }

    /// Gets up to `max` tasks, together.
    fn get_batch(&self, max: usize, into: &mut Vec<T>) -> usize {
        let (before, mut state) = (into.len(), self.lock());
        let fewer = usize::from(self.has(Bug::LeavesSomeOfABatch) && max > 2);
        while into.len() - before < max - fewer {
            let Some(task) = self.next(&mut state) else { break };
            into.push(task);
            if self.has(Bug::TearsABatchGot) {
                drop(state);
                thread::yield_now();
                state = self.lock();
            }
        }
        if self.has(Bug::TurnsABatchGotAround) {
            into[before..].reverse();
        }
        into.len() - before
    }

    /// Whether it says that it is full.
    fn is_full(&self, state: &mut State<T>) -> bool {
        let held = state.tasks.len();
        state.calls += 1;
        if self.has(Bug::FullWithoutABound) && held > 30 {
            return true;
        }
        let ended = self.has(Bug::LeavingConsumerEndsPuts) || self.has(Bug::BatchPutPanicEndsPuts);
        if ended && state.closed {
            return true;
        }
        let Some(mut capacity) = self.setting.capacity else { return false };
        capacity += usize::from(self.has(Bug::HoldsOneTooMany));
        capacity -= usize::from(self.has(Bug::FullTooEarly));
        let at_whim = held + self.setting.full_slack >= capacity && state.calls % 2 == 1;
        let full = held >= capacity || at_whim || state.closed;
        state.closed |= full && self.has(Bug::FullForEver);
        full
    }

    fn refuse(&self, state: &mut State<T>, task: T) -> Result<(), Full<T>> {
        if self.has(Bug::FullSwallowsTheTask) {
            return Ok(());
        }
        if self.has(Bug::FullGivesAnotherTask) {
            state.tasks.push_back(task);
            return state.tasks.pop_front().map_or(Ok(()), |another| Err(Full(another)));
        }
        Err(Full(task))
    }

    /// Gets the task whose turn it is.
    fn get(&self) -> Option<T> {
        if self.has(Bug::SaysEmptyWhenContended) && self.state.try_lock().is_none() {
            return None;
        }
        if self.has(Bug::GetsInTwoSteps) {
            let looked = self.lock().tasks.front().and_then(copy);
            if looked.is_some() {
                thread::yield_now();
                self.lock().tasks.pop_front();
                return looked;
            }
        }
        self.next(&mut self.lock())
    }

    fn next(&self, state: &mut State<T>) -> Option<T> {
        state.calls += 1;
        let now = state.calls % NOW_AND_THEN == 1;
        let is_closed = state.closed && self.has(Bug::DyingThreadClosesThePool);
        if is_closed || now && self.has(Bug::SaysEmptyTooEarly) {
            return None;
        }
        let wrong = usize::from(now && self.has(Bug::ReturnsTheWrongTask));
        let place = match self.setting.order {
            Order::Lifo => state.tasks.len().checked_sub(1)?.saturating_sub(wrong),
            Order::Fifo | Order::Bag => wrong.min(state.tasks.len().saturating_sub(1)),
        };
        let mut task = state.tasks.remove(place)?;
        if now && self.has(Bug::ReturnsATaskTwice) {
            state.tasks.extend(copy(&task));
        }
        let text = (&mut task as &mut dyn Any).downcast_mut::<String>();
        if let Some(text) = text.filter(|_| self.has(Bug::DamagesATask)) {
            text.push('!');
        }
        Some(task)
    }

    /// One consumer more, if there may be.
    fn register(&self) -> Result<(), TooMany> {
        let mut state = self.lock();
        match self.setting.limit {
            Some(limit) if state.consumers >= limit => {
                Err(TooMany::new(limit + usize::from(self.has(Bug::NamesAnotherLimit))))
            }
            _ => {
                state.consumers += 1;
                Ok(())
            }
        }
    }

    /// One handle more.
    fn handle_comes(&self) {
        self.handles.fetch_add(1, Relaxed);
    }

    /// One handle less.
    fn handle_goes(&self) {
        if self.has(Bug::MiscountsHandles) {
            let handles = self.handles.load(Relaxed);
            thread::yield_now();
            self.handles.store(handles.saturating_sub(1), Relaxed);
        }
    }
}

impl<T: Send + 'static> Drop for Shared<T> {
    fn drop(&mut self) {
        let mut tasks = std::mem::take(&mut self.state.lock().tasks);
        let miscounted = self.has(Bug::MiscountsHandles) && *self.handles.get_mut() > 0;
        if self.has(Bug::LeaksOnDrop) || miscounted {
            leak(std::mem::take(&mut tasks));
        }
        let dying = usize::from(self.has(Bug::DyingPoolClosesOthers));
        DYING.fetch_add(dying, Relaxed);
        while let Some(task) = tasks.pop_front() {
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(task))) {
                if self.has(Bug::PanicStopsDropping) {
                    leak(std::mem::take(&mut tasks));
                }
                POISONED.fetch_or(self.has(Bug::PanicPoisonsOthers), Relaxed);
                let rest = catch_unwind(AssertUnwindSafe(|| drop_all(|| tasks.pop_front())));
                rest.err().into_iter().for_each(std::mem::forget);
                if self.has(Bug::PanicBecomesAnother) {
                    std::mem::forget(panic);
                    resume_unwind(Box::new("another panic"));
                }
                resume_unwind(panic);
            }
        }
        DYING.fetch_sub(dying, Relaxed);
    }
}

impl<T: Send + 'static> TaskPool<T> for Twin<T> {
    type Producer = End<T>;
    type Consumer = End<T>;
    type Worker = End<T>;

    fn producer(&self) -> End<T> {
        End::new(self.shared.clone(), Role::Producer)
    }

    fn consumer(&self) -> End<T> {
        self.try_consumer().unwrap_or_else(|error| self.refuse(error, Role::Consumer))
    }

    fn worker(&self) -> End<T> {
        match self.shared.register() {
            Ok(()) => End::new(self.shared.clone(), Role::Worker),
            Err(error) => self.refuse(error, Role::Worker),
        }
    }

    fn try_worker(&self) -> Result<End<T>, TooMany> {
        if let Err(error) = self.shared.register() {
            if !self.shared.has(Bug::WorkersAreNeverRefused) {
                return Err(error);
            }
            self.shared.lock().consumers += 1;
        }
        Ok(End::new(self.shared.clone(), Role::Worker))
    }

    fn try_consumer(&self) -> Result<End<T>, TooMany> {
        self.shared.register()?;
        Ok(End::new(self.shared.clone(), Role::Consumer))
    }

    fn full_slack(&self) -> usize {
        self.shared.setting.full_slack
    }
}

impl<T: Send + 'static> Twin<T> {
    fn new(setting: Setting) -> Self {
        let state = State {
            tasks: VecDeque::new(),
            pools: 1,
            consumers: 0,
            calls: 0,
            used_by: None,
            closed: false,
        };
        let handles = AtomicUsize::new(1);
        Self { shared: Arc::new(Shared { setting, state: Mutex::new(state), handles }) }
    }

    fn refuse(&self, error: TooMany, role: Role) -> End<T> {
        let forgets = match role {
            Role::Worker => self.shared.has(Bug::WorkersForgetTheLimit),
            _ => self.shared.has(Bug::ConsumersForgetTheLimit),
        };
        assert!(forgets, "{error}");
        self.shared.lock().consumers += 1;
        End::new(self.shared.clone(), role)
    }
}

impl<T: Send + 'static> Clone for Twin<T> {
    fn clone(&self) -> Self {
        self.shared.lock().pools += 1;
        self.shared.handle_comes();
        Self { shared: self.shared.clone() }
    }
}

impl<T: Send + 'static> Drop for Twin<T> {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.pools -= 1;
        if state.pools == 0 && self.shared.has(Bug::DropsWithTheLastPool) {
            state.tasks.clear();
        }
        drop(state);
        self.shared.handle_goes();
    }
}

/// Another one like `task`, if it is a number.
fn copy<T: 'static>(task: &T) -> Option<T> {
    let number: Box<dyn Any> = Box::new(*(task as &dyn Any).downcast_ref::<u64>()?);
    number.downcast().ok().map(|copy| *copy)
}

fn leak<T: Send + 'static>(tasks: VecDeque<T>) {
    let mut leaked = LEAKED.lock().unwrap_or_else(|poison| poison.into_inner());
    leaked.push(Box::new(tasks));
}
