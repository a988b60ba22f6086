//! Where workers run, and whom they steal from first.

use machine::Topology;
use machine::topology::{CoreId, NodeId};

/// The places of a runtime's workers: each has a core, whether it is bound to it or not.
pub(super) struct Places {
    cores: Vec<CoreId>,
    /// For each worker all others, those on its own node first, then node by node as they are far.
    order: Vec<Vec<Vec<usize>>>,
}

impl Places {
    pub(super) fn new(workers: usize, topology: &Topology) -> Self {
        let all: Vec<CoreId> = topology.cores().collect();
        let core = |worker: usize| all.get(worker % all.len().max(1)).copied().unwrap_or(CoreId(0));
        let cores: Vec<CoreId> = (0..workers).map(core).collect();
        let node = |worker: usize| topology.node_of(cores[worker]).unwrap_or(NodeId(0));
        let order = (0..workers).map(|worker| {
            let others = |at: NodeId| {
                (0..workers).filter(|other| *other != worker && node(*other) == at).collect()
            };
            topology.nearest(node(worker)).into_iter().map(others).collect()
        });
        let order = order.collect();
        Self { cores, order }
    }

    pub(super) fn core(&self, worker: usize) -> CoreId {
        self.cores[worker]
    }

    /// Whom `worker` steals from in its `tick`th turn: the near ones first, of those that are as near each is first in
    /// turn.
    pub(super) fn victims(&self, worker: usize, tick: usize) -> impl Iterator<Item = usize> + '_ {
        let nodes = self.order[worker].iter().filter(|node| !node.is_empty());
        nodes.flat_map(move |node| {
            let (behind, first) = node.split_at(tick % node.len());
            first.iter().chain(behind).copied()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Places;
    use machine::Topology;

    #[test]
    fn the_near_are_robbed_first_and_each_in_turn() {
        let places = Places::new(6, &Topology::mock(2, 3));
        let victims = |worker, tick| places.victims(worker, tick).collect::<Vec<_>>();
        assert_eq!(victims(0, 0), [1, 2, 3, 4, 5]);
        assert_eq!(victims(0, 1), [2, 1, 4, 5, 3]);
        assert_eq!(victims(4, 0), [3, 5, 0, 1, 2]);
        assert_eq!(Places::new(1, &Topology::mock(1, 1)).victims(0, 7).next(), None);
    }

    #[test]
    fn more_workers_than_cores_share_them() {
        let places = Places::new(3, &Topology::mock(1, 2));
        assert_eq!(places.core(0), places.core(2));
        assert_eq!(places.victims(0, 0).count(), 2);
    }
}
