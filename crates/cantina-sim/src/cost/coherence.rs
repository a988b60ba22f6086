//! How long an access takes, and what it does to the caches.

use crate::cost::line::{LineId, Lines, NOBODY, State};
use crate::cost::{Costs, Hops, Machine};
use cantina_machine::random::Random;

/// Lines of a first-level cache.
const TAGS: usize = 1024;
/// Streams of lines that a core follows at a time.
const STREAMS: usize = 8;
/// How many lines ahead the next one of a stream may be.
const STRIDE: usize = 2;
/// Steps after which lines are a stream: two neighbours are none yet.
const STEPS: u8 = 2;
/// Lines asked for ahead that a core remembers: as many as it can wait for at a time.
const AHEAD: usize = 16;
/// Sets the jitter apart from other random numbers of a run.
const JITTER: u64 = 0x7177_e4ed_0c0f_fee5;

/// What is done to a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Load,
    Store,
    Rmw,
}

/// The last lines of the streams that a core follows: the next one it has asked for before it needs it.
#[derive(Clone, Copy, Debug)]
struct Streams {
    /// The line behind which each goes on.
    last: [usize; STREAMS],
    /// How many steps led there, up to [`STEPS`].
    steps: [u8; STREAMS],
    /// Whether it goes down, or, without a step, may.
    falls: [bool; STREAMS],
    /// Whether that line was to be expected, and is not written to yet.
    came: [bool; STREAMS],
    /// The one to be forgotten next.
    oldest: usize,
}

impl Default for Streams {
    fn default() -> Self {
        Self {
            last: [usize::MAX; STREAMS],
            steps: [0; STREAMS],
            falls: [false; STREAMS],
            came: [false; STREAMS],
            oldest: 0,
        }
    }
}

impl Streams {
    /// The core asks for the line with this number. Whether that was to be expected: one behind others,
    /// or the last of those once more, now to write to it.
    fn expected(&mut self, number: usize) -> bool {
        let is_near = |ahead: usize| (1..=STRIDE).contains(&ahead);
        let above = |stream: usize| is_near(number.wrapping_sub(self.last[stream]));
        let below = |stream: usize| is_near(self.last[stream].wrapping_sub(number));
        let follows = |stream: &usize| match (self.falls[*stream], self.steps[*stream]) {
            (false, _) => above(*stream),
            (true, 0) => above(*stream) || below(*stream),
            (true, _) => below(*stream),
        };
        if let Some(stream) = (0..STREAMS).find(follows) {
            let falls = below(stream);
            // The first line that goes down was one step already.
            let first = u8::from(falls && self.steps[stream] == 0);
            self.falls[stream] = falls;
            self.steps[stream] = (self.steps[stream] + first + 1).min(STEPS);
            self.last[stream] = number;
            self.came[stream] = self.steps[stream] == STEPS;
            return self.came[stream];
        }
        if let Some(stream) = self.last.iter().position(|&last| last == number) {
            return std::mem::take(&mut self.came[stream]);
        }
        self.falls[self.oldest] = (0..STREAMS).any(below);
        self.steps[self.oldest] = 0;
        self.last[self.oldest] = number;
        self.came[self.oldest] = false;
        self.oldest = (self.oldest + 1) % STREAMS;
        false
    }
}

/// Lines that a core has asked for without waiting for them, and when they come.
#[derive(Clone, Copy, Debug, Default)]
struct Coming {
    lines: [(LineId, u64); AHEAD],
    /// The one to be forgotten next.
    oldest: usize,
    /// When all of them have come.
    last: u64,
}

impl Coming {
    fn add(&mut self, id: LineId, comes: u64) {
        self.lines[self.oldest] = (id, comes);
        self.oldest = (self.oldest + 1) % AHEAD;
        self.last = self.last.max(comes);
    }

    /// When line `id` is there, for who wants it at `now`.
    fn there(&self, id: LineId, now: u64) -> u64 {
        if self.last <= now {
            return now;
        }
        let of_it = self.lines.iter().filter(|&&(asked, _)| asked == id);
        of_it.fold(now, |there, &(_, comes)| there.max(comes))
    }
}

