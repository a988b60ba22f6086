//! One cell: a pool on a simulated machine in one shape, from several seeds.

use super::size::{self, Pilot, Size};
use crate::failure::Failure;
use crate::interrupt;
use crate::view::{Progress, short};
use cantina_record::Row;
use cantina_sim::cost::Machine;
use cantina_sim::engine::{Failure as Ended, Simulation};
use cantina_sim::time::Duration;
use lab_on_sim::experiment::{
    Contestant, Spread, counted, fairness, per_thousand, rooms_stack, scheduling,
};
use lab_on_sim::workload::{Assignment, Fault, Overtaking, Payload, Reading, Shape, Window};

/// Steps after which a run hangs, for each of its tasks.
const STEPS_PER_TASK: u64 = 100_000;
/// How many steps a large cell will take is tried with one task in so many.
const PILOT: u64 = 200;
/// What makes a cell shorter.
const ALLOWED: &str = "fewer --tasks or --seeds";
/// The field that says how the rank error stands to that of half as many tasks.
const RANKS_TO_HALF: &str = "rank_error_to_half_as_many";
/// Virtual time in which nothing comes before tasks are called lost.
const PATIENCE: Duration = Duration::from_secs(10);

/// What is run in a cell.
#[derive(Debug)]
pub(crate) struct Cell<'a> {
    /// What it is a cell of.
    pub(crate) experiment: &'static str,
    /// What sets it apart from others of its pool and shape, beside the pool's parameter.
    pub(crate) variant: Option<&'a str>,
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

impl Length {
    /// The field that says how alike two parts are.
    fn field(self) -> Option<&'static str> {
        match self {
            Self::Whole => None,
            Self::Window { .. } => Some("second_half_to_first"),
            Self::Doubled { .. } => Some("to_half_as_many"),
        }
    }
}

impl Run {
    /// How many others a task overtook on average, if that was looked at.
    fn rank_error(&self) -> Option<f64> {
        let orders = self.readings.iter().map(|reading| reading.order);
        let orders: Vec<Overtaking> = orders.collect::<Option<_>>()?;
        let tasks: u64 = orders.iter().map(|order| order.tasks).sum();
        let all: u64 = orders.iter().map(|order| order.all).sum();
        Some(all as f64 / tasks.max(1) as f64)
    }

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
    /// What it is, in one line: each cell of a run has another one.
    pub(crate) fn name(&self) -> String {
        let Self { experiment, shape, pool, .. } = self;
        let parameter =
            pool.parameter.map(|(name, value)| format!("{} {value}", name.replace('_', " ")));
        let more = parameter.into_iter().chain(self.variant.map(str::to_owned));
        more.fold(format!("{experiment} {shape} {}", pool.name), |name, part| name + ", " + &part)
    }

    /// Refuses a cell that would take too long, before anything is run: as far as a small part of it tells.
    pub(super) fn check_size(&self, size: &mut Size) -> Result<(), Failure> {
        let threads = self.shape.threads() as u64;
        if !size::is_large(self.tasks, threads, self.seeds) {
            return Ok(());
        }
        let tasks = (self.tasks / PILOT).max(threads).min(self.tasks);
        let tasks = match self.experiment {
            // Trees are not cut, but there are lower ones.
            rooms_stack::NAME => rooms_stack::nodes(tasks).min(self.tasks),
            _ => tasks,
        };
        let name = self.name();
        let pilot = Pilot {
            place: &name,
            times: self.tasks as f64 / tasks as f64 * self.seeds as f64,
            most_steps: self.most_steps,
            allowed: ALLOWED,
        };
        let run = |most| self.simulate(1, tasks, most).map(|(_, steps)| steps);
        match size.try_out(&pilot, run)? {
            None => Ok(()),
            Some(ended) => Err(self.failure(1, ended)),
        }
    }

