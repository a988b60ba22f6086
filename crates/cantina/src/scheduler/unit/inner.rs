//! What the handles of a unit share, and its turns.

use crate::scheduler::blocks;
use crate::scheduler::context::{self, quietly};
use crate::scheduler::counted::Counted;
use crate::scheduler::error::{Refused, WaitError};
use crate::scheduler::mailbox::{Mailbox, Message, Rest};
use crate::scheduler::metrics::{Stopwatch, UnitCounters};
use crate::scheduler::operation::caught;
use crate::scheduler::room::Room;
use crate::scheduler::run::{Header, Kind, Left, Run, Task, Turn};
use crate::scheduler::shared::Reference;
use crate::scheduler::slab;
use crate::scheduler::spans;
use crate::scheduler::unheard::Whose;
use machine::atomic::AtomicBool;
use machine::cell::UnsafeCell;
use std::mem;
use std::ptr::NonNull;

/// What a panic does to the state.
pub(super) enum OnPanic<S> {
    Poison,
    Keep,
    Rebuild(Box<dyn Fn() -> S + Send + Sync>),
}

/// What a unit is made of, beside its state.
pub(super) struct Parts<S> {
    pub(super) shared: Reference,
    pub(super) name: String,
    pub(super) capacity: Option<usize>,
    pub(super) timed: bool,
    pub(super) on_panic: OnPanic<S>,
}

/// What the handles of a unit share. Its task comes first: that is where a task leads to.
///
/// Then comes what senders use, and behind what seldom changes what the owner writes with each message: in another line
/// of a cache, wherever it begins.
#[repr(C)]
pub(in crate::scheduler) struct Inner<S: Send + 'static> {
    task: Header,
    mailbox: Mailbox<S>,
    pub(super) whose: Whose,
    /// For how many messages there is room.
    pub(super) room: Option<Box<Room>>,
    /// Whether there has ever been a weak one.
    pub(super) watched: AtomicBool,
    /// What senders have left.
    pub(super) slabs: slab::Left,
    on_panic: OnPanic<S>,
    rest: Rest,
    /// See I2.
    pub(super) counters: UnitCounters,
    /// How long its turns took, if somebody wants to know: the last owner adds to it when there is another one already.
    pub(super) busy: Option<Box<Stopwatch>>,
    /// See I2.
    poisoned: UnsafeCell<bool>,
    /// See I2. `None`: the last handle is gone.
    state: UnsafeCell<Option<S>>,
}

// SAFETY: I2: one thread at a time has the state.
unsafe impl<S: Send> Sync for Inner<S> {}
// SAFETY: as above.
unsafe impl<S: Send> Send for Inner<S> {}

