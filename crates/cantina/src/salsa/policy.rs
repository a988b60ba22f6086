//! The policy: who puts where, and who steals from whom.
//!
//! A policy arranges the homes, one per consumer, for an end of the pool. A producer tries them in that
//! order for room that costs nothing, and takes new memory for the first only when all are full. A
//! consumer tries its own, then steals in that order. The mechanism knows nothing of it.

use machine::Topology;
pub use machine::random::Random;
use machine::topology::NodeId;
use std::fmt;

/// An end of the pool that looks for a home.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Seeker {
    /// The node it is on, if that is known.
    pub node: Option<NodeId>,
    /// Its own home, if it is a consumer or a worker.
    pub home: Option<usize>,
    /// How many producers came before it on its node, or its home if it has one: to spread those that are
    /// otherwise alike.
    pub number: usize,
}

/// A home, as a policy sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Candidate {
    /// Which.
    pub home: usize,
    /// The node of its consumer, if that is known.
    pub node: Option<NodeId>,
}

/// In which order an end of the pool tries the homes.
pub trait Policy: fmt::Debug + Send + Sync {
    /// Puts `homes`, which come in the order of their numbers, into the order of `seeker`. Called when
    /// consumers have come or gone.
    ///
    /// All of them have to be there afterwards, each once: tasks of one that is not would never be stolen. If
    /// they are not, the end panics, and asks again when it is used again; where this panics it does, too. No
    /// task of the pool is lost by it, and other ends go on.
    fn arrange(&self, topology: &Topology, seeker: &Seeker, homes: &mut [Candidate]);

    /// How many of the arranged `homes` are as near as the first of them, itself included. Called again for
    /// those behind them, until there are none. A producer asks those that are as near as the first one that
    /// has a consumer for room that costs nothing each time, and all of them now and then.
    fn near(&self, topology: &Topology, seeker: &Seeker, homes: &[Candidate]) -> usize {
        let _ = (topology, seeker);
        homes.len()
    }

    /// With which of `homes` arranged homes to begin this time, and then around. `last` is the one that
    /// had something last time.
    fn begin(&self, random: &mut Random, homes: usize, last: usize) -> usize {
        let _ = (random, homes, last);
        0
    }
}

/// The own home, then the near ones, then the far ones. Ends that are equally near to several homes are
/// spread over them.
///
/// A producer asks the homes of its own node for room each time, or if nobody is there those that are nearest,
/// and the others with one chunk of 64: were it to ask all, producers that are ahead would take the room of
/// consumers far away, and most tasks would cross from node to node.
#[derive(Clone, Copy, Debug, Default)]
pub struct NearestFirst;

/// All homes in turn, from the one that had something last.
#[derive(Clone, Copy, Debug, Default)]
pub struct RoundRobin;

/// All homes in turn, from a random one.
#[derive(Clone, Copy, Debug, Default)]
pub struct RandomVictim;

impl Policy for NearestFirst {
    fn arrange(&self, topology: &Topology, seeker: &Seeker, homes: &mut [Candidate]) {
        let own = |candidate: &Candidate| seeker.home == Some(candidate.home);
        let rank = |candidate: &Candidate| (!own(candidate), distance(topology, seeker, candidate));
        homes.sort_by_key(rank);
        for equal in homes.chunk_by_mut(|a, b| rank(a) == rank(b)) {
            equal.rotate_left(seeker.number % equal.len());
        }
    }

    fn near(&self, topology: &Topology, seeker: &Seeker, homes: &[Candidate]) -> usize {
        let mut distances = homes.iter().map(|home| distance(topology, seeker, home));
        let Some(nearest) = distances.next() else { return 0 };
        1 + distances.take_while(|distance| *distance == nearest).count()
    }
}

/// How far it is to `candidate`: as far as can be, where that is not known.
fn distance(topology: &Topology, seeker: &Seeker, candidate: &Candidate) -> u32 {
    match (seeker.node, candidate.node) {
        (Some(from), Some(to)) => topology.distance(from, to).unwrap_or(u32::MAX),
        _ => u32::MAX,
    }
}

impl Policy for RoundRobin {
    fn arrange(&self, _: &Topology, seeker: &Seeker, homes: &mut [Candidate]) {
        from_own(seeker, homes);
    }

    fn begin(&self, _: &mut Random, _: usize, last: usize) -> usize {
        last
    }
}

impl Policy for RandomVictim {
    fn arrange(&self, _: &Topology, _: &Seeker, _: &mut [Candidate]) {}

    fn begin(&self, random: &mut Random, homes: usize, _: usize) -> usize {
        random.below(homes.max(1))
    }
}

/// Turns `homes` so that the seeker's own comes first, or one that its number picks.
fn from_own(seeker: &Seeker, homes: &mut [Candidate]) {
    if !homes.is_empty() {
        let first = seeker.home.unwrap_or(seeker.number) % homes.len();
        homes.rotate_left(first);
    }
}

/// The homes in the order of one end, kept as long as nobody comes or goes.
#[derive(Debug)]
pub(super) struct Route {
    pub(super) seeker: Seeker,
    homes: Vec<Candidate>,
    /// The pools' changes that it knows of.
    changes: Option<u64>,
    /// Which home had something last.
    last: usize,
    /// For each home, by its number, which of those that are equally near it belongs to.
    groups: Vec<usize>,
    random: Random,
}

impl Route {
    pub(super) fn new(seeker: Seeker) -> Self {
        let random = Random::seeded(machine::random::seed() ^ seeker.number as u64);
        Self { seeker, homes: Vec::new(), changes: None, last: 0, groups: Vec::new(), random }
    }

