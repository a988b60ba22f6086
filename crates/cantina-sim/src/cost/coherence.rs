//! How long an access takes, and what it does to the caches.

use crate::cost::line::{LineId, Lines, NOBODY, State};
use crate::cost::{Costs, Hops, Machine};
use cantina_machine::random::Random;

/// Lines of a first-level cache.
const TAGS: usize = 1024;
/// Sets the jitter apart from other random numbers of a run.
const JITTER: u64 = 0x7177_e4ed_0c0f_fee5;

/// What is done to a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Load,
    Store,
    Rmw,
}

/// The caches, links and memories of a machine.
pub(crate) struct Coherence {
    machine: Machine,
    pub(crate) lines: Lines,
    /// By core: which lines its first-level cache has, by the low bits of their numbers.
    tags: Vec<Box<[LineId; TAGS]>>,
    /// By node: when its links out and in are free.
    out: Vec<u64>,
    into: Vec<u64>,
    /// And its memory.
    channel: Vec<u64>,
    /// When the shared bus is free.
    bus: u64,
    random: Random,
}

impl Coherence {
    pub(crate) fn new(machine: Machine, seed: u64) -> Self {
        let (nodes, cores) = (machine.nodes(), machine.core_count());
        Self {
            machine,
            lines: Lines::new(),
            tags: (0..cores).map(|_| Box::new([LineId::MAX; TAGS])).collect(),
            out: vec![0; nodes],
            into: vec![0; nodes],
            channel: vec![0; nodes],
            bus: 0,
            random: Random::seeded(seed ^ JITTER),
        }
    }

    pub(crate) fn costs(&self) -> &Costs {
        self.machine.costs()
    }

    pub(crate) fn machine(&self) -> &Machine {
        &self.machine
    }

    /// The line at `address`, touched by `core`.
    pub(crate) fn line(&mut self, address: usize, core: usize) -> LineId {
        self.lines.id(address, self.machine.node_of(core))
    }

    /// When an access of `core` to line `id` is done that begins at `now`.
    pub(crate) fn access(&mut self, core: usize, id: LineId, kind: Kind, now: u64) -> u64 {
        let jitter = self.jitter();
        let line = self.lines.get(id);
        let held = line.still_has(core, kind != Kind::Load, now);
        let own = line.owner == core as u16;
        let hit =
            held || if kind == Kind::Load { line.has(core) } else { own && line.state.is_alone() };
        if !hit {
            return self.miss(core, id, kind, now) + jitter;
        }
        let start = if own && !held { now.max(line.arrives) } else { now };
        if own && kind != Kind::Load {
            line.state = State::Modified;
        }
        let tag = &mut self.tags[core][id as usize % TAGS];
        let costs = self.machine.costs();
        let near = if *tag == id { costs.l1 } else { costs.l2 };
        *tag = id;
        let cost = match kind {
            Kind::Load => near,
            Kind::Store => 1,
            Kind::Rmw => costs.rmw + near - costs.l1.min(near),
        };
        start + cost + jitter
    }

    /// The line goes from whoever has it, or from memory, to `core`.
    fn miss(&mut self, core: usize, id: LineId, kind: Kind, now: u64) -> u64 {
        let machine = &self.machine;
        let costs = machine.costs();
        let node = machine.node_of(core);
        let line = self.lines.get(id);
        let home = usize::from(line.home);
        let owner_node = (line.owner != NOBODY).then(|| machine.node_of(line.owner.into()));
        let source = owner_node.unwrap_or(home);

        let mut hops = machine.hops(node, home).max(machine.hops(node, source));
        if kind != Kind::Load {
            let sharers =
                (0..machine.nodes()).filter(|&other| line.sharer_nodes & (1 << other) != 0);
            hops = sharers.map(|other| machine.hops(node, other)).fold(hops, usize::max);
        }
        let latency = latency(costs, kind, line.state)[hops.min(3)];
        let extra = if kind == Kind::Rmw && line.state == State::Uncached { costs.rmw } else { 0 };

        let mut start = now.max(line.busy);
        if source != node {
            start = start.max(self.out[source]).max(self.into[node]);
            self.out[source] = start + costs.link;
            self.into[node] = start + costs.link;
        }
        if line.state == State::Uncached {
            start = start.max(self.channel[home]);
            self.channel[home] = start + costs.channel;
        }
        if costs.probe > 0 {
            start = start.max(self.bus);
            self.bus = start + costs.probe;
        }
        let done = (start + latency + extra).max(line.last + 1);
        line.last = done;
        self.tags[core][id as usize % TAGS] = id;

        if kind == Kind::Load {
            line.busy = line.busy.max(start + costs.read_hold);
            match line.state {
                State::Uncached => {
                    line.give_to(core, node, State::Exclusive);
                    line.arrives = done;
                }
                State::Modified => line.state = State::Owned,
                State::Exclusive => {
                    line.state = State::Shared;
                    line.owner = NOBODY;
                }
                State::Owned | State::Shared => {}
            }
            line.add_sharer(core, node);
            return done;
        }
        line.former_sharers = line.sharers;
        line.former = if line.state.is_alone() { line.owner } else { NOBODY };
        let most = (done - start) * 2 * costs.hold / 100;
        line.former_until = start + self.random.below(most as usize + 1) as u64;
        line.busy = done;
        line.arrives = done;
        line.give_to(core, node, State::Modified);
        done
    }

    /// The line is `core`'s at once, whatever that takes.
    pub(crate) fn seize(&mut self, core: usize, id: LineId) {
        let node = self.machine.node_of(core);
        self.lines.get(id).give_to(core, node, State::Modified);
    }

    fn jitter(&mut self) -> u64 {
        let most = self.machine.costs().jitter;
        if most == 0 { 0 } else { self.random.below(most as usize + 1) as u64 }
    }
}

/// The row of the table for a miss.
fn latency(costs: &Costs, kind: Kind, state: State) -> &Hops {
    match (kind, state) {
        (_, State::Uncached) => &costs.memory,
        (Kind::Load, State::Shared) => &costs.load_shared,
        (Kind::Load, _) => &costs.load_owned,
        (Kind::Store, State::Owned | State::Shared) => &costs.store_shared,
        (Kind::Store, _) => &costs.store_owned,
        (Kind::Rmw, State::Owned | State::Shared) => &costs.rmw_shared,
        (Kind::Rmw, _) => &costs.rmw_owned,
    }
}

#[cfg(test)]
mod tests;
