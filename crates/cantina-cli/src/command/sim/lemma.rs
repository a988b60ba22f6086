//! What papers say of steps and of places, looked at on a simulated machine.

use super::size::{self, Pilot, Size};
use crate::args::SimArgs;
use crate::command::allowed::{check_pools, refuse_threads};
use crate::failure::Failure;
use crate::interrupt;
use crate::view::{Progress, short};
use cantina_record::Row;
use cantina_sim::cost::Machine;
use cantina_sim::engine::{Failure as Ended, Outcome, Simulation, ThreadId};
use cantina_sim::progress;
use cantina_sim::random::Random;
use cantina_sim::schedule::{Schedule, crowd, delay_rmw};
use lab_on_sim::experiment::steps::walks;
use lab_on_sim::experiment::{density, steps, write_all};

/// The experiments that are about lemmas.
pub(super) const NAMES: [&str; 3] = [density::NAME, steps::NAME, write_all::NAME];

/// Steps after which a run hangs, for each place of a tree.
const STEPS_PER_PLACE: u64 = 100_000;
/// About how many steps a task takes that nobody else wants.
const STEPS_PER_TASK: usize = 6;
/// How many steps a large cell takes is tried with trees that are so much lower.
const LOWER: u32 = 6;
/// What makes a cell shorter.
const ALLOWED: &str = "fewer --seeds, --quick";
/// Steps of a turn, where all have theirs.
const QUANTUM: u64 = 1;

/// An experiment, and what it looks at.
#[derive(Debug)]
pub(super) enum Lemma {
    Density {
        settings: Vec<density::Setting>,
        /// Numbers of producers that the machine has no room for.
        left_out: Vec<usize>,
    },
    Steps(Vec<steps::Setting>, Vec<walks::Setting>),
    WriteAll(Vec<write_all::Setting>),
}

impl Lemma {
    /// What `args` ask of an experiment, if it is one about a lemma.
    ///
    /// # Errors
    /// One line that says what is allowed.
    pub(super) fn new(
        experiment: &str,
        args: &SimArgs,
        machine: &Machine,
    ) -> Result<Option<Self>, String> {
        if !NAMES.contains(&experiment) {
            return Ok(None);
        }
        refuse_threads(experiment, &args.shapes, args.tasks)?;
        let cores = machine.core_count();
        let names: Vec<&str> = match experiment {
            density::NAME => vec![density::POOL],
            steps::NAME => {
                let structures = steps::Structure::ALL.map(steps::Structure::name);
                structures.into_iter().chain(walks::Tree::ALL.map(walks::Tree::name)).collect()
            }
            _ => write_all::System::ALL.map(write_all::System::name).to_vec(),
        };
        let names: Vec<String> = names.into_iter().map(str::to_owned).collect();
        check_pools(experiment, &args.pools, &names)?;
        let is_wanted =
            |name: &str| args.pools.is_empty() || args.pools.iter().any(|it| it == name);
        Ok(Some(match experiment {
            density::NAME => {
                let heights: &[u64] =
                    if args.quick { &density::QUICK_HEIGHTS } else { &density::HEIGHTS };
                let settings = density::settings(heights).into_iter();
                let (settings, others): (Vec<_>, Vec<_>) =
                    settings.partition(|setting| setting.producers <= cores);
                let mut left_out: Vec<usize> = others.iter().map(|each| each.producers).collect();
                left_out.dedup();
                Self::Density { settings, left_out }
            }
            steps::NAME => {
                let mut puts = steps::settings(args.quick);
                puts.retain(|setting| is_wanted(setting.structure.name()));
                if !puts.is_empty() && steps::SHAPE.threads() > cores {
                    return Err(format!(
                        "{experiment} does not fit on {}; allowed: machines with at least {} cores",
                        machine.name(),
                        steps::SHAPE.threads()
                    ));
                }
                let mut walks = walks::settings(args.quick);
                walks.retain(|setting| is_wanted(setting.tree.name()));
                Self::Steps(puts, walks)
            }
            _ => {
                let mut settings = write_all::settings(args.quick);
                settings.retain(|setting| is_wanted(setting.system.name()));
                Self::WriteAll(settings)
            }
        }))
    }

    /// How many cells there are.
    pub(super) fn cells(&self) -> usize {
        match self {
            Self::Density { settings, .. } => settings.len(),
            Self::Steps(puts, walks) => puts.len() + walks.len(),
            Self::WriteAll(settings) => settings.len(),
        }
    }

    /// What its cells are called.
    #[cfg(test)]
    pub(super) fn places(&self) -> Vec<String> {
        match self {
            Self::Density { settings, .. } => {
                settings.iter().copied().map(place_of_filling).collect()
            }
            Self::Steps(puts, walks) => {
                let puts = puts.iter().copied().map(place_of_puts);
                puts.chain(walks.iter().copied().map(place_of_walks)).collect()
            }
            Self::WriteAll(settings) => settings.iter().copied().map(place_of_writing).collect(),
        }
    }

