//! What flattens: it waits for the outer value, then for the inner one, and hands that on. One allocation.

use super::blocks;
use super::cell::{Cell, REFERENCE};
use super::context::quietly;
use super::error::WaitError;
use super::eventual::Eventual;
use super::operation::caught;
use super::waits::{Core, Table, Waits};
use machine::cell::UnsafeCell;
use std::mem::offset_of;
use std::ptr::NonNull;

#[repr(C)]
struct Flat<T: Send + 'static> {
    cell: Cell<T>,
    waits: Waits<1>,
    /// Whoever has the right to go on, or to fail it, changes it.
    stage: UnsafeCell<Stage<T>>,
}

enum Stage<T: Send + 'static> {
    Outer(Eventual<Eventual<T>>),
    Inner(Eventual<T>),
    Done,
}

/// The inner value of `outer`.
pub(super) fn flatten<T: Send + 'static>(outer: Eventual<Eventual<T>>) -> Eventual<T> {
    let flat = Flat {
        cell: Cell::new(outer.shared().clone(), false, Flat::<T>::free),
        waits: Waits::new(&Flat::<T>::TABLE),
        stage: UnsafeCell::new(Stage::Outer(outer)),
    };
    let this = blocks::boxed(flat);
    // SAFETY: new, and its reference.
    let eventual = unsafe { Eventual::of(this.cast()) };
    // SAFETY: the right to go on is ours.
    unsafe { Flat::wait(this) };
    eventual
}

impl<T: Send + 'static> Flat<T> {
    const TABLE: Table =
        Table { ready: Self::ready, fail: Self::fail, refer: Self::refer, let_go: Self::let_go };

    /// Waits for what its stage says.
    ///
    /// # Safety
    /// The caller has the right to go on, and a reference.
    unsafe fn wait(this: NonNull<Self>) {
        // SAFETY: within it.
        let waits = unsafe { this.byte_add(offset_of!(Self, waits)).cast::<Waits<1>>() };
        // A reference of its own: it may be gone before this returns.
        // SAFETY: the caller's.
        let shared = unsafe { this.as_ref() }.cell.shared.clone();
        // SAFETY: as above: nobody changes it before all has been told.
        let stage = unsafe { this.as_ref() }.stage.with(|stage| unsafe { &*stage });
        match stage {
            // SAFETY: it does not wait, and has a reference until it is filled.
            Stage::Outer(outer) => unsafe { Waits::begin(waits, outer, &shared, false) },
            // The inner one may be younger than this, and wait for it: nobody but the end would tell.
            // SAFETY: as above.
            Stage::Inner(inner) => unsafe { Waits::begin(waits, inner, &shared, true) },
            Stage::Done => {}
        }
    }

    /// # Safety
    /// The part of such a one that waits.
    unsafe fn of_core(core: NonNull<Core>) -> NonNull<Self> {
        // SAFETY: the caller's.
        unsafe { core.byte_sub(offset_of!(Self, waits)).cast() }
    }

    /// # Safety
    /// The caller has the right to go on, or to fail it.
    unsafe fn replace(this: NonNull<Self>, stage: Stage<T>) -> Stage<T> {
        // SAFETY: the caller has a reference.
        let place = unsafe { &this.as_ref().stage };
        // SAFETY: the caller's.
        place.with_mut(|place| unsafe { std::mem::replace(&mut *place, stage) })
    }

    unsafe fn free(cell: NonNull<Cell<T>>) {
        // SAFETY: it is the first part of such a block, and nobody has a reference.
        unsafe { blocks::free(cell.cast::<Self>()) };
    }

    unsafe fn ready(core: NonNull<Core>) {
        // SAFETY: the caller's.
        let this = unsafe { Self::of_core(core) };
        // SAFETY: as above.
        let value = match unsafe { Self::replace(this, Stage::Done) } {
            Stage::Outer(outer) => match outer.resolve() {
                Ok(inner) if inner.is_filled() => caught(|| inner.resolve()),
                Ok(inner) => {
                    // SAFETY: as above.
                    unsafe { Self::replace(this, Stage::Inner(inner)) };
                    // SAFETY: as above, and its own reference.
                    return unsafe { Self::wait(this) };
                }
                Err(error) => Err(error),
            },
            // To copy it may panic.
            Stage::Inner(inner) => caught(|| inner.resolve()),
            Stage::Done => Err(WaitError::Taken),
        };
        // SAFETY: who goes on fills it.
        unsafe { Cell::fill(this.cast::<Cell<T>>(), value, false) };
    }

    unsafe fn fail(core: NonNull<Core>, error: WaitError) {
        // SAFETY: the caller's.
        let this = unsafe { Self::of_core(core) };
        // SAFETY: as above.
        let stage = unsafe { Self::replace(this, Stage::Done) };
        quietly(|| drop(stage));
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
}
