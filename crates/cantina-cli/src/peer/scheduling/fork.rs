//! Fork and join: those who go on with one part on the stack of the thread that waits for both.
//!
//! There is no operation for the sum: whoever waits adds up. So a call is less than what the scheduler does for it.

use super::{Scheduler, timed};
use crate::peer::OWN;
use cantina_lab::experiment::Shapes;
use cantina_lab::experiment::scheduling::fib::{self, compute};
use cantina_lab::workload::{Assignment, Fault, Reading};
use std::collections::BTreeMap;
use std::num::NonZero;
use std::sync::{Mutex, PoisonError};

pub(super) const SEQUENTIAL: Scheduler = Scheduler {
    name: "sequential",
    about: "a recursive function on one thread: what there is to compute",
    package: OWN,
    experiment: fib::NAME,
    shapes: Shapes::OneToOne,
    run: |assignment, work| run(assignment, |number| sequential(number, work)),
};

pub(super) const RAYON_SCOPE: Scheduler = Scheduler {
    name: "rayon-scope",
    about: "rayon, two spawns in a scope that waits on the stack of its thread",
    package: "rayon",
    experiment: fib::NAME,
    shapes: Shapes::Any,
    run: |assignment, work| on_rayon(assignment, |number| scope(number, work)),
};

pub(super) const RAYON_JOIN: Scheduler = Scheduler {
    name: "rayon-join",
    about: "rayon::join, which forks on the stack",
    package: "rayon",
    experiment: fib::NAME,
    shapes: Shapes::Any,
    run: |assignment, work| on_rayon(assignment, |number| join(number, work)),
};

pub(super) const CHILI: Scheduler = Scheduler {
    name: "chili",
    about: "Scope::join, which forks on the stack, and shares what it has forked at each heartbeat",
    package: "chili",
    experiment: fib::NAME,
    shapes: Shapes::Any,
    run: |assignment, work| {
        let thread_count = NonZero::new(assignment.shape.consumers);
        let pool = chili::ThreadPool::with_config(chili::Config {
            thread_count,
            ..chili::Config::default()
        });
        let mut scope = pool.scope();
        run(assignment, |number| chili(&mut scope, number, work))
    },
};

pub(super) const FORTE: Scheduler = Scheduler {
    name: "forte",
    about: "Worker::join, which forks on the stack, and shares what it has forked at each heartbeat",
    package: "forte",
    experiment: fib::NAME,
    shapes: Shapes::Any,
    run: |assignment, work| {
        let pool = forte_pool(assignment.shape.consumers);
        pool.with_worker(|worker| run(assignment, |number| forte(worker, number, work)))
    },
};

/// The pool in which so many work, the one that asks among them. It stays: this version cannot make a pool smaller, it
/// waits for its heartbeat with the lock in hand that the heartbeat needs.
fn forte_pool(workers: usize) -> &'static forte::ThreadPool {
    static POOLS: Mutex<BTreeMap<usize, &'static forte::ThreadPool>> = Mutex::new(BTreeMap::new());
    let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    pools.entry(workers).or_insert_with(|| {
        let pool: &'static forte::ThreadPool = Box::leak(Box::new(forte::ThreadPool::new()));
        pool.resize_to(workers - 1);
        pool
    })
}

/// The numbers of a run, one after the other.
fn run(assignment: &Assignment, fib: impl FnMut(u32) -> u64) -> Result<Reading, Fault> {
    let numbers = fib::forest(assignment.tasks);
    let (values, elapsed) = timed(|| numbers.iter().copied().map(fib).collect::<Vec<u64>>());
    fib::judge(assignment.tasks, &numbers, &values)?;
    Ok(Reading::took(elapsed))
}

fn on_rayon(assignment: &Assignment, fib: impl FnMut(u32) -> u64 + Send) -> Result<Reading, Fault> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(assignment.shape.consumers).build();
    let pool = pool.map_err(|error| Fault::Panicked { message: error.to_string() })?;
    pool.install(|| run(assignment, fib))
}

/// One call, whose two parts `both` computes.
#[inline]
fn call(number: u32, work: u64, both: impl FnOnce(u32, u32) -> (u64, u64)) -> u64 {
    compute(work);
    if number < 2 {
        return number.into();
    }
    let (one, two) = both(number - 1, number - 2);
    compute(work);
    one + two
}

fn sequential(number: u32, work: u64) -> u64 {
    call(number, work, |one, two| (sequential(one, work), sequential(two, work)))
}

fn scope(number: u32, work: u64) -> u64 {
    call(number, work, |one, two| {
        let mut values = (0, 0);
        rayon::scope(|both| {
            both.spawn(|_| values.0 = scope(one, work));
            both.spawn(|_| values.1 = scope(two, work));
        });
        values
    })
}

fn join(number: u32, work: u64) -> u64 {
    call(number, work, |one, two| rayon::join(|| join(one, work), || join(two, work)))
}

fn chili(scope: &mut chili::Scope<'_>, number: u32, work: u64) -> u64 {
    call(number, work, |one, two| {
        scope.join(|scope| chili(scope, one, work), |scope| chili(scope, two, work))
    })
}

fn forte(worker: &forte::Worker, number: u32, work: u64) -> u64 {
    call(number, work, |one, two| {
        worker.join(|worker| forte(worker, one, work), |worker| forte(worker, two, work))
    })
}
