//! The machine of a model: two cores of one node, whatever the model runs on.

use cantina_machine::modelled;

pub use cantina_machine::topology::{CoreId, InvalidTopology, NodeId};

/// Two cores of one node, which no thread of a model is bound to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OfModels;

/// Nodes, their cores, and the distances between them.
pub type Topology = modelled::Topology<OfModels>;

impl modelled::Detected for OfModels {
    fn topology() -> cantina_machine::Topology {
        cantina_machine::Topology::mock(1, 2)
    }
}
