//! Machines to simulate, as values.

use crate::cost::Costs;
use crate::topology::{CoreId, Topology};
use std::fmt;
use std::str::FromStr;

/// Cores that a simulated machine has at most.
const MAX_CORES: usize = 256;
/// Nodes that it has at most.
const MAX_NODES: usize = 64;

/// A machine: nodes, their distances, what things cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    name: String,
    /// Cores of each node.
    cores: usize,
    /// Hops between nodes: square, one row per node.
    hops: Vec<Vec<u8>>,
    /// Cycles in a microsecond.
    megahertz: u64,
    costs: Costs,
}

/// A name that is no machine's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidMachine(String);

impl Machine {
    /// The names of the machines that are known by name.
    pub const NAMES: [&str; 3] = ["opteron-8x4", "epyc-2x48", "xeon-2x32"];

    /// Eight quad-core AMD Opterons with 2.3 GHz, as in the papers. The sockets form a ladder with a
    /// twist: three hops at most.
    pub fn opteron_8x4() -> Self {
        let links =
            [(0, 1), (0, 2), (1, 3), (2, 4), (2, 5), (3, 4), (3, 5), (4, 6), (5, 7), (6, 7)];
        Self {
            name: "opteron-8x4".to_owned(),
            cores: 4,
            hops: distances(8, &links),
            megahertz: 2_300,
            costs: Costs::opteron(),
        }
    }

    /// Two AMD EPYC 7R13 of 48 cores: six core complexes of eight cores each, which are the nodes.
    pub fn epyc_2x48() -> Self {
        let hop = |a: usize, b: usize| if a == b { 0 } else { 1 + u8::from(a / 6 != b / 6) };
        Self {
            name: "epyc-2x48".to_owned(),
            cores: 8,
            hops: (0..12).map(|a| (0..12).map(|b| hop(a, b)).collect()).collect(),
            megahertz: 3_500,
            costs: Costs::epyc(),
        }
    }

    /// Two Intel Xeon Platinum 8375C of 32 cores.
    pub fn xeon_2x32() -> Self {
        Self {
            name: "xeon-2x32".to_owned(),
            cores: 32,
            hops: distances(2, &[(0, 1)]),
            megahertz: 3_500,
            costs: Costs::xeon(),
        }
    }

    /// `nodes` nodes of `cores` cores each, one hop apart, with the costs of the Opteron.
    ///
    /// # Errors
    /// When there would be no core, or more than 256 cores or 64 nodes.
    pub fn uniform(nodes: usize, cores: usize) -> Result<Self, InvalidMachine> {
        let name = format!("{nodes}x{cores}");
        if nodes == 0 || cores == 0 {
            return Err(InvalidMachine(format!("the machine {name} has no core")));
        }
        if nodes > MAX_NODES || nodes.saturating_mul(cores) > MAX_CORES {
            return Err(InvalidMachine(format!(
                "the machine {name} is too large: at most {MAX_NODES} nodes and {MAX_CORES} cores"
            )));
        }
        let links: Vec<_> = (0..nodes).flat_map(|a| (0..a).map(move |b| (a, b))).collect();
        let hops = distances(nodes, &links);
        Ok(Self { name, cores, hops, ..Self::opteron_8x4() })
    }

