//! Fibonacci numbers without a cutoff: each call is two operations and one that adds up what they come to.
//!
//! Figures 4 to 6 of the paper about owner queues. Nobody computes them like this; it is what a scheduler costs, and
//! with [work](compute) in each operation how it spreads it.
//!
//! A run has as many calls as it is told, to the one: it computes several numbers at the same time, the largest that
//! has no more calls, the largest that fits into the rest, and so on.

use super::{contestant, labour, runtime};
use crate::experiment::Contestant;
use crate::workload::{Assignment, Fault, Reading};
use cantina::scheduler::{Eventual, Handle, Promise, Tail};
use cantina_record::Kind;
use machine::time::{Duration, nanos};
use std::hint::black_box;

/// The experiment's name in records and on the command line.
pub const NAME: &str = "fib";

/// The field of a row that says how much is computed in each operation beside the number.
pub const FIELD: &str = "work";

/// To how much each operation counts beside what it is for.
pub const WORK: [u64; 3] = [0, 1_000, 10_000];
/// The same of a quick run.
pub const QUICK_WORK: [u64; 2] = [0, 10_000];

/// The largest number that is computed.
const LARGEST: u32 = 60;

/// How many times the patience of a run its workers may take.
const PATIENCE: u32 = 6;

/// The Fibonacci number with that number.
pub fn value(number: u32) -> u64 {
    (0..number).fold((0_u64, 1), |(value, next), _| (next, value + next)).0
}

/// How many calls it takes to compute it.
pub fn calls(number: u32) -> u64 {
    2 * value(number + 1) - 1
}

/// Numbers that take so many calls together.
pub fn forest(mut calls_left: u64) -> Vec<u32> {
    let mut numbers = Vec::new();
    for number in (0..=LARGEST).rev() {
        while calls(number) <= calls_left {
            calls_left -= calls(number);
            numbers.push(number);
        }
    }
    numbers
}

/// Whether these are the numbers of `forest`, for so many calls.
///
/// # Errors
/// [`Fault::Changed`]: they are not.
pub fn judge(calls: u64, forest: &[u32], values: &[u64]) -> Result<(), Fault> {
    let right = forest.iter().map(|&number| value(number)).eq(values.iter().copied());
    if right { Ok(()) } else { Err(Fault::Changed { tasks: calls }) }
}

/// Counts up to `work`: about as many cycles, on any machine.
#[inline]
pub fn compute(work: u64) {
    if work > 0 {
        machine::work(work);
        (0..work).for_each(|step| {
            black_box(step);
        });
    }
}

/// How an operation hands on its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// It keeps a promise that it was given.
    Promises,
    /// It returns a value that arrives later, and that is flattened.
    Flattened,
    /// It ends with the operation that adds up.
    Tails,
}

/// The scheduler, in each of these ways, with each of these amounts of work.
pub fn contestants(work: &[u64]) -> Vec<Contestant> {
    let ways = [
        (
            "scheduler",
            "free operations and eventuals; each operation keeps a promise",
            Way::Promises,
        ),
        (
            "scheduler-flattened",
            "free operations and eventuals; each operation returns an eventual that is flattened",
            Way::Flattened,
        ),
        (
            "scheduler-tails",
            "free operations and eventuals; each operation ends with a value or with the one that adds up",
            Way::Tails,
        ),
    ];
    let all = ways.into_iter().flat_map(|(name, about, way)| {
        work.iter().map(move |&work| {
            let run = move |assignment: &Assignment| run(way, work, assignment);
            let contestant = contestant(name, Kind::Ours, about, run);
            Contestant { parameter: Some((FIELD, work)), ..contestant }
        })
    });
    all.collect()
}

fn run(way: Way, work: u64, assignment: &Assignment) -> Result<Reading, Fault> {
    let tasks = assignment.tasks;
    let numbers = forest(tasks);
    let runtime = runtime(assignment.shape.consumers);
    let handle = runtime.handle();
    let begin = nanos();
    let values: Vec<Eventual<u64>> =
        numbers.iter().map(|&number| part(way, &handle, number, work)).collect();
    let patience = assignment.patience * PATIENCE;
    let values = values.into_iter().map(|value| match value.wait_timeout(patience) {
        Some(Ok(value)) => Ok(value),
        Some(Err(error)) => Err(Fault::Panicked { message: error.to_string() }),
        None => Err(Fault::Lost { tasks, missing: tasks }),
    });
    let values = values.collect::<Result<Vec<u64>, Fault>>()?;
    let elapsed = Duration::from_nanos(nanos() - begin);
    judge(tasks, &numbers, &values)?;
    let labour = labour(runtime, &handle);
    let ran = labour.workers.map_or(0, |workers| workers.operations);
    if ran != operations(&numbers) {
        return Err(Fault::Panicked { message: format!("{ran} operations for {tasks} calls") });
    }
    Ok(Reading { labour: Some(labour), ..Reading::took(elapsed) })
}

