//! Up to three rooms in one word.
//!
//! Each room has a lane of 16 bits: how many tickets wait for it, and its *generation*: how many times it was
//! opened for them, modulo four. The lane above them says how many are inside, and of which room. Nothing grows and nothing
//! wraps. To enter is one read-modify-write, to leave another one.
//!
//! Who finds nobody inside and nobody waiting goes in without a ticket, and so does, where joining is wanted, who comes to the
//! room that is open while nobody waits for any: neither is of a generation, and no gate shows it. Where there is *patience* so many join
//! although others wait, each time that a room is opened, if not all of them can run: those who sleep need a while to wake up.
//!
//! Each parity of the generation has a gate of its own: so all who sleep at a gate wait for the same.
//!
//! # Batches
//! Those who are let in together count as one inside, and on a line of their own how many of them have not left: who leaves does not meet
//! those who come, and the last one of them leaves for all. Who opens a room by the same hand has that line and the word already.
//!
//! # Exit code
//! Where a room has exit code nobody joins. So who went in without a ticket is alone, and it or the last one of the batch runs
//! the exit code while it counts as inside: before it has left nobody else finds the rooms idle.
//!
//! # Giving up
//! A ticket is never taken back, or the word might become empty in the hands of somebody who opens no room. It is
//! *given up*, and the next who comes adopts it; those that nobody adopted are not let in when the room opens.
//! `given_up` is their number and the generation that they wait for. The word moves on to the generation after next
//! when the room opens: from then on it is too late to give up.

use super::EnterError;
use super::form::{Form, Taken};
use super::lanes::{
    COUNT, COUNT_BITS, LANE, MOST_ROOMS, ONE_INSIDE, OPEN, TICKETS, after_next, count, generation,
    inside, next, parity, tickets,
};
use super::metrics::{Batches, Counts};
use super::sleepers::{Sleeper, Sleepers};
use machine::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use machine::atomic::{AtomicU32, AtomicU64};
use machine::trace::{self, Role};
use machine::{Backoff, CachePadded, thread};
use std::fmt;
use std::process::abort;

mod opening;

/// The most tickets of a room at once. The test comes before the ticket, so there is room for as many threads between
/// the two as a process can have there, and then some.
pub(crate) const LIMIT: u64 = COUNT + 1 - 2048;
/// With so many a lane is about to overflow.
const OVERFLOW: u64 = COUNT + 1 - 16;
/// The bits of `given_up` that say for which generation.
const TAG: u32 = 3;
/// How often who may wait looks whether it can go in without a ticket: some two microseconds.
const LOOKS: usize = 8;

/// Up to three rooms.
pub(crate) struct Packed {
    word: CachePadded<AtomicU64>,
    batch: CachePadded<Batch>,
    /// How many more may join those inside although others wait; not always exact.
    joins: CachePadded<AtomicU32>,
    /// Where that is counted.
    batches: CachePadded<Batches>,
    rooms: [Room; MOST_ROOMS],
    count: usize,
    patience: u32,
    limit: u64,
    processors: u64,
    counting: bool,
}

/// What rooms in one word are like.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    /// How many.
    pub(crate) rooms: usize,
    /// Which of them have exit code, a bit for each.
    pub(crate) with_exit_code: u8,
    /// Whether those without are joined while they are open and nobody waits.
    pub(crate) joined: bool,
    /// How many join a room although somebody waits, each time that it is opened and there are more of them all than processors.
    pub(crate) patience: u32,
    /// The most tickets of a room.
    pub(crate) limit: u64,
    /// Whether batches are counted.
    pub(crate) counting: bool,
}

struct Room {
    gates: CachePadded<[Gate; 2]>,
    sleepers: CachePadded<[Sleepers; 2]>,
    /// What the lane of those inside is when one is, or a batch.
    alone: u64,
    has_exit_code: bool,
    /// Whether who comes may go in where somebody is.
    joined: bool,
}

/// The last generation of a parity that was let in.
struct Gate {
    open: AtomicU32,
}