    /// Runs it and gives its row.
    pub(crate) fn run(&self, progress: &Progress) -> Result<Row, Failure> {
        progress.doing(&self.name());
        let mut run = self.read(self.tasks, progress)?;
        progress.advance(self.seeds);
        let mut before = match self.length {
            Length::Doubled { .. } if self.tasks > 1 => Some(self.read(self.tasks / 2, progress)?),
            _ => None,
        };
        if let Length::Window { doublings } | Length::Doubled { doublings } = self.length {
            for _ in 0..doublings {
                let is_enough = self.has_converged(&run, before.as_ref());
                if is_enough || run.steps.saturating_mul(2) > self.most_steps {
                    break;
                }
                let longer = match self.read(2 * run.tasks, progress) {
                    // There is no room for more, and that is what can be said.
                    Err(Failure::BadInput(_)) => break,
                    longer => longer?,
                };
                let shorter = std::mem::replace(&mut run, longer);
                before = before.map(|_| shorter);
            }
        }
        let before = before.as_ref();
        let converged = self.has_converged(&run, before);
        let likenesses = [
            (self.length.field(), self.likeness(&run, before)),
            (Some(RANKS_TO_HALF), Self::ranks_to_half(&run, before)),
        ];
        let (got, put) = (run.got(), run.spread(|reading| run.over(reading.put_elapsed)));
        let Run { readings, tasks, .. } = run;
        let row = Row {
            experiment: self.experiment.to_owned(),
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
        let row = match self.length {
            Length::Whole => row,
            Length::Window { .. } | Length::Doubled { .. } => row.with("converged", converged),
        };
        let row = likenesses.into_iter().fold(row, |row, likeness| match likeness {
            (Some(field), Some(ratio)) => row.with(field, ratio),
            _ => row,
        });
        let row = fairness::ordered(row, readings.iter());
        let row = scheduling::worked(row, readings.iter(), tasks);
        let row = rooms_stack::spent(row, readings.iter(), tasks);
        let counters = readings.iter().filter_map(|reading| reading.counters);
        let row = per_thousand(self.pool.label(counted(row, counters)));
        Ok(if self.experiment == rooms_stack::NAME { rooms_stack::total_work(row) } else { row })
    }

    /// How alike the halves of its windows are, or it and what half as many tasks came to `before`. None where that is not known.
    fn likeness(&self, run: &Run, before: Option<&Run>) -> Option<f64> {
        match self.length {
            Length::Whole => None,
            Length::Window { .. } => {
                Window::least_alike(run.readings.iter().map(|reading| reading.window))
            }
            Length::Doubled { .. } => before.map(|before| run.got().median / before.got().median),
        }
    }

    /// How many times the rank error of half as many tasks it has, where it was looked who overtakes whom. Each has one
    /// more: of an error that is nothing beside a task nobody asks how large it is.
    fn ranks_to_half(run: &Run, before: Option<&Run>) -> Option<f64> {
        Some((run.rank_error()? + 1.0) / (before?.rank_error()? + 1.0))
    }

    /// Whether there were enough tasks, as far as that is known: for what it says of speed, and of order.
    fn has_converged(&self, run: &Run, before: Option<&Run>) -> bool {
        let is_alike = self.likeness(run, before).is_some_and(Window::are_alike);
        is_alike && Self::ranks_to_half(run, before).is_none_or(Window::are_alike)
    }

    /// Runs so many tasks from each seed.
    fn read(&self, tasks: u64, progress: &Progress) -> Result<Run, Failure> {
        let (mut readings, mut steps) = (Vec::new(), 0);
        for seed in 1..=self.seeds {
            if interrupt::requested() {
                return Err(Failure::Interrupted);
            }
            if tasks != self.tasks {
                progress.doing(&format!("{} with {tasks} tasks", self.name()));
            }
            let (hangs, left) = (tasks.saturating_mul(STEPS_PER_TASK), self.most_steps - steps);
            let ended = |ended| match ended {
                Ended::Budget(_) if left <= hangs => {
                    let steps = format!("takes more than {}", short(self.most_steps as f64));
                    size::refuse(&self.name(), &steps, ALLOWED, self.most_steps)
                }
                ended => self.failure(seed, ended),
            };
            let (reading, taken) = self.simulate(seed, tasks, hangs.min(left)).map_err(ended)?;
            readings.push(reading.map_err(|fault| self.fault(seed, &fault))?);
            steps = self.most_steps.min(steps + taken);
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
