//! Machines to simulate, as values.

use crate::cost::{Costs, Interruption, Placement, interruption};
use crate::topology::{CoreId, Topology};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Cores that a simulated machine has at most.
const MAX_CORES: usize = 256;
/// Nodes that it has at most.
const MAX_NODES: usize = 64;

/// Characters of a name at most.
const MAX_NAME: usize = 64;
/// Cycles in a microsecond at most.
const MAX_MEGAHERTZ: u64 = 100_000;

/// A machine: nodes, their distances, what things cost. It can be written down and read again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Plain")]
pub struct Machine {
    name: String,
    /// Cores of each node.
    cores: usize,
    /// Hops between nodes: square, one row per node.
    hops: Vec<Vec<u8>>,
    /// Cycles in a microsecond.
    megahertz: u64,
    placement: Placement,
    costs: Costs,
    interruptions: Vec<Interruption>,
}

/// A machine as it was written down, which may be none.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Plain {
    name: String,
    cores: usize,
    hops: Vec<Vec<u8>>,
    megahertz: u64,
    #[serde(default)]
    placement: Placement,
    costs: Costs,
    #[serde(default)]
    interruptions: Vec<Interruption>,
}

/// A name that is no machine's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidMachine(pub(super) String);

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
            placement: Placement::Local,
            costs: Costs::opteron(),
            interruptions: Vec::new(),
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
            placement: Placement::Local,
            costs: Costs::epyc(),
            interruptions: Vec::new(),
        }
    }

    /// Two Intel Xeon Platinum 8375C of 32 cores.
    pub fn xeon_2x32() -> Self {
        Self {
            name: "xeon-2x32".to_owned(),
            cores: 32,
            hops: distances(2, &[(0, 1)]),
            megahertz: 3_500,
            placement: Placement::Local,
            costs: Costs::xeon(),
            interruptions: Vec::new(),
        }
    }

    /// `nodes` nodes of `cores` cores each, one hop apart, with the costs of the Opteron.
    ///
    /// # Errors
    /// When there would be no core, or more than 256 cores or 64 nodes.
    pub fn uniform(nodes: usize, cores: usize) -> Result<Self, InvalidMachine> {
        let name = format!("{nodes}x{cores}");
        check_size(&name, nodes, cores)?;
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

    /// The same machine with memory, and threads that are bound to no core, placed like this.
    ///
    /// # Panics
    /// When there is no such node.
    pub fn placement(mut self, placement: Placement) -> Self {
        placement.check(self.nodes()).unwrap_or_else(|error| panic!("{error}"));
        self.placement = placement;
        self
    }

    /// The same machine with links of `percent` percent of their speed, at least 1.
    pub fn link_speed(mut self, percent: u64) -> Self {
        let slower = |cycles: u64| (cycles * 100).div_ceil(percent.max(1));
        self.costs.link = slower(self.costs.link);
        self.costs.request = slower(self.costs.request);
        self
    }

    /// The same machine with these interruptions; by itself it has none.
    ///
    /// # Panics
    /// When they leave less than a quarter of the time, or there are more than 16 kinds.
    pub fn interruptions(mut self, kinds: Vec<Interruption>) -> Self {
        interruption::check(&kinds).unwrap_or_else(|error| panic!("{error}"));
        self.interruptions = kinds;
        self
    }

    /// What interrupts those that run on it.
    pub fn interrupted(&self) -> &[Interruption] {
        &self.interruptions
    }

    /// How memory and threads are placed.
    pub fn placed(&self) -> Placement {
        self.placement
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

/// Whether a machine may have so many nodes and cores.
fn check_size(name: &str, nodes: usize, cores: usize) -> Result<(), InvalidMachine> {
    if nodes == 0 || cores == 0 {
        return Err(InvalidMachine(format!("the machine {name} has no core")));
    }
    if nodes > MAX_NODES || nodes.saturating_mul(cores) > MAX_CORES {
        return Err(InvalidMachine(format!(
            "the machine {name} is too large: at most {MAX_NODES} nodes and {MAX_CORES} cores"
        )));
    }
    Ok(())
}

impl TryFrom<Plain> for Machine {
    type Error = InvalidMachine;

    fn try_from(plain: Plain) -> Result<Self, InvalidMachine> {
        let Plain { name, cores, hops, megahertz, placement, costs, interruptions } = plain;
        let invalid = |what: &str| Err(InvalidMachine(what.to_owned()));
        let is_plain = |c: char| c.is_ascii_graphic();
        if name.is_empty() || name.len() > MAX_NAME || !name.chars().all(is_plain) {
            return invalid("the machine's name is not one word of at most 64 plain characters");
        }
        check_size(&name, hops.len(), cores)?;
        let nodes = hops.len();
        let own = |(node, row): (usize, &Vec<u8>)| row.len() == nodes && row[node] == 0;
        if !hops.iter().enumerate().all(own) {
            return invalid(
                "the machine's hops are not a square with zeros from node to same node",
            );
        }
        if !(1..=MAX_MEGAHERTZ).contains(&megahertz) {
            return invalid("the machine's clock has not 1 to 100000 megahertz");
        }
        placement.check(nodes)?;
        costs.check().map_err(InvalidMachine)?;
        interruption::check(&interruptions).map_err(InvalidMachine)?;
        Ok(Self { name, cores, hops, megahertz, placement, costs, interruptions })
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
    use crate::cost::{Interruption, Placement};
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
    fn a_machine_is_read_as_it_was_written() {
        for name in Machine::NAMES {
            let machine: Machine = name.parse().unwrap();
            let machine = machine.placement(Placement::OneNode(1)).link_speed(50);
            let machine = machine.interruptions(vec![Interruption { every: 9, lasts: 4 }]);
            let written = serde_json::to_string(&machine).unwrap();
            assert_eq!(serde_json::from_str::<Machine>(&written).unwrap(), machine);
        }
    }

    #[test]
    fn what_is_written_down_but_no_machine_is_refused_in_one_line() {
        let written = serde_json::to_string(&Machine::uniform(2, 2).unwrap()).unwrap();
        let cases = [
            ("\"2x2\"", "\"\"", "name"),
            ("\"2x2\"", "\"2 x 2\"", "name"),
            ("\"cores\":2", "\"cores\":0", "no core"),
            ("\"cores\":2", "\"cores\":200", "at most 64 nodes and 256 cores"),
            ("[[0,1],[1,0]]", "[[0,1],[1]]", "square"),
            ("[[0,1],[1,0]]", "[[0,1],[1,1]]", "square"),
            ("\"megahertz\":2300", "\"megahertz\":0", "megahertz"),
            ("\"megahertz\":2300", "\"megahertz\":100001", "megahertz"),
            ("\"local\"", "{\"one_node\":2}", "none is 2"),
            ("\"overhead\":2", "\"overhead\":0", "overhead"),
            ("\"hold\":20", "\"hold\":101", "percent"),
            ("\"stream\":100", "\"stream\":101", "percent"),
            ("\"stream_rmw\":100", "\"stream_rmw\":101", "percent"),
            ("\"spawn\":20000", "\"spawn\":20000000000", "cycles"),
            ("[81,", "[20000000000,", "cycles"),
            ("\"spawn\"", "\"spwan\"", "spwan"),
            ("[]}", "[{\"every\":1,\"lasts\":2}]}", "quarter"),
            ("[]}", "[{\"every\":0,\"lasts\":0}]}", "quarter"),
            ("[]}", "[{\"every\":2000000000000,\"lasts\":0}]}", "cycles"),
        ];
        for (from, to, expected) in cases {
            assert!(written.contains(from), "{from}");
            let changed = written.replace(from, to);
            let error = serde_json::from_str::<Machine>(&changed).unwrap_err().to_string();
            assert!(error.contains(expected) && !error.contains('\n'), "{to}: {error}");
        }
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
