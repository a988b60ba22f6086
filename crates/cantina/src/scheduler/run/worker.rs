//! What a worker does: its turns, and when it sleeps.

use super::queues::next_due;
use super::task::{Left, Task, Turn};
use crate::scheduler::context::{Context, quietly};
use crate::scheduler::shared::Shared;
use crate::scheduler::spans;
use machine::park::Parker;
use machine::time::{Duration, Instant};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// How long a worker naps while others get through with their units.
const NAP: Duration = Duration::from_micros(20);
/// How long a worker sleeps at a time where the operating system refuses the fence: then it may not see what is there, nor be seen.
const BLIND: Duration = Duration::from_millis(1);
/// How often it looks around before others count on it as a searcher. Where every schedule is tried it does not.
const LOOKS: usize = if machine::SPINS < 2 { 0 } else { 2 };
/// How many naps in vain come before it sleeps. Where every schedule is tried there are none, and units are taken at once.
const NAPS: usize = match machine::SPINS {
    ..2 => 0,
    2..16 => 1,
    16.. => 8,
};

/// How many turns in a row a busy unit keeps its worker while others wait there, if workers that have nothing to do can
/// take those: so what is busy stays where it is, and the others go.
const KEPT: usize = if machine::SPINS < 2 { 0 } else { 16 };

/// Works until the runtime stops.
pub(in crate::scheduler) fn run(shared: &Shared, index: usize, parker: &Parker) {
    run_by(shared, index, |worker| worker.work(parker));
}

/// A panic of `work` itself is a bug of the scheduler. It ends the runtime, as nobody may be left to do what there is.
fn run_by(shared: &Shared, index: usize, work: impl FnOnce(&mut Worker<'_>)) {
    let worked = Context::of_worker(shared, index, || {
        let watched = vec![0; shared.counters.len()];
        let mut worker = Worker { shared, index, tick: index, due: 0, watched, naps: 0, kept: 0 };
        let worked = catch_unwind(AssertUnwindSafe(|| work(&mut worker)));
        if worked.is_err() {
            shared.stop();
        }
        worker.clear();
        worked
    });
    worked.unwrap_or_else(|panic| resume_unwind(panic));
}

struct Worker<'a> {
    shared: &'a Shared,
    index: usize,
    /// Counts turns.
    tick: usize,
    /// The next turn in which it looks at all its queues.
    due: usize,
    /// How many turns of units each worker had begun when this one last looked.
    watched: Vec<usize>,
    /// How many naps are left to it.
    naps: usize,
    /// In how many turns units have kept it, although others waited, since the last one that did not.
    kept: usize,
}

