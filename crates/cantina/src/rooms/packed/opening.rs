//! Opening a room, and handing over to the next one.
//!
//! Only one thread does at a time: who has found the rooms idle with its own ticket, or was the last one inside. Nobody else changes generations, and
//! until a room counts as open others only take tickets, which are of this batch or of the next.

use super::{Packed, TAG, nothing_given_up};
use crate::rooms::form::Form;
use crate::rooms::lanes::{
    ONE_INSIDE, TICKETS, after_next, count, generation, inside, next, parity, tickets, turn, turned,
};
use machine::atomic::Ordering::{AcqRel, Relaxed, Release};

/// What comes of opening a room.
pub(super) enum Opened {
    /// Somebody is inside.
    LetIn,
    /// All had given up. What the word is then.
    Nobody(u64),
}

impl Packed {
    /// Opens `room`, for which there are tickets, while nobody is inside; only who has found the object idle or was the last one inside does.
    /// `word` is what the word was then.
    pub(super) fn open(&self, room: usize, word: u64) -> Opened {
        // Only who opens changes generations.
        let opened = next(generation(word, room));
        let size = self.let_in(room, word);
        let gate = self.gate(room, opened);
        // given: who gives up later finds that it is too late. Who gave up has done nothing that we must see.
        let given_up =
            self.given_up(room, opened).swap(nothing_given_up(after_next(opened)), Relaxed);
        let let_in = size - u64::from(given_up / (TAG + 1));
        if let_in == 0 {
            // own: all who waited for it have given up. Before the rooms are idle: who opens this one next must come later.
            gate.open.store(opened as u32, Relaxed);
            // left: what those did who have joined and left meanwhile, for those whom we let in next.
            // idle: what the gate shows.
            return Opened::Nobody(self.word.fetch_sub(ONE_INSIDE, AcqRel) - ONE_INSIDE);
        }
        if self.counting {
            self.batches.opened(let_in);
        }
        // hint: as in `is_passed`. Only where some have passed: who writes waits for the line.
        if self.patience != self.joins.load(Relaxed) {
            // hint: as above.
            self.joins.store(self.patience, Relaxed);
        }
        // own: all of the last batch have left. The gate shows it to those of this one.
        self.batch.left.store(let_in as u32, Relaxed);
        // open: all that earlier batches did. Behind the word: who sees it may leave at once.
        gate.open.store(opened as u32, Release);
        self.rooms[room].sleepers[parity(opened)].opened(|ticket| self.is_good(room, ticket));
        Opened::LetIn
    }

    /// Turns the tickets of `room` into a batch that is inside. How many they were. Later tickets are for the next generation.
    #[inline]
    fn let_in(&self, room: usize, word: u64) -> u64 {
        let inside = |word: u64| word & (ONE_INSIDE - 1) | self.rooms[room].alone;
        let size = count(word, room);
        let open = inside(turned(word, room)) - tickets(size, room);
        // own: nobody else goes in or out. What earlier batches did was released to the word before. On failure nothing is read.
        if self.word.compare_exchange(word, open, Relaxed, Relaxed).is_ok() {
            return size;
        }
        // Some have come meanwhile, and more may: in two steps it needs no luck.
        // own: as above.
        let old = self.word.fetch_xor(turn(generation(word, room), room), Relaxed);
        let size = count(old, room);
        let change = inside(old).wrapping_sub(old).wrapping_sub(tickets(size, room));
        // own: as above.
        self.word.fetch_add(change, Relaxed);
        size
    }

    /// Opens the next room after `room`, whose users have left.
    #[inline(never)]
    pub(super) fn hand_over(&self, mut room: usize, mut word: u64) {
        // Somebody may have joined while the room was open for those who had given up.
        while word & TICKETS != 0 && inside(word) == 0 {
            let after = (1..=self.count).map(|step| (room + step) % self.count);
            let waiting = after.into_iter().find(|room| count(word, *room) > 0);
            room = waiting.expect("somebody waits in a room that there is");
            match self.open(room, word) {
                Opened::LetIn => return,
                Opened::Nobody(now) => word = now,
            }
        }
    }
}
