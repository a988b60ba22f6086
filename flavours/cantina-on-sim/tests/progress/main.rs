//! How soon calls to CAFÉ come to an end.
//!
//! In a tree by itself every put and every get, in the wait-free form every put and every walk of a get, ends within
//! so many *own* steps ([`bounds`]), whatever the others do, also if they have stopped wherever they were.
//! In the default form somebody always ends his.
//!
//! Where gets are bounded as a whole there are more tasks than gets from the start: so a get finds one in the trees
//! that were there when it began, and walks once. Where walks are there is no surplus: many find nothing, and that
//! something has changed meanwhile.

extern crate cantina_on_sim as cantina;

mod bounds;
mod schedules;

use bounds::Size;
use cantina::cafe::{Cafe, Consumer, Producer, TreeContainer, Worker};
use machine::atomic::AtomicUsize;
use machine::engine::{Failure, Simulation};
use machine::progress::operation;
use machine::random::Random;
use machine::{Arc, thread};
use schedules::{Stage, alone, alone_in_the_end, running};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed, Ordering::SeqCst};

/// Schedules of each program, half of them with the others stopped.
const SCHEDULES: u64 = 1_000;
/// A bound is no more than so many times what a call takes on the worst of them.
const LOOSE: u64 = 8;
/// Steps of the longest call in the default form, in trees as small as these: it closes a tree and passes it.
const WIDE_CALL: u64 = 75;

/// Steps of the others before they have stopped, and of the longest get after that, in a list as short as these.
const NONE: u64 = 800;

/// What is put to and got from.
trait Ends: Send + 'static {
    /// Whether there was room.
    fn put(&mut self, task: u64) -> bool;
    fn get(&mut self) -> Option<u64>;
}

struct InTree {
    tree: Arc<TreeContainer<u64>>,
    random: Random,
}

impl Ends for InTree {
    fn put(&mut self, task: u64) -> bool {
        self.tree.put_by(&mut self.random, task).is_ok()
    }

    fn get(&mut self) -> Option<u64> {
        self.tree.get_by(&mut self.random)
    }
}

impl Ends for Worker<u64> {
    fn put(&mut self, task: u64) -> bool {
        Worker::put(self, task);
        true
    }

    fn get(&mut self) -> Option<u64> {
        Worker::get(self)
    }
}

/// Which calls are to end soon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Watched {
    Puts,
    Gets,
    Both,
}

impl Watched {
    /// Makes the call, as an operation if it is watched.
    fn call<R>(self, name: &str, f: impl FnOnce() -> R) -> R {
        match (self, name) {
            (Self::Puts, "get") | (Self::Gets, "put") => f(),
            _ => operation(name, f),
        }
    }
}

/// Threads that put and get.
#[derive(Clone, Copy, Debug)]
struct Program {
    height: u32,
    leaf_trials: u32,
    /// Threads beside the scenario.
    others: u64,
    /// How often each puts and gets.
    times: u64,
    /// Tasks that were put and got before, so that upper nodes are used.
    gone: u64,
    /// Whether they do both, and not only what is watched.
    mixed: bool,
}

impl Program {
    fn size(&self) -> Size {
        Size {
            height: self.height.into(),
            leaf_trials: self.leaf_trials.into(),
            threads: self.others + 1,
            others: self.others * self.times,
        }
    }

    /// Tasks that are inside before: as many as all gets.
    fn first(&self) -> u64 {
        (self.others + 1) * self.times
    }

    fn tree(&self, seed: u64) -> impl Fn(u64) -> InTree + use<> {
        let builder = TreeContainer::builder().height(self.height).leaf_trials(self.leaf_trials);
        let tree = Arc::new(builder.seed(seed).build().unwrap());
        move |end| InTree { tree: tree.clone(), random: Random::seeded(seed * 64 + end) }
    }

