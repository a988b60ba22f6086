//! The machine of a model: two cores of one node, whatever the model runs on.

use std::ops::Deref;

pub use cantina_machine::topology::{CoreId, InvalidTopology, NodeId};

/// Nodes, their cores, and the distances between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology(cantina_machine::Topology);

impl Topology {
    /// Two cores of one node.
    pub fn detect() -> Self {
        Self::mock(1, 2)
    }

    /// As [`detect`](Self::detect): a model's threads have no cores.
    pub fn of_thread() -> Self {
        Self::detect()
    }

    /// `nodes` nodes of `cores` cores each, numbered node by node, all equally far apart.
    pub fn mock(nodes: usize, cores: usize) -> Self {
        Self(cantina_machine::Topology::mock(nodes, cores))
    }

    /// A topology by hand: the cores of each node, and a row of distances for each.
    ///
    /// # Errors
    /// When the distances are not square, a core is named twice, or a node is nearer to another node than to itself.
    pub fn new(cores: Vec<Vec<CoreId>>, distances: Vec<Vec<u32>>) -> Result<Self, InvalidTopology> {
        cantina_machine::Topology::new(cores, distances).map(Self)
    }
}

impl Deref for Topology {
    type Target = cantina_machine::Topology;
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl Default for Topology {
    fn default() -> Self {
        Self::detect()
    }
}
