//! Messages to units: what is to be done with the state, and the value of it, in one allocation.

use super::argument::Argument;
use super::blocks;
use super::cell::{Cell, REFERENCE};
use super::context::quietly;
use super::counted::Counted;
use super::error::WaitError;
use super::eventual::Eventual;
use super::mailbox::Message;
use super::operation::caught;
use super::slab::{self, Slabs};
use super::unheard::Whose;
use super::unit::{Inner, Unit};
use super::waits::{Core, Table, Waits};
use machine::cell::UnsafeCell;
use std::cell::RefCell;
use std::mem::offset_of;
use std::ptr::NonNull;

/// A message that tells nobody.
#[repr(C)]
struct Told<S, F> {
    message: Message<S>,
    f: F,
}

/// A message that runs `f` on the state, or on why there is none. `f` says whether it panicked.
pub(super) fn told<S, F>(f: F) -> NonNull<Message<S>>
where
    S: Send + 'static,
    F: FnOnce(Result<&mut S, WaitError>, &Whose) -> bool + Send + 'static,
{
    unsafe fn run<S, F: FnOnce(Result<&mut S, WaitError>, &Whose) -> bool>(
        message: NonNull<Message<S>>,
        state: Result<&mut S, WaitError>,
        whose: &Whose,
    ) -> bool {
        // SAFETY: it begins such a block, which is used up.
        let told = unsafe { blocks::unboxed(message.cast::<Told<S, F>>()) };
        (told.f)(state, whose)
    }
    let told = Told { message: Message::new(Some(run::<S, F>)), f };
    blocks::boxed(told).cast()
}

/// The same for one sender, which sends it before any other: in one of its slots, if it fits there.
#[inline(always)]
pub(super) fn told_from<S, F>(slabs: &RefCell<Slabs>, f: F) -> NonNull<Message<S>>
where
    S: Send + 'static,
    F: FnOnce(Result<&mut S, WaitError>, &Whose) -> bool + Send + 'static,
{
    unsafe fn run<S, F: FnOnce(Result<&mut S, WaitError>, &Whose) -> bool>(
        message: NonNull<Message<S>>,
        state: Result<&mut S, WaitError>,
        whose: &Whose,
    ) -> bool {
        // SAFETY: it begins such a slot, and is used up.
        let told = unsafe { slab::read(message.cast::<Told<S, F>>()) };
        (told.f)(state, whose)
    }
    unsafe fn run_last<S, F: FnOnce(Result<&mut S, WaitError>, &Whose) -> bool>(
        message: NonNull<Message<S>>,
        state: Result<&mut S, WaitError>,
        whose: &Whose,
    ) -> bool {
        // SAFETY: as above. A unit runs the messages of a sender in the order they were sent: all before it were read.
        let told = unsafe { slab::read_last(message.cast::<Told<S, F>>()) };
        (told.f)(state, whose)
    }
    if !slab::fits::<Told<S, F>>() {
        return told(f);
    }
    let told = |is_last| {
        let run = if is_last { run_last::<S, F> } else { run::<S, F> };
        Told { message: Message::new(Some(run)), f }
    };
    slabs.borrow_mut().place(told).cast()
}

/// A message that says that the last handle is gone.
pub(super) fn farewell<S: Send + 'static>() -> NonNull<Message<S>> {
    blocks::boxed(Message::new(None))
}

/// A message with a value, and with room for `N` waiters.
#[repr(C)]
struct Sent<S: Send + 'static, T: Send + 'static, A, F, const N: usize> {
    cell: Cell<T>,
    message: Message<S>,
    waits: Waits<N>,
    /// Until it runs or fails: whoever has the right to that takes it.
    body: UnsafeCell<Option<(A, F)>>,
    /// To whom it goes, while it waits: a handle, so that the state stays.
    unit: UnsafeCell<Option<Unit<S>>>,
}

/// Has `f` run on the state of `unit` at once.
pub(super) fn send<S, T, F>(unit: &Counted<Inner<S>>, f: F) -> Eventual<T>
where
    S: Send + 'static,
    T: Send + 'static,
    F: FnOnce(&mut S, ()) -> T + Send + 'static,
{
    let (this, eventual) = Sent::<S, T, (), F, 0>::new(unit, (), f, None);
    // SAFETY: within it. It stays until it is run: it has a reference.
    let message = unsafe { this.byte_add(offset_of!(Sent<S, T, (), F, 0>, message)).cast() };
    // SAFETY: as above.
    unsafe { Inner::post(unit, message) };
    eventual
}

