//! Settings for a [`Salsa`].

use super::mode::Mode;
use super::policy::{NearestFirst, Policy};
use super::scpool::{Fencing, MAX_CONSUMERS, MAX_SLOTS, Plan, Pools, Settings, default_slots};
use super::{Salsa, Shared};
use crate::pool::BuildError;
use machine::Arc;
use machine::Topology;
use machine::atomic::AtomicUsize;
use std::fmt;
use std::marker::PhantomData;

/// Consumers at a time, unless told otherwise.
const CONSUMERS: usize = 256;
/// Spare chunks of a consumer.
const SPARES: usize = 16;
/// Turns of waiting: some fifty microseconds on a machine with nothing else to do.
const PATIENCE: u32 = 60;
/// The most tasks that are announced at once, in chunks of the default size and more.
const BATCH: usize = 64;
/// In smaller chunks a batch is this part of one, rounded up.
const BATCHES: usize = 16;

/// Settings for a [`Salsa`]. All have a default that is meant to be kept.
#[must_use = "a builder does nothing until it builds"]
pub struct Builder<T> {
    chunk_size: usize,
    max_consumers: usize,
    balancing: bool,
    topology: Option<Topology>,
    policy: Box<dyn Policy>,
    mode: Option<Mode>,
    patience: u32,
    spares: usize,
    table_width: usize,
    task: PhantomData<fn() -> T>,
}

impl<T> Builder<T> {
    pub(super) fn new() -> Self {
        Self {
            chunk_size: default_slots::<T>(),
            max_consumers: CONSUMERS,
            balancing: true,
            topology: None,
            policy: Box::new(NearestFirst),
            mode: None,
            patience: PATIENCE,
            spares: SPARES,
            table_width: u64::BITS as usize,
            task: PhantomData,
        }
    }

    /// Tasks of a chunk: what is stolen at once, and the unit of memory. 1 to 65535; about a thousand
    /// unless told otherwise, and fewer of large tasks.
    pub fn chunk_size(mut self, tasks: usize) -> Self {
        self.chunk_size = tasks;
        self
    }

    /// Consumers at a time: 1 to 4094, 256 unless told otherwise. Each costs every chunk four bytes.
    pub fn max_consumers(mut self, consumers: usize) -> Self {
        self.max_consumers = consumers;
        self
    }

    /// Whether producers leave consumers alone that have no spare chunks, because they are behind with
    /// their work. They do unless told otherwise.
    pub fn balancing(mut self, balancing: bool) -> Self {
        self.balancing = balancing;
        self
    }

    /// The nodes and cores that ends and memory are placed by. This machine's, unless told otherwise.
    pub fn topology(mut self, topology: Topology) -> Self {
        self.topology = Some(topology);
        self
    }

    /// In which order ends try the consumers' homes: [`NearestFirst`] unless told otherwise.
    pub fn policy(mut self, policy: impl Policy + 'static) -> Self {
        self.policy = Box::new(policy);
        self
    }

    /// How consumers and thieves see each other: the fastest way that the machine has, unless told
    /// otherwise.
    pub fn mode(mut self, mode: Mode) -> Self {
        self.mode = Some(mode);
        self
    }

    /// How many turns a consumer waits for a thief that is about to own a chunk, and before it steals
    /// a chunk from a busy consumer for a few tasks. 60 unless told otherwise; 0 suits tests.
    pub fn patience(mut self, turns: u32) -> Self {
        self.patience = turns;
        self
    }

    /// Spare chunks that a consumer keeps, 1 to 1024: 16 unless told otherwise.
    pub fn spares(mut self, chunks: usize) -> Self {
        self.spares = chunks;
        self
    }

    /// Places of a table's segment, 1 to 64: so that a model is small.
    #[doc(hidden)]
    pub fn table_width(mut self, places: usize) -> Self {
        self.table_width = places;
        self
    }

    /// Builds the pool.
    ///
    /// # Errors
    /// [`BuildError`] names the setting that was given something it does not take, and what it takes.
    pub fn build(self) -> Result<Salsa<T>, BuildError> {
        within("chunk_size", self.chunk_size, 1, MAX_SLOTS)?;
        within("max_consumers", self.max_consumers, 1, MAX_CONSUMERS)?;
        within("spares", self.spares, 1, 1024)?;
        within("table_width", self.table_width, 1, 64)?;
        let plan = Plan::new::<T>(self.chunk_size as u32, self.max_consumers as u32);
        let plan = plan.ok_or_else(|| {
            let allowed = "as many tasks as fit into an address space";
            BuildError::new("chunk_size", self.chunk_size, allowed)
        })?;
        let fencing = match self.mode {
            None => Fencing::best(),
            Some(mode) => Fencing::of(mode).ok_or_else(|| {
                let allowed = "Claim or Fence: the operating system offers no process-wide fence";
                BuildError::new("mode", format_args!("{mode:?}"), allowed)
            })?,
        };
        let topology = self.topology.unwrap_or_else(Topology::detect);
        if topology.core_count() == 0 {
            let allowed = "at least one node with at least one core";
            return Err(BuildError::new("topology", "one without cores", allowed));
        }
        let places = topology.nodes().len() + 1;
        let settings = Settings {
            plan,
            fencing,
            batch: self.chunk_size.div_ceil(BATCHES).min(BATCH) as u32,
            patience: self.patience,
            spares: self.spares,
            table_width: self.table_width,
            topology,
        };
        let pools = Arc::new(Pools::new(settings));
        pools.describe();
        Ok(Salsa {
            shared: Arc::new(Shared {
                pools,
                policy: self.policy,
                balancing: self.balancing,
                producers: (0..places).map(|_| AtomicUsize::new(0)).collect(),
            }),
        })
    }
}

fn within(
    setting: &'static str,
    given: usize,
    least: usize,
    most: usize,
) -> Result<(), BuildError> {
    if (least..=most).contains(&given) {
        return Ok(());
    }
    Err(BuildError::new(setting, given, format_args!("{least} to {most}")))
}

impl<T> fmt::Debug for Builder<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("chunk_size", &self.chunk_size)
            .field("max_consumers", &self.max_consumers)
            .field("balancing", &self.balancing)
            .field("policy", &self.policy)
            .field("mode", &self.mode)
            .finish_non_exhaustive()
    }
}