/// What those who come need not see.
struct Batch {
    /// How many of the batch that is open have not left.
    left: AtomicU32,
    /// By room and parity: the next generation of it in the low bits, and how many of its tickets were given up.
    given_up: [[AtomicU32; 2]; MOST_ROOMS],
}

/// Generation 0 has been let in, and 3, the one before it.
const LET_IN: [u64; 2] = [0, 0b10];

/// What the words of a room are called where a run is drawn.
const NAMES: [[(&str, &str); 2]; MOST_ROOMS] = [
    [("even gate 0", "even given up 0"), ("odd gate 0", "odd given up 0")],
    [("even gate 1", "even given up 1"), ("odd gate 1", "odd given up 1")],
    [("even gate 2", "even given up 2"), ("odd gate 2", "odd given up 2")],
];

/// `given_up` when nothing is.
fn nothing_given_up(generation: u64) -> u32 {
    generation as u32
}

impl Packed {
    pub(crate) fn new(plan: Plan) -> Self {
        let Plan { rooms, with_exit_code, joined, patience, limit, counting } = plan;
        assert!(rooms <= MOST_ROOMS, "{rooms} rooms do not fit into a word");
        let room = |number: usize| Room::new(number, with_exit_code >> number & 1 == 1, joined);
        Self {
            word: CachePadded::new(AtomicU64::new(0)),
            batch: CachePadded::new(Batch::new()),
            joins: CachePadded::new(AtomicU32::new(0)),
            batches: CachePadded::default(),
            rooms: std::array::from_fn(room),
            count: rooms,
            patience,
            limit: limit.min(LIMIT),
            processors: thread::available_parallelism() as u64,
            counting,
        }
    }

    /// Says what lies where; it stays there.
    pub(crate) fn describe(&self) {
        trace::structure(self, "rooms");
        self.describe_parts();
    }

    /// The same where the rooms are part of a structure.
    pub(super) fn describe_parts(&self) {
        let lanes = [self.count, LANE, COUNT_BITS].map(|number| number as u32);
        let role = Role::Tickets { rooms: lanes[0], lane: lanes[1], bits: lanes[2] };
        trace::part(&*self.word, "tickets", role);
        trace::part(&self.batch.left, "batch", Role::Number);
        let rooms = self.rooms[..self.count].iter().zip(&self.batch.given_up);
        for ((room, given_up), names) in rooms.zip(&NAMES) {
            for ((gate, given_up), (open, many)) in room.gates.iter().zip(given_up).zip(names) {
                trace::part(&gate.open, open, Role::Number);
                trace::part(given_up, many, Role::Number);
            }
        }
    }

    fn gate(&self, room: usize, generation: u64) -> &Gate {
        &self.rooms[room].gates[parity(generation)]
    }

    fn given_up(&self, room: usize, generation: u64) -> &AtomicU32 {
        &self.batch.given_up[room][parity(generation)]
    }

    /// `word` with one more inside `room`, if one can go in without a ticket.
    #[inline]
    fn admits(&self, word: u64, room: usize) -> Option<u64> {
        let inside = inside(word);
        if inside == 0 {
            let alone = word & (ONE_INSIDE - 1) | self.rooms[room].alone;
            return (word & TICKETS == 0).then_some(alone);
        }
        let joined = self.rooms[room].joined && word >> OPEN == room as u64 && inside < LIMIT;
        (joined && (word & TICKETS == 0 || self.is_passed(word))).then(|| word + ONE_INSIDE)
    }

    /// Whether nobody waits, for all tickets were given up, or who waits is passed by one more: it sleeps, where not all can run. One who is
    /// beaten to it is counted, too.
    #[cold]
    fn is_passed(&self, word: u64) -> bool {
        let is_more = |joins: u32| joins as i32 > 0;
        if (0..self.count).all(|room| count(word, room) <= self.given_up_in(word, room)) {
            return true;
        }
        // hint: how many, about; a batch is one in the word.
        self.outstanding_in(word) + u64::from(self.batch.left.load(Relaxed)) > self.processors
            // hint: about as many as are allowed to.
            && is_more(self.joins.load(Relaxed))
            // hint: as above.
            && is_more(self.joins.fetch_sub(1, Relaxed))
    }

