//! What one process measures, as plain data that another process can be given.

use crate::allocator::Allocator;
use crate::command::allowed::has_workers;
use crate::peer;
use crate::view::STEALS_BATCHES;
use cantina_lab::experiment::{
    Contestant, Guard, Stopped, Watch, capacity, chunk_size, density, fairness, placement, pollers,
    registered, rooms_stack, scheduling, throughput, tree_height,
};
use cantina_lab::workload::{Payload, Shape};
use cantina_record::{Kind, Row};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// What to measure with one allocator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Job {
    /// The name of the experiment.
    pub(super) experiment: String,
    /// The allocator of the process that does it.
    pub(super) allocator: Allocator,
    /// Names of contestants, in the order of their rows.
    pub(super) pools: Vec<String>,
    /// The experiment's own: sizes of chunks, heights of trees, numbers of pollers, amounts of work.
    #[serde(default)]
    pub(super) parameters: Vec<u64>,
    pub(super) columns: Vec<Column>,
    pub(super) repetitions: usize,
    /// How long a run should take.
    pub(super) target_ms: u64,
    /// How many tasks a run has, if not as many as take that long.
    pub(super) tasks: Option<u64>,
    /// Who takes no part though nobody has said so: the reader is told why.
    #[serde(default)]
    pub(super) left_out: Vec<LeftOut>,
}

/// Somebody who takes no part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct LeftOut {
    pub(super) pool: String,
    pub(super) kind: Kind,
    pub(super) reason: String,
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

/// Everybody who could take part in an experiment, with each of its parameters.
pub(super) fn contestants(experiment: &str, parameters: &[u64]) -> Vec<Contestant> {
    match experiment {
        chunk_size::NAME => chunk_size::contestants(parameters),
        tree_height::NAME => tree_height::contestants(parameters),
        capacity::NAME => {
            let mut all = capacity::contestants(parameters);
            all.extend(peer::bounded(parameters));
            all
        }
        fairness::NAME => {
            let mut all = fairness::contestants(parameters);
            all.extend(peer::stamped());
            all
        }
        density::NAME => Vec::new(),
        pollers::NAME => pollers::contestants(parameters),
        name if scheduling::NAMES.contains(&name) => {
            peer::scheduling::contestants(name, parameters)
        }
        rooms_stack::NAME => {
            let mut all = rooms_stack::contestants(parameters);
            all.extend(peer::shared(parameters));
            all
        }
        _ => {
            let mut all = registered();
            all.extend(peer::all().iter().map(peer::Peer::contestant));
            all
        }
    }
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
        match self.experiment.as_str() {
            density::NAME => density::settings(&self.parameters).len(),
            _ => self.plan().steps(&self.choose(&self.contestants())),
        }
    }

    /// Measures in this process, whatever its allocator.
    pub(super) fn measure(&self, watch: Watch<'_>) -> Result<Vec<Row>, Stopped> {
        let all = self.contestants();
        let threads = self.columns.iter().map(|column| column.shape().threads()).max();
        let guard = Guard::spinning(threads.unwrap_or(1));
        let (plan, chosen) = (self.plan(), self.choose(&all));
        let rows = match self.experiment.as_str() {
            density::NAME => {
                let settings = density::settings(&self.parameters);
                density::measure("real", &settings, self.repetitions, watch)?
            }
            name if scheduling::NAMES.contains(&name) => {
                scheduling::measure(&plan, &chosen, Some(guard), watch)?
            }
            placement::NAME => placement::measure(&plan, &chosen, Some(guard), watch)?,
            rooms_stack::NAME => rooms_stack::measure(&plan, &chosen, Some(guard), watch)?,
            _ => throughput::measure(&plan, &chosen, Some(guard), watch)?,
        };
        let rows = rows.into_iter().chain(self.skipped(&chosen));
        let label = |row: Row| {
            let row = row.with("allocator", self.allocator.name());
            match row.kind == Kind::Peer && peer::steals_batches(&row.pool) {
                true => row.with(STEALS_BATCHES, true),
                false => row,
            }
        };
        Ok(rows.map(label).collect())
    }

    /// Rows without values, with the reason: of those who cannot run in a column, and of those who take no part.
    fn skipped(&self, chosen: &[&Contestant]) -> Vec<Row> {
        let row = |pool: &str, kind, column: &Column, reason: &str| {
            let row = Row {
                experiment: self.experiment.clone(),
                machine: "real".to_owned(),
                pool: pool.to_owned(),
                kind,
                producers: column.producers as u64,
                consumers: column.consumers as u64,
                fields: Default::default(),
            };
            let row = row.with("skipped", reason);
            match scheduling::NAMES.contains(&self.experiment.as_str()) {
                true => row,
                false => row.with("payload_bytes", column.payload().bytes()),
            }
        };
        let mut rows = Vec::new();
        for column in &self.columns {
            let strangers = chosen.iter().filter(|each| !each.shapes.admit(column.shape()));
            rows.extend(strangers.map(|each| {
                let reason = match has_workers(&self.experiment) {
                    true => "one worker only",
                    false => each.shapes.reason(),
                };
                each.label(row(&each.name, each.kind, column, reason))
            }));
            let left_out = self.left_out.iter();
            rows.extend(left_out.map(|each| row(&each.pool, each.kind, column, &each.reason)));
        }
        rows
    }

    fn contestants(&self) -> Vec<Contestant> {
        contestants(&self.experiment, &self.parameters)
    }

    fn choose<'a>(&self, all: &'a [Contestant]) -> Vec<&'a Contestant> {
        self.pools.iter().flat_map(|name| all.iter().filter(|each| each.name == *name)).collect()
    }

    fn plan(&self) -> throughput::Plan {
        let columns = self.columns.iter().map(|column| throughput::Column {
            shape: column.shape(),
            payload: column.payload(),
            pin: column.pin,
        });
        throughput::Plan {
            experiment: self.experiment.clone(),
            machine: "real".to_owned(),
            columns: columns.collect(),
            repetitions: self.repetitions,
            target: Duration::from_millis(self.target_ms),
            tasks: self.tasks,
        }
    }
}