/// How many operations compute these: one for each call, and one for each sum.
fn operations(numbers: &[u32]) -> u64 {
    numbers.iter().map(|&number| calls(number) + (calls(number) - 1) / 2).sum()
}

/// The number, computed by an operation of its own.
fn part(way: Way, handle: &Handle, number: u32, work: u64) -> Eventual<u64> {
    let inner = handle.clone();
    match way {
        Way::Promises => {
            let (promise, value) = handle.promise();
            drop(handle.spawn(move || promised(&inner, number, work, promise)));
            value
        }
        Way::Flattened => handle.spawn(move || flattened(&inner, number, work)).flatten(),
        Way::Tails => handle.spawn_tail(move || ended(&inner, number, work)),
    }
}

fn promised(handle: &Handle, number: u32, work: u64, promise: Promise<u64>) {
    compute(work);
    if number < 2 {
        return promise.keep(number.into());
    }
    let part = |less| part(Way::Promises, handle, number - less, work);
    drop(handle.after((part(1), part(2)), move |(one, two)| {
        compute(work);
        promise.keep(one + two);
    }));
}

fn flattened(handle: &Handle, number: u32, work: u64) -> Eventual<u64> {
    compute(work);
    if number < 2 {
        let (promise, value) = handle.promise();
        promise.keep(number.into());
        return value;
    }
    let part = |less| part(Way::Flattened, handle, number - less, work);
    handle.after((part(1), part(2)), move |(one, two)| {
        compute(work);
        one + two
    })
}

fn ended(handle: &Handle, number: u32, work: u64) -> Tail<u64> {
    compute(work);
    if number < 2 {
        return u64::from(number).into();
    }
    let part = |less| part(Way::Tails, handle, number - less, work);
    handle.tail((part(1), part(2)), move |(one, two)| {
        compute(work);
        one + two
    })
}

#[cfg(test)]
mod tests {
    use super::{calls, contestants, forest, judge, operations, value};
    use crate::experiment::scheduling::shape;
    use crate::workload::{Assignment, Fault, Payload};
    use machine::time::Duration;

    #[test]
    fn numbers_and_calls_are_those_of_the_recursion() {
        fn fib(number: u32, calls: &mut u64) -> u64 {
            *calls += 1;
            if number < 2 { number.into() } else { fib(number - 1, calls) + fib(number - 2, calls) }
        }
        for number in 0..=20 {
            let mut count = 0;
            assert_eq!((fib(number, &mut count), count), (value(number), calls(number)));
        }
    }

    #[test]
    fn a_forest_has_as_many_calls_as_it_is_told() {
        assert_eq!(forest(calls(12)), [12]);
        assert!(forest(0).is_empty());
        for count in (1..200).chain([4_096, 1_000_000_007]) {
            let numbers = forest(count);
            assert_eq!(numbers.iter().map(|&number| calls(number)).sum::<u64>(), count);
            assert!(numbers.len() < 40, "{count}: {numbers:?}");
        }
        assert_eq!(operations(&[2, 0]), 3 + 1 + 1);
    }

    #[test]
    fn a_wrong_number_is_noticed() {
        assert_eq!(judge(15, &[5], &[5]), Ok(()));
        assert_eq!(judge(15, &[5], &[6]), Err(Fault::Changed { tasks: 15 }));
        assert_eq!(judge(15, &[5, 0], &[5]), Err(Fault::Changed { tasks: 15 }));
    }

    #[test]
    fn the_scheduler_computes_them_in_all_ways() {
        for contestant in contestants(&[0, 10]) {
            let patience = Duration::from_secs(60);
            let assignment =
                Assignment { shape: shape(2), tasks: 1_000, pin: false, patience, watched: false };
            let reading = (contestant.drive)(Payload::Word, &assignment).unwrap();
            let workers = reading.labour.and_then(|labour| labour.workers).unwrap();
            assert_eq!(workers.operations, operations(&forest(1_000)), "{contestant:?}");
        }
    }
}
