//! All there is to do: deques for each worker, and a list for everybody else.

use super::injector::{Injector, Taken};
use super::task::{Header, Kind, Task};
use crate::scheduler::deque::Deque;
use machine::CachePadded;
use machine::fence::Pair;
use std::ptr::NonNull;

pub(in crate::scheduler) struct Queues {
    own: Vec<CachePadded<Own>>,
    outside: Injector,
}

/// One worker's.
struct Own {
    /// First in, first out: each unit has its turn. Nobody pops.
    units: Deque<Header>,
    /// Last in, first out for its worker, so that work that forks is done depth first; thieves take the oldest.
    free: Deque<Header>,
    /// First in, first out, before all others. Nobody pops.
    urgent: Deque<Header>,
}

/// How often a worker looks first at what came from outside.
const OUTSIDE_EVERY: usize = 61;
/// How often a worker takes the oldest of its free operations.
const OLDEST_EVERY: usize = 1021;
/// How often a worker lets all others go before what is urgent.
const PATIENCE: usize = 8;

/// Whether it is the turn of what comes once in `every`.
fn is_due(tick: usize, every: usize) -> bool {
    matches!(tick % every, 0)
}

/// The first turn behind `tick` in which a worker may do something else than the newest free operation, were there
/// nothing but such.
pub(super) fn next_due(tick: usize) -> usize {
    let next = |every| tick + every - tick % every;
    next(PATIENCE).min(next(OUTSIDE_EVERY)).min(next(OLDEST_EVERY))
}

/// What came out of a deque.
fn taken(header: NonNull<Header>) -> Task {
    // SAFETY: I1: it went in as a task, and is taken out once.
    unsafe { Task::new(header) }
}

impl Own {
    fn new(room: usize, fences: Pair) -> Self {
        let deque = || Deque::new(room, fences);
        Self { units: deque(), free: deque(), urgent: deque() }
    }

    /// # Safety
    /// The caller is its worker.
    #[inline(always)]
    unsafe fn push(&self, task: Task) {
        let deque = match task.kind() {
            Kind::Unit => &self.units,
            Kind::Free => &self.free,
            Kind::Urgent => &self.urgent,
        };
        // SAFETY: the caller's.
        unsafe { deque.push(task.into_raw()) };
    }

    /// What its worker does in its `tick`th turn.
    ///
    /// # Safety
    /// The caller is its worker.
    unsafe fn pick(&self, tick: usize) -> Option<Task> {
        // SAFETY: the caller's, and nobody pops from these two.
        let urgent = || unsafe { self.urgent.shift() };
        // SAFETY: as above.
        let unit = || unsafe { self.units.shift() };
        let free = || {
            if is_due(tick, OLDEST_EVERY) {
                // SAFETY: the caller's.
                return unsafe { self.free.steal_unpopped(|_, _| true) }.ok();
            }
            // SAFETY: the caller's.
            unsafe { self.free.pop() }
        };
        // In turn, so that none starves the others.
        let picked = match (is_due(tick, PATIENCE), is_due(tick, 2)) {
            (true, _) => unit().or_else(free).or_else(urgent),
            (false, true) => urgent().or_else(unit).or_else(free),
            (false, false) => urgent().or_else(free).or_else(unit),
        };
        picked.map(taken)
    }

    /// The newest free operation, if there is nothing but such.
    ///
    /// # Safety
    /// The caller is its worker.
    #[inline(always)]
    unsafe fn pick_free(&self) -> Option<Task> {
        if !(self.urgent.is_empty() && self.units.is_empty()) {
            return None;
        }
        // SAFETY: the caller's.
        unsafe { self.free.pop() }.map(taken)
    }

    /// A free operation, for anybody.
    fn steal(&self) -> Option<Task> {
        // SAFETY: nobody pops from that.
        let urgent = unsafe { self.urgent.steal_unpopped(|_, _| true) }.ok();
        urgent.or_else(|| self.free.steal()).map(taken)
    }

    /// How much there is to steal, about: something urgent is more than anything else.
    fn wealth(&self) -> (usize, usize) {
        (self.urgent.len().min(1), self.free.len())
    }