/// Has `f` run on the state of `unit` when all eventuals in `argument` are there.
pub(super) fn send_after<S, T, A, F>(unit: &Unit<S>, argument: A, f: F) -> Eventual<T>
where
    S: Send + 'static,
    T: Send + 'static,
    A: Argument,
    F: FnOnce(&mut S, A::Out) -> T + Send + 'static,
{
    let (this, eventual) =
        Sent::<S, T, A, F, 2>::new(unit.inner(), argument, f, Some(unit.clone()));
    // SAFETY: nobody takes it before all arguments have been told, and then it lies where it was.
    let argument = unsafe { this.as_ref() }
        .body
        // SAFETY: as above.
        .with(|body| unsafe { (*body).as_ref().map(|body| &raw const body.0) });
    // SAFETY: within it.
    let waits = unsafe { this.byte_add(offset_of!(Sent<S, T, A, F, 2>, waits)).cast() };
    if let Some(argument) = argument {
        // SAFETY: it stays until it is begun and beyond, as we have a reference, and it does not wait yet.
        unsafe { Waits::<2>::begin(waits, argument, eventual.shared(), false) };
    }
    eventual
}

impl<S, T, A, F, const N: usize> Sent<S, T, A, F, N>
where
    S: Send + 'static,
    T: Send + 'static,
    A: Argument,
    F: FnOnce(&mut S, A::Out) -> T + Send + 'static,
{
    const TABLE: Table =
        Table { ready: Self::ready, fail: Self::fail, refer: Self::refer, let_go: Self::let_go };

    fn new(
        unit: &Counted<Inner<S>>,
        argument: A,
        f: F,
        keeps: Option<Unit<S>>,
    ) -> (NonNull<Self>, Eventual<T>) {
        let sent = Self {
            cell: Cell::new(unit.shared().clone(), false, Self::free),
            message: Message::new(Some(Self::run)),
            waits: Waits::new(&Self::TABLE),
            body: UnsafeCell::new(Some((argument, f))),
            unit: UnsafeCell::new(keeps),
        };
        let this = blocks::boxed(sent);
        // SAFETY: new, and its reference.
        (this, unsafe { Eventual::of(this.cast()) })
    }

    /// # Safety
    /// The part of such a message that waits.
    unsafe fn of_core(core: NonNull<Core>) -> NonNull<Self> {
        // SAFETY: the caller's.
        unsafe { core.byte_sub(offset_of!(Self, waits)).cast() }
    }

    /// # Safety
    /// The caller has the right to run it or to fail it.
    unsafe fn take_body(this: NonNull<Self>) -> Option<(A, F)> {
        // SAFETY: the caller's.
        unsafe { this.as_ref().body.with_mut(|body| (*body).take()) }
    }

    /// # Safety
    /// As of [`take_body`](Self::take_body).
    unsafe fn take_unit(this: NonNull<Self>) -> Option<Unit<S>> {
        // SAFETY: the caller's.
        unsafe { this.as_ref().unit.with_mut(|unit| (*unit).take()) }
    }

    unsafe fn free(cell: NonNull<Cell<T>>) {
        // SAFETY: it is the first part of such a block, and nobody has a reference.
        unsafe { blocks::free(cell.cast::<Self>()) };
    }

    unsafe fn ready(core: NonNull<Core>) {
        // SAFETY: the caller's.
        let this = unsafe { Self::of_core(core) };
        // SAFETY: as above. It is not the message's: that may be gone when it has been posted.
        if let Some(unit) = unsafe { Self::take_unit(this) } {
            unit.inner().enter();
            // SAFETY: within it. It stays until it is run: it has a reference.
            let message = unsafe { this.byte_add(offset_of!(Self, message)).cast() };
            // SAFETY: as above.
            unsafe { Inner::post(unit.inner(), message) };
        }
    }

    unsafe fn fail(core: NonNull<Core>, error: WaitError) {
        // SAFETY: the caller's.
        let this = unsafe { Self::of_core(core) };
        // SAFETY: as above.
        let (body, unit) = unsafe { (Self::take_body(this), Self::take_unit(this)) };
        quietly(|| drop(body));
        quietly(|| drop(unit));
        // SAFETY: who fails it fills it.
        unsafe { Cell::fill(this.cast::<Cell<T>>(), Err(error), true) };
    }

    unsafe fn refer(core: NonNull<Core>) {
        // SAFETY: the caller's.
        unsafe { Self::of_core(core).as_ref() }.cell.refer();
    }

    unsafe fn let_go(core: NonNull<Core>) {
        // SAFETY: the caller's.
        unsafe { Cell::let_go(Self::of_core(core).cast::<Cell<T>>(), REFERENCE) };
    }

    unsafe fn run(
        message: NonNull<Message<S>>,
        state: Result<&mut S, WaitError>,
        whose: &Whose,
    ) -> bool {
        // SAFETY: it is that part of such a message.
        let this = unsafe { message.byte_sub(offset_of!(Self, message)).cast::<Self>() };
        // SAFETY: who has the message has the right to run it.
        let body = unsafe { Self::take_body(this) };
        let mut ran = false;
        let value = caught(|| {
            let (state, (argument, f)) = (state?, body.ok_or(WaitError::Taken)?);
            let argument = argument.resolve()?;
            ran = true;
            Ok(f(state, argument))
        });
        let panicked = ran && matches!(value, Err(WaitError::Panicked(_)));
        // SAFETY: who runs it fills it.
        unsafe { Cell::fill_by(this.cast::<Cell<T>>(), value, false, Some(&whose.name)) };
        panicked
    }
}
