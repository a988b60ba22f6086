//! What both forms of rooms have in common: tickets, and somebody who opens.

use super::EnterError;
use super::counted::{self, Counted};
use super::lanes::MOST_ROOMS;
use super::metrics::Counts;
use super::packed::{Packed, Plan};
use super::sleepers::{Sleeper, Sleepers};

/// What somebody has who came to a room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a ticket that is not used keeps its room open for ever"]
pub(crate) enum Taken {
    /// A place inside.
    Inside,
    /// A place inside, beside others who were there.
    Joined,
    /// A ticket: what the room has to show to let its holder in.
    Ticket(u64),
}

/// Rooms without exit code of their own: `close` is the exit code, called with the number of the room, by
/// the one thread that may run it, before any room opens. It must not unwind.
///
/// Whoever is inside a room, by [`take`](Self::take) or because its ticket [is good](Self::is_good), calls
/// [`leave`](Self::leave) once, or everybody else waits for ever.
pub(crate) trait Form {
    /// Takes a ticket for `room`.
    fn take(&self, room: usize) -> Result<Taken, EnterError>;

    /// The same for who may wait: it looks for a moment whether it can go inside without a ticket, as long as nobody waits.
    fn take_in_time(&self, room: usize) -> Result<Taken, EnterError> {
        self.take(room)
    }

    /// Goes inside if nobody is inside anywhere or waits, or if those inside may be joined.
    fn try_take(&self, room: usize) -> Result<Taken, EnterError>;

    /// Whether the room is open for the holder of `ticket`, who is inside from then on.
    fn is_good(&self, room: usize, ticket: u64) -> bool;

    /// Gives `ticket` back. Not so if the room opens for it: `false`, and [`is_good`](Self::is_good) is true
    /// now or in a moment.
    #[must_use = "false: the holder is inside"]
    fn give_up(&self, room: usize, ticket: u64) -> bool;

    /// Leaves `room`, where it has come with `taken`. The last one of a batch closes it and opens the next.
    fn leave(&self, room: usize, taken: Taken, close: impl FnMut(usize));

    /// Where holders of `ticket` sleep.
    fn sleepers(&self, room: usize, ticket: u64) -> &Sleepers;

    /// The holder of `ticket`, to be put among the sleepers.
    fn sleeper(&self, ticket: u64) -> Sleeper;

    /// How many wait, about, and are inside; a batch is one, for those of it who have left do not count.
    fn outstanding(&self) -> u64;

    /// What is counted by who opens and who sleeps, where that is wanted.
    fn counts(&self) -> Counts;

    /// How many can run at once.
    fn processors(&self) -> u64;
}

/// Either form.
#[derive(Debug)]
pub(super) enum Either {
    Packed(Box<Packed>),
    Counted(Box<Counted>),
}

/// What a model or a test wants other than it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setup {
    pub(super) rooms: usize,
    /// Whether the form for many rooms is taken for few as well.
    pub(super) counted: bool,
    /// The most tickets at once, if less than what the form can have.
    pub(super) limit: u64,
    /// Where the tickets begin, if they are counted.
    pub(super) start: u64,
    /// Which of the first rooms have exit code, a bit for each.
    pub(super) with_exit_code: u8,
    /// Whether who comes to an open room without exit code, for which nobody waits, may go in.
    pub(super) joined: bool,
    /// Whether what happens is counted.
    pub(super) counting: bool,
}

impl Setup {
    /// So many rooms, as they usually are.
    pub(super) fn new(rooms: usize) -> Self {
        Self {
            rooms,
            counted: false,
            limit: counted::LIMIT,
            start: 0,
            with_exit_code: 0,
            joined: false,
            counting: false,
        }
    }
}

impl Either {
    pub(super) fn new(setup: Setup) -> Self {
        if setup.counted || setup.rooms > MOST_ROOMS {
            let counted = Box::new(Counted::new(setup));
            counted.describe();
            Self::Counted(counted)
        } else {
            let Setup { rooms, with_exit_code, joined, limit, counting, .. } = setup;
            let plan = Plan { rooms, with_exit_code, joined, patience: 0, limit, counting };
            let packed = Box::new(Packed::new(plan));
            packed.describe();
            Self::Packed(packed)
        }
    }
}

/// Calls the same method of whichever form it is.
macro_rules! whichever {
    ($self:ident, $form:ident => $call:expr) => {
        match $self {
            Either::Packed($form) => $call,
            Either::Counted($form) => $call,
        }
    };
}

impl Form for Either {
    #[inline]
    fn take(&self, room: usize) -> Result<Taken, EnterError> {
        whichever!(self, form => form.take(room))
    }

    #[inline]
    fn try_take(&self, room: usize) -> Result<Taken, EnterError> {
        whichever!(self, form => form.try_take(room))
    }

    #[inline]
    fn take_in_time(&self, room: usize) -> Result<Taken, EnterError> {
        whichever!(self, form => form.take_in_time(room))
    }

    #[inline]
    fn is_good(&self, room: usize, ticket: u64) -> bool {
        whichever!(self, form => form.is_good(room, ticket))
    }

    fn give_up(&self, room: usize, ticket: u64) -> bool {
        whichever!(self, form => form.give_up(room, ticket))
    }

    #[inline]
    fn leave(&self, room: usize, taken: Taken, close: impl FnMut(usize)) {
        whichever!(self, form => form.leave(room, taken, close))
    }

    fn sleepers(&self, room: usize, ticket: u64) -> &Sleepers {
        whichever!(self, form => form.sleepers(room, ticket))
    }

    fn sleeper(&self, ticket: u64) -> Sleeper {
        whichever!(self, form => form.sleeper(ticket))
    }

    fn outstanding(&self) -> u64 {
        whichever!(self, form => form.outstanding())
    }

    fn counts(&self) -> Counts {
        whichever!(self, form => form.counts())
    }

    fn processors(&self) -> u64 {
        whichever!(self, form => form.processors())
    }
}