    /// The turn of a unit, for anybody who wants it, by the number of turns that were begun and of those that wait.
    /// `Err`: whether some wait.
    fn steal_unit(&self, wants: impl Fn(usize, usize) -> bool) -> Result<Task, bool> {
        // SAFETY: nobody pops from that.
        unsafe { self.units.steal_unpopped(wants) }.map(taken)
    }

    fn len(&self) -> usize {
        self.units.len() + self.free.len() + self.urgent.len()
    }
}

impl Queues {
    pub(in crate::scheduler) fn new(workers: usize, room: usize, fences: Pair) -> Self {
        let own = (0..workers).map(|_| CachePadded::new(Own::new(room, fences))).collect();
        Self { own, outside: Injector::new() }
    }

    /// Adds a task from outside.
    ///
    /// # Errors
    /// The task, if nothing more is taken.
    pub(in crate::scheduler) fn push(&self, task: Task) -> Result<(), Task> {
        self.outside.push(task)
    }

    /// Adds a task of `worker`'s.
    ///
    /// # Safety
    /// The caller is that worker.
    #[inline]
    pub(in crate::scheduler) unsafe fn push_own(&self, worker: usize, task: Task) {
        // SAFETY: the caller's.
        unsafe { self.own[worker].push(task) };
    }

    /// What `worker` does where no turn is due and nothing but free operations is there.
    ///
    /// # Safety
    /// The caller is that worker.
    #[inline]
    pub(super) unsafe fn pick_free(&self, worker: usize) -> Option<Task> {
        // SAFETY: the caller's.
        unsafe { self.own[worker].pick_free() }
    }

    /// What `worker` does in its `tick`th turn, of its own and of what came from outside. It does `moved` when it has
    /// made tasks from outside its own: while they moved nobody saw them.
    ///
    /// # Safety
    /// The caller is that worker.
    pub(super) unsafe fn pick(&self, worker: usize, tick: usize, moved: impl Fn()) -> Option<Task> {
        let fetch = || {
            // SAFETY: the caller's.
            if unsafe { self.fetch(worker) } {
                moved();
            }
        };
        if is_due(tick, OUTSIDE_EVERY) {
            fetch();
        }
        // SAFETY: as above.
        unsafe { self.own[worker].pick(tick) }.or_else(|| {
            fetch();
            // SAFETY: as above.
            unsafe { self.own[worker].pick(tick) }
        })
    }

    /// Adds a unit of `worker`'s that has had its turn: behind all there is, and that includes what came from outside. It does
    /// `moved` as [`pick`](Self::pick) does.
    ///
    /// # Safety
    /// The caller is that worker.
    pub(super) unsafe fn push_behind(&self, worker: usize, unit: Task, moved: impl FnOnce()) {
        // SAFETY: the caller's.
        let has_moved = unsafe { self.fetch(worker) };
        // SAFETY: as above.
        unsafe { self.push_own(worker, unit) };
        if has_moved {
            moved();
        }
    }

    /// Makes what came from outside `worker`'s. Whether there was something.
    ///
    /// # Safety
    /// The caller is that worker.
    unsafe fn fetch(&self, worker: usize) -> bool {
        let own = &self.own[worker];
        let (mut in_order, mut moved) = (Vec::new(), false);
        for task in self.outside.take() {
            moved = true;
            match task.kind() {
                // The oldest comes last here, and so is popped first.
                // SAFETY: the caller's.
                Kind::Free => unsafe { own.push(task) },
                Kind::Unit | Kind::Urgent => in_order.push(task),
            }
        }
        // SAFETY: as above.
        in_order.into_iter().rev().for_each(|task| unsafe { own.push(task) });
        moved
    }

    /// The oldest free operation of one of `victims`: of the first of those that have most, as in work that forks the
    /// oldest has the most behind it where many wait, and whoever takes that comes back late.
    pub(super) fn steal(&self, mut victims: impl Iterator<Item = usize>) -> Option<Task> {
        let has_choice = self.own.len() > 2;
        let victim = if has_choice { self.richest(victims) } else { victims.next() };
        self.own[victim?].steal()
    }

    fn richest(&self, victims: impl Iterator<Item = usize>) -> Option<usize> {
        let mut richest = None;
        for victim in victims {
            let wealth = self.own[victim].wealth();
            if richest.is_none_or(|(most, _)| wealth > most) {
                richest = Some((wealth, victim));
            }
        }
        richest.map(|(_, victim)| victim)
    }

