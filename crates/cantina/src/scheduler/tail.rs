//! Operations that end with another one: what that comes to is their value.
//!
//! The other one waits for its arguments and runs as any operation. It has no place for a value of its own: it has the
//! right to fill that of the operation which it ends.
//!
//! That place is older than what the other one waits for. So the arguments may wait for it, by way of a cell, and nobody
//! but the end of the runtime would tell: while it waits it is listed with the runtime whose value it brings. If it is
//! to run on another one it is an operation there, and here only its value is waited for.

use super::argument::Argument;
use super::blocks;
use super::cell::Cell;
use super::context::quietly;
use super::error::WaitError;
use super::operation::{self, caught};
use super::run::{Header, Kind, Left, Run, Task, Turn};
use super::runtime::Handle;
use super::shared::Reference;
use super::waits::{Core, Table, Waits};
use machine::atomic::AtomicUsize;
use machine::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use machine::cell::UnsafeCell;
use std::convert::identity;
use std::fmt;
use std::mem::{ManuallyDrop, offset_of};
use std::ptr::{self, NonNull};

/// How an operation ends: with a value, or with another operation, whose value is its own.
///
/// ```
/// use cantina::scheduler::{Handle, Runtime, Tail};
///
/// fn fib(handle: &Handle, number: u64) -> Tail<u64> {
///     if number < 2 {
///         return number.into();
///     }
///     let part = |number| {
///         let inner = handle.clone();
///         handle.spawn_tail(move || fib(&inner, number))
///     };
///     handle.tail((part(number - 1), part(number - 2)), |(one, two)| one + two)
/// }
///
/// let runtime = Runtime::new();
/// let inner = runtime.handle();
/// assert_eq!(runtime.spawn_tail(move || fib(&inner, 10)).wait(), Ok(55));
/// ```
#[must_use = "the operation of a tail begins when the one that returns it ends"]
pub struct Tail<T: Send + 'static>(End<T>);

enum End<T: Send + 'static> {
    Value(T),
    Next(Next<T>),
}

/// An operation that has not begun. Dropped, it does not.
struct Next<T: Send + 'static>(NonNull<Head<T>>);

// SAFETY: what is in it is `Send`: arguments, an operation.
unsafe impl<T: Send> Send for Next<T> {}
// SAFETY: shared, it does nothing.
unsafe impl<T: Send> Sync for Next<T> {}

/// What is known of an operation without its arguments.
struct Head<T: Send + 'static> {
    /// Begins it: it has a cell.
    begin: unsafe fn(NonNull<Self>),
    /// Frees it: it has not begun.
    free: unsafe fn(NonNull<Self>),
    /// Whose value it brings, once it has begun: the right to fill it is whoever's who may run or fail this.
    cell: UnsafeCell<Filled<T>>,
}

/// A cell to fill, once somebody is to.
type Filled<T> = Option<NonNull<Cell<T>>>;

#[repr(C)]
struct Last<T: Send + 'static, A, F> {
    head: Head<T>,
    task: Header,
    waits: Waits<2>,
    /// Its own, until it has run, and those of lists.
    references: AtomicUsize,
    shared: Reference,
    /// Until it runs or fails: whoever has the right to that takes it.
    body: UnsafeCell<Option<(A, F)>>,
}

impl<T: Send + 'static> Tail<T> {
    /// Fills `cell` with what an operation ends with, now or later.
    ///
    /// # Safety
    /// The caller is the one who fills it, and no longer is.
    #[inline(always)]
    pub(super) unsafe fn end(end: Result<Self, WaitError>, cell: NonNull<Cell<T>>) {
        let value = match end {
            Ok(Self(End::Value(value))) => Ok(value),
            // SAFETY: the caller's.
            Ok(Self(End::Next(next))) => return unsafe { next.begin(cell) },
            Err(error) => Err(error),
        };
        // SAFETY: the caller's.
        unsafe { Cell::fill(cell, value, false) };
    }
}

impl<T: Send + 'static> From<T> for Tail<T> {
    #[inline(always)]
    fn from(value: T) -> Self {
        Self(End::Value(value))
    }
}

impl<T: Send + 'static> Next<T> {
    /// # Safety
    /// The caller is the one who fills the cell, and no longer is.
    #[inline(always)]
    unsafe fn begin(self, cell: NonNull<Cell<T>>) {
        let this = ManuallyDrop::new(self).0;
        // SAFETY: nobody else knows it.
        let head = unsafe { this.as_ref() };
        // SAFETY: as above.
        head.cell.with_mut(|place| unsafe { *place = Some(cell) });
        // SAFETY: it has not begun.
        unsafe { (head.begin)(this) };
    }
}