impl<S: Send + 'static> Inner<S> {
    pub(super) fn new(state: S, parts: Parts<S>) -> Self {
        Self {
            room: parts.capacity.map(|capacity| Box::new(Room::new(capacity, parts.shared.fences))),
            task: Header::new(&Self::RUN, Kind::Unit),
            mailbox: Mailbox::new(),
            whose: Whose { shared: parts.shared, name: parts.name },
            slabs: slab::Left::new(),
            rest: Rest::new(),
            state: UnsafeCell::new(Some(state)),
            poisoned: UnsafeCell::new(false),
            on_panic: parts.on_panic,
            counters: UnitCounters::default(),
            busy: parts.timed.then(Box::default),
            watched: AtomicBool::new(false),
        }
    }

    const RUN: Run = Run { run: Self::run_turn, cancel: Self::cancel_turn };

    pub(in crate::scheduler) fn shared(&self) -> &Reference {
        &self.whose.shared
    }

    /// Waits for room, unless the caller is a worker: then it goes in without.
    pub(super) fn wait_for_room(&self) {
        match &self.room {
            None => {}
            Some(room) if context::is_worker() => room.enter(),
            Some(room) => room.wait(),
        }
    }

    /// Takes room if there is some.
    pub(super) fn has_room(&self) -> bool {
        self.room.as_ref().is_none_or(|room| room.try_enter())
    }

    /// Takes room for `operation`, if there is some and the runtime takes it.
    pub(super) fn admit<F>(&self, operation: F) -> Result<F, Refused<F>> {
        if self.whose.shared.refuses() {
            Err(Refused::Closed(operation))
        } else if !self.has_room() {
            Err(Refused::Full(operation))
        } else {
            Ok(operation)
        }
    }

    /// Takes room, be there some or not.
    pub(in crate::scheduler) fn enter(&self) {
        self.room.iter().for_each(|room| room.enter());
    }

    fn leave(&self) {
        self.room.iter().for_each(|room| room.leave());
    }

    /// Adds a message, which has its room, and makes a task of the unit if nobody owned it.
    ///
    /// # Safety
    /// As of [`Mailbox::post`].
    #[inline]
    pub(in crate::scheduler) unsafe fn post(this: &Counted<Self>, message: NonNull<Message<S>>) {
        // SAFETY: the caller's.
        if unsafe { this.mailbox.post(&this.rest, message) } {
            Self::schedule(this.clone());
        }
    }

    /// Makes a task of a unit that the caller owns.
    fn schedule(this: Counted<Self>) {
        let shared = &raw const this.whose.shared;
        // SAFETY: it comes first in the unit, which the task has a reference to; nobody else owns it.
        let task = unsafe { Task::new(Counted::into_raw(this).cast()) };
        // SAFETY: the reference to the unit is the task's.
        unsafe { Reference::schedule(shared, task) };
    }

    /// # Safety
    /// The task of such a unit, which the caller has.
    unsafe fn of_task(task: NonNull<Header>) -> Counted<Self> {
        // SAFETY: the caller's: made in `post`, or in `run_turn`.
        unsafe { Counted::from_raw(task.cast()) }
    }

    unsafe fn run_turn(task: NonNull<Header>, turn: &mut Turn<'_>) -> Option<Task> {
        // SAFETY: the caller's.
        let unit = unsafe { Self::of_task(task) };
        unit.counters.turn(turn.worker);
        let began = unit.busy.as_ref().map(|_| Stopwatch::now());
        let mut is_owned = true;
        while turn.done < turn.budget && !(turn.stops)(turn.done) {
            // SAFETY: the task is the ownership.
            let Some(message) = (unsafe { unit.mailbox.next(&unit.rest) }) else {
                is_owned = false;
                break;
            };
            // SAFETY: as above.
            turn.done += usize::from(unsafe { unit.run(message, turn.worker) });
        }
        if let (Some(busy), Some(began)) = (&unit.busy, began) {
            busy.add_since(began);
        }
        if !is_owned {
            return None;
        }
        // SAFETY: it is still owned, by the task that is given back.
        Some(unsafe { Task::new(Counted::into_raw(unit).cast()) })
    }

    unsafe fn cancel_turn(task: NonNull<Header>, left: &mut Left) {
        // SAFETY: the caller's.
        let unit = unsafe { Self::of_task(task) };
        let mut count = 0;
        // SAFETY: the task is the ownership.
        while let Some(message) = unsafe { unit.mailbox.next(&unit.rest) } {
            // SAFETY: as above.
            count += usize::from(unsafe { unit.fail(message) });
        }
        if count > 0 {
            left.units.push((unit.whose.name.clone(), count));
        }
    }

    /// Fails `message`. Whether it was an operation.
    ///
    /// # Safety
    /// The caller owns the mailbox, and has the message from there.
    unsafe fn fail(&self, message: NonNull<Message<S>>) -> bool {
        // SAFETY: the caller's.
        let Some(run) = (unsafe { message.as_ref() }).run else {
            // SAFETY: as above.
            unsafe { self.farewell(message) };
            return false;
        };
        quietly(|| {
            // SAFETY: as above.
            unsafe { run(message, Err(WaitError::Cancelled), &self.whose) };
        });
        self.leave();
        true
    }

    /// Runs `message` on the state. It does not panic. Whether it was an operation.
    ///
    /// # Safety
    /// The caller owns the mailbox, and has the message from there.
    unsafe fn run(&self, message: NonNull<Message<S>>, worker: usize) -> bool {
        // SAFETY: the caller's.
        let Some(run) = (unsafe { message.as_ref() }).run else {
            // SAFETY: as above.
            unsafe { self.farewell(message) };
            return false;
        };
        self.counters.message();
        let _span = spans::message(&self.whose.name, worker);
        // SAFETY: I2.
        let poisoned = self.poisoned.with(|poisoned| unsafe { *poisoned });
        // SAFETY: I2. A message may send to this unit, and does not run what it sends.
        let state = self.state.with_mut(|state| match unsafe { &mut *state } {
            Some(state) if !poisoned => Ok(state),
            Some(_) => Err(WaitError::Poisoned),
            None => Err(WaitError::Closed),
        });
        let mut panicked = false;
        // SAFETY: the caller's.
        quietly(|| panicked = unsafe { run(message, state, &self.whose) });
        self.leave();
        if panicked {
            // SAFETY: the caller's.
            unsafe { self.after_a_panic() };
        }
        true
    }

    /// The last handle is gone: so goes the state, though a weak one is left.
    ///
    /// # Safety
    /// As of [`run`](Self::run), and the message is [such a one](crate::scheduler::message::farewell).
    unsafe fn farewell(&self, message: NonNull<Message<S>>) {
        // SAFETY: the caller's: it is a block.
        unsafe { blocks::free(message) };
        // SAFETY: I2.
        let state = self.state.with_mut(|state| unsafe { (*state).take() });
        quietly(|| drop(state));
    }

    /// # Safety
    /// As of [`run`](Self::run).
    unsafe fn after_a_panic(&self) {
        let mut made = None;
        let poisons = match &self.on_panic {
            OnPanic::Keep => false,
            OnPanic::Poison => true,
            OnPanic::Rebuild(make) => {
                let ran = caught(|| {
                    made = Some(make());
                    Ok(())
                });
                ran.is_err_and(|error| {
                    self.whose.unheard(&error);
                    true
                })
            }
        };
        if made.is_some() {
            // SAFETY: I2.
            let old = self.state.with_mut(|state| unsafe { mem::replace(&mut *state, made) });
            quietly(|| drop(old));
        }
        if poisons {
            // SAFETY: I2.
            self.poisoned.with_mut(|poisoned| unsafe { *poisoned = true });
        }
    }
}

impl<S: Send + 'static> Drop for Inner<S> {
    /// The state may have the last handle of another unit, and so may what makes it anew: none of it nests.
    fn drop(&mut self) {
        // SAFETY: I2: nobody else is left.
        let state = self.state.with_mut(|state| unsafe { (*state).take() });
        if mem::needs_drop::<S>() && state.is_some() {
            context::later(move || drop(state));
        }
        if let OnPanic::Rebuild(make) = mem::replace(&mut self.on_panic, OnPanic::Poison) {
            context::later(move || drop(make));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Inner;
    use std::mem::offset_of;

    #[test]
    fn a_unit_at_rest_is_small() {
        // And the count of references.
        assert!(size_of::<Inner<()>>() + 8 <= 256, "{}", size_of::<Inner<()>>());
    }

    #[test]
    fn what_the_owner_writes_is_in_no_line_of_the_senders() {
        let senders = offset_of!(Inner<()>, mailbox) + size_of::<usize>();
        assert!(offset_of!(Inner<()>, rest) - senders >= 64);
        assert!(offset_of!(Inner<()>, state) > offset_of!(Inner<()>, rest));
    }
}