    /// What is not run though nobody has said so, and why, in a line each.
    pub(super) fn left_out(&self) -> Vec<String> {
        let Self::Density { left_out, .. } = self else { return Vec::new() };
        let line = |producers| {
            format!("{}: {producers} producers are more than processors", density::NAME)
        };
        left_out.iter().map(line).collect()
    }

    /// Refuses what would take too long, before anything is run: as far as lower trees, or fewer tasks, tell.
    pub(super) fn check_size(&self, runs: &Runs<'_>, size: &mut Size) -> Result<(), Failure> {
        match self {
            Self::Density { settings, .. } => settings.iter().try_for_each(|&setting| {
                let density::Setting { height, producers, .. } = setting;
                let low = density::Setting { height: lower(height), ..setting };
                runs.check(size, &place_of_filling(setting), height, producers, |most| {
                    runs.fill(low, 1, most).map(|outcome| outcome.steps)
                })
            }),
            Self::Steps(puts, walks) => {
                puts.iter().try_for_each(|&setting| {
                    let threads = steps::SHAPE.threads();
                    let height = setting.height;
                    let low = steps::Setting { height: lower(height), ..setting };
                    runs.check(size, &place_of_puts(setting), height, threads, |most| {
                        runs.put(low, 1, most).map(|outcome| outcome.steps)
                    })
                })?;
                walks.iter().try_for_each(|&setting| {
                    let low = walks::Setting { height: lower(setting.height), ..setting };
                    let walks::Setting { height, workers, .. } = setting;
                    runs.check(size, &place_of_walks(setting), height, workers, |most| {
                        runs.walk(low, 1, most).map(|outcome| outcome.steps)
                    })
                })
            }
            Self::WriteAll(settings) => settings.iter().try_for_each(|&setting| {
                let write_all::Setting { tasks, workers, .. } = setting;
                let height = tasks.ilog2();
                let few =
                    write_all::Setting { tasks: tasks >> (height - lower(height)), ..setting };
                runs.check(size, &place_of_writing(setting), height, workers, |most| {
                    runs.write(few, 1, most).map(|outcome| outcome.steps)
                })
            }),
        }
    }

    /// Runs every cell from every seed, and gives their rows.
    pub(super) fn run(&self, runs: &Runs<'_>) -> Result<Vec<Row>, Failure> {
        let name = format!("sim:{}", runs.machine.name());
        let mut rows = Vec::new();
        match self {
            Self::Density { settings, .. } => {
                for &setting in settings {
                    let place = place_of_filling(setting);
                    let tasks = runs.each(&place, |seed, most| runs.fill(setting, seed, most))?;
                    rows.extend(density::row(&name, setting, &values(tasks)));
                }
            }
            Self::Steps(puts, walks) => {
                for &setting in puts {
                    let place = place_of_puts(setting);
                    let taken = runs.each(&place, |seed, most| runs.put(setting, seed, most))?;
                    rows.extend(steps::row(&name, setting, &values(taken)));
                }
                for &setting in walks {
                    let place = place_of_walks(setting);
                    let walked = runs.each(&place, |seed, most| runs.walk(setting, seed, most))?;
                    rows.extend(walks::row(&name, setting, &values(walked)));
                }
            }
            Self::WriteAll(settings) => {
                for &setting in settings {
                    let (dead, written) = runs.write_all(setting)?;
                    rows.extend(write_all::row(&name, setting, dead, &written));
                }
            }
        }
        Ok(rows)
    }
}

/// The height of the trees that are tried for trees of this height.
fn lower(height: u32) -> u32 {
    height.saturating_sub(LOWER).max(1).min(height)
}

fn values<R>(outcomes: Vec<Outcome<R>>) -> Vec<R> {
    outcomes.into_iter().map(|outcome| outcome.value).collect()
}

/// What cells are called: each has another name.
fn place_of_filling(setting: density::Setting) -> String {
    let density::Setting { height, leaf_trials, producers } = setting;
    let name = density::NAME;
    format!("{name} {producers}P, height {height}, leaf trials {leaf_trials}")
}

fn place_of_puts(steps::Setting { structure, height }: steps::Setting) -> String {
    format!("{} {}, height {height}", steps::NAME, structure.name())
}

fn place_of_walks(setting: walks::Setting) -> String {
    let walks::Setting { tree, load, order, height, workers } = setting;
    let (tree, load, order) = (tree.name(), load.name(), order.name());
    format!("{} {tree}, {workers} workers, {load}, {order}, height {height}", steps::NAME)
}

fn place_of_writing(setting: write_all::Setting) -> String {
    let write_all::Setting { system, workers, dying, .. } = setting;
    format!("{} {}, {dying} of {workers} die", write_all::NAME, system.name())
}

/// How cells are run.
pub(super) struct Runs<'a> {
    pub(super) machine: &'a Machine,
    pub(super) seeds: u64,
    pub(super) memory_limit: usize,
    /// Steps that a cell may take, from all seeds together.
    pub(super) most_steps: u64,
    pub(super) progress: &'a Progress,
}

type Ran<R> = Result<Outcome<R>, Ended>;