impl Worker<'_> {
    fn work(&mut self, parker: &Parker) {
        let mut current = None;
        self.shared.counters[self.index].begin();
        while !self.shared.is_stopped() {
            let Some(task) = current.take().or_else(|| self.pick()) else {
                let counters = &self.shared.counters[self.index];
                counters.rest();
                current = self.search(parker);
                counters.begin();
                continue;
            };
            current = self.turn(task);
        }
        if let Some(task) = current {
            self.shared.give_up(task);
        }
        self.shared.counters[self.index].rest();
    }

    #[inline]
    fn pick(&mut self) -> Option<Task> {
        self.tick += 1;
        if self.tick != self.due {
            // SAFETY: we are that worker.
            let task = unsafe { self.shared.queues.pick_free(self.index) };
            if task.is_some() {
                return task;
            }
        }
        self.pick_any()
    }

    fn pick_any(&mut self) -> Option<Task> {
        self.due = next_due(self.tick);
        // SAFETY: we are that worker.
        unsafe { self.shared.queues.pick(self.index, self.tick, || self.shared.idle.added()) }
    }

    /// Looks everywhere until there is something, and sleeps in between. `None`: the runtime stops.
    ///
    /// A unit that waits is left to its worker if that begins, from one look to the next, as many turns as wait for it: to
    /// move it, and what it talks to, would take longer. Between those looks this worker naps.
    fn search(&mut self, parker: &Parker) -> Option<Task> {
        let (shared, index) = (self.shared, self.index);
        let at_once = (0..LOOKS).find_map(|_| self.find());
        if at_once.is_some() {
            return at_once;
        }
        shared.idle.search();
        self.watch();
        loop {
            for _ in 0..machine::SPINS {
                if let Some(task) = self.find() {
                    shared.idle.found(|| NAPS == 0 || shared.queues.has_work());
                    return Some(task);
                }
                if shared.is_stopped() {
                    shared.idle.give_up();
                    return None;
                }
            }
            match self.find_unit() {
                Ok(task) => {
                    shared.idle.found(|| NAPS == 0 || shared.queues.has_work());
                    return Some(task);
                }
                Err(true) => self.naps = NAPS,
                Err(false) => {}
            }
            self.watch();
            if self.naps > 0 {
                self.naps -= 1;
                shared.counters[index].parks.add(1);
                shared.idle.nap(|| {
                    // Woken or not, it looks again.
                    let _woken = parker.park_timeout(NAP);
                });
                continue;
            }
            // The last look, when everybody who adds something can see it asleep.
            if !shared.idle.add(index) {
                shared.counters[index].parks.add(1);
                // Woken or not, it looks again: also when there is something that it is not allowed to steal.
                let _woken = parker.park_timeout(BLIND);
            } else if !shared.queues.has_work() && !shared.is_stopped() {
                shared.counters[index].parks.add(1);
                parker.park();
            } else if shared.idle.remove(index) {
                continue;
            } else {
                // Somebody has made it a searcher, and wakes it.
                parker.park();
                continue;
            }
            // Woken by one who took it off the list, or because the runtime stops, or by itself.
            shared.idle.remove(index);
        }
    }

    fn find(&mut self) -> Option<Task> {
        if let Some(task) = self.pick() {
            return Some(task);
        }
        let (index, tick, shared) = (self.index, self.tick, self.shared);
        let task = shared.queues.steal(shared.places.victims(index, tick))?;
        shared.counters[index].steals.add(1);
        Some(task)
    }

    /// Remembers how far others are with their units.
    fn watch(&mut self) {
        if NAPS == 0 {
            return;
        }
        let turns =
            |(worker, turns): (usize, &mut usize)| *turns = self.shared.queues.turns(worker);
        self.watched.iter_mut().enumerate().for_each(turns);
    }

    /// A unit whose worker has not begun as many turns since the last look as wait for it. `Err`: whether others wait.
    fn find_unit(&self) -> Result<Task, bool> {
        let (index, shared) = (self.index, self.shared);
        let victims = shared.places.victims(index, self.tick);
        let victims = victims.map(|victim| (victim, self.watched[victim]));
        let task =
            shared.queues.steal_unit(victims, |begun, waiting| NAPS == 0 || waiting > begun)?;
        shared.counters[index].steals.add(1);
        Ok(task)
    }

    /// Does `task`. A unit that has more messages, and keeps this worker because nothing else waits for it, or others have
    /// the time for what does.
    fn turn(&mut self, task: Task) -> Option<Task> {
        let Self { shared, index, .. } = *self;
        let counters = &shared.counters[index];
        let is_unit = task.is_unit();
        let time = is_unit.then_some(shared.turn_time).flatten();
        let until = time.and_then(|time| Instant::now().checked_add(time));
        let is_over = || until.is_some_and(|until| Instant::now() >= until);
        let stops = |done| shared.is_stopped() || done > 0 && is_over();
        let mut turn = Turn { worker: index, budget: shared.budget, stops: &stops, done: 0 };
        let task = if is_unit {
            task.run(&mut turn)
        } else {
            let _span = spans::operation(index);
            task.run(&mut turn)
        };
        if is_unit {
            counters.turns.add(1);
            counters.messages.add(turn.done as u64);
        } else {
            counters.operations.add(1);
        }
        let task = task?;
        if shared.is_stopped() || !shared.queues.waits_for(index) {
            return Some(task);
        }
        #[allow(clippy::absurd_extreme_comparisons, reason = "where a model has none to keep")]
        let keeps = self.kept < KEPT && shared.idle.is_anybody();
        self.kept = if keeps { self.kept + 1 } else { 0 };
        let kept = if keeps {
            Some(task)
        } else {
            // SAFETY: we are that worker.
            unsafe { shared.queues.push_behind(index, task, || shared.idle.added()) };
            None
        };
        shared.idle.added_unit();
        kept
    }

    /// Fails what is left: what it has, what waits with it, and what that causes.
    fn clear(&mut self) {
        let mut left = Left::default();
        loop {
            let waiting = Context::clear_waiting();
            left.waiting += waiting.unwrap_or(0);
            match self.pick() {
                Some(task) => quietly(|| task.cancel(&mut left)),
                // What went with the list may have made more.
                None if waiting.is_some() => continue,
                None => break,
            };
        }
        self.shared.left_over(left);
    }
}

#[cfg(test)]
mod tests {
    use super::run_by;
    use crate::scheduler::{Runtime, WaitError};
    use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

    #[test]
    fn a_worker_that_panics_leaves_nobody_waiting() {
        let runtime = Runtime::builder().workers(1).without_threads();
        let (unit, (promise, value)) = (runtime.unit(1), runtime.promise::<()>());
        let queued = (unit.send(|state| *state), runtime.spawn(|| 2));
        let waits = unit.send_after(value, |state, ()| *state);
        let panics = || run_by(&runtime.shared, 0, |_| resume_unwind(Box::new("a bug")));
        assert!(catch_unwind(AssertUnwindSafe(panics)).is_err());
        assert_eq!(queued.0.wait(), Err(WaitError::Cancelled));
        assert_eq!(queued.1.wait(), Err(WaitError::Cancelled));
        assert_eq!(waits.wait(), Err(WaitError::Cancelled));
        assert!(runtime.spawn(|| 3).wait().is_err());
        drop(promise);
    }
}
