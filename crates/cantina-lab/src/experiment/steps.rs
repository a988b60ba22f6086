//! How many steps a put takes in binary trees.
//!
//! Lemma 2 of the CAFÉ paper: each of N puts to a tree has taken O(log² N) steps, with high probability. A
//! step is an access to memory that threads share. Only a simulated machine counts them: whoever runs this
//! says how the calling thread's are read. [`walks`] are those of to-do trees.

pub mod walks;

use super::together::together;
use crate::workload::Shape;
use cantina::cafe::{Cafe, TreeContainer};
use cantina_record::{Kind, Row};
use machine::atomic::AtomicUsize;
use machine::atomic::Ordering::Relaxed;
use machine::random::{self, Random};
use machine::{Arc, Backoff};

/// The experiment's name in records and on the command line.
pub const NAME: &str = "steps";

/// The field of a row that says how high the trees were.
pub const HEIGHT: &str = "height";

/// Heights of trees.
pub const HEIGHTS: [u32; 12] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];
/// The same of a quick run.
pub const QUICK_HEIGHTS: [u32; 4] = [1, 2, 4, 8];

/// Producers, and consumers of the pool: a tree is filled, and nothing is got from it.
pub const SHAPE: Shape = Shape::new(4, 2);

/// What is put to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Structure {
    /// One tree, until a put fails.
    Tree,
    /// The list of such trees, as many tasks as a tree has places.
    List,
}

/// What is put to, and how high its trees are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// What is put to.
    pub structure: Structure,
    /// How high trees are.
    pub height: u32,
}

/// What puts have taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// Tasks put.
    pub puts: u64,
    /// The calls, those that found a tree full too.
    pub calls: u64,
    /// Steps of all calls.
    pub steps: u64,
    /// The most steps of a call.
    pub most: u64,
}

/// The calling thread's own steps so far.
pub type Steps = fn() -> u64;

impl Structure {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Tree, Self::List];

    /// Its name in records and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tree => super::density::POOL,
            Self::List => "cafe-wait-free",
        }
    }
}

impl Taken {
    /// Does `put` and counts it. Whether it put something.
    fn count(&mut self, steps: Steps, put: impl FnOnce() -> bool) -> bool {
        let before = steps();
        let has_put = put();
        let taken = steps() - before;
        self.puts += u64::from(has_put);
        self.calls += 1;
        self.steps += taken;
        self.most = self.most.max(taken);
        has_put
    }

    /// Both together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            puts: self.puts + other.puts,
            calls: self.calls + other.calls,
            steps: self.steps + other.steps,
            most: self.most.max(other.most),
        }
    }
}

/// Everything there is to count.
pub fn settings(quick: bool) -> Vec<Setting> {
    let heights = if quick { QUICK_HEIGHTS.as_slice() } else { HEIGHTS.as_slice() };
    let of = |structure| heights.iter().map(move |&height| Setting { structure, height });
    Structure::ALL.into_iter().flat_map(of).collect()
}

/// Lets producers put, and counts. A put that finds a tree full counts too.
pub fn count(setting: Setting, steps: Steps) -> Taken {
    match setting.structure {
        Structure::Tree => fill(setting.height, steps),
        Structure::List => pass_through(setting.height, steps),
    }
}

fn fill(height: u32, steps: Steps) -> Taken {
    let tree = TreeContainer::builder().height(height).build().expect("there are such trees");
    let tree = Arc::new(tree);
    let taken = together(SHAPE.producers, move |_| {
        let mut random = Random::seeded(random::seed());
        let mut taken = Taken::default();
        while taken.count(steps, || tree.put_by(&mut random, 0_u64).is_ok()) {}
        taken
    });
    taken.into_iter().fold(Taken::default(), Taken::and)
}

fn pass_through(height: u32, steps: Steps) -> Taken {
    let builder = Cafe::<u64>::builder().height(height).wait_free(true);
    let pool = builder.build().expect("there are such trees");
    let tasks = (2_usize << height) - 1;
    let left = Arc::new(AtomicUsize::new(tasks));
    let taken = together(SHAPE.threads(), move |thread| {
        if thread < SHAPE.producers {
            put_share(&pool, (thread..tasks).step_by(SHAPE.producers).len(), steps)
        } else {
            get_all(&pool, &left);
            Taken::default()
        }
    });
    taken.into_iter().fold(Taken::default(), Taken::and)
}

