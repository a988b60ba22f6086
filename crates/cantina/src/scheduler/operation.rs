//! Free operations: the arguments, what is to be done with them, and the value, in one allocation.

use super::argument::Argument;
use super::blocks;
use super::cell::{Cell, REFERENCE};
use super::context::quietly;
use super::error::WaitError;
use super::eventual::Eventual;
use super::run::{Header, Kind, Left, Run, Task, Turn};
use super::shared::{Reference, Shared};
use super::tail::Tail;
use super::waits::{Core, Table, Waits};
use machine::cell::UnsafeCell;
use std::any::Any;
use std::mem::offset_of;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;

/// An operation that waits for nothing.
#[repr(C)]
struct Spawned<T: Send + 'static, F> {
    cell: Cell<T>,
    task: Header,
    /// Until it runs or fails: whoever has the task takes it.
    f: UnsafeCell<Option<F>>,
}

/// Runs `f`.
#[inline(always)]
pub(super) fn spawn<T, F>(shared: Reference, kind: Kind, f: F) -> Eventual<T>
where
    T: Send + 'static,
    F: FnOnce() -> Tail<T> + Send + 'static,
{
    let this = blocks::boxed(Spawned::<T, F> {
        cell: Cell::new(shared, false, Spawned::<T, F>::free),
        task: Header::new(&Spawned::<T, F>::RUN, kind),
        f: UnsafeCell::new(Some(f)),
    });
    // SAFETY: new, and its reference.
    let eventual = unsafe { Eventual::of(this.cast()) };
    // SAFETY: within it; it stays until it has run.
    let task = unsafe { Task::new(this.byte_add(offset_of!(Spawned<T, F>, task)).cast()) };
    eventual.shared().schedule(task);
    eventual
}

impl<T, F> Spawned<T, F>
where
    T: Send + 'static,
    F: FnOnce() -> Tail<T> + Send + 'static,
{
    const RUN: Run = Run { run: Self::run, cancel: Self::cancel };

    /// What it is to do, and where its value goes.
    ///
    /// # Safety
    /// The task of such an operation, which the caller has.
    #[inline(always)]
    unsafe fn of_task(task: NonNull<Header>) -> (Option<F>, NonNull<Cell<T>>) {
        // SAFETY: the caller's.
        let this = unsafe { task.byte_sub(offset_of!(Self, task)).cast::<Self>() };
        // SAFETY: the task is the right to run it.
        (unsafe { this.as_ref().f.with_mut(|f| (*f).take()) }, this.cast())
    }

    unsafe fn free(cell: NonNull<Cell<T>>) {
        // SAFETY: it is the first part of such a block, and nobody has a reference.
        unsafe { blocks::free(cell.cast::<Self>()) };
    }

    unsafe fn run(task: NonNull<Header>, _: &mut Turn<'_>) -> Option<Task> {
        // SAFETY: the caller's.
        let (f, cell) = unsafe { Self::of_task(task) };
        let end = caught(|| Ok(f.ok_or(WaitError::Taken)?()));
        // SAFETY: who runs it fills it.
        unsafe { Tail::end(end, cell) };
        None
    }

    unsafe fn cancel(task: NonNull<Header>, left: &mut Left) {
        left.free += 1;
        // SAFETY: the caller's.
        let (f, cell) = unsafe { Self::of_task(task) };
        quietly(|| drop(f));
        // SAFETY: who fails it fills it.
        unsafe { Cell::fill(cell, Err(WaitError::Cancelled), false) };
    }
}

/// An operation that has room for `N` waiters.
#[repr(C)]
struct Operation<T: Send + 'static, A, F, const N: usize> {
    cell: Cell<T>,
    task: Header,
    waits: Waits<N>,
    /// Until it runs or fails: whoever has the right to that takes it.
    body: UnsafeCell<Option<(A, F)>>,
}

/// Runs `f` when all eventuals in `argument` are there.
#[inline(always)]
pub(super) fn begin<T, A, F, const N: usize>(
    shared: Reference,
    kind: Kind,
    argument: A,
    f: F,
) -> Eventual<T>
where
    T: Send + 'static,
    A: Argument,
    F: FnOnce(A::Out) -> Tail<T> + Send + 'static,
{
    let operation = Operation::<T, A, F, N> {
        cell: Cell::new(shared, false, Operation::<T, A, F, N>::free),
        task: Header::new(&Operation::<T, A, F, N>::RUN, kind),
        waits: Waits::new(&Operation::<T, A, F, N>::TABLE),
        body: UnsafeCell::new(Some((argument, f))),
    };
    let this = blocks::boxed(operation);
    // SAFETY: new, and its reference.
    let eventual = unsafe { Eventual::of(this.cast()) };
    // SAFETY: it stays until it is begun and beyond, as we have a handle, and it does not wait yet.
    unsafe { Operation::wait(this, eventual.shared()) };
    eventual
}

