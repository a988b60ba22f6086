//! The deque of the scheduler's workers beside crossbeam-deque: nanoseconds for each task, by its owner alone and beside a thief.
//!
//! ```sh
//! cargo run --release -p cantina-cli --example deques            # on a quiet machine
//! cargo run --release -p cantina-cli --example deques -- 10000   # so many tasks, in place of 4,000,000
//! ```
//!
//! | row | what |
//! |---|---|
//! | pairs | the owner pushes one and pops it |
//! | bursts | the owner pushes 64 and pops them |
//! | oldest | the owner pushes 64 and takes them, the oldest first, as units' turns |
//! | steal | a thief takes, one at a time, what the owner has pushed and leaves |
//! | batch | the same, as many at a time as there are: crossbeam's alone |
//! | fork | the owner pushes two and pops one until there are 64, then pops as many; a thief takes the oldest, now and then |
//!
//! Each number is the least and the median of eleven runs, one deque after the other. Every run is checked: what comes out is what went in.

use cantina::scheduler::deque::Deque;
use cantina_machine::fence::Pair;
use crossbeam_deque::{Steal, Stealer, Worker};
use std::hint::{black_box, spin_loop};
use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Acquire, Ordering::Release};
use std::thread;
use std::time::Instant;

/// A task is an address, or a number in its place.
type Task = NonNull<u64>;

/// How many tasks there are at a time, at most.
const BURST: u64 = 64;
const RUNS: usize = 11;

fn task(number: u64) -> Task {
    NonNull::new(ptr::without_provenance_mut(number as usize + 1)).expect("one and more")
}

fn number(task: Task) -> u64 {
    task.addr().get() as u64 - 1
}

/// What is compared: an owner's end of a deque.
trait Owner {
    /// The other end.
    type Thief: Thief;
    fn push(&mut self, task: Task);
    fn pop(&mut self) -> Option<Task>;
    fn thief(&self) -> Self::Thief;
}

trait Thief: Send + 'static {
    /// Takes the oldest, or as many as it takes at a time. What they are worth, and how many; `None`: nothing is there.
    fn steal(&mut self) -> Option<(u64, u64)>;
}

/// Ours, last in, first out.
struct Own(Arc<Deque<u64>>);
/// Ours, first in, first out.
struct OwnOldest(Own);
struct OwnThief(Arc<Deque<u64>>);

impl Own {
    fn new(fences: Pair) -> Self {
        Self(Arc::new(Deque::new(BURST as usize, fences)))
    }
}

impl Owner for Own {
    type Thief = OwnThief;

    fn push(&mut self, task: Task) {
        // SAFETY: this is the one owner.
        unsafe { self.0.push(task) };
    }

    fn pop(&mut self) -> Option<Task> {
        // SAFETY: as above.
        unsafe { self.0.pop() }
    }

    fn thief(&self) -> OwnThief {
        OwnThief(self.0.clone())
    }
}

impl Owner for OwnOldest {
    type Thief = OwnThief;

    fn push(&mut self, task: Task) {
        self.0.push(task);
    }

    fn pop(&mut self) -> Option<Task> {
        // SAFETY: this is the one owner, and it never pops.
        unsafe { self.0.0.shift() }
    }

    fn thief(&self) -> OwnThief {
        self.0.thief()
    }
}

impl Thief for OwnThief {
    fn steal(&mut self) -> Option<(u64, u64)> {
        self.0.steal().map(|task| (number(task), 1))
    }
}

/// A task that may go to another thread: it leads nowhere.
#[derive(Clone, Copy)]
struct Sent(Task);

// SAFETY: nobody follows it.
unsafe impl Send for Sent {}

struct Crossbeam(Worker<Sent>);
struct CrossbeamThief(Stealer<Sent>);
struct CrossbeamBatch(Crossbeam);
struct CrossbeamBatchThief(Stealer<Sent>, Worker<Sent>);

impl Owner for Crossbeam {
    type Thief = CrossbeamThief;

    fn push(&mut self, task: Task) {
        self.0.push(Sent(task));
    }

    fn pop(&mut self) -> Option<Task> {
        self.0.pop().map(|sent| sent.0)
    }

    fn thief(&self) -> CrossbeamThief {
        CrossbeamThief(self.0.stealer())
    }
}

impl Owner for CrossbeamBatch {
    type Thief = CrossbeamBatchThief;

    fn push(&mut self, task: Task) {
        self.0.push(task);
    }

    fn pop(&mut self) -> Option<Task> {
        self.0.pop()
    }

    fn thief(&self) -> CrossbeamBatchThief {
        CrossbeamBatchThief(self.0.0.stealer(), Worker::new_fifo())
    }
}

impl Thief for CrossbeamThief {
    fn steal(&mut self) -> Option<(u64, u64)> {
        loop {
            match self.0.steal() {
                Steal::Success(sent) => return Some((number(sent.0), 1)),
                Steal::Empty => return None,
                Steal::Retry => {}
            }
        }
    }
}

impl Thief for CrossbeamBatchThief {
    fn steal(&mut self) -> Option<(u64, u64)> {
        loop {
            match self.0.steal_batch_and_pop(&self.1) {
                Steal::Success(first) => {
                    let rest = std::iter::from_fn(|| self.1.pop());
                    let worth = |(sum, count), sent: Sent| (sum + number(sent.0), count + 1);
                    return Some(rest.fold((number(first.0), 1), worth));
                }
                Steal::Empty => return None,
                Steal::Retry => {}
            }
        }
    }
}

