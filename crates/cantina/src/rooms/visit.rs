//! What the structures that are made of rooms have in common: places for tasks, and a stay in a room.

use super::form::{Form, Taken};
use super::packed::{LIMIT, Packed, Plan};
use super::wait;
use machine::cell::UnsafeCell;
use machine::thread;
use machine::trace;
use std::mem::MaybeUninit;

/// The room of those who put.
pub(super) const PUT: usize = 0;
/// The room of those who get.
pub(super) const GET: usize = 1;
/// How many rooms that is.
pub(super) const BOTH: usize = 2;

/// How many put or get although others wait to do the opposite, each time that they have their turn: while those who sleep wake
/// up the others go on.
const PATIENCE: u32 = 2048;

/// What the rooms of a structure are like that has no exit code: who puts while others put goes in, if nobody waits or for a while, and who
/// gets likewise.
pub(super) fn joined() -> Plan {
    // Where schedules are tried it comes to an end soon.
    let patience = if machine::looks() > 0 { PATIENCE } else { 1 };
    let (limit, counting) = (LIMIT, false);
    Plan { rooms: BOTH, with_exit_code: 0, joined: true, patience, limit, counting }
}

/// Being inside a room. Dropped, it leaves, also when the holder unwinds; `close` is the exit code where the room has one, and does not
/// unwind.
pub(super) struct Visit<'a, C: FnMut()> {
    rooms: &'a Packed,
    room: usize,
    taken: Taken,
    close: C,
}

/// A place for a task.
pub(super) struct Slot<T> {
    task: UnsafeCell<MaybeUninit<T>>,
}

impl<'a, C: FnMut()> Visit<'a, C> {
    /// Enters.
    #[inline]
    pub(super) fn new(rooms: &'a Packed, room: usize, close: C) -> Self {
        // Too many wait, which says neither that there is room for a task nor that there is one.
        loop {
            match wait::enter(rooms, room) {
                Ok(taken) => return Self { rooms, room, taken, close },
                Err(_) => thread::yield_now(),
            }
        }
    }
}

impl<C: FnMut()> Drop for Visit<'_, C> {
    #[inline]
    fn drop(&mut self) {
        self.rooms.leave(self.room, self.taken, |_| (self.close)());
    }
}

impl<T> Slot<T> {
    pub(super) fn new() -> Self {
        Self { task: UnsafeCell::new(MaybeUninit::uninit()) }
    }

    /// Puts `task` here.
    ///
    /// # Safety
    /// Nobody else reaches the place meanwhile. A task that is here is forgotten.
    #[inline]
    pub(super) unsafe fn write(&self, task: T) {
        // SAFETY: the caller's.
        self.task.with_mut(|place| unsafe { (*place).write(task) });
    }

    /// Moves the task out.
    ///
    /// # Safety
    /// A task was put here and not taken since, and nobody else reaches the place meanwhile.
    #[inline]
    pub(super) unsafe fn take(&self) -> T {
        trace::gone(self);
        // SAFETY: the caller's.
        self.task.with(|place| unsafe { (*place).assume_init_read() })
    }
}
