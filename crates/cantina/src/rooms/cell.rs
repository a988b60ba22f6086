//! Rooms around a state: who is inside a room has what belongs to it.

use super::builder::MAX_ROOMS;
use super::form::{Either, Form, Setup, Taken};
use super::{EnterError, must_not_hold, wait};
use crate::panics::{Panic, forget, go_on, keep_first};
use machine::atomic::AtomicPtr;
use machine::atomic::Ordering::Relaxed;
use machine::cell::UnsafeCell;
use machine::held::{Held, Key};
use machine::thread::panicking;
use std::fmt;
use std::marker::PhantomData;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

/// A room over a state `S`: what those may do who are inside it.
///
/// # Safety
/// Take all implementors of `Room<S>`, for this `S`, that have the same `INDEX`, in whichever crate. All that can be done
/// through their views may be done at the same time, by several threads, to the same `S`, and must be sound then.
/// Nothing of another `INDEX` is done meanwhile, and `on_close` runs alone. So there is one implementor for each `S` and `INDEX`,
/// or all of them agree, also on `on_close`. A view must not outlive the guard that it comes from.
///
/// Several threads, although only `S: Send` is asked for: an implementor whose views hand out `&S`, or call its methods,
/// must ask for `S: Sync`.
pub unsafe trait Room<S> {
    /// The number of the room, less than the number of rooms.
    const INDEX: usize;

    /// What those have who are inside.
    type View<'a>
    where
        S: 'a;

    /// What it is made of.
    fn view(state: &S) -> Self::View<'_>;

    /// Exit code: run once per batch, alone. If it panics the panic goes on in whoever left last, and all others go on, with the
    /// state as it is then.
    fn on_close(state: &mut S) {
        let _ = state;
    }
}

/// A state in `M` rooms, each of which has its own view of it.
///
/// ```
/// use cantina::rooms::{Room, RoomCell};
/// use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
///
/// #[derive(Default)]
/// struct Tally {
///     running: AtomicU64,
///     /// What is counted so far, as far as all have left.
///     settled: u64,
/// }
///
/// struct Counting;
/// struct Reading;
///
/// // SAFETY: the only ones for these numbers. Those who count only add to an atomic.
/// unsafe impl Room<Tally> for Counting {
///     const INDEX: usize = 0;
///     type View<'a> = &'a AtomicU64;
///     fn view(tally: &Tally) -> &AtomicU64 {
///         &tally.running
///     }
///     fn on_close(tally: &mut Tally) {
///         tally.settled += std::mem::take(tally.running.get_mut());
///     }
/// }
///
/// // SAFETY: as above. Those who read write nothing.
/// unsafe impl Room<Tally> for Reading {
///     const INDEX: usize = 1;
///     type View<'a> = &'a u64;
///     fn view(tally: &Tally) -> &u64 {
///         &tally.settled
///     }
/// }
///
/// let tally = RoomCell::<Tally, 2>::new(Tally::default());
/// let guard = tally.enter::<Counting>()?;
/// guard.view().fetch_add(5, Relaxed);
/// let guard = guard.change::<Reading>()?;
/// assert_eq!(*guard.view(), 5);
/// # Ok::<(), cantina::rooms::EnterError>(())
/// ```
///
/// A room that there is not is not compiled:
///
/// ```compile_fail,E0080
/// # use cantina::rooms::{Room, RoomCell};
/// struct Third;
/// // SAFETY: it does nothing.
/// unsafe impl Room<u8> for Third {
///     const INDEX: usize = 2;
///     type View<'a> = ();
///     fn view(_: &u8) {}
/// }
/// let _ = RoomCell::<u8, 2>::new(1).enter::<Third>();
/// ```
pub struct RoomCell<S, const M: usize> {
    form: Either,
    /// By room: `on_close` of whoever came last, as a `fn(&mut S)`, or nothing. Whoever closes a room may know only its
    /// number.
    close: [AtomicPtr<()>; M],
    state: UnsafeCell<S>,
    /// For those inside, by thread.
    key: Key,
}

/// Being inside a room of a [`RoomCell`]. Dropped, it leaves.
#[must_use = "the room is left when the guard is dropped"]
pub struct CellGuard<'a, S, R: Room<S>, const M: usize> {
    // Before `inside`, as in a guard of `Rooms`.
    _held: Held,
    // It holds neither `&S` nor a view: whoever closes the room has `&mut S`.
    inside: Inside<'a, S, M>,
    room: PhantomData<(R, *const ())>,
}

struct Inside<'a, S, const M: usize> {
    cell: &'a RoomCell<S, M>,
    room: usize,
    /// What it came with.
    taken: Taken,
}

// SAFETY: the state moves with it; `close` has plain functions.
unsafe impl<S: Send, const M: usize> Send for RoomCell<S, M> {}
// SAFETY: what threads do to the state at the same time is up to `Room`, which says that it is sound; that they have it one
// after the other, and close rooms, asks for Send.
unsafe impl<S: Send, const M: usize> Sync for RoomCell<S, M> {}

impl<S, const M: usize> RoomCell<S, M> {
    /// Rooms around `state`: one to 65,536 of them. Other numbers are not compiled.
    ///
    /// ```compile_fail,E0080
    /// let _ = cantina::rooms::RoomCell::<u8, 65_537>::new(1);
    /// ```
    pub fn new(state: S) -> Self {
        const { assert!(M > 0 && M <= MAX_ROOMS, "1 to 65536 rooms") };
        let setup = Setup { with_exit_code: u8::MAX, ..Setup::new(M) };
        Self {
            form: Either::new(setup),
            close: std::array::from_fn(|_| AtomicPtr::new(ptr::null_mut())),
            state: UnsafeCell::new(state),
            key: Key::new(),
        }
    }

