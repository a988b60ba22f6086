//! Work that makes more work, on one stack that all workers share: the benchmark of the rooms paper.
//!
//! The stack holds the roots of full binary trees. A worker takes a batch of nodes at once, turns each into the two below it,
//! or into nothing where it is a leaf, takes its time, and puts back at once what came of it. So every node is put once, or was there from
//! the start, and is taken once: 16,000 roots of count 11 are 65,520,000 nodes. They are numbered, level by level,
//! and a run in which they do not come out each once is a [`Fault`].
//!
//! A worker that finds nothing waits, as every consumer does, until it finds something or all nodes were taken.

use super::race::{Course, Finish, HaltOnPanic, conclude, join_all, pin};
use super::{Assignment, Fault, Get, Make, Parcel, Reading, Tally};
use crate::contender::LockedStack;
use cantina::pool::{Consumer, Producer};
use machine::atomic::AtomicU64;
use machine::atomic::Ordering::Relaxed;
use machine::random::{self, Random};
use machine::time::{Duration, nanos};
use machine::topology::CoreId;
use machine::{Arc, Topology, thread};

/// Full binary trees, all of the same height.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Forest {
    roots: u64,
    /// The count of a root: so many levels are below it.
    count: u32,
}

/// How a worker works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chore {
    /// The most nodes that it takes at once.
    pub batch: usize,
    /// How long it works on them, on average: so many hundredths of the time that it takes to get as many from a stack that nobody
    /// else uses.
    pub percent: u64,
}

/// A stack that workers share.
pub trait Shared: Send + Sync + 'static {
    /// What a worker has of it.
    type Hand<T: Parcel>: Hand<T> + 'static;

    /// A new one with the tasks `first`, and so many hands.
    fn hands<T: Parcel>(&self, workers: usize, first: Vec<T>) -> Vec<Make<Self::Hand<T>>>;
}

/// A worker's hand on a shared stack.
pub trait Hand<T> {
    /// Takes up to `most` tasks, lets `work` turn them into others, and puts these back. Whether there were any.
    fn round(&mut self, most: usize, work: &mut dyn FnMut(&mut Vec<T>)) -> bool;
}

/// The batch that the time of a transfer is measured with.
const PROBED: usize = 500;
/// How often it is: the shortest counts.
const PROBES: usize = 16;

impl Forest {
    /// That of the paper.
    pub const PAPER: Self = Self { roots: 16_000, count: 11 };

    /// Trees with at most so many nodes, and at least three: lower ones than the paper's, then fewer.
    pub fn of_at_most(nodes: u64) -> Self {
        let Self { roots, count } = Self::PAPER;
        let fits = |count: &u32| Self { roots, count: *count }.nodes() <= nodes;
        let count = (2..=count).rev().find(fits).unwrap_or(1);
        let one = Self { roots: 1, count };
        Self { roots: (nodes / one.nodes()).clamp(1, roots), count }
    }

    /// How many nodes there are.
    pub fn nodes(self) -> u64 {
        self.roots * ((2 << self.count) - 1)
    }

    /// The numbers of the two below the node of that number, if it is no leaf. Nodes are numbered from 1, level by level.
    #[inline]
    fn below(self, number: u64) -> Option<[u64; 2]> {
        let inner = self.roots * ((1 << self.count) - 1);
        let second = self.roots.wrapping_add(number.wrapping_mul(2));
        (number <= inner).then(|| [second - 1, second])
    }
}

