//! What is in the word of packed rooms: a lane of 16 bits for each, and one for those inside.
//!
//! Generations are Gray coded, so that opening a room changes one bit of its lane. Two bits of it: what a room shows is
//! the current generation or the one before, what a newcomer waits for is the next, and these three must differ.

/// The most rooms of one word.
pub(super) const MOST_ROOMS: usize = 3;
/// Bits of a lane.
pub(super) const LANE: usize = 16;
/// Bits of a lane that count.
pub(super) const COUNT_BITS: usize = 14;
/// All that a lane can count.
pub(super) const COUNT: u64 = (1 << COUNT_BITS) - 1;
/// The tickets of all rooms.
pub(super) const TICKETS: u64 = COUNT | COUNT << LANE | COUNT << (2 * LANE);
/// The lane of those inside.
pub(super) const INSIDE: usize = MOST_ROOMS * LANE;
/// One of them.
pub(super) const ONE_INSIDE: u64 = 1 << INSIDE;
/// The room that is open, above them.
pub(super) const OPEN: usize = INSIDE + COUNT_BITS;

pub(super) fn count(word: u64, room: usize) -> u64 {
    word >> (room * LANE) & COUNT
}

pub(super) fn generation(word: u64, room: usize) -> u64 {
    word >> (room * LANE + COUNT_BITS) & 3
}

/// How many are inside: those without tickets, and one for the batch.
pub(super) fn inside(word: u64) -> u64 {
    word >> INSIDE & COUNT
}

/// So many tickets of `room`, in the word.
pub(super) fn tickets(many: u64, room: usize) -> u64 {
    many << (room * LANE)
}

pub(super) fn parity(generation: u64) -> usize {
    ((generation ^ generation >> 1) & 1) as usize
}

/// What changes between `generation` and the next.
pub(super) fn change(generation: u64) -> u64 {
    1 << parity(generation)
}

pub(super) fn next(generation: u64) -> u64 {
    generation ^ change(generation)
}

pub(super) fn after_next(generation: u64) -> u64 {
    generation ^ 3
}

/// `word` with the next generation of `room`.
pub(super) fn turned(word: u64, room: usize) -> u64 {
    word ^ turn(generation(word, room), room)
}

/// What changes in the word when `room` is opened.
pub(super) fn turn(generation: u64, room: usize) -> u64 {
    change(generation) << (room * LANE + COUNT_BITS)
}
