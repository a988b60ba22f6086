//! Being inside.

use super::form::{Form, Taken};
use super::{EnterError, Rooms, wait};
use crate::panics::go_on;
use machine::held::Held;
use machine::thread::panicking;
use machine::time::Duration;
use std::fmt;
use std::marker::PhantomData;

/// Being inside a room. Dropped, it leaves.
///
/// It stays on its thread:
///
/// ```compile_fail,E0277
/// let rooms = cantina::rooms::Rooms::new(2);
/// let guard = rooms.enter(0).unwrap();
/// std::thread::scope(|scope| {
///     scope.spawn(move || drop(guard));
/// });
/// ```
///
/// Dropping it runs exit code if it is the last one of its batch, and panics if that does, unless the thread unwinds already.
#[must_use = "the room is left when the guard is dropped"]
pub struct Guard<'a> {
    /// Not so after a panic between two rooms. Before `stay`: who leaves may run others, as it wakes them, and these may enter.
    held: Option<Held>,
    stay: Stay<'a>,
    stays_here: PhantomData<*const ()>,
}

/// Somebody's stay in the rooms.
pub(super) struct Stay<'a> {
    rooms: &'a Rooms,
    room: usize,
    /// What it came with, if it is inside. Not so after a panic between two rooms.
    inside: Option<Taken>,
    /// Whether its thread was unwinding when it came.
    came_unwinding: bool,
}

impl<'a> Guard<'a> {
    #[inline]
    pub(super) fn new(rooms: &'a Rooms, room: usize, taken: Taken) -> Self {
        let held = Some(Held::new(&rooms.key));
        Self { held, stay: Stay::new(rooms, room, taken), stays_here: PhantomData }
    }

    /// The number of the room.
    pub fn room(&self) -> usize {
        self.stay.room
    }

    /// Leaves, and enters `room`, for which it has a ticket before it leaves: if that room is the next to open it is in
    /// the batch. It may be the same room.
    ///
    /// # Errors
    /// As [`Rooms::enter`]; it is still inside the old room then.
    ///
    /// # Panics
    /// When exit code does. It is in no room then, and another `change_to` enters from outside. In debug builds also when this thread has another
    /// guard of these rooms, and would wait for itself.
    pub fn change_to(&mut self, room: usize) -> Result<(), EnterError> {
        let rooms = self.stay.rooms;
        let taken = self.exchange(room, None)?;
        if let Taken::Ticket(ticket) = taken {
            wait::wait(&rooms.form, room, ticket);
        }
        self.arrive(room, taken);
        Ok(())
    }

    /// Leaves, and enters `room` as [`change_to`](Self::change_to) does, but waits no longer than `timeout`.
    ///
    /// # Errors
    /// As [`Rooms::enter_timeout`]; it is in no room then.
    ///
    /// # Panics
    /// When exit code does. In debug builds also as [`Rooms::enter_timeout`].
    pub fn change_timeout(mut self, room: usize, timeout: Duration) -> Result<Self, EnterError> {
        let rooms = self.stay.rooms;
        let taken = self.exchange(room, Some(timeout))?;
        wait::arrive_within(&rooms.form, room, taken, timeout)?;
        self.arrive(room, taken);
        Ok(self)
    }

    /// As [`Stay::exchange`], for one who would wait so long. Its thread is in no room until it [arrives](Self::arrive), also where exit code
    /// panics; but on errors it stays where it is.
    fn exchange(&mut self, room: usize, most: Option<Duration>) -> Result<Taken, EnterError> {
        let taken = {
            // Until it has left: whom it wakes meanwhile, and runs, would wait for its ticket.
            let held = self.held.take();
            let taken = self.stay.exchange(room);
            if taken.is_err() {
                self.held = held;
            }
            taken?
        };
        self.stay.rooms.may_wait(room, taken, most);
        Ok(taken)
    }

    fn arrive(&mut self, room: usize, taken: Taken) {
        let rooms = self.stay.rooms;
        self.stay.arrive(room, taken);
        self.held = Some(Held::new(&rooms.key));
    }
}

impl<'a> Stay<'a> {
    #[inline]
    pub(super) fn new(rooms: &'a Rooms, room: usize, taken: Taken) -> Self {
        rooms.entered();
        let came_unwinding = rooms.poison.is_wanted() && panicking();
        Self { rooms, room, inside: Some(taken), came_unwinding }
    }

    /// Takes a ticket for `room`, then leaves the room it is in.
    pub(super) fn exchange(&mut self, room: usize) -> Result<Taken, EnterError> {
        self.rooms.check(room)?;
        let taken = self.rooms.form.take(room)?;
        self.rooms.came(taken);
        let Some(before) = self.inside.take() else { return Ok(taken) };
        let panic = self.rooms.leave(self.room, before);
        let goes_on = panic.is_some() && !panicking();
        if let (Taken::Ticket(ticket), true) = (taken, goes_on) {
            self.rooms.give_up(room, ticket);
        }
        go_on(panic);
        Ok(taken)
    }

    pub(super) fn arrive(&mut self, room: usize, taken: Taken) {
        self.rooms.entered();
        (self.room, self.inside) = (room, Some(taken));
    }

    pub(super) fn room(&self) -> usize {
        self.room
    }

    pub(super) fn rooms(&self) -> &'a Rooms {
        self.rooms
    }
}

impl Drop for Stay<'_> {
    #[inline]
    fn drop(&mut self) {
        let Some(taken) = self.inside else { return };
        if self.rooms.poison.is_wanted() && !self.came_unwinding && panicking() {
            self.rooms.poison.set();
        }
        go_on(self.rooms.leave(self.room, taken));
    }
}

impl fmt::Debug for Guard<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Guard").field(&self.stay.room).finish()
    }
}