/// Lets as many workers as `assignment` has producers work off trees with as many nodes as it has tasks. They are bound to
/// cores where each has one of its own.
///
/// # Errors
/// A [`Fault`] when a node was lost, repeated or changed, or a thread panicked.
///
/// # Panics
/// When there is no worker, or there are no trees with so many nodes.
pub fn run_forest<T: Parcel, S: Shared>(
    shared: &S,
    chore: Chore,
    assignment: &Assignment,
) -> Result<Reading, Fault> {
    let (workers, forest) = (assignment.shape.producers, Forest::of_at_most(assignment.tasks));
    assert!(workers > 0, "somebody has to work");
    assert_eq!(forest.nodes(), assignment.tasks, "full trees have other numbers of nodes");
    let pace = transfer::<T>() * chore.percent as f64 / 100.0;
    let hands = shared.hands(workers, (1..=forest.roots).map(T::numbered).collect());
    let course = Arc::new(Course::new(assignment, 0, workers, workers));
    let spent = Arc::new(AtomicU64::new(0));
    let cores: Vec<CoreId> =
        if assignment.pin { Topology::of_thread().cores().collect() } else { Vec::new() };
    let core = |thread: usize| cores.get(thread).copied().filter(|_| cores.len() >= workers);
    let working = hands.into_iter().enumerate().map(|(index, make)| {
        let (course, spent, core) = (course.clone(), spent.clone(), core(index));
        thread::spawn(move || {
            let _halt = HaltOnPanic(&course);
            let pinned = pin(core);
            let mut worker = Worker::<T, _>::new(make(), forest, chore.batch, pace);
            if !course.line_up() {
                return Finish::default();
            }
            let (tally, at) = course.get_all(&mut worker, index, Tally::default());
            // bare: whoever joins this thread sees it.
            spent.fetch_add(worker.spent, Relaxed);
            Finish { tally, at, pinned }
        })
    });
    let working: Vec<_> = working.collect();
    let finishes = join_all(working)?;
    let reading = conclude(&course, &finishes, &finishes)?;
    // bare: of threads that have ended.
    let spent = Duration::from_nanos(spent.load(Relaxed));
    Ok(Reading { put_elapsed: reading.elapsed, spent: Some(spent), ..reading })
}

/// Who works off trees.
struct Worker<T, H> {
    hand: H,
    forest: Forest,
    batch: usize,
    /// How many nanoseconds it works on a node, on average.
    pace: f64,
    random: Random,
    /// What comes of a batch.
    next: Vec<T>,
    /// How many nanoseconds it has worked.
    spent: u64,
}

impl<T, H> Worker<T, H> {
    fn new(hand: H, forest: Forest, batch: usize, pace: f64) -> Self {
        let random = Random::seeded(random::seed());
        Self { hand, forest, batch, pace, random, next: Vec::with_capacity(2 * batch), spent: 0 }
    }
}

impl<T: Parcel, H: Hand<T>> Get<T> for Worker<T, H> {
    fn get(&mut self, tally: &mut Tally) -> bool {
        let Self { hand, forest, batch, pace, random, next, spent } = self;
        hand.round(*batch, &mut |nodes| {
            let most = 2.0 * *pace * nodes.len() as f64;
            for node in nodes.drain(..) {
                tally.add(&node);
                next.extend(forest.below(node.number()).into_iter().flatten().map(T::numbered));
            }
            std::mem::swap(nodes, next);
            let time = random.below(most as usize + 1) as u64;
            spend(time);
            *spent += time;
        })
    }
}

/// Works for so many nanoseconds.
fn spend(time: u64) {
    let until = nanos() + time;
    loop {
        let left = until.saturating_sub(nanos());
        if left == 0 {
            return;
        }
        // A simulated cycle takes less than a nanosecond, so this is not too long; the real machine looks at the clock.
        machine::work(left);
    }
}

/// How many nanoseconds a node takes from a stack that nobody else uses.
fn transfer<T: Parcel>() -> f64 {
    let mut stack = LockedStack::new();
    let mut nodes: Vec<T> = Vec::with_capacity(PROBED);
    let probes = (0..PROBES).map(|_| {
        nodes.clear();
        let put = stack.put_all((0..PROBED as u64).map(T::numbered));
        debug_assert!(put.is_ok(), "it has no bound");
        let start = nanos();
        stack.get_many(PROBED, &mut nodes);
        nanos().saturating_sub(start)
    });
    probes.min().unwrap_or(0) as f64 / PROBED as f64
}

#[cfg(test)]
mod tests {
    use super::{Chore, Forest, Hand, Shared, run_forest, spend, transfer};
    use crate::workload::{Assignment, Fault, Line, Make, Parcel, Shape};
    use machine::Arc;
    use machine::lock::Mutex;
    use machine::time::{Duration, nanos};

