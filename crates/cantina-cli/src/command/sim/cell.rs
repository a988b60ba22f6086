//! One cell: a pool on a simulated machine in one shape, from several seeds.

use crate::failure::Failure;
use crate::interrupt;
use crate::view::Progress;
use cantina_record::Row;
use cantina_sim::cost::Machine;
use cantina_sim::engine::{Failure as Ended, Simulation};
use cantina_sim::time::Duration;
use lab_on_sim::experiment::{Contestant, Spread, counted, fairness, rooms_stack, scheduling};
use lab_on_sim::workload::{Assignment, Fault, Payload, Reading, Shape, Window};

/// Steps after which a run hangs, for each of its tasks.
const STEPS_PER_TASK: u64 = 100_000;
/// From so many tasks times threads on it is tried how many steps a cell will take, with one task in so many.
const LARGE: u64 = 1_000_000;
const PILOT: u64 = 200;
/// Virtual time in which nothing comes before tasks are called lost.
const PATIENCE: Duration = Duration::from_secs(10);

/// What is run in a cell.
#[derive(Debug)]
pub(crate) struct Cell<'a> {
    pub(crate) machine: &'a Machine,
    pub(crate) pool: &'a Contestant,
    pub(crate) shape: Shape,
    /// Tasks of all producers together.
    pub(crate) tasks: u64,
    /// How often, each time from another seed.
    pub(crate) seeds: u64,
    /// Whether threads are bound to cores.
    pub(crate) pin: bool,
    /// Bytes that the program may use.
    pub(crate) memory_limit: usize,
    /// Steps that it may take, from all seeds together.
    pub(crate) most_steps: u64,
    /// How it is known whether there were enough tasks.
    pub(crate) length: Length,
}

/// How it is known whether a cell has enough tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Length {
    /// All of a run counts, whatever it is.
    Whole,
    /// What counts is the window in which everybody is at work. Where its halves are not alike there are twice as many tasks, so
    /// often at most; if that does not do, the row says so.
    Window {
        /// How often.
        doublings: u32,
    },
    /// All of a run counts, and beginning and end are a part of it that shrinks: it is run with half as many tasks, too. Where those
    /// are not as fast there are twice as many, as above.
    Doubled {
        /// How often.
        doublings: u32,
    },
}

/// What came of so many tasks.
struct Run {
    /// From each seed.
    readings: Vec<Reading>,
    tasks: u64,
    /// Steps of all.
    steps: u64,
}

impl Run {
    /// Million tasks per second, if all took so long.
    fn over(&self, time: Duration) -> f64 {
        self.tasks as f64 * 1e3 / (time.as_nanos() as f64).max(1.0)
    }

    /// Million tasks per second that were got.
    fn got(&self) -> Spread {
        self.spread(|reading| match reading.window {
            Some(window) => window.rate() * 1e3,
            None => self.over(reading.elapsed),
        })
    }

    fn spread(&self, value: impl Fn(&Reading) -> f64) -> Spread {
        Spread::of(self.readings.iter().map(value)).expect("there is at least one seed")
    }
}

