//! As many rooms as wanted.
//!
//! Each room counts the tickets that were `taken`, up to which it was `opened`, and how many have `left`; `total` counts
//! the tickets of all rooms that belong to no batch that has ended. Whoever moves it away from 0 opens a room; whoever
//! ends a batch subtracts it, and opens the next room if anything remains. So there is always one who is responsible, or
//! an open batch, or nothing to do.
//!
//! A ticket is taken first and counted in `total` second: then whoever is responsible finds it. One that is not counted
//! yet may be let in early; it is counted before its holder can leave, and so before its batch is subtracted.
//!
//! # Giving up
//! Tickets that were given up are kept by their number, and the next who comes adopts one. Those that nobody adopted
//! leave when their batch opens, by the hand of whoever opened it. He may be slow, and meanwhile other batches come and
//! go: so he asks for those up to his own batch's end, and the numbers never come round.

use super::EnterError;
use super::form::{Form, Setup, Taken};
use super::metrics::{Batches, Counts};
use super::sleepers::{Sleeper, Sleepers};
use machine::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use machine::atomic::{AtomicBool, AtomicU64};
use machine::lock::Mutex;
use machine::trace::{self, Role};
use machine::{CachePadded, fence, thread};
use std::collections::BTreeSet;
use std::fmt;

/// The most tickets at once.
pub(super) const LIMIT: u64 = 1 << 31;

/// As many rooms as wanted.
pub(super) struct Counted {
    /// Tickets of batches that have not ended.
    total: CachePadded<AtomicU64>,
    /// How many tickets the open batch has.
    batch: CachePadded<AtomicU64>,
    rooms: Box<[Room]>,
    limit: u64,
    processors: u64,
    /// Where the tickets begin.
    start: u64,
    /// If that is counted.
    batches: Option<CachePadded<Batches>>,
}

struct Room {
    /// The last ticket that was taken.
    taken: CachePadded<AtomicU64>,
    door: CachePadded<Door>,
    /// The number of tickets whose holders have left.
    left: CachePadded<AtomicU64>,
    sleepers: CachePadded<Sleepers>,
    /// By their distance from the start.
    given_up: Mutex<BTreeSet<u64>>,
}

struct Door {
    /// The last ticket that is good.
    open: AtomicU64,
    /// Whether tickets were given up; written under the lock.
    some_given_up: AtomicBool,
}

/// How a batch is that was opened.
enum Opened {
    /// Somebody of it is inside, or will close it.
    Open,
    /// All of it have left. If nobody was inside there is nothing to close.
    Ended { somebody_was_inside: bool },
}

impl Counted {
    pub(super) fn new(setup: Setup) -> Self {
        let Setup { rooms, limit, start, counting, .. } = setup;
        Self {
            total: CachePadded::new(AtomicU64::new(0)),
            batch: CachePadded::new(AtomicU64::new(0)),
            rooms: (0..rooms).map(|_| Room::new(start)).collect(),
            limit: limit.min(LIMIT),
            processors: thread::available_parallelism() as u64,
            start,
            batches: counting.then(CachePadded::default),
        }
    }

    /// Says what lies where; it stays there.
    pub(super) fn describe(&self) {
        trace::structure(self, "rooms");
        trace::part(&*self.total, "total", Role::Number);
        trace::part(&*self.batch, "batch", Role::Number);
        for room in &self.rooms {
            trace::node(room, "room");
            trace::part(&*room.taken, "taken", Role::Number);
            trace::part(&room.door.open, "open", Role::Number);
            trace::part(&*room.left, "left", Role::Number);
        }
    }

    /// The place of `ticket` among all.
    fn place(&self, ticket: u64) -> u64 {
        ticket.wrapping_sub(self.start)
    }

    fn is_up_to(&self, ticket: u64, last: u64) -> bool {
        self.place(ticket) <= self.place(last)
    }