impl<T: Send + 'static> Drop for Next<T> {
    fn drop(&mut self) {
        // SAFETY: it has not begun, and nobody else knows it.
        unsafe { (self.0.as_ref().free)(self.0) };
    }
}

impl Handle {
    /// The end of an operation of [`spawn_tail`](Self::spawn_tail) or [`after_tail`](Self::after_tail): when that has
    /// returned it, and all eventuals in `argument` are there, `f` runs, and brings its value. It runs on the runtime of
    /// this handle; if the value is that of another one, its end is the latest at which that is resolved.
    #[inline]
    pub fn tail<A: Argument, T: Send + 'static>(
        &self,
        argument: A,
        f: impl FnOnce(A::Out) -> T + Send + 'static,
    ) -> Tail<T> {
        last(self.shared.clone(), argument, f)
    }
}

#[inline(always)]
fn last<T, A, F>(shared: Reference, argument: A, f: F) -> Tail<T>
where
    T: Send + 'static,
    A: Argument,
    F: FnOnce(A::Out) -> T + Send + 'static,
{
    // In its place at once: it is too large to be moved there.
    let this = blocks::place::<Last<T, A, F>>();
    let head = Head {
        begin: Last::<T, A, F>::begin,
        free: Last::<T, A, F>::free,
        cell: UnsafeCell::new(None),
    };
    let part = this.as_ptr();
    // SAFETY: it is ours; each field is written once.
    unsafe {
        (&raw mut (*part).head).write(head);
        (&raw mut (*part).task).write(Header::new(&Last::<T, A, F>::RUN, Kind::Free));
        (&raw mut (*part).waits).write(Waits::new(&Last::<T, A, F>::TABLE));
        (&raw mut (*part).references).write(AtomicUsize::new(1));
        (&raw mut (*part).shared).write(shared);
        (&raw mut (*part).body).write(UnsafeCell::new(Some((argument, f))));
    }
    Tail(End::Next(Next(this.cast())))
}

