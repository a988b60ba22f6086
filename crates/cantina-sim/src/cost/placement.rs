//! Where memory lies, and where threads run that nobody binds.

use crate::cost::machine::InvalidMachine;
use cantina_machine::random::Random;
use serde::{Deserialize, Serialize};

/// Sets where threads run apart from other random numbers of a run.
const SEATS: u64 = 0x5ca7_7e4e_d5ea_7500;

/// Where a machine puts memory, and threads that are bound to no core. The program is not asked: what it
/// places itself is placed like this too, unless it is `Local`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Placement {
    /// Memory on the node of whoever asks for it, or touches it first; threads on one core after the
    /// other.
    #[default]
    Local,
    /// Memory on any node, each block on another; threads on any core, not two on one.
    Scattered,
    /// All memory on this node; threads on one core after the other.
    OneNode(usize),
}

impl Placement {
    pub(super) fn check(self, nodes: usize) -> Result<(), InvalidMachine> {
        match self {
            Self::OneNode(node) if node >= nodes => {
                Err(InvalidMachine(format!("the machine has {nodes} nodes, and none is {node}")))
            }
            _ => Ok(()),
        }
    }

    /// The node for memory that somebody on `node` wants.
    pub(super) fn node(self, node: usize, nodes: usize, random: &mut Random) -> usize {
        match self {
            Self::Local => node,
            Self::Scattered => random.below(nodes),
            Self::OneNode(only) => only,
        }
    }

    /// The core, of `cores`, for thread `number` of the run that `seed` draws.
    pub(crate) fn core(self, number: usize, cores: usize, seed: u64) -> usize {
        let seat = number % cores;
        if self != Self::Scattered {
            return seat;
        }
        let mut random = Random::seeded(seed ^ SEATS);
        let mut seats: Vec<usize> = (0..cores).collect();
        for last in (1..cores).rev() {
            seats.swap(last, random.below(last + 1));
        }
        seats[seat]
    }
}

#[cfg(test)]
mod tests {
    use super::Placement;

    #[test]
    fn scattered_threads_have_cores_of_their_own_by_the_seed() {
        let cores = |seed| -> Vec<usize> {
            (0..32).map(|number| Placement::Scattered.core(number, 32, seed)).collect()
        };
        let mut sorted = cores(1);
        sorted.sort_unstable();
        assert!(sorted.into_iter().eq(0..32));
        assert_eq!(cores(1), cores(1));
        assert_ne!(cores(1), cores(2));
        assert_eq!(Placement::Local.core(35, 32, 1), 3);
    }
}