impl<T, A, F, const N: usize> Operation<T, A, F, N>
where
    T: Send + 'static,
    A: Argument,
    F: FnOnce(A::Out) -> Tail<T> + Send + 'static,
{
    const RUN: Run = Run { run: Self::run, cancel: Self::cancel };
    const TABLE: Table =
        Table { ready: Self::ready, fail: Self::fail, refer: Self::refer, let_go: Self::let_go };

    /// # Safety
    /// A new operation.
    unsafe fn wait(this: NonNull<Self>, shared: &Shared) {
        // SAFETY: the caller's.
        let body = unsafe { &this.as_ref().body };
        // SAFETY: nobody takes it before all arguments have been told, and then it lies where it was.
        let argument = body.with(|body| unsafe { (*body).as_ref().map(|body| &raw const body.0) });
        // SAFETY: within it.
        let waits = unsafe { this.byte_add(offset_of!(Self, waits)).cast::<Waits<N>>() };
        if let Some(argument) = argument {
            // SAFETY: the caller's, and as above.
            unsafe { Waits::begin(waits, argument, shared, false) };
        }
    }

    /// # Safety
    /// The part of such an operation that waits.
    unsafe fn of_core(core: NonNull<Core>) -> NonNull<Self> {
        // SAFETY: the caller's.
        unsafe { core.byte_sub(offset_of!(Self, waits)).cast() }
    }

    /// # Safety
    /// The task of such an operation.
    unsafe fn of_task(task: NonNull<Header>) -> NonNull<Self> {
        // SAFETY: the caller's.
        unsafe { task.byte_sub(offset_of!(Self, task)).cast() }
    }

    /// # Safety
    /// The caller has the right to run it or to fail it.
    unsafe fn take_body(this: NonNull<Self>) -> Option<(A, F)> {
        // SAFETY: the caller's.
        unsafe { this.as_ref().body.with_mut(|body| (*body).take()) }
    }

    unsafe fn free(cell: NonNull<Cell<T>>) {
        // SAFETY: it is the first part of such a block, and nobody has a reference.
        unsafe { blocks::free(cell.cast::<Self>()) };
    }

    unsafe fn ready(core: NonNull<Core>) {
        // SAFETY: the caller's.
        let this = unsafe { Self::of_core(core) };
        // SAFETY: within it; the right to begin it is the task. It stays until it has run.
        let task = unsafe { Task::new(this.byte_add(offset_of!(Self, task)).cast()) };
        // SAFETY: as above.
        unsafe { Reference::schedule(&raw const this.as_ref().cell.shared, task) };
    }

    unsafe fn fail(core: NonNull<Core>, error: WaitError) {
        // SAFETY: the caller's.
        let this = unsafe { Self::of_core(core) };
        // SAFETY: as above.
        let body = unsafe { Self::take_body(this) };
        quietly(|| drop(body));
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

    unsafe fn run(task: NonNull<Header>, _: &mut Turn<'_>) -> Option<Task> {
        // SAFETY: the caller's.
        let this = unsafe { Self::of_task(task) };
        // SAFETY: the task is the right to run it.
        let body = unsafe { Self::take_body(this) };
        let end = caught(|| {
            let (argument, f) = body.ok_or(WaitError::Taken)?;
            Ok(f(argument.resolve()?))
        });
        // SAFETY: who runs it fills it.
        unsafe { Tail::end(end, this.cast::<Cell<T>>()) };
        None
    }

    unsafe fn cancel(task: NonNull<Header>, left: &mut Left) {
        left.free += 1;
        // SAFETY: the caller's.
        let this = unsafe { Self::of_task(task) };
        // SAFETY: the task is the right to fail it.
        let body = unsafe { Self::take_body(this) };
        quietly(|| drop(body));
        // SAFETY: who fails it fills it.
        unsafe { Cell::fill(this.cast::<Cell<T>>(), Err(WaitError::Cancelled), false) };
    }
}

/// What `f` comes to, or what its panic says.
#[inline(always)]
pub(super) fn caught<T>(f: impl FnOnce() -> Result<T, WaitError>) -> Result<T, WaitError> {
    catch_unwind(AssertUnwindSafe(f)).unwrap_or_else(|panic| Err(why(panic)))
}

/// What a panic says.
#[cold]
fn why(panic: Box<dyn Any + Send>) -> WaitError {
    let error = WaitError::panicked(&*panic);
    quietly(|| drop(panic));
    error
}
