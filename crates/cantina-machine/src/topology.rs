//! Which cores there are, on which memory node each sits, and how far the nodes are apart.

use crate::os;
use std::fmt;
use std::sync::OnceLock;

/// A core, by the operating system's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CoreId(pub usize);

/// A memory node: an index into a [`Topology`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub usize);

/// Nodes, their cores, and the distances between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology {
    /// Cores by node, ascending. Every node is as long as it is; some may have memory and no core.
    cores: Vec<Vec<CoreId>>,
    /// The operating system's number of each node, for placing memory.
    os_nodes: Vec<usize>,
    /// Square, one row per node.
    distances: Vec<Vec<u32>>,
}

/// A description that is no topology.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidTopology(&'static str);

/// The distance of a node to itself, as firmware tables have it.
pub(crate) const HERE: u32 = 10;
/// The distance of two nodes of which nothing else is known.
const ELSEWHERE: u32 = 20;

impl Topology {
    /// The topology of this machine, as far as this process may use it: with the cores that it was started with, and those that any
    /// of its threads may run on, whichever asks. One node of as many cores as can run at once where the operating system tells nothing, as on other systems
    /// than Linux. Read once, when first asked for.
    pub fn detect() -> Self {
        static DETECTED: OnceLock<Topology> = OnceLock::new();
        let mock = || Self::mock(1, crate::thread::available_parallelism());
        DETECTED.get_or_init(|| os::topology().unwrap_or_else(mock)).clone()
    }

    /// The topology of this machine, as far as the calling thread may use it at this moment: what somebody who measures has to know,
    /// and may change while a program runs. Elsewhere than on Linux as [`detect`](Self::detect).
    pub fn of_thread() -> Self {
        os::topology_of_thread().unwrap_or_else(Self::detect)
    }

    /// `nodes` nodes of `cores` cores each, numbered node by node, all equally far apart.
    pub fn mock(nodes: usize, cores: usize) -> Self {
        let on_node = |node| (node * cores..(node + 1) * cores).map(CoreId).collect();
        let distance = |a, b| if a == b { HERE } else { ELSEWHERE };
        Self {
            cores: (0..nodes).map(on_node).collect(),
            os_nodes: (0..nodes).collect(),
            distances: (0..nodes).map(|a| (0..nodes).map(|b| distance(a, b)).collect()).collect(),
        }
    }

    /// A topology by hand: the cores of each node, and a row of distances for each.
    ///
    /// # Errors
    /// When the distances are not square, a core is named twice, or a node is nearer to another node
    /// than to itself.
    pub fn new(cores: Vec<Vec<CoreId>>, distances: Vec<Vec<u32>>) -> Result<Self, InvalidTopology> {
        let os_nodes = (0..cores.len()).collect();
        Self::with_os_nodes(cores, os_nodes, distances)
    }

    /// As [`new`](Self::new), where the operating system's node numbers have gaps.
    pub(crate) fn with_os_nodes(
        mut cores: Vec<Vec<CoreId>>,
        os_nodes: Vec<usize>,
        distances: Vec<Vec<u32>>,
    ) -> Result<Self, InvalidTopology> {
        let nodes = cores.len();
        if distances.len() != nodes || distances.iter().any(|row| row.len() != nodes) {
            return Err(InvalidTopology("the distances need one row and one column per node"));
        }
        if (0..nodes).any(|node| distances[node].iter().any(|&d| d < distances[node][node])) {
            return Err(InvalidTopology("a node is nearer to another node than to itself"));
        }
        let mut all: Vec<CoreId> = cores.iter().flatten().copied().collect();
        all.sort_unstable();
        if all.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(InvalidTopology("a core is named twice"));
        }
        cores.iter_mut().for_each(|node| node.sort_unstable());
        Ok(Self { cores, os_nodes, distances })
    }

    /// Its nodes.
    pub fn nodes(&self) -> impl ExactSizeIterator<Item = NodeId> + use<> {
        (0..self.cores.len()).map(NodeId)
    }

    /// All cores, node by node.
    pub fn cores(&self) -> impl Iterator<Item = CoreId> + '_ {
        self.cores.iter().flatten().copied()
    }

    /// How many cores there are.
    pub fn core_count(&self) -> usize {
        self.cores.iter().map(Vec::len).sum()
    }

    /// The cores of `node`, ascending; none for a node that is not here.
    pub fn cores_of(&self, node: NodeId) -> &[CoreId] {
        self.cores.get(node.0).map_or(&[], Vec::as_slice)
    }

    /// The node that `core` sits on.
    pub fn node_of(&self, core: CoreId) -> Option<NodeId> {
        self.nodes().find(|&node| self.cores_of(node).binary_search(&core).is_ok())
    }

    /// How far `to` is from `from`: 10 is here, 20 twice as far. `None` for nodes that are not here.
    pub fn distance(&self, from: NodeId, to: NodeId) -> Option<u32> {
        self.distances.get(from.0)?.get(to.0).copied()
    }

    /// All nodes, nearest to `node` first; equally near ones in turn from `node` upwards, so that
    /// different nodes do not all prefer the same one.
    pub fn nearest(&self, node: NodeId) -> Vec<NodeId> {
        let count = self.cores.len();
        let mut nodes: Vec<NodeId> =
            (0..count).map(|step| NodeId((node.0 + step) % count)).collect();
        nodes.sort_by_key(|&other| self.distance(node, other));
        nodes
    }

    /// The operating system's number of `node`.
    pub(crate) fn os_node(&self, node: NodeId) -> Option<usize> {
        self.os_nodes.get(node.0).copied()
    }
}