    /// Learns what `homes` there are, if there were changes, or there are others than we know of: a home
    /// is used before that is counted as a change, and a task in it must be found.
    ///
    /// # Panics
    /// When the policy does, or leaves a home out. Then it has learned nothing.
    pub(super) fn update(
        &mut self,
        policy: &dyn Policy,
        topology: &Topology,
        (changes, used): (u64, usize),
        homes: impl Iterator<Item = Candidate>,
    ) {
        if self.changes == Some(changes) && self.homes.len() == used {
            return;
        }
        self.changes = None;
        self.homes.clear();
        self.homes.extend(homes);
        let given: Vec<usize> = self.homes.iter().map(|candidate| candidate.home).collect();
        policy.arrange(topology, &self.seeker, &mut self.homes);
        let arranged: Vec<usize> = self.homes.iter().map(|candidate| candidate.home).collect();
        let mut sorted = arranged.clone();
        sorted.sort_unstable();
        assert!(
            sorted == given,
            "{policy:?} arranged the homes {given:?} as {arranged:?}: a policy has to leave each of them there, once"
        );
        self.groups.clear();
        self.groups.resize(given.last().map_or(0, |last| last + 1), 0);
        let mut first = 0;
        while let Some(rest) = self.homes.get(first..).filter(|rest| !rest.is_empty()) {
            let near = policy.near(topology, &self.seeker, rest).clamp(1, rest.len());
            rest[..near].iter().for_each(|candidate| self.groups[candidate.home] = first);
            first += near;
        }
        self.last = 0;
        self.changes = Some(changes);
    }

    /// The first home, if there is one.
    pub(super) fn first(&self) -> Option<usize> {
        self.homes.first().map(|candidate| candidate.home)
    }

    /// Whether two homes are equally near.
    pub(super) fn are_equally_near(&self, one: usize, other: usize) -> bool {
        self.groups[one] == self.groups[other]
    }

    /// How many homes there are.
    pub(super) fn len(&self) -> usize {
        self.homes.len()
    }

    /// Which one to begin with.
    pub(super) fn begin(&mut self, policy: &dyn Policy) -> usize {
        policy.begin(&mut self.random, self.homes.len(), self.last) % self.homes.len().max(1)
    }

    /// The home that is `turn` behind `begin`.
    pub(super) fn at(&self, begin: usize, turn: usize) -> usize {
        self.homes[(begin + turn) % self.homes.len()].home
    }

    /// The home `turn` behind `begin` had something.
    pub(super) fn hit(&mut self, begin: usize, turn: usize) {
        self.last = (begin + turn) % self.homes.len();
    }
}

#[cfg(test)]
mod tests {
    use super::{Candidate, NearestFirst, Policy, RandomVictim, RoundRobin, Seeker};
    use machine::Topology;
    use machine::random::Random;
    use machine::topology::{CoreId, NodeId};

    fn homes(nodes: &[usize]) -> Vec<Candidate> {
        let candidate = |(home, &node)| Candidate { home, node: Some(NodeId(node)) };
        nodes.iter().enumerate().map(candidate).collect()
    }

    fn arranged(policy: &dyn Policy, topology: &Topology, seeker: Seeker) -> Vec<usize> {
        let mut homes = homes(&[0, 0, 1, 1, 2, 2]);
        policy.arrange(topology, &seeker, &mut homes);
        homes.into_iter().map(|candidate| candidate.home).collect()
    }

    fn three_nodes() -> Topology {
        let cores = (0..3).map(|core| vec![CoreId(core)]).collect();
        let distances = vec![vec![10, 30, 20], vec![30, 10, 20], vec![20, 20, 10]];
        Topology::new(cores, distances).unwrap()
    }

    #[test]
    fn near_homes_come_first_and_the_own_before_all() {
        let near = |seeker| arranged(&NearestFirst, &three_nodes(), seeker);
        let consumer = Seeker { node: Some(NodeId(0)), home: Some(1), number: 9 };
        assert_eq!(near(consumer), [1, 0, 5, 4, 3, 2]);
        let producer = Seeker { node: Some(NodeId(1)), home: None, number: 0 };
        assert_eq!(near(producer), [2, 3, 4, 5, 0, 1]);
    }

    #[test]
    fn producers_that_are_equally_near_are_spread() {
        let first = |number| {
            let seeker = Seeker { node: Some(NodeId(0)), home: None, number };
            arranged(&NearestFirst, &three_nodes(), seeker)[0]
        };
        assert_eq!([first(0), first(1)], [0, 1]);
        let nowhere = |number| {
            arranged(&NearestFirst, &three_nodes(), Seeker { node: None, home: None, number })[0]
        };
        assert_eq!((0..6).map(nowhere).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn the_other_policies_know_no_distance() {
        let seeker = Seeker { node: Some(NodeId(2)), home: Some(3), number: 0 };
        assert_eq!(arranged(&RoundRobin, &three_nodes(), seeker), [3, 4, 5, 0, 1, 2]);
        assert_eq!(arranged(&RandomVictim, &three_nodes(), seeker), [0, 1, 2, 3, 4, 5]);
        let mut random = Random::seeded(1);
        assert_eq!(RoundRobin.begin(&mut random, 6, 4), 4);
        assert_eq!(NearestFirst.begin(&mut random, 6, 4), 0);
        let begins: Vec<usize> = (0..64).map(|_| RandomVictim.begin(&mut random, 6, 4)).collect();
        assert!((0..6).all(|home| begins.contains(&home)));
    }
}
