//! Topologies of machines that somebody makes.

use crate::topology::{self, CoreId, InvalidTopology};
use std::marker::PhantomData;
use std::ops::Deref;

/// What is found where the machine is one that somebody made.
pub trait Detected {
    /// Its topology.
    fn topology() -> topology::Topology;
}

/// Nodes, their cores, and the distances between them; see [`topology::Topology`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology<D>(topology::Topology, PhantomData<fn() -> D>);

impl<D: Detected> Topology<D> {
    /// The topology of the machine that is modelled.
    pub fn detect() -> Self {
        D::topology().into()
    }

    /// As [`detect`](Self::detect): threads run where the machine has them.
    pub fn of_thread() -> Self {
        Self::detect()
    }

    /// `nodes` nodes of `cores` cores each, numbered node by node, all equally far apart.
    pub fn mock(nodes: usize, cores: usize) -> Self {
        topology::Topology::mock(nodes, cores).into()
    }

    /// A topology by hand: the cores of each node, and a row of distances for each.
    ///
    /// # Errors
    /// When the distances are not square, a core is named twice, or a node is nearer to another node
    /// than to itself.
    pub fn new(cores: Vec<Vec<CoreId>>, distances: Vec<Vec<u32>>) -> Result<Self, InvalidTopology> {
        topology::Topology::new(cores, distances).map(Self::from)
    }
}

impl<D> From<topology::Topology> for Topology<D> {
    fn from(topology: topology::Topology) -> Self {
        Self(topology, PhantomData)
    }
}

impl<D> Deref for Topology<D> {
    type Target = topology::Topology;
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<D: Detected> Default for Topology<D> {
    fn default() -> Self {
        Self::detect()
    }
}

#[cfg(test)]
mod tests {
    use super::{Detected, Topology};
    use crate::topology;

    #[derive(Clone, Debug, PartialEq, Eq)]
    struct TwoNodes;

    impl Detected for TwoNodes {
        fn topology() -> topology::Topology {
            topology::Topology::mock(2, 3)
        }
    }

    #[test]
    fn what_is_detected_is_what_somebody_made() {
        let made = Topology::<TwoNodes>::default();
        assert_eq!((made.nodes().len(), made.core_count()), (2, 6));
        assert_eq!(made, Topology::mock(2, 3));
        assert_eq!(made, Topology::of_thread());
        assert!(Topology::<TwoNodes>::new(vec![vec![]], vec![]).is_err());
    }
}