impl Default for Topology {
    fn default() -> Self {
        Self::detect()
    }
}

impl fmt::Display for CoreId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "core {}", self.0)
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "node {}", self.0)
    }
}

impl fmt::Display for InvalidTopology {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not a topology: {}", self.0)
    }
}

impl std::error::Error for InvalidTopology {}

#[cfg(test)]
mod tests {
    use super::{CoreId, NodeId, Topology};

    #[test]
    fn the_detected_topology_has_the_cores_this_process_may_use() {
        let topology = Topology::detect();
        assert!(topology.nodes().len() >= 1);
        // There may be a quota, too.
        assert!(topology.core_count() >= crate::thread::available_parallelism());
        for core in topology.cores() {
            assert!(topology.cores_of(topology.node_of(core).unwrap()).contains(&core));
        }
    }

    #[test]
    fn a_thread_that_is_pinned_and_set_free_sees_what_it_may_use_itself() {
        let free = Topology::of_thread();
        let seen = |core| {
            let pinned = crate::thread::pin_to(core).is_ok();
            let seen = Topology::of_thread();
            (!pinned || cfg!(not(target_os = "linux")) || seen.cores().eq([core])).then_some(())
        };
        let seen_by_one = std::thread::spawn({
            let free = free.clone();
            move || free.cores().all(|core| seen(core).is_some())
        });
        assert!(seen_by_one.join().unwrap(), "it changes with the thread, and is read anew");
        assert_eq!(Topology::of_thread(), free);
    }

    #[test]
    fn a_mock_numbers_its_cores_node_by_node() {
        let topology = Topology::mock(3, 2);
        assert_eq!(topology.cores_of(NodeId(1)), [CoreId(2), CoreId(3)]);
        assert_eq!(topology.node_of(CoreId(5)), Some(NodeId(2)));
        assert_eq!(topology.node_of(CoreId(6)), None);
        assert_eq!(topology.distance(NodeId(0), NodeId(3)), None);
        assert_eq!(topology.nearest(NodeId(1)), [NodeId(1), NodeId(2), NodeId(0)]);
        assert_eq!(Topology::mock(0, 4).core_count(), 0);
        assert_eq!(Topology::mock(2, 0).core_count(), 0);
    }

    #[test]
    fn near_nodes_come_first() {
        let cores = (0..3).map(|core| vec![CoreId(core)]).collect();
        let distances = vec![vec![10, 30, 20], vec![30, 10, 20], vec![20, 20, 10]];
        let topology = Topology::new(cores, distances).unwrap();
        assert_eq!(topology.nearest(NodeId(0)), [NodeId(0), NodeId(2), NodeId(1)]);
        assert_eq!(topology.distance(NodeId(0), NodeId(1)), Some(30));
    }

    #[test]
    fn nonsense_is_refused() {
        let one = || vec![vec![CoreId(0)], vec![CoreId(1)]];
        assert!(Topology::new(one(), vec![vec![10, 20]]).is_err());
        assert!(Topology::new(one(), vec![vec![10, 20], vec![20]]).is_err());
        assert!(Topology::new(one(), vec![vec![10, 20], vec![5, 10]]).is_err());
        let twice = vec![vec![CoreId(0)], vec![CoreId(0)]];
        let error = Topology::new(twice, vec![vec![10, 20], vec![20, 10]]).unwrap_err();
        assert_eq!(error.to_string(), "not a topology: a core is named twice");
    }
}