    /// How many turns of units `worker` has begun so far, those that were stolen from it included.
    pub(super) fn turns(&self, worker: usize) -> usize {
        self.own[worker].units.begun()
    }

    /// The oldest unit of one of `victims`, each with the number of turns that it had begun when the caller began to
    /// watch it: of one that is too slow, by how many it has begun since and how many wait for it.
    ///
    /// # Errors
    /// Whether there are units that wait for others.
    pub(super) fn steal_unit(
        &self,
        victims: impl Iterator<Item = (usize, usize)>,
        is_slow: impl Fn(usize, usize) -> bool,
    ) -> Result<Task, bool> {
        let mut waits = false;
        for (victim, before) in victims {
            let wants = |begun: usize, waiting| is_slow(begun.wrapping_sub(before), waiting);
            match self.own[victim].steal_unit(wants) {
                Ok(task) => return Ok(task),
                Err(some) => waits |= some,
            }
        }
        Err(waits)
    }

    /// How many tasks are `worker`'s, about.
    pub(in crate::scheduler) fn len(&self, worker: usize) -> usize {
        self.own[worker].len()
    }

    /// Whether there is something for `worker` to do that it need not steal.
    pub(super) fn waits_for(&self, worker: usize) -> bool {
        self.own[worker].len() > 0 || !self.outside.is_empty()
    }

    /// Whether there is something to do for anybody.
    pub(in crate::scheduler) fn has_work(&self) -> bool {
        !self.outside.is_empty() || self.own.iter().any(|own| own.len() > 0)
    }

    /// Takes nothing more from outside; what was there.
    pub(in crate::scheduler) fn close(&self) -> impl Iterator<Item = Task> + '_ {
        let outside: Taken = self.outside.close();
        outside.chain(self.own.iter().flat_map(|own| {
            std::iter::from_fn(|| own.steal().or_else(|| own.steal_unit(|_, _| true).ok()))
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::{Queues, Task};
    use crate::scheduler::Runtime;
    use machine::Topology;

    /// Two nodes of two workers; the test is all of them.
    fn workers() -> Runtime {
        Runtime::builder().workers(4).topology(Topology::mock(2, 2)).without_threads()
    }

    /// So many tasks for each worker, of those that `adds` adds from outside.
    fn give(queues: &Queues, each: [usize; 4], adds: impl Fn()) {
        for (worker, count) in each.into_iter().enumerate() {
            (0..count).for_each(|_| adds());
            // SAFETY: nobody else is that worker.
            unsafe { queues.fetch(worker) };
        }
        assert_eq!(each, lengths(queues));
    }

    fn lengths(queues: &Queues) -> [usize; 4] {
        [0, 1, 2, 3].map(|worker| queues.len(worker))
    }

    /// From whom `steals` takes one after the other, until it finds nothing. They go back to the injector.
    fn robbed(queues: &Queues, mut steals: impl FnMut() -> Option<Task>) -> Vec<usize> {
        let mut victims = Vec::new();
        let mut before = lengths(queues);
        while let Some(task) = steals() {
            let now = lengths(queues);
            victims.extend((0..4).filter(|worker| now[*worker] < before[*worker]));
            before = now;
            assert!(queues.push(task).is_ok());
        }
        victims
    }

    #[test]
    fn free_operations_are_taken_from_the_richest_and_of_those_from_the_nearest() {
        let runtime = workers();
        let (queues, places) = (&runtime.shared.queues, &runtime.shared.places);
        give(queues, [0, 1, 3, 1], || drop(runtime.spawn(|| ())));
        let seen = robbed(queues, || queues.steal(places.victims(0, 0)));
        assert_eq!(seen, [2, 2, 1, 2, 3]);
    }

    #[test]
    fn units_are_taken_from_the_nearest() {
        let runtime = workers();
        let (queues, places) = (&runtime.shared.queues, &runtime.shared.places);
        give(queues, [2, 1, 1, 0], || runtime.unit(()).tell(|()| ()));
        let steals = || {
            let victims = places.victims(3, 0).map(|victim| (victim, 0));
            queues.steal_unit(victims, |_, waiting| waiting > 0).ok()
        };
        assert_eq!(robbed(queues, steals), [2, 0, 0, 1]);
    }
}
