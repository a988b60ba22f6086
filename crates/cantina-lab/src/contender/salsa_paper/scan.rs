//! `checkEmpty`: a double collect over all chunks of all consumers, instead of the paper's indicators and
//! traversals.

use super::chunk::{Chunk, EMPTY, FULL};
use super::consumer::Consumer;
use super::lasting::Lasting;
use super::word::Word;
use machine::fence;

/// A chunk without a task, to be looked at again.
struct Looked<T> {
    chunk: Lasting<Chunk<T>>,
    word: Word,
    /// The slot that the next task will be in.
    slot: usize,
}

/// What is remembered between the passes; kept for its memory.
pub(super) struct Notes<T> {
    appends: Vec<u64>,
    looked: Vec<Looked<T>>,
}

impl<T> Default for Notes<T> {
    fn default() -> Self {
        Self { appends: Vec::new(), looked: Vec::new() }
    }
}

impl<T: Send> Consumer<T> {
    /// Whether there was an instant without a task. If not, there is one, or somebody was at work.
    pub(super) fn is_empty(&mut self) -> bool {
        let mut notes = std::mem::take(&mut self.notes);
        notes.appends.clear();
        notes.looked.clear();
        let empty = self.is_empty_twice(&mut notes);
        self.guard.clear(self.look);
        self.notes = notes;
        empty
    }

    fn is_empty_twice(&mut self, notes: &mut Notes<T>) -> bool {
        let used = self.shared.seats.used();
        notes.appends.extend((0..used).map(|id| self.shared.seats.seat(id).appends()));
        // After the counts: what they count is in lists that we know.
        self.meet_producers();
        for id in 0..used {
            for number in 0..self.lists() {
                for cell in 0..self.list(id, number).len() {
                    if !self.look_first(id, number, cell, notes) {
                        return false;
                    }
                }
            }
        }
        // empty: the instant. What was there before is seen by the second pass, or was by the first.
        fence::full();
        if !notes.looked.iter().all(|looked| self.looks_the_same(looked)) {
            return false;
        }
        let seats = &self.shared.seats;
        notes.appends.iter().enumerate().all(|(id, &count)| seats.seat(id).appends() == count)
            && seats.used() == used
    }

    /// The first pass, for one cell. `false` when there is a task, or there may be.
    ///
    /// It asks the chunk, whatever the node in the cell says of itself: that may have been replaced by
    /// another one in the same cell meanwhile.
    fn look_first(&mut self, id: usize, number: usize, cell: usize, notes: &mut Notes<T>) -> bool {
        let Some(node) = self.list(id, number).node(cell) else { return true };
        let chunk = node.chunk;
        if chunk.word().is_nobodys() {
            return true;
        }
        self.guard.announce(self.look, chunk.as_ptr().as_ptr());
        // After the announcement (I1).
        let word = chunk.word();
        if word.is_nobodys() {
            return true;
        }
        let mut index = chunk.node(word.node()).index();
        // empty: the index, then whether it was the one in force.
        fence::full();
        if !chunk.is_still(word) {
            return false;
        }
        while let Some(slot) = chunk.slot(index) {
            match slot.look() {
                EMPTY => {
                    notes.looked.push(Looked { chunk, word, slot: index });
                    return true;
                }
                FULL => return false,
                // Taken by a thief that was robbed, or from one: the index has not followed yet.
                _ => index += 1,
            }
        }
        true
    }

    /// The second pass, for one chunk.
    fn looks_the_same(&mut self, looked: &Looked<T>) -> bool {
        self.guard.announce(self.look, looked.chunk.as_ptr().as_ptr());
        // After the announcement (I1).
        looked.chunk.word() == looked.word
            && looked.chunk.slot(looked.slot).is_some_and(|slot| slot.look() == EMPTY)
    }
}
