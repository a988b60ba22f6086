//! Lines: what caches have of them, and which they are.

use crate::arena;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Bytes of a line, as a power of two.
pub(crate) const LINE_BITS: u32 = 6;

/// The number of a line.
pub(crate) type LineId = u32;

/// No core.
pub(crate) const NOBODY: u16 = u16::MAX;

/// What the caches have of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Nothing: it is in memory.
    Uncached,
    /// Its owner has it alone, as it is in memory.
    Exclusive,
    /// Its owner has it alone, and has written to it.
    Modified,
    /// Its owner has written to it, and others have copies.
    Owned,
    /// Some have copies, as it is in memory.
    Shared,
}

impl State {
    /// Whether its owner has it alone.
    pub(crate) fn is_alone(self) -> bool {
        matches!(self, Self::Exclusive | Self::Modified)
    }
}

/// A line.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    /// Its address, without the bits within the line.
    pub(crate) number: usize,
    pub(crate) state: State,
    pub(crate) owner: u16,
    pub(crate) home: u8,
    /// Whether somebody who spins waits for it to change.
    pub(crate) watched: bool,
    /// Counts its writes.
    pub(crate) version: u32,
    /// The cores that have it.
    pub(crate) sharers: [u64; 4],
    /// And their nodes.
    pub(crate) sharer_nodes: u64,
    /// Until then it is on its way, and nobody else can have it.
    pub(crate) busy: u64,
    /// When the last access to it was done.
    pub(crate) last: u64,
    /// When its owner has it.
    pub(crate) arrives: u64,
    /// Who had it before, alone or as a copy, and until when.
    pub(crate) former: u16,
    pub(crate) former_sharers: [u64; 4],
    pub(crate) former_until: u64,
}

impl Line {
    fn new(number: usize, home: usize) -> Self {
        Self {
            number,
            state: State::Uncached,
            owner: NOBODY,
            home: home as u8,
            watched: false,
            version: 0,
            sharers: [0; 4],
            sharer_nodes: 0,
            busy: 0,
            last: 0,
            arrives: 0,
            former: NOBODY,
            former_sharers: [0; 4],
            former_until: 0,
        }
    }

    /// Whether `core` has it.
    pub(crate) fn has(&self, core: usize) -> bool {
        contains(&self.sharers, core)
    }

    /// Whether `core` still has it at `now`, to read or, `alone`, to write, although it was taken away.
    pub(crate) fn still_has(&self, core: usize, alone: bool, now: u64) -> bool {
        let had =
            if alone { self.former == core as u16 } else { contains(&self.former_sharers, core) };
        had && now < self.former_until
    }

    pub(crate) fn add_sharer(&mut self, core: usize, node: usize) {
        self.sharers[core / 64] |= 1 << (core % 64);
        self.sharer_nodes |= 1 << node;
    }

    /// Makes it `core`'s alone.
    pub(crate) fn give_to(&mut self, core: usize, node: usize, state: State) {
        self.state = state;
        self.owner = core as u16;
        self.sharers = [0; 4];
        self.sharer_nodes = 0;
        self.add_sharer(core, node);
    }
}

fn contains(set: &[u64; 4], core: usize) -> bool {
    set[core / 64] & (1 << (core % 64)) != 0
}

/// All lines that were touched, by address.
#[derive(Debug)]
pub(crate) struct Lines {
    lines: Vec<Line>,
    ids: HashMap<usize, LineId, BuildHasherDefault<LineHasher>>,
    /// Where the last lines were found: address and number, by the low bits of the address.
    recent: Box<[(usize, LineId); RECENT]>,
    /// Blocks that were placed on a node: start, end, node. The line numbers they cover.
    placed: Vec<(usize, usize, usize)>,
}

const RECENT: usize = 1 << 12;

impl Lines {
    pub(crate) fn new() -> Self {
        Self {
            lines: Vec::new(),
            ids: HashMap::default(),
            recent: Box::new([(usize::MAX, 0); RECENT]),
            placed: Vec::new(),
        }
    }

    /// The line at `address`; if nobody has touched it before, its home is what `node` says.
    pub(crate) fn id(&mut self, address: usize, node: impl FnOnce() -> usize) -> LineId {
        let number = address >> LINE_BITS;
        let place = number % RECENT;
        if self.recent[place].0 == number {
            return self.recent[place].1;
        }
        let id = self.find(number, node);
        self.recent[place] = (number, id);
        id
    }

    fn find(&mut self, number: usize, node: impl FnOnce() -> usize) -> LineId {
        if let Some(&id) = self.ids.get(&number) {
            return id;
        }
        let covers = |&&(start, end, _): &&(usize, usize, usize)| (start..end).contains(&number);
        let placed = self.placed.iter().find(covers).map(|&(_, _, node)| node);
        let home = placed.or_else(|| arena::node_of(number << LINE_BITS)).unwrap_or_else(node);
        let id = self.lines.len() as LineId;
        self.lines.push(Line::new(number, home));
        self.ids.insert(number, id);
        id
    }

    pub(crate) fn get(&mut self, id: LineId) -> &mut Line {
        &mut self.lines[id as usize]
    }

    /// The lines of `bytes` bytes at `start` belong on `node`.
    pub(crate) fn place(&mut self, start: usize, bytes: usize, node: usize) {
        let (first, end) = (start >> LINE_BITS, (start + bytes).div_ceil(1 << LINE_BITS));
        self.placed.push((first, end, node));
        for number in first..end {
            if let Some(&id) = self.ids.get(&number) {
                self.get(id).home = node as u8;
            }
        }
    }

    /// What was placed at `start` is gone.
    pub(crate) fn unplace(&mut self, start: usize) {
        let first = start >> LINE_BITS;
        self.placed.retain(|&(placed, _, _)| placed != first);
    }
}

/// Spreads line numbers. Only used to find them again: its order shows nowhere.
#[derive(Debug, Default)]
pub(crate) struct LineHasher(u64);

impl Hasher for LineHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_usize(byte.into()));
    }

    fn write_usize(&mut self, number: usize) {
        self.0 = (self.0 ^ number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 ^= self.0 >> 32;
    }
}
