//! How full a binary tree is when a put first finds no room in it.
//!
//! Lemma 1 of the CAFÉ paper: a tree of height h, of whose last level a put tries k places, then has at least
//! 2^((k+2)/(k+3) h) tasks, with high probability. Producers put to one tree until one of them fails; what the
//! others had begun by then they finish, so with several there may be one more for each of them.

use super::together::together;
use super::{Event, Spread, Stopped, Watch};
use cantina::cafe::{MAX_HEIGHT, TreeContainer};
use cantina_record::{Kind, Row};
use machine::Arc;
use machine::atomic::AtomicBool;
use machine::atomic::Ordering::Relaxed;
use machine::random::{self, Random};

/// The experiment's name in records and on the command line.
pub const NAME: &str = "density";

/// The field of a row that says how high the tree was.
pub const HEIGHT: &str = "height";
/// The field that says how many places of the last level a put tried.
pub const LEAF_TRIALS: &str = "leaf_trials";
/// The `pool` of the rows.
pub const POOL: &str = "tree-container";

/// Heights of trees.
pub const HEIGHTS: [u64; 7] = [1, 2, 4, 6, 8, 10, 12];
/// The same of a quick run.
pub const QUICK_HEIGHTS: [u64; 3] = [2, 4, 8];
/// Places of the last level that are tried.
pub const TRIALS: [u32; 4] = [1, 2, 3, 5];
/// How many producers fill a tree.
pub const PRODUCERS: [usize; 2] = [1, 4];

/// A tree to be filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Its height.
    pub height: u32,
    /// Places of the last level that a put tries.
    pub leaf_trials: u32,
    /// How many threads fill it.
    pub producers: usize,
}

/// Everything there is to fill with trees of these heights; those that are too high are left out.
pub fn settings(heights: &[u64]) -> Vec<Setting> {
    let heights = heights.iter().filter_map(|&height| u32::try_from(height).ok());
    let heights: Vec<u32> = heights.filter(|&height| height <= MAX_HEIGHT).collect();
    let mut settings = Vec::new();
    for producers in PRODUCERS {
        for leaf_trials in TRIALS {
            let setting = |&height| Setting { height, leaf_trials, producers };
            settings.extend(heights.iter().map(setting));
        }
    }
    settings
}

/// Fills a new tree, with random numbers of the machine's. How many tasks it had when a put failed.
pub fn fill(setting: Setting) -> u64 {
    let builder = TreeContainer::<u64>::builder().height(setting.height);
    let tree = builder.leaf_trials(setting.leaf_trials).build().expect("there are such trees");
    let shared = Arc::new((tree, AtomicBool::new(false)));
    let put = together(setting.producers, move |_| put_until_full(&shared.0, &shared.1));
    put.into_iter().sum()
}

fn put_until_full(tree: &TreeContainer<u64>, full: &AtomicBool) -> u64 {
    let mut random = Random::seeded(random::seed());
    let mut put = 0;
    // bare: that it is time to stop.
    while !full.load(Relaxed) {
        match tree.put_by(&mut random, put) {
            Ok(()) => put += 1,
            // bare: as above.
            Err(_) => full.store(true, Relaxed),
        }
    }
    put
}

/// What lemma 1 says that a tree has at least, then.
pub fn bound(height: u32, leaf_trials: u32) -> f64 {
    let trials = f64::from(leaf_trials);
    ((trials + 2.0) / (trials + 3.0) * f64::from(height)).exp2()
}

/// The row of a setting with what came out of its runs; none where there were none.
pub fn row(machine: &str, setting: Setting, tasks: &[u64]) -> Option<Row> {
    let Setting { height, leaf_trials, producers } = setting;
    let spread = Spread::of(tasks.iter().map(|&count| count as f64))?;
    let mean = tasks.iter().sum::<u64>() as f64 / tasks.len() as f64;
    let bound = bound(height, leaf_trials);
    let row = Row {
        experiment: NAME.to_owned(),
        machine: machine.to_owned(),
        pool: POOL.to_owned(),
        kind: Kind::Ours,
        producers: producers as u64,
        consumers: 0,
        fields: Default::default(),
    };
    let row = row
        .with(HEIGHT, u64::from(height))
        .with(LEAF_TRIALS, u64::from(leaf_trials))
        .with("places", (2_u64 << height) - 1)
        .with("runs", tasks.len() as u64)
        .with("tasks_mean", mean)
        .with("tasks_min", spread.min)
        .with("tasks_max", spread.max)
        .with("bound", bound)
        .with("times_bound_mean", mean / bound)
        .with("times_bound_min", spread.min / bound)
        .with("times_bound_max", spread.max / bound);
    let below = tasks.iter().filter(|&&count| (count as f64) < bound).count();
    Some(row.with("runs_below_bound", below as u64))
}

/// Runs the experiment on the machine at hand, each setting so many times.
///
/// # Errors
/// [`Stopped`] by the watcher.
pub fn measure(
    machine: &str,
    settings: &[Setting],
    runs: usize,
    watch: Watch<'_>,
) -> Result<Vec<Row>, Stopped> {
    let mut rows = Vec::new();
    for &setting in settings {
        let line = format!("{NAME}, height {}, {} tried", setting.height, setting.leaf_trials);
        if watch(Event::Running(&line)).is_break() {
            return Err(Stopped::OnRequest);
        }
        let tasks: Vec<u64> = (0..runs).map(|_| fill(setting)).collect();
        rows.extend(row(machine, setting, &tasks));
        if watch(Event::Ran).is_break() {
            return Err(Stopped::OnRequest);
        }
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::{QUICK_HEIGHTS, Setting, bound, fill, measure, row, settings};
    use crate::experiment::{Event, Stopped};
    use std::ops::ControlFlow;

    #[test]
    fn the_bound_is_that_of_the_lemma() {
        assert_eq!(bound(0, 1), 1.0);
        assert_eq!(bound(4, 1), 8.0);
        assert_eq!(bound(12, 3), 1024.0);
    }

    #[test]
    fn a_tree_is_nearly_as_dense_as_the_lemma_says_whoever_fills_it() {
        for setting in settings(&QUICK_HEIGHTS) {
            let tasks: Vec<u64> = (0..30).map(|_| fill(setting)).collect();
            let row = row("real", setting, &tasks).unwrap();
            row.check().unwrap();
            let number = |name: &str| row.number(name).unwrap();
            assert!(number("tasks_max") <= number("places"), "{row:?}");
            assert!(number("tasks_min") >= 1.0 && number("times_bound_mean") > 1.0, "{row:?}");
            assert!(number("tasks_min") <= number("tasks_mean"), "{row:?}");
            assert!(number("runs_below_bound") <= 3.0, "{row:?}");
        }
    }

    #[test]
    fn a_tree_of_one_place_has_one_task() {
        assert_eq!(fill(Setting { height: 0, leaf_trials: 1, producers: 3 }), 1);
    }

    #[test]
    fn the_watcher_sees_every_setting_and_can_stop() {
        let settings = &settings(&[1, 17, 2, u64::MAX])[..2];
        assert_eq!((settings[0].height, settings[1].height), (1, 2));
        let mut ran = 0;
        let rows = measure("real", settings, 3, &mut |event| {
            ran += usize::from(event == Event::Ran);
            ControlFlow::Continue(())
        });
        assert_eq!((rows.unwrap().len(), ran), (2, 2));
        let stopped = measure("real", settings, 3, &mut |_| ControlFlow::Break(()));
        assert_eq!(stopped, Err(Stopped::OnRequest));
        assert_eq!(row("real", settings[0], &[]), None);
    }
}