    /// The same machine under another name, clock and cost.
    pub fn calibrated(mut self, name: &str, megahertz: u64, costs: Costs) -> Self {
        self.name = name.to_owned();
        self.megahertz = megahertz.max(1);
        self.costs = costs;
        self
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What things cost on it.
    pub fn costs(&self) -> &Costs {
        &self.costs
    }

    /// Cycles in a microsecond.
    pub fn megahertz(&self) -> u64 {
        self.megahertz
    }

    /// How many cores it has.
    pub fn core_count(&self) -> usize {
        self.nodes() * self.cores
    }

    /// How many nodes it has.
    pub fn nodes(&self) -> usize {
        self.hops.len()
    }

    /// Hops from one node to another.
    pub fn hops(&self, from: usize, to: usize) -> usize {
        self.hops[from][to].into()
    }

    /// The node of a core.
    pub(crate) fn node_of(&self, core: usize) -> usize {
        core / self.cores
    }

    /// Its topology: a hop adds 6 to the distance.
    pub fn topology(&self) -> Topology {
        let node = |node| (node * self.cores..(node + 1) * self.cores).map(CoreId).collect();
        let row = |row: &Vec<u8>| row.iter().map(|&hops| 10 + 6 * u32::from(hops)).collect();
        let cores = (0..self.nodes()).map(node).collect();
        Topology::new(cores, self.hops.iter().map(row).collect())
            .expect("its cores differ, and a node is nearest to itself")
    }
}

/// Hops between `nodes` nodes along `links`.
fn distances(nodes: usize, links: &[(usize, usize)]) -> Vec<Vec<u8>> {
    const FAR: u8 = u8::MAX / 2;
    let mut hops = vec![vec![FAR; nodes]; nodes];
    (0..nodes).for_each(|node| hops[node][node] = 0);
    for &(a, b) in links {
        hops[a][b] = 1;
        hops[b][a] = 1;
    }
    for over in 0..nodes {
        for from in 0..nodes {
            for to in 0..nodes {
                hops[from][to] = hops[from][to].min(hops[from][over] + hops[over][to]);
            }
        }
    }
    hops
}

impl Default for Machine {
    fn default() -> Self {
        Self::opteron_8x4()
    }
}

impl FromStr for Machine {
    type Err = InvalidMachine;

    /// A known name, or nodes and cores per node as in `8x4`.
    fn from_str(name: &str) -> Result<Self, InvalidMachine> {
        match name {
            "opteron-8x4" => return Ok(Self::opteron_8x4()),
            "epyc-2x48" => return Ok(Self::epyc_2x48()),
            "xeon-2x32" => return Ok(Self::xeon_2x32()),
            _ => {}
        }
        let number = |digits: &str| digits.parse::<usize>().ok();
        let sizes = name.split_once('x').and_then(|(a, b)| Some((number(a)?, number(b)?)));
        let (nodes, cores) = sizes.ok_or_else(|| {
            let names = Self::NAMES.join(", ");
            InvalidMachine(format!(
                "no machine is called {name:?}: known are {names}, and NODESxCORES such as 4x8"
            ))
        })?;
        Self::uniform(nodes, cores)
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl fmt::Display for InvalidMachine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for InvalidMachine {}

#[cfg(test)]
mod tests {
    use super::Machine;
    use crate::topology::NodeId;

    #[test]
    fn known_machines_are_found_by_name() {
        for name in Machine::NAMES {
            let machine: Machine = name.parse().unwrap();
            assert_eq!(machine.to_string(), name);
            assert_eq!(machine.topology().core_count(), machine.core_count());
        }
        assert_eq!("4x8".parse::<Machine>().unwrap().core_count(), 32);
    }

    #[test]
    fn impossible_machines_are_refused_in_one_line() {
        for name in
            ["0x4", "4x0", "1000x1000", "257x1", "1x257", "65x1", "", "x", "4x", "-1x4", "4x4x4"]
        {
            let error = name.parse::<Machine>().unwrap_err().to_string();
            assert!(!error.contains('\n') && !error.is_empty());
        }
        let huge = format!("{0}x{0}", usize::MAX);
        assert!(huge.parse::<Machine>().is_err());
    }

    #[test]
    fn the_opterons_are_three_hops_apart_at_most() {
        let machine = Machine::opteron_8x4();
        let hops: Vec<usize> = (0..8)
            .flat_map(|a| (0..8).map(move |b| (a, b)))
            .map(|(a, b)| machine.hops(a, b))
            .collect();
        assert_eq!(hops.iter().max(), Some(&3));
        assert_eq!(hops.iter().filter(|&&hops| hops == 0).count(), 8);
        let topology = machine.topology();
        assert_eq!(topology.distance(NodeId(0), NodeId(7)), Some(28));
    }
}
