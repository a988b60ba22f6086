//! How many steps operations on to-do trees take, and how long a task waits in a full one.
//!
//! The to-do tree's paper: an operation takes O(log³ m) steps in a tree of m places, amortized, whoever decides whose turn it
//! is; whoever runs this does. It also says that p workers empty a full tree in O(m + p log p log³ m) steps. That cannot
//! be where each of m gets walks down log m levels, and is told beside what follows from the first: (m + p log p) log³ m.

use super::super::together::together;
use super::{HEIGHT, NAME, Steps, Taken};
use cantina::todo_tree::{Shape, TodoTree, Worker};
use cantina_record::{Kind, Row};
use machine::Arc;
use machine::atomic::AtomicU64;
use machine::atomic::Ordering::Relaxed;

/// The fields of a row that say what workers do, and who decides whose turn it is.
pub const LOAD: &str = "load";
/// See [`LOAD`].
pub const SCHEDULE: &str = "schedule";

/// Puts and gets of a worker, where it is not all tasks that are got.
const CALLS: usize = 32;
/// So many times as many tasks go through a full tree as it has places.
const TIMES: u64 = 8;

/// Logarithms of how many places there are.
pub const HEIGHTS: [u32; 7] = [4, 6, 8, 10, 12, 14, 16];
/// The same of a quick run.
pub const QUICK_HEIGHTS: [u32; 2] = [4, 8];
/// Workers.
pub const WORKERS: [usize; 4] = [2, 8, 32, 64];
/// The same of a quick run.
pub const QUICK_WORKERS: [usize; 2] = [2, 8];

/// A shape of tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tree {
    /// The default one.
    Wide,
    /// The paper's, repaired.
    Binary,
    /// The same over max arrays.
    MaxArrays,
}

/// What workers do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load {
    /// They get all tasks of a full tree, until there are none.
    OneShot,
    /// They put and get in a half full tree.
    Mixed,
    /// There is one task, which all want; who has it puts it back.
    OneTask,
    /// They get and put in a full tree, and it is looked at how long tasks stay.
    Full,
}

/// Who decides whose turn it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Chance.
    Random,
    /// All in turn.
    RoundRobin,
    /// One who holds back whoever is about to succeed.
    Delay,
    /// One who lets many try the same at once.
    Crowd,
}

/// Everything about a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The shape.
    pub tree: Tree,
    /// What workers do.
    pub load: Load,
    /// Who decides whose turn it is.
    pub order: Order,
    /// The logarithm of how many places there are.
    pub height: u32,
    /// How many workers.
    pub workers: usize,
}

/// What came out of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Walked {
    /// What the calls have taken.
    pub taken: Taken,
    /// For each task that was got from a full tree: how many others were between its put and its get, in order.
    pub waits: Vec<u64>,
}

impl Tree {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Wide, Self::Binary, Self::MaxArrays];

    /// Its name in records and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Wide => "todo-tree",
            Self::Binary => "todo-tree-binary",
            Self::MaxArrays => "todo-tree-max-arrays",
        }
    }

    /// The largest of these trees that there is time for.
    fn highest(self, quick: bool) -> u32 {
        match (self, quick) {
            (Self::MaxArrays, true) => 4,
            (Self::MaxArrays, false) => 10,
            _ => 16,
        }
    }
}

impl Load {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::OneShot, Self::Mixed, Self::OneTask, Self::Full];

    /// Its name in records.
    pub fn name(self) -> &'static str {
        match self {
            Self::OneShot => "one-shot",
            Self::Mixed => "mixed",
            Self::OneTask => "one-task",
            Self::Full => "full",
        }
    }

    /// How many tasks are there at the beginning, of so many places.
    fn tasks(self, places: u64) -> u64 {
        match self {
            Self::OneShot | Self::Full => places,
            Self::Mixed => places / 2,
            Self::OneTask => 1,
        }
    }
}

impl Order {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Random, Self::RoundRobin, Self::Delay, Self::Crowd];

    /// Its name in records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::RoundRobin => "round-robin",
            Self::Delay => "delay-success",
            Self::Crowd => "crowd",
        }
    }
}

impl Setting {
    /// How many places the tree has.
    pub fn places(&self) -> u64 {
        1 << self.height
    }

    /// What an operation is compared with: the third power of log2 m.
    pub fn cube_of_log(&self) -> f64 {
        f64::from(self.height).powi(3)
    }

