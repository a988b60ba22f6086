//! The thief: whole chunks, by two changes of the owner word.

use super::chunk::{Chunk, take};
use super::word::Word;
use super::{Home, Taker};
use machine::Backoff;
use machine::atomic::Ordering::Relaxed;

/// So many tasks make a chunk worth a heavy fence that its owner has not begun with.
const HEARTY: u32 = 64;

/// So many heavy fences in a row are refused for good: not for want of memory.
const MOST_REFUSED: u32 = 10_000;

/// What a thief takes. A chunk that its owner has begun with has one consumer, whoever that is: to steal
/// it while the owner is at work only moves the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::salsa) enum Appetite {
    /// Chunks that are full and that nobody has begun to take, and those that have no consumer.
    Whole,
    /// Chunks with many tasks that nobody has begun to take, and those that have no consumer.
    Hearty,
    /// Any chunk with a task.
    Any,
}

/// What a thief has seen of a chunk before it claims it.
struct Sight {
    word: Word,
    /// The index in force.
    index: u32,
    /// The first slot from there that is published and that nobody has won.
    slot: u32,
}

impl<T> Taker<T> {
    /// Steals a chunk of home `id`, and takes a task from it. Our own home is one to steal from: what
    /// was stolen from it stays in its table.
    pub(in crate::salsa) fn steal(&mut self, id: usize, appetite: Appetite) -> Option<T> {
        self.put_back();
        let home: &Home<T> = self.pools.lasting_home(id)?;
        for place in home.table.places() {
            let Some((entry, chunk)) = self.look_at(place) else { continue };
            let task = self.try_steal(entry, chunk, appetite);
            if self.held[entry].is_none() {
                self.guard.clear(entry);
            }
            if task.is_some() {
                self.report();
                return task;
            }
        }
        None
    }

    /// Steals `chunk`, which hazard pointer `entry` protects.
    fn try_steal(&mut self, entry: usize, chunk: Chunk<T>, appetite: Appetite) -> Option<T> {
        let word = chunk.word();
        if word.owner() == self.me && word.is_stable() {
            // Ours already: we had to let go of it, or our id's last holder left it.
            self.adopt(entry, chunk, word);
            return self.take(entry);
        }
        let sight = self.size_up(entry, chunk, word, appetite)?;
        let settings = &self.pools.settings;
        let plan = &settings.plan;
        let claimed = sight.word.claimed_by(self.me);
        self.tally.changes += 1;
        if !chunk.change(sight.word, claimed) {
            return None;
        }
        if claimed.is_stable() {
            // It was ours, and is again.
            self.adopt(entry, chunk, claimed);
            return self.take(entry);
        }
        // steal: the owner word is changed, then the index is read.
        if settings.fencing.claimed().is_err() {
            // Nothing is ordered, so the index must not be read.
            self.refused += 1;
            self.tally.changes += 1;
            let _ = chunk.change(claimed, claimed.rolled_back());
            return None;
        }
        self.refused = 0;
        let index = chunk.index(plan, sight.word.from());
        // own: our index, published by the second change of the owner word.
        chunk.next(plan, self.me).store(index, Relaxed);
        let settled = claimed.settled();
        self.tally.changes += 1;
        if chunk.change(claimed, settled) {
            self.tally.steals += 1;
            self.adopt(entry, chunk, settled);
            return self.take(entry);
        }
        self.tally.robbed += 1;
        // Robbed. One attempt, on the slot seen before: if all did without it, thieves could rob each
        // other for ever. With another index somebody took a task meanwhile.
        if index != sight.index {
            return None;
        }
        self.tally.claims += 1;
        let won = chunk.claim(plan, sight.slot);
        self.tally.gets += u64::from(won);
        // SAFETY: published, and won (I4).
        won.then(|| unsafe { take(chunk.slot(plan, sight.slot)) })
    }

    /// Whether there is something to steal, and what. A chunk that is exhausted is retired on the way.
    fn size_up(
        &mut self,
        entry: usize,
        chunk: Chunk<T>,
        word: Word,
        appetite: Appetite,
    ) -> Option<Sight> {
        if word.is_retired() || !word.is_stable() && !self.waited_out(chunk, word) {
            return None;
        }
        let plan = &self.pools.settings.plan;
        let from = word.from();
        let lap = chunk.life(|life| life.lap);
        let index = chunk.index(plan, from);
        let end = chunk.end();
        let mut slot = index;
        loop {
            if slot >= end {
                // Every slot is announced or won. Whoever announced one and has not looked yet finds
                // another word, and claims it under its own hazard pointer.
                if word.is_stable() {
                    self.retire(entry, chunk, word);
                }
                return None;
            }
            if slot >= chunk.published(plan, slot, lap) {
                return None;
            }
            let untaken = chunk.past_taken(plan, slot);
            if untaken == slot {
                break;
            }
            slot = untaken;
        }
        let free_for_all = !word.is_stable() || from == self.me || !self.is_active(from);
        if appetite != Appetite::Any && !free_for_all {
            if index > 0 {
                return None;
            }
            let many = HEARTY.min(plan.slots / 4).max(1);
            let last = if appetite == Appetite::Whole { end - 1 } else { slot + many - 1 };
            if last >= end || last >= chunk.published(plan, last, lap) {
                return None;
            }
        }
        Some(Sight { word, index, slot })
    }

    /// Whether the operating system refuses what stealing takes, again and again. If so, counting begins
    /// anew: it may come to allow it.
    pub(in crate::salsa) fn cannot_steal(&mut self) -> bool {
        let cannot = self.refused >= MOST_REFUSED;
        if cannot {
            self.refused = 0;
        }
        cannot
    }

    fn is_active(&self, id: usize) -> bool {
        self.pools.home(id).is_some_and(|home| home.is_active())
    }

    /// Whether a chunk in transit has stood still for as long as we are patient.
    pub(super) fn waited_out(&self, chunk: Chunk<T>, word: Word) -> bool {
        // Without a fence a thief is never in transit for long.
        let settings = &self.pools.settings;
        let turns = if settings.fencing.always_claims() { 0 } else { settings.patience };
        let backoff = Backoff::new();
        (0..turns).all(|_| {
            backoff.snooze();
            chunk.word() == word
        })
    }
}