    fn list(&self, seed: u64, wait_free: bool) -> impl Fn(u64) -> Worker<u64> + use<> {
        let builder = Cafe::builder().height(self.height).leaf_trials(self.leaf_trials);
        let pool = builder.widths(2, 2).seed(seed).wait_free(wait_free).build().unwrap();
        move |_| pool.worker()
    }

    /// Puts and gets `times` tasks.
    fn work(&self, ends: &mut impl Ends, watched: Watched, number: u64) -> Vec<u64> {
        let turn = |turn| {
            let task = number * 100 + turn;
            let puts = self.mixed || watched != Watched::Gets;
            let gets = self.mixed || watched != Watched::Puts;
            let has_put = puts && watched.call("put", || ends.put(task));
            let got = gets.then(|| watched.call("get", || ends.get()));
            let got = got.map(|got| got.expect("there are more tasks than gets"));
            (!has_put).then_some(task).into_iter().chain(got)
        };
        (0..self.times).flat_map(turn).collect()
    }

    /// All threads do their part. Nothing is lost and nothing comes twice.
    fn play<E: Ends>(self, new: impl Fn(u64) -> E, watched: Watched, stage: &Stage) {
        let mut mine = new(0);
        let mut tasks: Vec<u64> = (1..=self.first() + self.gone).collect();
        tasks.iter().for_each(|&task| while !mine.put(task) {});
        let mut got: Vec<u64> = (0..self.gone).filter_map(|_| mine.get()).collect();
        let others: Vec<_> = (1..=self.others)
            .map(|number| {
                let mut ends = new(number);
                thread::spawn(move || self.work(&mut ends, watched, number))
            })
            .collect();
        stage.begin();
        got.extend(self.work(&mut mine, watched, self.others + 1));
        stage.end();
        got.extend(others.into_iter().flat_map(|other| other.join().unwrap()));
        got.extend(std::iter::from_fn(|| mine.get()));
        let turns = |number| (0..self.times).map(move |turn| number * 100 + turn);
        tasks.extend((1..=self.others + 1).flat_map(turns));
        got.sort_unstable();
        assert_eq!(got, tasks);
    }
}

/// A run of a program, with some calls watched.
type Run = fn(Program, u64, Watched, &Stage);

fn in_a_tree(program: Program, seed: u64, watched: Watched, stage: &Stage) {
    program.play(program.tree(seed), watched, stage);
}

fn in_binary_trees(program: Program, seed: u64, watched: Watched, stage: &Stage) {
    program.play(program.list(seed, true), watched, stage);
}

fn in_wide_trees(program: Program, seed: u64, watched: Watched, stage: &Stage) {
    program.play(program.list(seed, false), watched, stage);
}

/// Programs in one tree, which has room for most of their tasks.
const TREES: [Program; 3] = [
    Program { height: 1, leaf_trials: 1, others: 1, times: 1, gone: 0, mixed: true },
    Program { height: 2, leaf_trials: 2, others: 2, times: 1, gone: 1, mixed: true },
    Program { height: 4, leaf_trials: 3, others: 3, times: 2, gone: 5, mixed: true },
];
/// Programs in a list of several trees.
const LISTS: [Program; 3] = [
    Program { height: 1, leaf_trials: 1, others: 3, times: 3, gone: 2, mixed: true },
    Program { height: 2, leaf_trials: 2, others: 3, times: 3, gone: 3, mixed: true },
    Program { height: 3, leaf_trials: 3, others: 3, times: 3, gone: 5, mixed: true },
];

/// What is watched, and in how many own steps it ends.
type Bound = (Watched, fn(Size) -> u64);

const IN_A_TREE: [Bound; 2] = [(Watched::Puts, Size::tree_put), (Watched::Gets, Size::tree_get)];
const IN_A_LIST: [Bound; 2] = [(Watched::Puts, Size::put), (Watched::Gets, Size::get)];