impl<T, A, F> Last<T, A, F>
where
    T: Send + 'static,
    A: Argument,
    F: FnOnce(A::Out) -> T + Send + 'static,
{
    const RUN: Run = Run { run: Self::run, cancel: Self::cancel };
    const TABLE: Table =
        Table { ready: Self::ready, fail: Self::fail, refer: Self::refer, let_go: Self::let_go };

    unsafe fn begin(head: NonNull<Head<T>>) {
        let this = head.cast::<Self>();
        // SAFETY: the caller's.
        let part = unsafe { this.as_ref() };
        // SAFETY: as above: it has a cell, which it is to fill.
        let is_here = part.head.cell.with(|cell| unsafe {
            (*cell).is_none_or(|cell| {
                ptr::eq(&raw const *cell.as_ref().shared, &raw const *part.shared)
            })
        });
        if !is_here {
            // SAFETY: as above.
            return unsafe { Self::begin_there(this) };
        }
        // SAFETY: nobody takes it before all arguments have been told, and then it lies where it was.
        let argument =
            part.body.with(|body| unsafe { (*body).as_ref().map(|body| &raw const body.0) });
        // SAFETY: within it.
        let waits = unsafe { this.byte_add(offset_of!(Self, waits)).cast::<Waits<2>>() };
        if let Some(argument) = argument {
            // SAFETY: it does not wait yet, and has a reference until it has run.
            unsafe { Waits::begin(waits, argument, &part.shared, true) };
        }
    }

    /// Begins it on its runtime, and waits for its value on the one whose cell it is to fill.
    ///
    /// # Safety
    /// As of `begin`.
    #[cold]
    unsafe fn begin_there(this: NonNull<Self>) {
        // SAFETY: the caller's: it has not begun.
        let (body, cell) = unsafe { Self::take(this) };
        // SAFETY: as above.
        let there = unsafe { this.as_ref() }.shared.clone();
        // SAFETY: its reference, and nobody else knows it.
        unsafe { Self::leave(this) };
        if let (Some((argument, f)), Some(cell)) = (body, cell) {
            // SAFETY: it is not filled, so it is there.
            let here = unsafe { cell.as_ref() }.shared.clone();
            let f = move |argument| f(argument).into();
            let value = operation::begin::<T, A, _, 2>(there, Kind::Free, argument, f);
            // SAFETY: the right to fill it came with the right to begin this.
            unsafe { Tail::end(Ok(last(here, value, identity::<T>)), cell) };
        }
    }

    unsafe fn free(head: NonNull<Head<T>>) {
        // SAFETY: the first part of such a block, and nobody else knows it.
        unsafe { blocks::free(head.cast::<Self>()) };
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

    /// What it is to do, and whose value it brings.
    ///
    /// # Safety
    /// The caller has the right to run it or to fail it.
    #[inline(always)]
    unsafe fn take(this: NonNull<Self>) -> (Option<(A, F)>, Filled<T>) {
        // SAFETY: the caller's.
        let part = unsafe { this.as_ref() };
        // SAFETY: as above.
        let body = part.body.with_mut(|body| unsafe { (*body).take() });
        // SAFETY: as above.
        (body, part.head.cell.with_mut(|cell| unsafe { (*cell).take() }))
    }

    /// Fails it, and keeps its reference.
    ///
    /// # Safety
    /// As of `take`.
    unsafe fn fail_with(this: NonNull<Self>, error: WaitError) {
        // SAFETY: the caller's.
        let (body, cell) = unsafe { Self::take(this) };
        quietly(|| drop(body));
        // SAFETY: the right to fill it came with the right to fail this.
        cell.into_iter().for_each(|cell| unsafe { Cell::fill(cell, Err(error.clone()), false) });
    }

    unsafe fn ready(core: NonNull<Core>) {
        // SAFETY: the caller's.
        let this = unsafe { Self::of_core(core) };
        // SAFETY: within it; the right to begin it is the task. It stays until it has run.
        let task = unsafe { Task::new(this.byte_add(offset_of!(Self, task)).cast()) };
        // SAFETY: as above.
        unsafe { Reference::schedule(&raw const this.as_ref().shared, task) };
    }

    unsafe fn fail(core: NonNull<Core>, error: WaitError) {
        // SAFETY: the caller's.
        unsafe { Self::fail_with(Self::of_core(core), error) };
    }

    unsafe fn refer(core: NonNull<Core>) {
        // SAFETY: the caller's.
        let this = unsafe { Self::of_core(core) };
        // SAFETY: as above.
        let references = unsafe { &this.as_ref().references };
        // own: it is about to be listed: before that, and before it begins, nobody else has a reference.
        references.store(2, Relaxed);
    }

    unsafe fn let_go(core: NonNull<Core>) {
        // SAFETY: the caller's.
        unsafe { Self::leave(Self::of_core(core)) };
    }

    /// One reference less.
    ///
    /// # Safety
    /// It is the caller's.
    #[inline(always)]
    unsafe fn leave(this: NonNull<Self>) {
        // SAFETY: the caller has a reference.
        let references = unsafe { &this.as_ref().references };
        // Who has the last one needs no exchange: nobody else changes it.
        // gone: the others do not look any more.
        let is_last = references.load(Acquire) == 1;
        // gone: we do not look any more.
        // gone: nor do all the others.
        if is_last || references.fetch_sub(1, AcqRel) == 1 {
            // SAFETY: nobody has a reference.
            unsafe { blocks::free(this) };
        }
    }

    unsafe fn run(task: NonNull<Header>, _: &mut Turn<'_>) -> Option<Task> {
        // SAFETY: the caller's.
        let this = unsafe { Self::of_task(task) };
        // SAFETY: the task is the right to run it.
        let (body, cell) = unsafe { Self::take(this) };
        // Its memory goes before it runs: the next one takes it, while it is near.
        // SAFETY: it has run, as far as it is concerned.
        unsafe { Self::leave(this) };
        let value = caught(|| {
            let (argument, f) = body.ok_or(WaitError::Taken)?;
            Ok(f(argument.resolve()?))
        });
        if let Some(cell) = cell {
            // SAFETY: the right to fill it came with the right to run this.
            unsafe { Cell::fill(cell, value, false) };
        }
        None
    }

    unsafe fn cancel(task: NonNull<Header>, left: &mut Left) {
        left.free += 1;
        // SAFETY: the caller's.
        let this = unsafe { Self::of_task(task) };
        // SAFETY: the task is the right to fail it.
        unsafe { Self::fail_with(this, WaitError::Cancelled) };
        // SAFETY: its own reference.
        unsafe { Self::leave(this) };
    }
}

impl<T: Send + 'static> fmt::Debug for Tail<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_value = matches!(self.0, End::Value(_));
        f.debug_struct("Tail").field("is_value", &is_value).finish_non_exhaustive()
    }
}