fn put_share(pool: &Cafe<u64>, tasks: usize, steps: Steps) -> Taken {
    let mut end = pool.producer();
    let mut taken = Taken::default();
    for task in 0..tasks as u64 {
        taken.count(steps, || {
            end.put(task);
            true
        });
    }
    taken
}

fn get_all(pool: &Cafe<u64>, left: &AtomicUsize) {
    let mut end = pool.consumer();
    let backoff = Backoff::new();
    // bare: how many are to be got.
    while left.load(Relaxed) > 0 {
        if end.get().is_some() {
            // bare: as above.
            left.fetch_sub(1, Relaxed);
            backoff.reset();
        } else {
            backoff.snooze();
        }
    }
}

/// What lemma 2 compares with: the square of log2 of so many puts, and at least 1.
pub fn square_of_log(puts: u64) -> f64 {
    (puts.max(2) as f64).log2().powi(2)
}

/// The row of a setting with what came out of its runs; none where there were none.
pub fn row(machine: &str, setting: Setting, runs: &[Taken]) -> Option<Row> {
    let all = runs.iter().copied().reduce(Taken::and).filter(|all| all.puts > 0)?;
    let square = square_of_log(all.puts / runs.len() as u64);
    let consumers = match setting.structure {
        Structure::Tree => 0,
        Structure::List => SHAPE.consumers as u64,
    };
    let row = Row {
        experiment: NAME.to_owned(),
        machine: machine.to_owned(),
        pool: setting.structure.name().to_owned(),
        kind: Kind::Ours,
        producers: SHAPE.producers as u64,
        consumers,
        fields: Default::default(),
    };
    let mean = all.steps as f64 / all.calls as f64;
    let row = row
        .with(HEIGHT, u64::from(setting.height))
        .with("runs", runs.len() as u64)
        .with("puts_mean", all.puts as f64 / runs.len() as f64)
        .with("steps_mean", mean)
        .with("steps_max", all.most)
        .with("log2_squared", square)
        .with("mean_to_log2_squared", mean / square)
        .with("max_to_log2_squared", all.most as f64 / square);
    Some(row)
}

#[cfg(test)]
mod tests {
    use super::{Setting, Structure, Taken, count, row, square_of_log};
    use machine::time::nanos;

    #[test]
    fn puts_are_counted_one_by_one() {
        for structure in Structure::ALL {
            for height in [0, 1, 4] {
                let setting = Setting { structure, height };
                let taken = count(setting, nanos);
                let places = (2 << height) - 1;
                assert!((1..=places).contains(&taken.puts), "{setting:?}: {taken:?}");
                assert!(structure == Structure::Tree || taken.puts == places, "{taken:?}");
                assert!(taken.most <= taken.steps, "{taken:?}");
                let row = row("real", setting, &[taken; 3]).unwrap();
                row.check().unwrap();
                assert!(row.number("steps_mean") <= row.number("steps_max"), "{row:?}");
            }
        }
    }

    #[test]
    fn a_row_has_the_mean_the_worst_and_what_the_lemma_compares_with() {
        let setting = Setting { structure: Structure::Tree, height: 3 };
        let runs = [(100, 30), (60, 40)];
        let runs = runs.map(|(steps, most)| Taken { puts: 8, calls: 10, steps, most });
        let row = row("sim:4x4", setting, &runs).unwrap();
        let fields = ["steps_mean", "steps_max", "log2_squared", "max_to_log2_squared"];
        let values = fields.map(|name| row.number(name).unwrap());
        assert_eq!((values[0], values[1], values[2]), (8.0, 40.0, 9.0));
        assert!((values[3] - 40.0 / 9.0).abs() < 1e-9);
        assert_eq!(super::row("sim:4x4", setting, &[]), None);
        assert_eq!([0, 1, 2, 4].map(square_of_log), [1.0, 1.0, 1.0, 4.0]);
    }
}