    /// What the steps of all are compared with, where workers empty a full tree: m + p log p log³ m, as the paper has it,
    /// and (m + p log p) log³ m.
    pub fn work(&self) -> (f64, f64) {
        let (workers, places) = (self.workers as f64, self.places() as f64);
        let crowd = workers * workers.log2().max(1.0);
        (places + crowd * self.cube_of_log(), (places + crowd) * self.cube_of_log())
    }
}

/// Everything there is to count.
pub fn settings(quick: bool) -> Vec<Setting> {
    let heights = if quick { QUICK_HEIGHTS.as_slice() } else { HEIGHTS.as_slice() };
    let workers = if quick { QUICK_WORKERS.as_slice() } else { WORKERS.as_slice() };
    let mut settings = Vec::new();
    for load in Load::ALL {
        for order in Order::ALL {
            // How long tasks stay is a matter of chance.
            if load == Load::Full && order != Order::Random {
                continue;
            }
            for (tree, &workers) in
                Tree::ALL.iter().flat_map(|tree| workers.iter().map(move |it| (tree, it)))
            {
                let highest = if load == Load::Full { 10 } else { 16 }.min(tree.highest(quick));
                let heights = heights.iter().copied().filter(|&height| height <= highest);
                settings.extend(heights.map(|height| Setting {
                    tree: *tree,
                    load,
                    order,
                    height,
                    workers,
                }));
            }
        }
    }
    settings
}

/// A tree with the tasks that are there at the beginning.
pub fn tree(setting: Setting, seed: u64) -> TodoTree<u64> {
    let shape = match setting.tree {
        Tree::Wide => Shape::Wide,
        Tree::Binary => Shape::Binary,
        Tree::MaxArrays => Shape::MaxArrays,
    };
    let builder = TodoTree::builder().capacity(setting.places() as usize).shape(shape).seed(seed);
    let tree = builder.build().expect("there are such trees");
    let mut producer = tree.producer();
    for _ in 0..setting.load.tasks(setting.places()) {
        producer.try_put(0).expect("there is room");
    }
    tree
}

/// Lets workers have it, and counts.
pub fn count(setting: Setting, tree: TodoTree<u64>, steps: Steps) -> Walked {
    let gets = Arc::new(AtomicU64::new(0));
    let Setting { load, workers, .. } = setting;
    let rounds = match load {
        Load::Full => (TIMES * setting.places()).div_ceil(workers as u64),
        _ => CALLS as u64,
    };
    let walked = together(workers, move |_| {
        let mut worker = tree.worker();
        let mut walked = Walked::default();
        match load {
            Load::OneShot => while walked.get(steps, &mut worker).is_some() {},
            Load::Mixed => {
                for _ in 0..rounds {
                    walked.put(steps, &mut worker, 0);
                    walked.get(steps, &mut worker);
                }
            }
            Load::OneTask => {
                for _ in 0..rounds {
                    if let Some(task) = walked.get(steps, &mut worker) {
                        walked.put(steps, &mut worker, task);
                    }
                }
            }
            Load::Full => {
                for _ in 0..rounds {
                    let Some(put) = walked.get(steps, &mut worker) else { continue };
                    // bare: to tell earlier from later.
                    let now = gets.fetch_add(1, Relaxed);
                    walked.waits.push(now - put);
                    walked.put(steps, &mut worker, now);
                }
            }
        }
        walked
    });
    let mut all = walked.into_iter().fold(Walked::default(), Walked::and);
    all.waits.sort_unstable();
    all
}

impl Walked {
    fn put(&mut self, steps: Steps, worker: &mut Worker<u64>, task: u64) {
        self.taken.count(steps, || worker.try_put(task).is_ok());
    }

    fn get(&mut self, steps: Steps, worker: &mut Worker<u64>) -> Option<u64> {
        let mut got = None;
        self.taken.count(steps, || {
            got = worker.get();
            got.is_some()
        });
        got
    }

    /// Both together.
    #[must_use]
    fn and(mut self, other: Self) -> Self {
        self.taken = self.taken.and(other.taken);
        self.waits.extend(other.waits);
        self
    }
}