    /// How many of the tickets of `room` were given up.
    fn given_up_in(&self, word: u64, room: usize) -> u64 {
        let target = next(generation(word, room));
        // hint: who adopts one meanwhile waits, and is passed by those who have looked before.
        let given_up = self.given_up(room, target).load(Relaxed);
        if given_up & TAG == nothing_given_up(target) { u64::from(given_up / (TAG + 1)) } else { 0 }
    }

    /// How many are inside or wait; a batch is one.
    fn outstanding_in(&self, word: u64) -> u64 {
        inside(word) + (0..self.count).map(|room| count(word, room)).sum::<u64>()
    }

    /// Goes inside `room` where nobody is and nobody waits, as `word` has it. Not inside: what the word was last.
    #[inline]
    fn go_in_alone(&self, room: usize, word: u64) -> Result<Taken, u64> {
        if inside(word) > 0 || word & TICKETS > 0 {
            return Err(word);
        }
        let alone = word & (ONE_INSIDE - 1) | self.rooms[room].alone;
        // idle: all that the last batch did. On failure nothing is read.
        self.word.compare_exchange(word, alone, Acquire, Relaxed).map(|_| Taken::Inside)
    }

    /// Goes inside `room` without a ticket, as long as nobody has one. `word` is what the word was a moment ago, and `tries` how often that is
    /// tried; who looks `on` does so too when it cannot be joined now. Not inside: what the word was last.
    #[inline]
    fn go_in(&self, room: usize, mut word: u64, tries: usize, on: bool) -> Result<Taken, u64> {
        let backoff = Backoff::new();
        for _ in 0..tries {
            if let Some(entered) = self.admits(word, room) {
                // idle: all that the last batch did. On failure nothing is read.
                match self.word.compare_exchange(word, entered, Acquire, Relaxed) {
                    Ok(_) if inside(word) == 0 => return Ok(Taken::Inside),
                    Ok(_) => return Ok(Taken::Joined),
                    Err(now) => word = now,
                }
            } else if on && word & TICKETS == 0 && inside(word) < self.processors {
                backoff.spin();
                // hint: as above.
                word = self.word.load(Relaxed);
            } else {
                break;
            }
        }
        Err(word)
    }

    /// Looks for a while whether it can go inside `room` without a ticket, and takes one. `word` is what the word was a moment ago.
    #[inline(never)]
    fn look_on(&self, room: usize, word: u64) -> Result<Taken, EnterError> {
        let looks = LOOKS.min(machine::looks());
        let (tries, on) = (looks.max(1), looks > 0);
        // What the word was is told: to ask for it again takes it from those who leave.
        self.go_in(room, word, tries, on).or_else(|word| self.queue_up(room, word))
    }

    /// Takes a ticket. `word` is what the word was a moment ago: a hint where to look, and a limit with room for those who are slow.
    #[inline(never)]
    fn queue_up(&self, room: usize, word: u64) -> Result<Taken, EnterError> {
        // While there are few nobody need look for tickets that were given up, which takes a line from those who leave.
        if count(word, room) >= self.limit / 2 {
            if let Some(ticket) = self.adopt(room, next(generation(word, room))) {
                return Ok(Taken::Ticket(ticket));
            }
            if count(word, room) >= self.limit {
                return Err(EnterError::TooManyWaiters);
            }
        }
        // idle: who finds it idle opens, and sees all that the last batch did. Who does not sees what this gate
        // showed last, so that it is not taken for what it showed four generations ago.
        let old = self.word.fetch_add(tickets(1, room), Acquire);
        if count(old, room) > OVERFLOW {
            abort();
        }
        if old & TICKETS == 0 && inside(old) == 0 {
            // Our own ticket was not given up.
            let _ = self.open(room, old + tickets(1, room));
        }
        Ok(Taken::Ticket(next(generation(old, room))))
    }

    /// Takes a ticket for `target` that somebody gave up.
    fn adopt(&self, room: usize, target: u64) -> Option<u64> {
        let given_up = self.given_up(room, target);
        // hint: the exchange decides.
        let mut word = given_up.load(Relaxed);
        while word & TAG == nothing_given_up(target) && word > TAG {
            // given: what its first holder knew of the gate. On failure nothing is read.
            match given_up.compare_exchange(word, word - (TAG + 1), Acquire, Relaxed) {
                Ok(_) => return Some(target),
                Err(now) => word = now,
            }
        }
        None
    }
}

