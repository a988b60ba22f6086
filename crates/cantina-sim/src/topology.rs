//! The nodes, cores and distances of the simulated machine.

use crate::engine::current;
use cantina_machine::modelled;

pub use cantina_machine::topology::{CoreId, InvalidTopology, NodeId};

/// The machine that the run simulates; outside a run, the default one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Simulated;

/// Nodes, their cores, and the distances between them.
pub type Topology = modelled::Topology<Simulated>;

impl modelled::Detected for Simulated {
    fn topology() -> cantina_machine::Topology {
        (*current::machine().topology()).clone()
    }
}
