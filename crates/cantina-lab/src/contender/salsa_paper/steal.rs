//! The thief: the right column of algorithm 5, with two changes of the owner word instead of one.
//!
//! Comments name the lines of the paper's text.

use super::chunk::{Chunk, EMPTY, FULL, Node};
use super::consumer::{Consumer, Held};
use super::lasting::Lasting;
use super::word::Word;
use machine::fence;

/// What a thief has.
pub(super) enum Stolen<T> {
    /// A task.
    Task(T),
    /// A chunk, but no task of it.
    Chunk,
    Nothing,
}

/// What a thief has seen before it claims a chunk.
struct Sight<T> {
    chunk: Lasting<Chunk<T>>,
    word: Word,
    /// The index in force then: the paper's `prevIdx`.
    index: usize,
}

impl<T: Send> Consumer<T> {
    /// `steal`: a chunk with a task from the consumer `id`, and a task of it. From ourselves only what
    /// we could not finish stealing.
    pub(super) fn steal(&mut self, id: usize) -> Stolen<T> {
        for number in 0..self.lists() {
            for cell in 0..self.list(id, number).len() {
                let Some(sight) = self.size_up(id, number, cell) else { continue };
                match self.try_steal(sight) {
                    Stolen::Nothing => {}
                    stolen => return stolen,
                }
            }
        }
        self.guard.clear(self.look);
        Stolen::Nothing
    }

    /// The chunk that a cell leads to, if `id` owns it and it holds something.
    fn size_up(&mut self, id: usize, number: usize, cell: usize) -> Option<Sight<T>> {
        // 109
        let node = self.list(id, number).node(cell).filter(|node| node.refers())?;
        let chunk = node.chunk;
        self.guard.announce(self.look, chunk.as_ptr().as_ptr());
        // After the announcement (I1).
        let word = chunk.word();
        if word.id() != id || id == self.me && !word.is_in_transit() {
            return None;
        }
        // 112: by the node in force, not by the one in the cell.
        let index = chunk.node(word.node()).index();
        // 113
        let holds_something = chunk.slot(index).is_some_and(|slot| slot.look() != EMPTY);
        holds_something.then_some(Sight { chunk, word, index })
    }

    /// Steals a chunk that is announced.
    fn try_steal(&mut self, sight: Sight<T>) -> Stolen<T> {
        let Sight { chunk, word, index: seen } = sight;
        let base = chunk.lasting_node(word.node());
        // 115: before the claim, so that a chunk is always in a list of its owner's (I5).
        let cell = self.append(base);
        // 116
        let claimed = word.claimed_by(self.me);
        if !chunk.change(word, claimed) {
            self.remove(cell);
            return Stolen::Nothing;
        }
        // steal: claimed, then the index is read. The kernel may want for memory: it is asked twice.
        if self.shared.pair.heavy().or_else(|_| self.shared.pair.heavy()).is_err() {
            // Nothing is ordered, so the index must not be read. Whoever comes next may steal it.
            return Stolen::Nothing;
        }
        // 119
        let mut index = base.index();
        let Some(slot) = chunk.slot(index) else {
            // 120
            self.recycle(chunk, &base, claimed);
            self.remove(cell);
            return Stolen::Nothing;
        };
        // 123
        let state = slot.look();
        if state != EMPTY {
            // steal: something is there, then the look: whoever claims the chunk after it sees it too.
            fence::full();
            // 125
            if !chunk.is_still(claimed) && index != seen {
                self.remove(cell);
                return Stolen::Nothing;
            }
            // 128
            index += 1;
        }
        // 129, 131
        let node = Chunk::make_node(chunk, index);
        self.replace(cell, node);
        let settled = claimed.settled(node.number);
        let held = chunk.change(claimed, settled).then_some(Held { chunk, node, word: settled });
        match held {
            // 132
            Some(_) => base.end(),
            None => {
                self.remove(cell);
                node.end();
            }
        }
        // 134
        let won = state == FULL && slot.win();
        // SAFETY: won (I2).
        let task = won.then(|| unsafe { slot.take() });
        if let Some(held) = held {
            // 137, 136
            self.adopt(held);
            self.check_last(held, index);
        }
        match task {
            Some(task) => Stolen::Task(task),
            None if held.is_some() => Stolen::Chunk,
            None => Stolen::Nothing,
        }
    }

    /// Puts `node` into our own list: into which cell.
    fn append(&self, node: Lasting<Node<T>>) -> usize {
        let seat = self.shared.seats.seat(self.me);
        // SAFETY: I4: the seat is ours.
        let cell = unsafe { seat.stolen.append(node) };
        seat.count_append();
        cell
    }

    fn replace(&self, cell: usize, node: Lasting<Node<T>>) {
        // SAFETY: I4: the seat is ours.
        unsafe { self.shared.seats.seat(self.me).stolen.replace(cell, node) };
    }

    fn remove(&self, cell: usize) {
        // SAFETY: I4: the seat is ours.
        unsafe { self.shared.seats.seat(self.me).stolen.remove(cell) };
    }
}
