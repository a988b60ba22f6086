//! What papers say of steps and of places, looked at on a simulated machine.

use crate::args::SimArgs;
use crate::command::allowed::{check_pools, refuse_threads};
use crate::failure::Failure;
use crate::interrupt;
use crate::view::Progress;
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
/// Steps of a turn, where all have theirs.
const QUANTUM: u64 = 1;

/// An experiment, and what it looks at.
#[derive(Debug)]
pub(super) enum Lemma {
    Density(Vec<density::Setting>),
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
                Self::Density(settings.filter(|setting| setting.producers <= cores).collect())
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
            Self::Density(settings) => settings.len(),
            Self::Steps(puts, walks) => puts.len() + walks.len(),
            Self::WriteAll(settings) => settings.len(),
        }
    }

    /// Runs every cell from so many seeds, and gives their rows.
    pub(super) fn run(
        &self,
        machine: &Machine,
        seeds: u64,
        memory_limit: usize,
        progress: &Progress,
    ) -> Result<Vec<Row>, Failure> {
        let name = format!("sim:{}", machine.name());
        let runs = Runs { machine, seeds, memory_limit, progress };
        let mut rows = Vec::new();
        match self {
            Self::Density(settings) => {
                for &setting in settings {
                    let height = setting.height;
                    let tasks = runs.timed(density::NAME, height, || density::fill(setting))?;
                    rows.extend(density::row(&name, setting, &tasks));
                }
            }
            Self::Steps(puts, walks) => {
                for &setting in puts {
                    let count = || steps::count(setting, progress::steps);
                    let taken = runs.timed(steps::NAME, setting.height, count)?;
                    rows.extend(steps::row(&name, setting, &taken));
                }
                for &setting in walks {
                    rows.extend(walks::row(&name, setting, &runs.walks(setting)?));
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

/// How a cell is run.
struct Runs<'a> {
    machine: &'a Machine,
    seeds: u64,
    memory_limit: usize,
    progress: &'a Progress,
}

impl Runs<'_> {
    /// What comes out of `program` with a tree of that height, from each seed.
    fn timed<R>(
        &self,
        what: &str,
        height: u32,
        program: impl Fn() -> R,
    ) -> Result<Vec<R>, Failure> {
        let place = format!("{what}, height {height}");
        let results = self.each(&place, |seed| {
            let simulation = self.simulation(seed).steps(STEPS_PER_PLACE << (height + 1));
            simulation.run_timed(&program)
        })?;
        Ok(results.into_iter().map(|outcome| outcome.value).collect())
    }

    /// The same of walks in to-do trees, whose tasks are put before the run.
    fn walks(&self, setting: walks::Setting) -> Result<Vec<walks::Walked>, Failure> {
        let walks::Setting { load, order, height, workers, .. } = setting;
        let place = format!("{}, {}, {}, height {height}", steps::NAME, load.name(), order.name());
        let schedule = match order {
            walks::Order::Random => Schedule::Random,
            walks::Order::RoundRobin => Schedule::RoundRobin { quantum: QUANTUM },
            walks::Order::Delay => delay_rmw(),
            walks::Order::Crowd => crowd((workers / 2).max(2)),
        };
        let results = self.each(&place, |seed| {
            let tree = walks::tree(setting, seed);
            let simulation = self.simulation(seed).schedule(schedule.clone());
            let simulation = simulation.steps(STEPS_PER_PLACE << (height + 1));
            simulation.run(move || walks::count(setting, tree, progress::steps))
        })?;
        Ok(results.into_iter().map(|outcome| outcome.value).collect())
    }

    /// The same of tasks all of which are to be done, and how many workers have died in all runs.
    fn write_all(
        &self,
        setting: write_all::Setting,
    ) -> Result<(u64, Vec<write_all::Written>), Failure> {
        let write_all::Setting { system, tasks, workers, dying } = setting;
        let place = format!("{}, {} of {workers} die", write_all::NAME, dying);
        // Each dies within what it would do if all did the same.
        let share = (STEPS_PER_TASK * tasks / workers).max(1);
        let results = self.each(&place, |seed| {
            let mut random = Random::seeded(seed);
            let mut simulation = self.simulation(seed).steps(STEPS_PER_PLACE * tasks as u64);
            for thread in 1..=dying {
                simulation = simulation.crash(ThreadId(thread as u32), random.below(share) as u64);
            }
            simulation.run(|| write_all::count(setting, progress::steps))
        })?;
        let dead = results.iter().map(|outcome| outcome.crashed.len() as u64).sum();
        let written = results.iter().map(|outcome| write_all::Written {
            work: outcome.steps - outcome.value.attempts,
            ..outcome.value
        });
        let written: Vec<_> = written.collect();
        match written.iter().find(|written| written.undone > 0) {
            Some(written) => {
                let undone = written.undone;
                Err(Failure::Failed(format!("{place}, {}: {undone} are not done", system.name())))
            }
            None => Ok((dead, written)),
        }
    }

    fn simulation(&self, seed: u64) -> Simulation {
        let simulation = Simulation::new().machine(self.machine.clone()).seed(seed);
        simulation.memory_limit(self.memory_limit).halt_when(interrupt::requested)
    }

    /// What comes out of `run` with each seed.
    fn each<R>(
        &self,
        place: &str,
        run: impl Fn(u64) -> Result<Outcome<R>, Ended>,
    ) -> Result<Vec<Outcome<R>>, Failure> {
        self.progress.doing(place);
        let mut results = Vec::new();
        for seed in 1..=self.seeds {
            if interrupt::requested() {
                return Err(Failure::Interrupted);
            }
            let failed = |failure| match failure {
                Ended::Halted(_) => Failure::Interrupted,
                failure => Failure::Failed(format!("{place} with seed {seed}: {failure}")),
            };
            results.push(run(seed).map_err(failed)?);
            self.progress.advance(1);
        }
        Ok(results)
    }
}