impl Runs<'_> {
    /// How full a tree gets, in at most so many steps.
    fn fill(&self, setting: density::Setting, seed: u64, most: u64) -> Ran<u64> {
        let simulation = self.simulation(seed).steps(most.min(patience(setting.height)));
        simulation.run_timed(|| density::fill(setting))
    }

    /// What puts take.
    fn put(&self, setting: steps::Setting, seed: u64, most: u64) -> Ran<steps::Taken> {
        let simulation = self.simulation(seed).steps(most.min(patience(setting.height)));
        simulation.run_timed(|| steps::count(setting, progress::steps))
    }

    /// The same of walks in to-do trees, whose tasks are put before the run.
    fn walk(&self, setting: walks::Setting, seed: u64, most: u64) -> Ran<walks::Walked> {
        let walks::Setting { order, height, workers, .. } = setting;
        let schedule = match order {
            walks::Order::Random => Schedule::Random,
            walks::Order::RoundRobin => Schedule::RoundRobin { quantum: QUANTUM },
            walks::Order::Delay => delay_rmw(),
            walks::Order::Crowd => crowd((workers / 2).max(2)),
        };
        let tree = walks::tree(setting, seed);
        let simulation = self.simulation(seed).schedule(schedule).steps(most.min(patience(height)));
        simulation.run(move || walks::count(setting, tree, progress::steps))
    }

    /// Tasks all of which are to be done, by workers of whom some die.
    fn write(&self, setting: write_all::Setting, seed: u64, most: u64) -> Ran<write_all::Written> {
        let write_all::Setting { tasks, workers, dying, .. } = setting;
        // Each dies within what it would do if all did the same.
        let share = (STEPS_PER_TASK * tasks / workers).max(1);
        let mut random = Random::seeded(seed);
        let mut simulation = self.simulation(seed);
        for thread in 1..=dying {
            simulation = simulation.crash(ThreadId(thread as u32), random.below(share) as u64);
        }
        let simulation = simulation.steps(most.min(STEPS_PER_PLACE * tasks as u64));
        simulation.run(|| write_all::count(setting, progress::steps))
    }

    /// What came of it from each seed, and how many workers have died in all runs.
    fn write_all(
        &self,
        setting: write_all::Setting,
    ) -> Result<(u64, Vec<write_all::Written>), Failure> {
        let place = place_of_writing(setting);
        let results = self.each(&place, |seed, most| self.write(setting, seed, most))?;
        let dead = results.iter().map(|outcome| outcome.crashed.len() as u64).sum();
        let written = results.iter().map(|outcome| write_all::Written {
            work: outcome.steps - outcome.value.attempts,
            ..outcome.value
        });
        let written: Vec<_> = written.collect();
        match written.iter().find(|written| written.undone > 0) {
            Some(written) => {
                let undone = written.undone;
                Err(Failure::Failed(format!("{place}: {undone} are not done")))
            }
            None => Ok((dead, written)),
        }
    }

    fn simulation(&self, seed: u64) -> Simulation {
        let simulation = Simulation::new().machine(self.machine.clone()).seed(seed);
        simulation.memory_limit(self.memory_limit).halt_when(interrupt::requested)
    }

    /// Tries how many steps a cell takes whose trees are as high, with lower ones, if it is large.
    fn check(
        &self,
        size: &mut Size,
        place: &str,
        height: u32,
        threads: usize,
        run: impl FnOnce(u64) -> Result<u64, Ended>,
    ) -> Result<(), Failure> {
        if !size::is_large(1 << height, threads as u64, self.seeds) {
            return Ok(());
        }
        let times = f64::from(1_u32 << (height - lower(height))) * self.seeds as f64;
        let pilot = Pilot { place, times, most_steps: self.most_steps, allowed: ALLOWED };
        match size.try_out(&pilot, run)? {
            None => Ok(()),
            Some(ended) => Err(failure(place, 1, ended)),
        }
    }

    /// What comes out of `run` with each seed, and so many steps at most.
    fn each<R>(
        &self,
        place: &str,
        run: impl Fn(u64, u64) -> Ran<R>,
    ) -> Result<Vec<Outcome<R>>, Failure> {
        self.progress.doing(place);
        let (mut results, mut left) = (Vec::new(), self.most_steps);
        for seed in 1..=self.seeds {
            if interrupt::requested() {
                return Err(Failure::Interrupted);
            }
            let failed = |ended| match ended {
                Ended::Budget(report) if report.steps >= left => {
                    let steps = format!("takes more than {}", short(self.most_steps as f64));
                    size::refuse(place, &steps, ALLOWED, self.most_steps)
                }
                ended => failure(place, seed, ended),
            };
            let outcome = run(seed, left).map_err(failed)?;
            left = left.saturating_sub(outcome.steps);
            results.push(outcome);
            self.progress.advance(1);
        }
        Ok(results)
    }
}

/// Steps after which a run with trees of that height hangs.
fn patience(height: u32) -> u64 {
    STEPS_PER_PLACE << (height + 1)
}

fn failure(place: &str, seed: u64, ended: Ended) -> Failure {
    match ended {
        Ended::Halted(_) => Failure::Interrupted,
        failure => Failure::Failed(format!("{place} with seed {seed}: {failure}")),
    }
}
