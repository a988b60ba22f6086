//! Entering without blocking a thread.
//!
//! The ticket is taken at the first poll. A future that is dropped gives it up, or, if the room has opened for it, leaves as
//! if it had been inside. Nobody depends on when it is polled: who opens a room wakes every task that it opens for.

use super::form::{Form, Taken};
use super::guard::Stay;
use super::sleepers::{Sleeper, Wake};
use super::{EnterError, Rooms, wait};
use crate::panics::go_on;
use std::fmt;
use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Enters a room; see [`Rooms::enter_async`].
#[must_use = "a future does nothing until it is polled"]
pub struct Enter<'a> {
    rooms: &'a Rooms,
    room: usize,
    state: State<'a>,
}

/// Being inside a room, as [`Guard`](super::Guard) is, on whichever thread.
///
/// ```
/// # use std::{future::Future, pin::pin, task::{Context, Poll, Waker}};
/// let rooms = cantina::rooms::Rooms::new(2);
/// let mut entering = pin!(rooms.enter_async(1));
/// // An executor does this.
/// let Poll::Ready(Ok(guard)) = entering.as_mut().poll(&mut Context::from_waker(Waker::noop()))
/// else {
///     panic!("nobody is inside");
/// };
/// std::thread::scope(|scope| {
///     scope.spawn(move || drop(guard));
/// });
/// ```
#[must_use = "the room is left when the guard is dropped"]
pub struct AsyncGuard<'a> {
    stay: Stay<'a>,
}

enum State<'a> {
    /// Not polled yet. Whoever changes rooms is inside the old one.
    New(Option<AsyncGuard<'a>>),
    Waiting {
        ticket: u64,
        sleeper: Sleeper,
    },
    Done,
}

impl<'a> Enter<'a> {
    pub(super) fn new(rooms: &'a Rooms, room: usize) -> Self {
        Self { rooms, room, state: State::New(None) }
    }

    /// Takes the ticket, before a room is left.
    fn begin(&self, from: Option<AsyncGuard<'a>>) -> Result<Taken, EnterError> {
        match from {
            Some(mut from) => from.stay.exchange(self.room),
            None => {
                self.rooms.check(self.room)?;
                let taken = self.rooms.form.take(self.room)?;
                self.rooms.came(taken);
                Ok(taken)
            }
        }
    }

    fn is_good(&self, ticket: u64) -> bool {
        self.rooms.form.is_good(self.room, ticket)
    }

    /// Is not among the sleepers any more.
    fn get_up(&self, ticket: u64, sleeper: Sleeper) {
        let sleepers = self.rooms.form.sleepers(self.room, ticket);
        sleepers.remove(sleeper, |ticket| self.is_good(ticket));
    }

    /// The ticket that it is inside with. If it is not, the task is woken when it can be.
    fn poll_ticket(&mut self, cx: &Context<'_>) -> Poll<u64> {
        let (rooms, room) = (self.rooms, self.room);
        let State::Waiting { ticket, sleeper } = &mut self.state else {
            unreachable!("it has a ticket")
        };
        let ticket = *ticket;
        if !rooms.form.is_good(room, ticket) {
            let wake = Wake::Task(cx.waker().clone());
            rooms.form.sleepers(room, ticket).add(sleeper, wake);
            if !rooms.form.is_good(room, ticket) {
                return Poll::Pending;
            }
        }
        let sleeper = *sleeper;
        self.state = State::Done;
        self.get_up(ticket, sleeper);
        Poll::Ready(ticket)
    }

    /// Being inside, where it came with `taken`.
    fn arrived(&self, taken: Taken) -> AsyncGuard<'a> {
        AsyncGuard { stay: Stay::new(self.rooms, self.room, taken) }
    }
}

impl<'a> Future for Enter<'a> {
    type Output = Result<AsyncGuard<'a>, EnterError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match mem::replace(&mut self.state, State::Done) {
            State::New(from) => match self.begin(from)? {
                Taken::Ticket(ticket) => {
                    let sleeper = self.rooms.form.sleeper(ticket);
                    self.state = State::Waiting { ticket, sleeper };
                }
                inside => return Poll::Ready(Ok(self.arrived(inside))),
            },
            State::Done => panic!("polled after it was ready"),
            waiting @ State::Waiting { .. } => self.state = waiting,
        }
        self.poll_ticket(cx).map(|ticket| Ok(self.arrived(Taken::Ticket(ticket))))
    }
}

impl Drop for Enter<'_> {
    fn drop(&mut self) {
        if let State::Waiting { ticket, sleeper } = mem::replace(&mut self.state, State::Done) {
            self.get_up(ticket, sleeper);
            if !wait::gives_up(&self.rooms.form, self.room, ticket) {
                // Leaves as who was inside does, and panics as a guard would.
                go_on(self.rooms.leave(self.room, Taken::Ticket(ticket)));
            }
        }
    }
}

impl<'a> AsyncGuard<'a> {
    /// The number of the room.
    pub fn room(&self) -> usize {
        self.stay.room()
    }

    /// Leaves, and enters `room`: the ticket is taken at the first poll, before it leaves. Until then it is inside.
    ///
    /// # Errors
    /// As [`Rooms::enter`]; it is in no room then.
    ///
    /// # Panics
    /// The future does, when exit code does.
    pub fn change_to(self, room: usize) -> Enter<'a> {
        Enter { rooms: self.stay.rooms(), room, state: State::New(Some(self)) }
    }
}

impl fmt::Debug for Enter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match self.state {
            State::New(_) => "new",
            State::Waiting { .. } => "waiting",
            State::Done => "done",
        };
        f.debug_struct("Enter").field("room", &self.room).field("state", &state).finish()
    }
}

impl fmt::Debug for AsyncGuard<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AsyncGuard").field(&self.room()).finish()
    }
}