/// Why the program did not come to its end on the schedule that `seed` says, the others running or stopped.
fn failure(
    program: Program,
    run: Run,
    watched: Watched,
    seed: u64,
    bounded: impl Fn(Simulation) -> Simulation,
) -> Option<Failure> {
    let stage = Stage::default();
    let simulation = if seed.is_multiple_of(2) { running } else { alone };
    let simulation = bounded(simulation(seed / 2, &stage));
    simulation.run(|| run(program, seed, watched, &stage)).err()
}

/// What is watched ends within its bound on all schedules, and takes a fair part of it on one of them.
fn ends_in_time(run: Run, programs: &[Program], bounds: &[Bound]) {
    let mixed = [false, true].map(|mixed| programs.iter().map(move |it| Program { mixed, ..*it }));
    for program in mixed.into_iter().flatten() {
        for (watched, bound) in bounds {
            let most = bound(program.size());
            let late = |seed, most| {
                failure(program, run, *watched, seed, |simulation| {
                    simulation.wait_free_within(most)
                })
            };
            if let Some(failure) = (0..SCHEDULES).find_map(|seed| late(seed, most)) {
                panic!("{watched:?} of {program:?} within {most}: {failure}");
            }
            let is_slow = |failure| matches!(failure, Some(Failure::TooSlow { .. }));
            let tight = (0..SCHEDULES).any(|seed| is_slow(late(seed, most / LOOSE)));
            assert!(tight, "{watched:?} of {program:?} take far less than {most}");
        }
    }
}

#[test]
fn in_a_tree_puts_and_gets_end_within_the_bounds_of_the_paper() {
    ends_in_time(in_a_tree, &TREES, &IN_A_TREE);
}

#[test]
fn in_the_wait_free_form_puts_end_and_so_do_gets_that_walk_once() {
    ends_in_time(in_binary_trees, &LISTS, &IN_A_LIST);
}

/// Puts a task and gets one, in walks, so many times. How many walks were in vain.
fn put_and_walk(put: &mut Producer<u64>, get: &mut Consumer<u64>, times: u64) -> u64 {
    let mut in_vain = 0;
    for task in 0..times {
        put.put(task);
        while operation("walk", || get.walk()) == ControlFlow::Continue(()) {
            in_vain += 1;
        }
    }
    in_vain
}

/// All threads put and walk in a list that has no task at first.
fn walk_without_surplus(program: Program, seed: u64, stage: &Stage) -> u64 {
    let builder = Cafe::builder().height(program.height).leaf_trials(program.leaf_trials);
    let pool = builder.seed(seed).wait_free(true).build().unwrap();
    let (mut put, mut get) = (pool.producer(), pool.consumer());
    let others: Vec<_> = (0..program.others)
        .map(|_| {
            let (mut put, mut get) = (pool.producer(), pool.consumer());
            thread::spawn(move || put_and_walk(&mut put, &mut get, program.times))
        })
        .collect();
    stage.begin();
    let mine = put_and_walk(&mut put, &mut get, program.times);
    stage.end();
    let theirs: u64 = others.into_iter().map(|other| other.join().unwrap()).sum();
    assert_eq!(get.get(), None, "as many were got as were put");
    mine + theirs
}

#[test]
fn in_the_wait_free_form_each_walk_of_a_get_ends_also_one_in_vain() {
    for program in LISTS {
        let most = program.size().walk(program.times);
        let in_vain = AtomicU64::new(0);
        let late = |seed: u64, most| {
            let stage = Stage::default();
            let simulation = if seed.is_multiple_of(2) { running } else { alone };
            let simulation = simulation(seed / 2, &stage).wait_free_within(most);
            let outcome = simulation.run(|| walk_without_surplus(program, seed, &stage));
            outcome.map(|outcome| in_vain.fetch_add(outcome.value, Relaxed)).err()
        };
        let seeds = || 0..cantina_effort::rounds(SCHEDULES, 20 * SCHEDULES);
        if let Some(failure) = seeds().find_map(|seed| late(seed, most)) {
            panic!("a walk of {program:?} within {most}: {failure}");
        }
        println!("{program:?}: {} walks in vain", in_vain.load(Relaxed));
        assert!(in_vain.load(Relaxed) > 0, "{program:?}: every walk found a task");
        let is_slow = |failure| matches!(failure, Some(Failure::TooSlow { .. }));
        let tight = seeds().any(|seed| is_slow(late(seed, most / LOOSE)));
        assert!(tight, "walks of {program:?} take far less than {most}");
    }
}

