//! Write-all: workers that may die, and tasks all of which have to be done.
//!
//! A task is a word that somebody has to change. Total work are the steps of all, those of the dead too; an attempt is
//! wasted when its task had been done, or was done once more. Beside [`DoAll`] stand a shared counter, whose workers look
//! through all tasks when it has come to the end, for those whose worker has died; and an array at which workers probe at
//! random, and look through it when they often found nothing to do. Whoever runs this lets workers die, and counts.

use super::Spread;
use super::steps::Steps;
use cantina::todo_tree::DoAll;
use cantina_record::{Kind, Row};
use machine::atomic::AtomicU64;
use machine::atomic::Ordering::Relaxed;
use machine::random::{self, Random};
use machine::time::Duration;
use machine::{Arc, thread};

/// The experiment's name in records and on the command line.
pub const NAME: &str = "write-all";

/// The field of a row that says how many workers were to die.
pub const DYING: &str = "dying";

/// Tasks of a run, and of a quick one.
pub const TASKS: usize = 1024;
/// See [`TASKS`].
pub const QUICK_TASKS: usize = 128;
/// Workers of a run, and of a quick one.
pub const WORKERS: usize = 16;
/// See [`WORKERS`].
pub const QUICK_WORKERS: usize = 8;

/// After so long somebody else does the task of a worker: many times as long as it takes, on a machine that gives a step
/// ten nanoseconds.
const OVERDUE: Duration = Duration::from_micros(50);
/// How long who finds nothing to do waits for that.
const PAUSE: Duration = Duration::from_micros(5);

/// Who hands out tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum System {
    /// [`DoAll`], which takes claims over that are overdue.
    DoAll,
    /// A counter, then a look at all.
    Counter,
    /// Chance, then a look at all.
    Probing,
}

/// Everything about a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Who hands out tasks.
    pub system: System,
    /// How many tasks.
    pub tasks: usize,
    /// How many workers. The first one does not die.
    pub workers: usize,
    /// How many of the others do.
    pub dying: usize,
}

/// What came out of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// Tasks that nobody has done.
    pub undone: u64,
    /// How often somebody tried to do one.
    pub attempts: u64,
    /// Steps of all, without those that count attempts, if that is known.
    pub work: u64,
}

/// The tasks, and what each worker notes.
struct Board {
    /// How often each was done.
    tasks: Box<[AtomicU64]>,
    /// Attempts of each worker, kept where they outlast it.
    attempts: Box<[AtomicU64]>,
    /// Of the shared counter.
    next: AtomicU64,
}

impl System {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::DoAll, Self::Counter, Self::Probing];

    /// Its name in records and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::DoAll => "do-all",
            Self::Counter => "counter-retry",
            Self::Probing => "random-probing",
        }
    }

    fn kind(self) -> Kind {
        match self {
            Self::DoAll => Kind::Ours,
            Self::Counter | Self::Probing => Kind::Contender,
        }
    }
}

impl Board {
    fn new(tasks: usize, workers: usize) -> Self {
        let zeros = |count| (0..count).map(|_| AtomicU64::new(0)).collect();
        Self { tasks: zeros(tasks), attempts: zeros(workers), next: AtomicU64::new(0) }
    }

    fn note(&self, worker: usize) {
        // bare: read when all have ended.
        self.attempts[worker].fetch_add(1, Relaxed);
    }

    /// Does a task.
    fn work(&self, task: usize) {
        // bare: the work itself carries nothing.
        self.tasks[task].fetch_add(1, Relaxed);
    }

    fn is_done(&self, task: usize) -> bool {
        // bare: as above.
        self.tasks[task].load(Relaxed) > 0
    }

    /// Does a task, if it is not done. Whether it was to be done.
    fn try_task(&self, worker: usize, task: usize) -> bool {
        self.note(worker);
        let is_open = !self.is_done(task);
        if is_open {
            self.work(task);
        }
        is_open
    }

    /// All that are not done, from a random one on.
    fn look_through(&self, worker: usize, random: &mut Random) {
        let count = self.tasks.len();
        let start = random.below(count);
        for task in (0..count).map(|task| (start + task) % count) {
            if !self.is_done(task) {
                self.try_task(worker, task);
            }
        }
    }

    fn by_counter(&self, worker: usize) {
        loop {
            // bare: a number that carries nothing.
            let task = self.next.fetch_add(1, Relaxed) as usize;
            if task >= self.tasks.len() {
                break;
            }
            self.note(worker);
            self.work(task);
        }
        self.look_through(worker, &mut Random::seeded(random::seed()));
    }

    fn by_probing(&self, worker: usize) {
        let mut random = Random::seeded(random::seed());
        let patience = 2 * self.tasks.len().max(2).ilog2();
        let mut in_vain = 0;
        while in_vain < patience {
            let found = self.try_task(worker, random.below(self.tasks.len()));
            in_vain = if found { 0 } else { in_vain + 1 };
        }
        self.look_through(worker, &mut random);
    }