impl Cell<'_> {
    /// Refuses a cell that would take too long, before anything is run: as far as a small part of it tells.
    pub(crate) fn check_size(&self) -> Result<(), Failure> {
        let threads = self.shape.threads() as u64;
        if self.tasks.saturating_mul(threads) < LARGE {
            return Ok(());
        }
        let tasks = (self.tasks / PILOT).max(threads).min(self.tasks);
        let whole = self.tasks as f64 / tasks as f64 * self.seeds as f64;
        // As many steps as the pilot of the largest allowed cell has.
        let most = (self.most_steps as f64 / whole).ceil() as u64;
        let refuse = |steps: u64, about: &str| {
            Err(Failure::BadInput(format!(
                "{} at {} would take {about} {:.1e} steps; allowed: fewer --tasks or --seeds, or a \
                 larger --most-steps than {}",
                self.pool.name,
                self.shape,
                steps as f64 * whole,
                self.most_steps
            )))
        };
        match self.simulate(1, tasks, most) {
            Ok((_, steps)) if steps as f64 * whole > self.most_steps as f64 => {
                refuse(steps, "about")
            }
            Ok(_) => Ok(()),
            Err(Ended::Budget(_)) => refuse(most, "more than"),
            Err(ended) => Err(self.failure(1, ended)),
        }
    }

    /// Runs it and gives its row.
    pub(crate) fn run(&self, experiment: &str, progress: &Progress) -> Result<Row, Failure> {
        let mut run = self.read(self.tasks, progress)?;
        progress.advance(self.seeds);
        let mut before = match self.length {
            Length::Doubled { .. } if self.tasks > 1 => {
                Some(self.read(self.tasks / 2, progress)?.got().median)
            }
            _ => None,
        };
        if let Length::Window { doublings } | Length::Doubled { doublings } = self.length {
            for _ in 0..doublings {
                let is_enough = self.likeness(&run, before).is_some_and(Window::are_alike);
                if is_enough || run.steps.saturating_mul(2) > self.most_steps {
                    break;
                }
                let longer = match self.read(2 * run.tasks, progress) {
                    // There is no room for more, and that is what can be said.
                    Err(Failure::BadInput(_)) => break,
                    longer => longer?,
                };
                before = before.map(|_| run.got().median);
                run = longer;
            }
        }
        let likeness = self.likeness(&run, before);
        let (got, put) = (run.got(), run.spread(|reading| run.over(reading.put_elapsed)));
        let Run { readings, tasks, .. } = run;
        let row = Row {
            experiment: experiment.to_owned(),
            machine: format!("sim:{}", self.machine.name()),
            pool: self.pool.name.clone(),
            kind: self.pool.kind,
            producers: self.shape.producers as u64,
            consumers: self.shape.consumers as u64,
            fields: Default::default(),
        }
        .with("mops_median", got.median)
        .with("mops_min", got.min)
        .with("mops_max", got.max)
        .with("put_mops_median", put.median)
        .with("payload_bytes", Payload::Word.bytes())
        .with("tasks", tasks)
        .with("seeds", self.seeds);
        let ratio = match self.length {
            Length::Whole => None,
            Length::Window { .. } => Some("second_half_to_first"),
            Length::Doubled { .. } => Some("to_half_as_many"),
        };
        let row = ratio.into_iter().fold(row, |row, ratio| {
            let row = row.with("converged", likeness.is_some_and(Window::are_alike));
            likeness.into_iter().fold(row, |row, likeness| row.with(ratio, likeness))
        });
        let row = fairness::ordered(row, readings.iter());
        let row = scheduling::worked(row, readings.iter(), tasks);
        let row = rooms_stack::spent(row, readings.iter(), tasks);
        let counters = readings.iter().filter_map(|reading| reading.counters);
        let row = self.pool.label(counted(row, counters));
        Ok(if experiment == rooms_stack::NAME { rooms_stack::total_work(row) } else { row })
    }

    /// How alike the halves of its windows are, or it and what half as many tasks came to `before`. None where that is not known.
    fn likeness(&self, run: &Run, before: Option<f64>) -> Option<f64> {
        match self.length {
            Length::Whole => None,
            Length::Window { .. } => {
                Window::least_alike(run.readings.iter().map(|reading| reading.window))
            }
            Length::Doubled { .. } => before.map(|before| run.got().median / before),
        }
    }

    /// Runs so many tasks from each seed.
    fn read(&self, tasks: u64, progress: &Progress) -> Result<Run, Failure> {
        let (mut readings, mut steps) = (Vec::new(), 0);
        for seed in 1..=self.seeds {
            if interrupt::requested() {
                return Err(Failure::Interrupted);
            }
            if tasks != self.tasks {
                progress.doing(&format!("{} {} with {tasks} tasks", self.shape, self.pool.name));
            }
            let budget = tasks.saturating_mul(STEPS_PER_TASK);
            let (reading, taken) =
                self.simulate(seed, tasks, budget).map_err(|ended| self.failure(seed, ended))?;
            readings.push(reading.map_err(|fault| self.fault(seed, &fault))?);
            steps += taken;
        }
        Ok(Run { readings, tasks, steps })
    }

    /// A run, and how many steps it took.
    fn simulate(
        &self,
        seed: u64,
        tasks: u64,
        budget: u64,
    ) -> Result<(Result<Reading, Fault>, u64), Ended> {
        let Self { shape, pin, memory_limit, .. } = *self;
        let watched = matches!(self.length, Length::Window { .. });
        let assignment = Assignment { shape, tasks, pin, patience: PATIENCE, watched };
        let outcome = Simulation::new()
            .machine(self.machine.clone())
            .seed(seed)
            .steps(budget)
            .memory_limit(memory_limit)
            .halt_when(interrupt::requested)
            .run_timed(|| (self.pool.drive)(Payload::Word, &assignment))?;
        let busy = Duration::from_nanos(outcome.busy_nanos);
        let reading = outcome.value.map(|mut reading| {
            if let Some(labour) = &mut reading.labour {
                labour.busy = Some(busy);
            }
            reading
        });
        Ok((reading, outcome.steps))
    }

    fn place(&self, seed: u64) -> String {
        format!("{} at {} with seed {seed}", self.pool.name, self.shape)
    }

    fn fault(&self, seed: u64, fault: &Fault) -> Failure {
        Failure::Failed(format!("{}: {fault}", self.place(seed)))
    }

    fn failure(&self, seed: u64, ended: Ended) -> Failure {
        let place = self.place(seed);
        match ended {
            Ended::Halted(_) => Failure::Interrupted,
            Ended::Memory(_) => Failure::BadInput(format!(
                "{place} needs more memory than {} MB on one of its nodes or in all; allowed: fewer \
                 --tasks, or a larger --memory-limit",
                self.memory_limit >> 20
            )),
            failure => Failure::Failed(format!("{place}: {failure}")),
        }
    }
}