    /// Opens `room`, for which there are tickets, of which `own` are the opener's; only whoever is responsible does.
    fn open(&self, room: usize, own: u64) -> Opened {
        let Room { taken, door, left, sleepers, .. } = &self.rooms[room];
        // taken: at least all that were counted.
        let last = taken.load(Relaxed);
        // own: only who opens writes it.
        let size = last.wrapping_sub(door.open.load(Relaxed));
        // open: comes before it.
        self.batch.store(size, Relaxed);
        // open: all that earlier batches did.
        door.open.store(last, Release);
        // given: the room is open, then who has given up.
        // asleep: and who sleeps.
        fence::full();
        // given: behind the fence.
        let gone = if door.some_given_up.load(Relaxed) { self.collect(room, last) } else { 0 };
        if let Some(batches) = &self.batches {
            batches.opened(size - gone - own);
        }
        // left: as in `leave`, on behalf of those who gave up, and so have done nothing.
        if gone > 0 && left.fetch_add(gone, Acquire).wrapping_add(gone) == last {
            return Opened::Ended { somebody_was_inside: gone < size };
        }
        // Nothing is left to do for this batch: who is woken may come, leave and wait for it to end before we are back.
        sleepers.look(|ticket| self.is_good(room, ticket));
        Opened::Open
    }

    /// Takes the tickets up to `last` out of those that were given up. How many there were.
    #[cold]
    fn collect(&self, room: usize, last: u64) -> u64 {
        let mut given_up = self.rooms[room].given_up.lock();
        let later = given_up.split_off(&(self.place(last) + 1));
        let gone = std::mem::replace(&mut *given_up, later).len();
        self.rooms[room].tell(&given_up);
        gone as u64
    }

    /// Takes a ticket that somebody gave up and that is not good yet.
    #[cold]
    fn adopt(&self, room: usize) -> Option<u64> {
        let mut given_up = self.rooms[room].given_up.lock();
        // hint: a ticket that has become good meanwhile is as good.
        let open = self.rooms[room].door.open.load(Relaxed);
        let place = *given_up.range(self.place(open) + 1..).next()?;
        given_up.remove(&place);
        self.rooms[room].tell(&given_up);
        Some(self.start.wrapping_add(place))
    }

    /// Ends the batch of `room`, and opens the next.
    #[inline(never)]
    fn hand_over(&self, mut room: usize, mut close: impl FnMut(usize)) {
        loop {
            // own: written when it was opened, read by who closes it.
            let batch = self.batch.load(Relaxed);
            // idle: all that this batch did, and those before.
            // taken: those that are counted.
            if self.total.fetch_sub(batch, AcqRel) == batch {
                return;
            }
            let rooms = self.rooms.len();
            let mut after = (1..=rooms).map(|step| (room + step) % rooms);
            let waiting = after.find(|room| self.rooms[*room].has_tickets());
            room = waiting.expect("a ticket that is counted can be seen");
            match self.open(room, 0) {
                Opened::Open => return,
                Opened::Ended { somebody_was_inside: true } => close(room),
                Opened::Ended { somebody_was_inside: false } => {}
            }
        }
    }
}

impl Form for Counted {
    fn take(&self, room: usize) -> Result<Taken, EnterError> {
        let Room { taken, door, .. } = &self.rooms[room];
        // hint: who does not see one takes one more.
        let some_given_up = door.some_given_up.load(Relaxed);
        if let Some(ticket) = some_given_up.then(|| self.adopt(room)).flatten() {
            return Ok(Taken::Ticket(ticket));
        }
        // hint: a limit with room for those who are slow.
        if self.total.load(Relaxed) >= self.limit {
            return Err(EnterError::TooManyWaiters);
        }
        // taken: `total` makes it seen.
        let ticket = taken.fetch_add(1, Relaxed).wrapping_add(1);
        // idle: who finds it idle opens, and sees all that the last batch did.
        // taken: who subtracts the open batch and finds it counted sees it.
        if self.total.fetch_add(1, AcqRel) > 0 {
            return Ok(Taken::Ticket(ticket));
        }
        // Our own ticket was not given up: it has not ended.
        let _ = self.open(room, 1);
        Ok(Taken::Inside)
    }