/// The row of a setting with what came out of its runs; none where there were none.
pub fn row(machine: &str, setting: Setting, runs: &[Walked]) -> Option<Row> {
    let all = runs.iter().map(|run| run.taken).reduce(Taken::and).filter(|all| all.calls > 0)?;
    let cube = setting.cube_of_log();
    let workers = setting.workers as u64;
    let row = Row {
        experiment: NAME.to_owned(),
        machine: machine.to_owned(),
        pool: setting.tree.name().to_owned(),
        kind: Kind::Ours,
        producers: workers,
        consumers: workers,
        fields: Default::default(),
    };
    let mean = all.steps as f64 / all.calls as f64;
    let row = row
        .with(HEIGHT, u64::from(setting.height))
        .with(LOAD, setting.load.name())
        .with(SCHEDULE, setting.order.name())
        .with("runs", runs.len() as u64)
        .with("steps_mean", mean)
        .with("steps_max", all.most)
        .with("log2_cubed", cube)
        .with("mean_to_log2_cubed", mean / cube)
        .with("max_to_log2_cubed", all.most as f64 / cube);
    Some(match setting.load {
        Load::OneShot => {
            let work = all.steps as f64 / runs.len() as f64;
            let (paper, bound) = setting.work();
            row.with("work_mean", work)
                .with("work_to_paper", work / paper)
                .with("work_to_bound", work / bound)
        }
        Load::Full => {
            let places = setting.places() as f64;
            let mut waits: Vec<u64> =
                runs.iter().flat_map(|run| run.waits.iter().copied()).collect();
            waits.sort_unstable();
            let part = |hundredths: usize| {
                let at = (waits.len() * hundredths / 100).min(waits.len().saturating_sub(1));
                waits.get(at).map_or(0.0, |&wait| wait as f64 / places)
            };
            row.with("wait_p50", part(50)).with("wait_p99", part(99)).with("wait_max", part(100))
        }
        _ => row,
    })
}

#[cfg(test)]
mod tests {
    use super::{Load, Order, Setting, Tree, Walked, count, row, settings, tree};
    use crate::experiment::steps::Taken;
    use machine::time::nanos;

    fn setting(tree: Tree, load: Load) -> Setting {
        Setting { tree, load, order: Order::Random, height: 4, workers: 2 }
    }

    #[test]
    fn every_load_comes_to_its_end() {
        for (shape, load) in Tree::ALL.into_iter().flat_map(|it| Load::ALL.map(|load| (it, load))) {
            let setting = setting(shape, load);
            let walked = count(setting, tree(setting, 1), nanos);
            let Taken { puts: found, calls, .. } = walked.taken;
            match load {
                Load::OneShot => assert_eq!((found, calls), (16, 16 + 2)),
                Load::Mixed => assert_eq!((found, calls), (2 * 64, 2 * 64)),
                Load::OneTask => assert!(found >= 2 && calls >= 64, "{walked:?}"),
                Load::Full => assert_eq!((found, walked.waits.len()), (2 * 128, 128)),
            }
            let row = row("real", setting, &[walked]).unwrap();
            row.check().unwrap();
            assert_eq!(row.number("work_mean").is_some(), load == Load::OneShot);
            assert_eq!(row.number("wait_max").is_some(), load == Load::Full);
        }
    }

    #[test]
    fn a_row_has_what_the_paper_compares_with() {
        let taken = Taken { puts: 16, calls: 20, steps: 1_280, most: 128 };
        let run = Walked { taken, waits: Vec::new() };
        let one_shot =
            row("sim", setting(Tree::Binary, Load::OneShot), std::slice::from_ref(&run)).unwrap();
        let number = |name: &str| one_shot.number(name).unwrap();
        assert_eq!((number("mean_to_log2_cubed"), number("max_to_log2_cubed")), (1.0, 2.0));
        assert_eq!(number("work_to_paper"), 1_280.0 / (16.0 + 2.0 * 64.0));
        assert_eq!(number("work_to_bound"), 1_280.0 / (18.0 * 64.0));
        let waits = Walked { waits: (0..200).collect(), ..run };
        let full = row("sim", setting(Tree::Binary, Load::Full), &[waits]).unwrap();
        let parts = ["wait_p50", "wait_p99", "wait_max"].map(|name| full.number(name).unwrap());
        assert_eq!(parts.map(|part| part * 16.0), [100.0, 198.0, 199.0]);
        assert_eq!(row("sim", setting(Tree::Wide, Load::Full), &[]), None);
    }

    #[test]
    fn full_trees_are_left_to_chance_and_max_arrays_are_small() {
        let all = settings(false);
        assert!(all.iter().all(|it| it.load != Load::Full || it.order == Order::Random));
        let highest = |tree| all.iter().filter(|it| it.tree == tree).map(|it| it.height).max();
        assert_eq!(Tree::ALL.map(highest), [Some(16), Some(16), Some(10)]);
        assert!(settings(true).len() < 150);
    }
}
