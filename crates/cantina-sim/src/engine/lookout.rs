//! Spin loops on the timed machine: which lines a thread has looked at since it last gave way.

use crate::cost::line::{LineId, Lines};

/// Lines that a loop may look at and still be taken for a spin loop.
const LINES: usize = 2;
/// So many turns of a loop take as long as they take: it may have a bound, and then that is how long it waits.
const AT_PACE: u32 = 128;
/// After that a thread that spins in vain looks again after twice the time each turn, up to so many doublings.
const DOUBLINGS: u32 = 8;

/// What a thread has seen since it last gave way.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Lookout {
    seen: [(LineId, u32); LINES],
    count: usize,
    acted: bool,
    /// Turns in vain.
    turns: u32,
}

impl Lookout {
    /// It has loaded from line `id`, which had this version.
    pub(crate) fn load(&mut self, id: LineId, version: u32) {
        if self.acted || self.seen[..self.count].contains(&(id, version)) {
            return;
        }
        if self.count == LINES {
            self.acted = true;
        } else {
            self.seen[self.count] = (id, version);
            self.count += 1;
        }
    }

    /// It has done something else.
    pub(crate) fn act(&mut self) {
        self.acted = true;
    }

    /// It gives way. For how many times the length of a turn it need not look again, unless a line
    /// changes: 0 when it does not only wait.
    pub(crate) fn give_way(&mut self, lines: &mut Lines) -> u64 {
        let unchanged = |&(id, version): &(LineId, u32)| lines.get(id).version == version;
        let waits = !self.acted && self.count > 0 && self.seen[..self.count].iter().all(unchanged);
        self.turns = if waits { (self.turns + 1).min(AT_PACE + DOUBLINGS) } else { 0 };
        if waits { 1 << self.turns.saturating_sub(AT_PACE) } else { 0 }
    }

    /// The lines it looks at.
    pub(crate) fn lines(&self) -> impl Iterator<Item = LineId> + use<> {
        let Self { seen, count, .. } = *self;
        seen.into_iter().take(count).map(|(id, _)| id)
    }

    /// Starts a new turn.
    pub(crate) fn reset(&mut self) {
        self.count = 0;
        self.acted = false;
    }
}