/// The caches, links and memories of a machine.
pub(crate) struct Coherence {
    machine: Machine,
    pub(crate) lines: Lines,
    /// By core: which lines its first-level cache has, by the low bits of their numbers.
    tags: Vec<Box<[LineId; TAGS]>>,
    /// By core: what it asked others or memory for last.
    streams: Vec<Streams>,
    /// By core: what it asked its second-level cache for last.
    near_streams: Vec<Streams>,
    /// By core: what it has asked for without waiting.
    coming: Vec<Coming>,
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
            streams: vec![Streams::default(); cores],
            near_streams: vec![Streams::default(); cores],
            coming: vec![Coming::default(); cores],
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
        let (machine, random) = (&self.machine, &mut self.random);
        self.lines
            .id(address, || machine.placed().node(machine.node_of(core), machine.nodes(), random))
    }

    /// The node for memory that `core` asks for.
    pub(crate) fn node_for(&mut self, core: usize) -> usize {
        let machine = &self.machine;
        machine.placed().node(machine.node_of(core), machine.nodes(), &mut self.random)
    }

    /// The program wants the `bytes` bytes at `start` on `node`, and gets what the machine gives it.
    pub(crate) fn place(&mut self, start: usize, bytes: usize, node: usize) {
        let node = self.machine.placed().node(node, self.machine.nodes(), &mut self.random);
        self.lines.place(start, bytes, node);
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
        let start = match (own, held) {
            (true, false) => now.max(line.arrives),
            (false, false) => self.coming[core].there(id, now),
            (_, true) => now,
        };
        if own && kind != Kind::Load {
            line.state = State::Modified;
        }
        let tag = &mut self.tags[core][id as usize % TAGS];
        let costs = self.machine.costs();
        let near = if *tag == id {
            costs.l1
        } else if self.near_streams[core].expected(line.number) {
            costs.l1.max(costs.l2 * costs.stream / 100)
        } else {
            costs.l2
        };
        *tag = id;
        let cost = match kind {
            Kind::Load => near,
            Kind::Store => 1,
            Kind::Rmw => costs.rmw + near - costs.l1.min(near),
        };
        start + cost + jitter
    }

    /// `core` asks for line `id` at `now`, and does not wait for it: who has it alone waits until it arrives, others look it up.
    pub(crate) fn ask_ahead(&mut self, core: usize, id: LineId, kind: Kind, now: u64) {
        let comes = self.access(core, id, kind, now);
        self.coming[core].add(id, comes);
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
        let mut latency = latency(costs, kind, line.state)[hops.min(3)];
        if self.streams[core].expected(line.number) {
            let left = if kind == Kind::Rmw { costs.stream_rmw } else { costs.stream };
            latency = (latency * left).div_ceil(100);
        }
        let extra = if kind == Kind::Rmw && line.state == State::Uncached { costs.rmw } else { 0 };

        let mut start = now.max(line.busy);
        // A queue goes on while somebody waits for a line that is on its way: it is joined now.
        let mut queue = |free: &mut u64, cycles: u64| {
            let turn = now.max(*free);
            *free = turn + cycles;
            start = start.max(turn);
        };
        if source != node {
            queue(&mut self.out[source], costs.link);
            queue(&mut self.into[node], costs.link);
        }
        // The request goes by way of the home node, and on from there to whoever has the line.
        if node != home {
            queue(&mut self.into[home], costs.request);
        }
        if source != home {
            queue(&mut self.out[home], costs.request);
        }
        if line.state == State::Uncached {
            queue(&mut self.channel[home], costs.channel);
        }
        if costs.probe > 0 {
            queue(&mut self.bus, costs.probe);
        }
        let done = (start + latency + extra).max(line.last + 1);
        line.last = done;
        self.tags[core][id as usize % TAGS] = id;

        if kind == Kind::Load {
            // No longer than the read takes: one of a stream was asked for long ago.
            line.busy = line.busy.max(start + costs.read_hold.min(latency));
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