/// Adds one, and starts again whenever somebody else was faster: somebody always is done, and nobody needs to be.
fn add_by_exchanges(count: &AtomicUsize) {
    let mut now = count.load(SeqCst);
    while let Err(other) = count.compare_exchange(now, now + 1, SeqCst, SeqCst) {
        now = other;
    }
}

fn add_at_once(count: &AtomicUsize) {
    count.fetch_add(1, SeqCst);
}

/// The first call that took more own steps than that, of threads that `add` to one word.
fn first_late(add: fn(&AtomicUsize), most: u64) -> Option<Failure> {
    let adds = move |count: &AtomicUsize| (0..20).for_each(|_| operation("add", || add(count)));
    let late = |seed: u64| {
        let stage = Stage::default();
        let run = || {
            let count = Arc::new(AtomicUsize::new(0));
            let others: Vec<_> = (0..3)
                .map(|_| {
                    let count = count.clone();
                    thread::spawn(move || adds(&count))
                })
                .collect();
            stage.begin();
            adds(&count);
            stage.end();
            others.into_iter().for_each(|other| other.join().unwrap());
        };
        running(seed, &stage).wait_free_within(most).run(run).err()
    };
    (0..SCHEDULES).find_map(late)
}

#[test]
fn an_unbounded_loop_in_a_call_that_is_to_be_wait_free_is_found() {
    assert!(first_late(add_at_once, 1).is_none());
    // Within no bound that does not count the others' calls.
    for most in [2, 5, 10] {
        let failure = first_late(add_by_exchanges, most);
        assert!(matches!(failure, Some(Failure::TooSlow { .. })), "{most}: {failure:?}");
    }
}

/// Gets until there is nothing more, while the others have stopped wherever they were in puts and gets of theirs.
fn drain_alone<E: Ends>(seed: u64, new: impl Fn() -> Box<dyn Fn(u64) -> E>) -> Option<Failure> {
    let stage = Stage::default();
    let run = || {
        let new = new();
        let others: Vec<_> = (1..=2)
            .map(|number| {
                let mut ends = new(number);
                thread::spawn(move || {
                    for task in 0..3 {
                        ends.put(10 * number + task);
                        ends.get();
                    }
                })
            })
            .collect();
        let mut mine = new(0);
        stage.begin();
        while operation("get", || mine.get()).is_some() {}
        stage.end();
        others.into_iter().for_each(|other| other.join().unwrap());
    };
    alone_in_the_end(seed, &stage).lock_free_within(NONE).run(run).err()
}

#[test]
fn nobody_who_has_stopped_keeps_a_get_from_saying_that_there_is_nothing() {
    for seed in 0..5 * SCHEDULES {
        let program = Program { height: (seed % 3) as u32, leaf_trials: 2, ..TREES[0] };
        let in_a_list = drain_alone(seed, || Box::new(program.list(seed, true)));
        let in_a_tree = drain_alone(seed, || Box::new(program.tree(seed)));
        if let Some(failure) = in_a_list.or(in_a_tree) {
            panic!("{program:?} on schedule {seed}: {failure}");
        }
    }
}

#[test]
fn in_the_default_form_somebody_always_ends_his_call() {
    for program in LISTS {
        let most = (program.others + 1) * WIDE_CALL;
        for seed in 0..SCHEDULES {
            let late = failure(program, in_wide_trees, Watched::Both, seed, |simulation| {
                simulation.lock_free_within(most)
            });
            if let Some(failure) = late {
                panic!("{program:?} within {most}: {failure}");
            }
        }
    }
}