    fn by_claims(&self, worker: usize, all: &DoAll<usize>) {
        let claims = all.worker();
        loop {
            match claims.next() {
                Some(claim) => {
                    self.note(worker);
                    self.work(*claim);
                    // Refused, it is done all the same.
                    let _ = claim.done();
                }
                None if all.is_finished() => break,
                None => thread::sleep(PAUSE),
            }
        }
    }
}

/// Everything there is to count.
pub fn settings(quick: bool) -> Vec<Setting> {
    let (tasks, workers) = if quick { (QUICK_TASKS, QUICK_WORKERS) } else { (TASKS, WORKERS) };
    let of = |system| {
        [0, 1, workers / 2, workers - 1].map(|dying| Setting { system, tasks, workers, dying })
    };
    System::ALL.into_iter().flat_map(of).collect()
}

/// Lets workers do all tasks. Worker 0 is the calling thread, those that may die are threads 1 and on. `steps` are those of
/// the calling thread.
pub fn count(setting: Setting, steps: Steps) -> Written {
    let before = steps();
    let Setting { system, tasks, workers, .. } = setting;
    let board = Arc::new(Board::new(tasks, workers));
    let patient = DoAll::<usize>::builder().reclaim_after(OVERDUE);
    let all = patient.build(0..tasks).expect("some time is allowed");
    let work = |worker: usize| {
        let (board, all) = (board.clone(), all.clone());
        move || match system {
            System::DoAll => board.by_claims(worker, &all),
            System::Counter => board.by_counter(worker),
            System::Probing => board.by_probing(worker),
        }
    };
    let others: Vec<_> = (1..workers).map(|worker| thread::spawn(work(worker))).collect();
    work(0)();
    let undone = (0..tasks).filter(|&task| !board.is_done(task)).count() as u64;
    for other in others {
        // Who is dead returns nothing.
        let _ = other.join();
    }
    // bare: as above.
    let attempts = board.attempts.iter().map(|attempts| attempts.load(Relaxed)).sum();
    Written { undone, attempts, work: steps() - before }
}

/// The row of a setting with what came out of its runs; none where there were none.
pub fn row(machine: &str, setting: Setting, dead: u64, runs: &[Written]) -> Option<Row> {
    let tasks = setting.tasks as f64;
    let spread =
        |of: fn(&Written) -> u64| Spread::of(runs.iter().map(|run| of(run) as f64 / tasks));
    let work = spread(|run| run.work)?;
    let attempts = spread(|run| run.attempts)?;
    let row = Row {
        experiment: NAME.to_owned(),
        machine: machine.to_owned(),
        pool: setting.system.name().to_owned(),
        kind: setting.system.kind(),
        producers: 0,
        consumers: setting.workers as u64,
        fields: Default::default(),
    };
    let row = row
        .with(DYING, setting.dying as u64)
        .with("tasks", setting.tasks as u64)
        .with("runs", runs.len() as u64)
        .with("dead_mean", dead as f64 / runs.len() as f64)
        .with("undone", runs.iter().map(|run| run.undone).sum::<u64>())
        .with("work_per_task", work.median)
        .with("work_per_task_min", work.min)
        .with("work_per_task_max", work.max)
        .with("wasted_per_task", attempts.median - 1.0)
        .with("wasted_per_task_min", attempts.min - 1.0)
        .with("wasted_per_task_max", attempts.max - 1.0);
    Some(row)
}

#[cfg(test)]
mod tests {
    use super::{Setting, System, count, row, settings};
    use machine::time::nanos;

    #[test]
    fn all_tasks_are_done_by_each_system() {
        for system in System::ALL {
            for (tasks, workers) in [(1, 1), (1, 3), (100, 1), (100, 4)] {
                let setting = Setting { system, tasks, workers, dying: 0 };
                let written = count(setting, nanos);
                assert_eq!(written.undone, 0, "{setting:?}");
                assert!(written.attempts >= tasks as u64, "{setting:?}: {written:?}");
                let row = row("real", setting, 0, &[written; 2]).unwrap();
                row.check().unwrap();
                assert_eq!((row.number("undone"), row.number("dying")), (Some(0.0), Some(0.0)));
            }
        }
    }

    #[test]
    fn nobody_half_and_all_but_one_die() {
        let dying = |quick| settings(quick).iter().map(|it| it.dying).collect::<Vec<_>>();
        assert_eq!(dying(true)[..4], [0, 1, 4, 7]);
        assert_eq!(dying(false)[8..], [0, 1, 8, 15]);
        assert_eq!(row("sim", settings(true)[0], 0, &[]), None);
    }
}