/// The owner alone: bursts of so many tasks. What they were worth.
fn bursts(owner: &mut impl Owner, tasks: u64, burst: u64) -> u64 {
    let (mut sum, mut next) = (0, 0);
    while next < tasks {
        let end = tasks.min(next + burst);
        (next..end).for_each(|number| owner.push(black_box(task(number))));
        next = end;
        sum += std::iter::from_fn(|| owner.pop()).map(number).sum::<u64>();
    }
    sum
}

/// A thief beside `work`: what both have got.
fn beside<O: Owner>(owner: &mut O, pause: u32, work: impl FnOnce(&mut O) -> u64) -> u64 {
    let (mut thief, ends) = (owner.thief(), Arc::new(AtomicBool::new(false)));
    let ended = ends.clone();
    let steals = thread::spawn(move || {
        let mut sum = 0;
        loop {
            let is_last = ended.load(Acquire);
            match thief.steal() {
                Some((worth, _)) => {
                    sum += worth;
                    (0..pause).for_each(|_| spin_loop());
                }
                None if is_last => return sum,
                None => spin_loop(),
            }
        }
    });
    let sum = work(owner);
    ends.store(true, Release);
    sum + steals.join().expect("it does not panic")
}

/// All is stolen.
fn stolen<O: Owner>(owner: &mut O, tasks: u64) -> u64 {
    beside(owner, 0, |owner| {
        (0..tasks).for_each(|number| owner.push(task(number)));
        0
    })
}

/// As work that forks: most is popped.
fn fork<O: Owner>(owner: &mut O, tasks: u64) -> u64 {
    beside(owner, 200, |owner| {
        let (mut sum, mut next) = (0, 0);
        while next < tasks {
            let end = tasks.min(next + 2 * BURST);
            while next < end {
                (next..end.min(next + 2)).for_each(|number| owner.push(black_box(task(number))));
                next = end.min(next + 2);
                sum += owner.pop().map_or(0, number);
            }
            sum += std::iter::from_fn(|| owner.pop()).map(number).sum::<u64>();
        }
        sum
    })
}

/// Nanoseconds for each of `tasks`, one run.
fn measured(tasks: u64, run: impl FnOnce(u64) -> u64) -> f64 {
    let begun = Instant::now();
    let sum = run(tasks);
    let took = begun.elapsed().as_nanos() as f64;
    assert_eq!(sum, (0..tasks).sum::<u64>(), "something is lost, or came twice");
    took / tasks as f64
}

/// A deque by its name, and what it does in a run of so many tasks.
type Contestant = (&'static str, Box<dyn Fn(u64) -> u64>);

/// A new deque, by the name of its kind.
type Made<O> = (&'static str, Box<dyn Fn() -> O>);

fn contestants<O: Owner + 'static>(
    what: fn(&mut O, u64) -> u64,
    made: Vec<Made<O>>,
) -> Vec<Contestant> {
    made.into_iter()
        .map(|(name, make)| -> Contestant {
            (name, Box::new(move |tasks| what(&mut make(), tasks)))
        })
        .collect()
}

fn own(what: fn(&mut Own, u64) -> u64) -> Vec<Contestant> {
    contestants(
        what,
        vec![
            ("own-deque", Box::new(|| Own::new(Pair::best()))),
            ("own-deque, full fences", Box::new(|| Own::new(Pair::symmetric()))),
        ],
    )
}

fn crossbeam(what: fn(&mut Crossbeam, u64) -> u64, is_oldest: bool) -> Vec<Contestant> {
    let make = move || Crossbeam(if is_oldest { Worker::new_fifo() } else { Worker::new_lifo() });
    contestants(what, vec![("crossbeam-deque", Box::new(make))])
}

fn rows() -> Vec<(&'static str, Vec<Contestant>)> {
    let both = |mut ours: Vec<Contestant>, mut theirs: Vec<Contestant>| {
        ours.append(&mut theirs);
        ours
    };
    let oldest = |owner: &mut OwnOldest, tasks| bursts(owner, tasks, BURST);
    let ours: Box<dyn Fn() -> OwnOldest> = Box::new(|| OwnOldest(Own::new(Pair::best())));
    let batch: Box<dyn Fn() -> CrossbeamBatch> =
        Box::new(|| CrossbeamBatch(Crossbeam(Worker::new_lifo())));
    vec![
        (
            "pairs",
            both(own(|own, n| bursts(own, n, 1)), crossbeam(|own, n| bursts(own, n, 1), false)),
        ),
        (
            "bursts",
            both(
                own(|own, n| bursts(own, n, BURST)),
                crossbeam(|own, n| bursts(own, n, BURST), false),
            ),
        ),
        (
            "oldest",
            both(
                contestants(oldest, vec![("own-deque", ours)]),
                crossbeam(|own, n| bursts(own, n, BURST), true),
            ),
        ),
        ("steal", both(own(stolen), crossbeam(stolen, false))),
        ("batch", contestants(stolen, vec![("crossbeam-deque", batch)])),
        ("fork", both(own(fork), crossbeam(fork, false))),
    ]
}

fn main() {
    let asked = std::env::args().nth(1).map(|tasks| tasks.parse());
    let tasks: u64 =
        asked.map_or(4_000_000, |tasks| tasks.expect("the number of tasks is a number"));
    println!("{:8} {:24} {:>10} {:>10}", "row", "deque", "least ns", "median ns");
    for (row, contestants) in rows() {
        let mut took = vec![Vec::new(); contestants.len()];
        for _ in 0..RUNS {
            for (took, (_, run)) in took.iter_mut().zip(&contestants) {
                took.push(measured(tasks, run));
            }
        }
        for (took, (name, _)) in took.iter_mut().zip(&contestants) {
            took.sort_by(f64::total_cmp);
            println!("{row:8} {name:24} {:10.2} {:10.2}", took[0], took[RUNS / 2]);
        }
    }
}
