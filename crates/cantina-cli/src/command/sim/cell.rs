//! One cell: a pool on a simulated machine in one shape, from several seeds.

use crate::failure::Failure;
use crate::interrupt;
use crate::view::Progress;
use cantina_record::Row;
use cantina_sim::cost::Machine;
use cantina_sim::engine::{Failure as Ended, Simulation};
use cantina_sim::time::Duration;
use lab_on_sim::experiment::{Contestant, Spread, counted, fairness, rooms_stack, scheduling};
use lab_on_sim::workload::{Assignment, Payload, Reading, Shape};

/// Steps after which a run hangs, for each of its tasks.
const STEPS_PER_TASK: u64 = 100_000;
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
}

impl Cell<'_> {
    /// Runs it and gives its row.
    pub(crate) fn run(&self, experiment: &str, progress: &Progress) -> Result<Row, Failure> {
        let (mut got, mut put, mut readings) = (Vec::new(), Vec::new(), Vec::new());
        for seed in 1..=self.seeds {
            if interrupt::requested() {
                return Err(Failure::Interrupted);
            }
            let reading = self.simulate(seed)?;
            let rate = |time: Duration| self.tasks as f64 * 1e3 / (time.as_nanos() as f64).max(1.0);
            got.push(rate(reading.elapsed));
            put.push(rate(reading.put_elapsed));
            readings.push(reading);
            progress.advance(1);
        }
        let spread = |rates: Vec<f64>| Spread::of(rates).expect("there is at least one seed");
        let (got, put) = (spread(got), spread(put));
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
        .with("tasks", self.tasks)
        .with("seeds", self.seeds);
        let row = fairness::ordered(row, readings.iter());
        let row = scheduling::worked(row, readings.iter(), self.tasks);
        let row = rooms_stack::spent(row, readings.iter(), self.tasks);
        let counters = readings.iter().filter_map(|reading| reading.counters);
        let row = self.pool.label(counted(row, counters));
        Ok(if experiment == rooms_stack::NAME { rooms_stack::total_work(row) } else { row })
    }

    fn simulate(&self, seed: u64) -> Result<Reading, Failure> {
        let Self { shape, tasks, pin, memory_limit, .. } = *self;
        let assignment = Assignment { shape, tasks, pin, patience: PATIENCE };
        let outcome = Simulation::new()
            .machine(self.machine.clone())
            .seed(seed)
            .steps(tasks.saturating_mul(STEPS_PER_TASK))
            .memory_limit(memory_limit)
            .run_timed(|| (self.pool.drive)(Payload::Word, &assignment));
        let place = format!("{} at {shape} with seed {seed}", self.pool.name);
        match outcome {
            Ok(outcome) => {
                let busy = Duration::from_nanos(outcome.busy_nanos);
                let reading = outcome.value.map(|mut reading| {
                    if let Some(labour) = &mut reading.labour {
                        labour.busy = Some(busy);
                    }
                    reading
                });
                reading.map_err(|fault| Failure::Failed(format!("{place}: {fault}")))
            }
            Err(Ended::Memory(_)) => Err(Failure::BadInput(format!(
                "{place} needs more memory than {} MB on one of its nodes or in all; allowed: fewer \
                 --tasks, or a larger --memory-limit",
                memory_limit >> 20
            ))),
            Err(failure) => Err(Failure::Failed(format!("{place}: {failure}"))),
        }
    }
}