impl Form for Packed {
    #[inline]
    fn take(&self, room: usize) -> Result<Taken, EnterError> {
        // hint: the exchange decides.
        let word = self.word.load(Relaxed);
        // Who is beaten to it has a ticket the next moment.
        self.go_in(room, word, 1, false).or_else(|word| self.queue_up(room, word))
    }

    #[inline]
    fn take_in_time(&self, room: usize) -> Result<Taken, EnterError> {
        // hint: the exchange decides.
        let word = self.word.load(Relaxed);
        self.go_in_alone(room, word).or_else(|word| self.look_on(room, word))
    }

    #[inline]
    fn try_take(&self, room: usize) -> Result<Taken, EnterError> {
        // hint: the exchange decides.
        let word = self.word.load(Relaxed);
        self.go_in(room, word, usize::MAX, false).map_err(|_| EnterError::WouldBlock)
    }

    #[inline]
    fn is_good(&self, room: usize, ticket: u64) -> bool {
        // open: all that earlier batches did.
        u64::from(self.gate(room, ticket).open.load(Acquire)) == ticket
    }

    fn give_up(&self, room: usize, ticket: u64) -> bool {
        let given_up = self.given_up(room, ticket);
        // hint: the exchange decides.
        let mut word = given_up.load(Relaxed);
        while word & TAG == nothing_given_up(ticket) {
            // given: for who adopts it. On failure nothing is read.
            match given_up.compare_exchange(word, word + TAG + 1, Release, Relaxed) {
                Ok(_) => return true,
                Err(now) => word = now,
            }
        }
        false
    }

    #[inline]
    fn leave(&self, room: usize, taken: Taken, mut close: impl FnMut(usize)) {
        // left: all that those of the batch did who have left, and what we did for the last one.
        if matches!(taken, Taken::Ticket(_)) && self.batch.left.fetch_sub(1, AcqRel) != 1 {
            return;
        }
        if self.rooms[room].has_exit_code {
            close(room);
        }
        // left: all that those did who have left, and what we did for the last one; or, idle, for who finds it so.
        let word = self.word.fetch_sub(ONE_INSIDE, AcqRel) - ONE_INSIDE;
        if inside(word) == 0 && word & TICKETS != 0 {
            self.hand_over(room, word);
        }
    }

    fn sleepers(&self, room: usize, ticket: u64) -> &Sleepers {
        &self.rooms[room].sleepers[parity(ticket)]
    }

    fn sleeper(&self, ticket: u64) -> Sleeper {
        Sleeper::new(ticket, None)
    }

    fn counts(&self) -> Counts {
        let sleepers = self.rooms.iter().flat_map(|room| room.sleepers.iter());
        self.batches.counts(sleepers.map(Sleepers::slept).sum())
    }

    fn processors(&self) -> u64 {
        self.processors
    }

    fn outstanding(&self) -> u64 {
        // hint: how many, about.
        self.outstanding_in(self.word.load(Relaxed))
    }
}

impl Batch {
    fn new() -> Self {
        let given_up = || LET_IN.map(|open| AtomicU32::new(nothing_given_up(after_next(open))));
        Self { left: AtomicU32::new(0), given_up: std::array::from_fn(|_| given_up()) }
    }
}

impl Room {
    fn new(number: usize, has_exit_code: bool, joined: bool) -> Self {
        Self {
            gates: CachePadded::new(LET_IN.map(|open| Gate { open: AtomicU32::new(open as u32) })),
            sleepers: CachePadded::default(),
            alone: ((number as u64) << OPEN) + ONE_INSIDE,
            has_exit_code,
            joined: joined && !has_exit_code,
        }
    }
}

impl fmt::Debug for Packed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // stat: a snapshot for humans.
        let word = self.word.load(Relaxed);
        f.debug_list().entries((0..self.count).map(|room| count(word, room))).finish()
    }
}

#[cfg(test)]
mod tests;
