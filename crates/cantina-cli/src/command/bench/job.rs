//! What one process measures, as plain data that another process can be given.

use crate::allocator::Allocator;
use crate::peer;
use cantina_lab::experiment::{Contestant, Guard, Stopped, Watch, registered, throughput};
use cantina_lab::workload::{Payload, Shape};
use cantina_machine::thread::available_parallelism;
use cantina_record::Row;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// What to measure with one allocator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Job {
    /// The allocator of the process that does it.
    pub(super) allocator: Allocator,
    /// Names of contestants, in the order of their rows.
    pub(super) pools: Vec<String>,
    pub(super) columns: Vec<Column>,
    pub(super) repetitions: usize,
    /// How long a run should take.
    pub(super) target_ms: u64,
    /// How many tasks a run has, if not as many as take that long.
    pub(super) tasks: Option<u64>,
}

/// A shape and a size of task.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Column {
    pub(super) producers: usize,
    pub(super) consumers: usize,
    /// Whether tasks are as long as a cache line, and not a `u64`.
    pub(super) long_tasks: bool,
    pub(super) pin: bool,
}

/// Everybody who could take part.
pub(super) fn contestants() -> Vec<Contestant> {
    let mut all = registered();
    all.extend(peer::all().iter().map(peer::Peer::contestant));
    all
}

impl Column {
    pub(super) fn shape(self) -> Shape {
        Shape::new(self.producers, self.consumers)
    }

    pub(super) fn payload(self) -> Payload {
        if self.long_tasks { Payload::Line } else { Payload::Word }
    }
}

impl Job {
    /// How many steps [`measure`](Self::measure) tells of.
    pub(super) fn steps(&self) -> usize {
        self.plan().steps(&self.choose(&contestants()))
    }

    /// Measures in this process, whatever its allocator.
    pub(super) fn measure(&self, watch: Watch<'_>) -> Result<Vec<Row>, Stopped> {
        let all = contestants();
        let threads = self.columns.iter().map(|column| column.shape().threads()).max();
        let guard = Guard::spinning(available_parallelism().min(threads.unwrap_or(1)));
        let rows = throughput::measure(&self.plan(), &self.choose(&all), Some(guard), watch)?;
        Ok(rows.into_iter().map(|row| row.with("allocator", self.allocator.name())).collect())
    }

    fn choose<'a>(&self, all: &'a [Contestant]) -> Vec<&'a Contestant> {
        self.pools.iter().filter_map(|name| all.iter().find(|each| each.name == *name)).collect()
    }

    fn plan(&self) -> throughput::Plan {
        let columns = self.columns.iter().map(|column| throughput::Column {
            shape: column.shape(),
            payload: column.payload(),
            pin: column.pin,
        });
        throughput::Plan {
            machine: "real".to_owned(),
            columns: columns.collect(),
            repetitions: self.repetitions,
            target: Duration::from_millis(self.target_ms),
            tasks: self.tasks,
        }
    }
}