    #[test]
    fn the_papers_trees_have_as_many_nodes_as_it_says() {
        assert_eq!(Forest::PAPER.nodes(), 65_520_000);
        for (asked, roots, count) in [
            (100_000_000, 16_000, 11),
            (65_520_000, 16_000, 11),
            (65_519_999, 16_000, 10),
            (112_000, 16_000, 2),
            (111_999, 16_000, 1),
            (2_000, 666, 1),
            (1, 1, 1),
        ] {
            let forest = Forest::of_at_most(asked);
            assert_eq!(forest, Forest { roots, count }, "{asked}");
            assert_eq!(Forest::of_at_most(forest.nodes()), forest, "{asked}");
        }
    }

    #[test]
    fn each_node_but_the_roots_is_below_one() {
        for forest in [Forest { roots: 1, count: 1 }, Forest { roots: 5, count: 3 }] {
            let all = 1..=forest.nodes();
            let below = all.clone().flat_map(|number| forest.below(number).into_iter().flatten());
            assert!((1..=forest.roots).chain(below).eq(all), "{forest:?}");
            assert_eq!(forest.below(u64::MAX), None, "what no node is");
        }
    }

    #[test]
    fn work_takes_its_time() {
        let start = nanos();
        spend(100_000);
        assert!(nanos() - start >= 100_000);
        assert!(transfer::<u64>() > 0.0);
    }

    /// A leaf.
    const CHOSEN: u64 = 900;

    /// What a stack does to it.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Bug {
        None,
        Lose,
        Repeat,
        Change,
        Panic,
    }

    struct Twin(Bug);
    struct TwinHand<T>(Arc<Mutex<Vec<T>>>, Bug);

    impl Shared for Twin {
        type Hand<T: Parcel> = TwinHand<T>;

        fn hands<T: Parcel>(&self, workers: usize, first: Vec<T>) -> Vec<Make<TwinHand<T>>> {
            let (stack, bug) = (Arc::new(Mutex::new(first)), self.0);
            let make = |_| -> Make<TwinHand<T>> {
                let stack = stack.clone();
                Box::new(move || TwinHand(stack, bug))
            };
            (0..workers).map(make).collect()
        }
    }

    impl<T: Parcel> Hand<T> for TwinHand<T> {
        fn round(&mut self, most: usize, work: &mut dyn FnMut(&mut Vec<T>)) -> bool {
            let mut stack = self.0.lock();
            let kept = stack.len().saturating_sub(most);
            let mut nodes = stack.split_off(kept);
            drop(stack);
            if nodes.is_empty() {
                return false;
            }
            work(&mut nodes);
            if let Some(at) = nodes.iter().position(|node| node.number() == CHOSEN) {
                match self.1 {
                    Bug::None => {}
                    Bug::Lose => drop(nodes.remove(at)),
                    Bug::Repeat => nodes.push(T::numbered(CHOSEN)),
                    Bug::Change => nodes[at] = T::numbered(CHOSEN + 1),
                    Bug::Panic => panic!("a node that nobody likes"),
                }
            }
            self.0.lock().append(&mut nodes);
            true
        }
    }

    fn run(bug: Bug, workers: usize, patience: Duration) -> Result<(), Fault> {
        let tasks = Forest::of_at_most(2_540).nodes();
        let shape = Shape::new(workers, workers);
        let assignment = Assignment { shape, tasks, pin: true, patience, watched: false };
        let chore = Chore { batch: 7, percent: 40 };
        run_forest::<Line, _>(&Twin(bug), chore, &assignment).map(|reading| {
            assert!(reading.elapsed > Duration::ZERO);
            assert!(reading.spent.is_some_and(|spent| spent > Duration::ZERO));
        })
    }

    #[test]
    fn every_node_is_worked_on_once() {
        for workers in [1, 2, 5] {
            run(Bug::None, workers, Duration::from_secs(60)).unwrap();
        }
    }

    #[test]
    fn a_stack_that_does_something_else_is_found_out() {
        let fault = |bug| run(bug, 2, Duration::from_millis(50)).unwrap_err();
        assert!(matches!(fault(Bug::Lose), Fault::Lost { .. }));
        assert!(matches!(fault(Bug::Repeat), Fault::Repeated { .. }));
        assert!(matches!(fault(Bug::Change), Fault::Changed { .. }));
        assert!(matches!(fault(Bug::Panic), Fault::Panicked { .. }));
    }
}