    fn try_take(&self, room: usize) -> Result<Taken, EnterError> {
        // idle: we open, and see all that the last batch did. On failure nothing is read.
        // Counted before it is taken: only we are responsible, and nobody looks for it.
        if self.total.compare_exchange(0, 1, Acquire, Relaxed).is_err() {
            return Err(EnterError::WouldBlock);
        }
        // taken: ours, so we see it.
        self.rooms[room].taken.fetch_add(1, Relaxed);
        let _ = self.open(room, 1);
        Ok(Taken::Inside)
    }

    fn is_good(&self, room: usize, ticket: u64) -> bool {
        // open: all that earlier batches did.
        self.is_up_to(ticket, self.rooms[room].door.open.load(Acquire))
    }

    fn give_up(&self, room: usize, ticket: u64) -> bool {
        let mut given_up = self.rooms[room].given_up.lock();
        // given: the fence makes it seen.
        self.rooms[room].door.some_given_up.store(true, Relaxed);
        // given: that somebody has given up, then whether the room is open.
        fence::full();
        let too_late = self.is_good(room, ticket);
        if !too_late {
            given_up.insert(self.place(ticket));
        }
        self.rooms[room].tell(&given_up);
        !too_late
    }

    #[inline]
    fn leave(&self, room: usize, _taken: Taken, mut close: impl FnMut(usize)) {
        // own: while we are inside it does not change. Later it may, and come round to what we left with.
        let last = self.rooms[room].door.open.load(Relaxed);
        // left: all that those did who have left, and what we did for the last one.
        if self.rooms[room].left.fetch_add(1, AcqRel).wrapping_add(1) != last {
            return;
        }
        close(room);
        self.hand_over(room, close);
    }

    fn sleepers(&self, room: usize, _ticket: u64) -> &Sleepers {
        &self.rooms[room].sleepers
    }

    fn sleeper(&self, ticket: u64) -> Sleeper {
        Sleeper::new(ticket, Some(self.place(ticket)))
    }

    fn counts(&self) -> Counts {
        let sleeps = self.rooms.iter().map(|room| room.sleepers.slept()).sum();
        self.batches.as_ref().map_or(Counts::default(), |batches| batches.counts(sleeps))
    }

    fn processors(&self) -> u64 {
        self.processors
    }

    fn outstanding(&self) -> u64 {
        // hint: how many, about. Of the batch that is open many have left. It comes first: one that has ended counts in neither or in both.
        let batch = self.batch.load(Relaxed);
        // hint: as above.
        let total = self.total.load(Relaxed);
        total.saturating_sub(batch) + 1
    }
}

impl Room {
    fn new(start: u64) -> Self {
        let counter = || CachePadded::new(AtomicU64::new(start));
        let door = Door { open: AtomicU64::new(start), some_given_up: AtomicBool::new(false) };
        Self {
            taken: counter(),
            door: CachePadded::new(door),
            left: counter(),
            sleepers: CachePadded::default(),
            given_up: Mutex::default(),
        }
    }

    fn has_tickets(&self) -> bool {
        // taken: at least all that were counted.
        let taken = self.taken.load(Relaxed);
        // own: only who is responsible writes it.
        taken != self.door.open.load(Relaxed)
    }

    fn tell(&self, given_up: &BTreeSet<u64>) {
        // given: under the lock, for those who take it.
        self.door.some_given_up.store(!given_up.is_empty(), Relaxed);
    }
}

impl fmt::Debug for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let outstanding = |room: &Room| {
            // stat: a snapshot for humans.
            room.taken.load(Relaxed).wrapping_sub(room.left.load(Relaxed))
        };
        f.debug_list().entries(self.rooms.iter().map(outstanding)).finish()
    }
}