    /// The state.
    pub fn into_inner(self) -> S {
        self.state.into_inner()
    }

    /// Enters the room of `R`, and waits until it is open.
    ///
    /// # Errors
    /// [`TooManyWaiters`](EnterError::TooManyWaiters).
    ///
    /// # Panics
    /// In debug builds, when this thread is inside already: it would wait for itself.
    #[inline]
    pub fn enter<R: Room<S>>(&self) -> Result<CellGuard<'_, S, R, M>, EnterError> {
        must_not_hold(&self.key);
        self.will_close::<R>();
        let taken = wait::enter(&self.form, R::INDEX)?;
        Ok(CellGuard::new(self, taken))
    }

    /// Enters the room of `R` if nobody is inside any room or has a ticket.
    ///
    /// # Errors
    /// [`WouldBlock`](EnterError::WouldBlock).
    #[inline]
    pub fn try_enter<R: Room<S>>(&self) -> Result<CellGuard<'_, S, R, M>, EnterError> {
        self.will_close::<R>();
        let taken = self.form.try_take(R::INDEX)?;
        Ok(CellGuard::new(self, taken))
    }

    /// Says how the room of `R` is closed, before there is a ticket for it.
    #[inline]
    fn will_close<R: Room<S>>(&self) {
        const { assert!(R::INDEX < M, "there is no room of that number") };
        let close: fn(&mut S) = R::on_close;
        let close = close as *mut ();
        // taken: whoever came for this room before stored the same, if it is the same implementor.
        if self.close[R::INDEX].load(Relaxed) != close {
            // open: comes before we leave, and so before the room is closed.
            self.close[R::INDEX].store(close, Relaxed);
        }
    }

    /// Leaves `room`, where somebody came with `taken`. What exit code panicked with.
    #[inline]
    fn leave(&self, room: usize, taken: Taken) -> Option<Panic> {
        let mut first = None;
        self.form.leave(room, taken, |room| keep_first(&mut first, self.run(room)));
        first
    }

    /// Runs exit code. The room is closed whatever it does, or all would wait for ever.
    fn run(&self, room: usize) -> Option<Panic> {
        // left: whoever was inside stored it before.
        let close = self.close[room].load(Relaxed);
        if close.is_null() {
            return None;
        }
        // SAFETY: only `will_close` stores something, and what it stores is a `fn(&mut S)`.
        let close = unsafe { mem::transmute::<*mut (), fn(&mut S)>(close) };
        let _held = Held::new(&self.key);
        // SAFETY: called by whoever closes a room, before any opens: nobody else is inside (I2), and guards have no
        // reference of their own.
        let run = || self.state.with_mut(|state| close(unsafe { &mut *state }));
        catch_unwind(AssertUnwindSafe(run)).err()
    }
}

impl<'a, S, R: Room<S>, const M: usize> CellGuard<'a, S, R, M> {
    #[inline]
    fn new(cell: &'a RoomCell<S, M>, taken: Taken) -> Self {
        let held = Held::new(&cell.key);
        Self { _held: held, inside: Inside { cell, room: R::INDEX, taken }, room: PhantomData }
    }

    /// What those have who are inside.
    #[inline]
    pub fn view(&self) -> R::View<'_> {
        // SAFETY: we are inside, so only those look at it or change it whom `Room` allows to, and nobody closes a room. The
        // view does not outlive the guard.
        self.inside.cell.state.with(|state| R::view(unsafe { &*state }))
    }

    /// Leaves, and enters the room of `R2`, for which it has a ticket before it leaves.
    ///
    /// # Errors
    /// As [`RoomCell::enter`]; it is in no room then.
    ///
    /// # Panics
    /// When exit code does.
    pub fn change<R2: Room<S>>(self) -> Result<CellGuard<'a, S, R2, M>, EnterError> {
        let cell = self.inside.cell;
        cell.will_close::<R2>();
        // Nobody finds rooms idle while somebody is inside.
        let taken = cell.form.take(R2::INDEX)?;
        let Self { inside, _held, .. } = self;
        let before = inside.taken;
        mem::forget(inside);
        let panic = cell.leave(R::INDEX, before);
        let goes_on = panic.is_some() && !panicking();
        let given_up = |ticket| wait::gives_up(&cell.form, R2::INDEX, ticket);
        if matches!(taken, Taken::Ticket(ticket) if goes_on && !given_up(ticket)) {
            cell.leave(R2::INDEX, taken).into_iter().for_each(forget);
        }
        go_on(panic);
        if let Taken::Ticket(ticket) = taken {
            wait::wait(&cell.form, R2::INDEX, ticket);
        }
        Ok(CellGuard::new(cell, taken))
    }
}

impl<S, const M: usize> Drop for Inside<'_, S, M> {
    #[inline]
    fn drop(&mut self) {
        go_on(self.cell.leave(self.room, self.taken));
    }
}

impl<S, const M: usize> fmt::Debug for RoomCell<S, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RoomCell").field(&self.form).finish()
    }
}

impl<S, R: Room<S>, const M: usize> fmt::Debug for CellGuard<'_, S, R, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CellGuard").field(&R::INDEX).finish()
    }
}
