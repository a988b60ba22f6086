//! The place where a value arrives, and those who wait for it.
//!
//! The list of waiters is an owner queue in one word, owned by the one who fills from the start: who finds it filled
//! owns what it wanted to add, and wakes that itself. So a waiter is woken once, not before the value is there, and
//! none is forgotten.
//!
//! A cell is the first part of what brings its value: an operation, a promise, what flattens. All of that is one
//! allocation, and goes with the last reference to it. The one who fills has none: it fills before the last handle is
//! gone, and does not look at the cell any more, or it finds that all handles are, and has what the last one had. So
//! a value with one handle is brought, handed over and freed by two exchanges, of one word.

use super::context::{later, wake_later};
use super::counted::check;
use super::error::WaitError;
use super::shared::Reference;
use super::wakers::Wakers;
use machine::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use machine::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize};
use machine::cell::UnsafeCell;
use std::mem;
use std::ptr::{self, NonNull};

/// How to copy a value.
type Copy<T> = fn(&T) -> T;

/// Whether there is more than one handle that has not had the value.
fn is_shared(counts: u64) -> bool {
    counts >= 2 * HOLD
}

/// Nobody waits.
const EMPTY: usize = 0;
/// The value is there. No address of a waiter.
const FILLED: usize = 1;
/// Beside those who wait: the last handle is gone, and what it had is for the one who fills to give up.
const GONE: usize = 2;

/// One reference to the memory.
pub(super) const REFERENCE: u64 = 1;
/// One handle that has not had the value.
pub(super) const HOLD: u64 = 1 << 32;

/// Somebody who waits: a part of something that stays until it is woken.
pub(super) struct Waiter {
    /// The one that came before it.
    next: UnsafeCell<usize>,
    /// Wakes it. It does not panic: others are behind it.
    ///
    /// # Safety
    /// Once for each time that it was added.
    wake: unsafe fn(NonNull<Waiter>),
}

/// The place of a value.
pub(super) struct Cell<T: Send + 'static> {
    /// References, and handles that have not had the value.
    counts: AtomicU64,
    /// `EMPTY` or the newest waiter's address, maybe with `GONE`; or `FILLED`.
    word: AtomicUsize,
    /// I1: written by the one who fills, before `word`; then read by holders, and moved out by the last.
    value: UnsafeCell<Option<Result<T, WaitError>>>,
    /// How to copy the value, once there is more than one handle.
    copy: AtomicPtr<()>,
    /// Frees what this is a part of.
    free: unsafe fn(NonNull<Self>),
    /// Whether somebody was told why there is no value.
    heard: AtomicBool,
    /// Threads and tasks that wait.
    pub(super) wakers: Wakers,
    /// Whether it is not for an operation to fill.
    pub(super) is_promised: bool,
    pub(super) shared: Reference,
}

impl Waiter {
    pub(super) fn new(wake: unsafe fn(NonNull<Self>)) -> Self {
        Self { next: UnsafeCell::new(EMPTY), wake }
    }
}

impl<T: Send + 'static> Cell<T> {
    /// An empty place, with one handle and one who fills. `free` frees what it is a part of.
    #[inline(always)]
    pub(super) fn new(
        shared: Reference,
        is_promised: bool,
        free: unsafe fn(NonNull<Self>),
    ) -> Self {
        Self {
            counts: AtomicU64::new(REFERENCE + HOLD),
            word: AtomicUsize::new(EMPTY),
            value: UnsafeCell::new(None),
            copy: AtomicPtr::new(ptr::null_mut()),
            free,
            heard: AtomicBool::new(false),
            wakers: Wakers::new(),
            is_promised,
            shared,
        }
    }

    /// Fills it, wakes those who wait, and gives up the right to. If `keep` the caller has a reference from now on.
    ///
    /// # Safety
    /// The caller is the one who fills, and no longer is.
    #[inline(always)]
    pub(super) unsafe fn fill(this: NonNull<Self>, value: Result<T, WaitError>, keep: bool) {
        // SAFETY: the caller's.
        unsafe { Self::fill_by(this, value, keep, None) };
    }

    /// As `fill`, by an operation of the unit of that name.
    ///
    /// # Safety
    /// As of `fill`.
    #[inline(always)]
    pub(super) unsafe fn fill_by(
        this: NonNull<Self>,
        value: Result<T, WaitError>,
        keep: bool,
        unit: Option<&str>,
    ) {
        // SAFETY: it is not filled, so it is there.
        let cell = unsafe { this.as_ref() };
        if keep {
            cell.refer();
        }
        // alone: the last handle does not look any more. Then nobody else changes the word.
        let mut waiters = cell.word.load(Acquire);
        if waiters & GONE == 0 {
            // SAFETY: I1.
            cell.value.with_mut(|place| unsafe { *place = Some(value) });
            // filled: the value, for holders.
            // waiter: those who wait, with their links.
            // alone: as above.
            waiters = cell.word.swap(FILLED, AcqRel);
        } else {
            // What the last handle had is ours: the cell is there.
            cell.goes_unheard(&value, unit);
            if mem::needs_drop::<T>() {
                // It may hold the last handle of another one.
                later(move || drop(value));
            }
        }
        if waiters & GONE != 0 {
            // SAFETY: nobody is left but us.
            unsafe { cell.nobody_looks(unit) };
            // SAFETY: what the last handle had.
            unsafe { Self::let_go(this, HOLD + REFERENCE) };
            waiters &= !GONE;
        }
        if waiters != EMPTY {
            wake_later(Waiters(waiters));
        }
    }

    /// Where those who wait are asked for.
    #[inline(always)]
    pub(super) fn word(&self) -> Word {
        Word(NonNull::from(&self.word))
    }

    pub(super) fn is_filled(&self) -> bool {
        // filled: the value.
        self.word.load(Acquire) == FILLED
    }

    /// Has `waiter` woken when the value is there. `false`: it is.
    ///
    /// # Safety
    /// The waiter is the caller's, is in no list, and stays until it is woken.
    pub(super) unsafe fn add(&self, waiter: NonNull<Waiter>) -> bool {
        // SAFETY: the caller's; whoever calls has a handle.
        unsafe { self.word().add(waiter) }
    }

    /// One more handle, with a way to copy the value. Whether there was one to share with. Unless that was the caller's, whose
    /// handle may be used up at the same time, the new one gives its hold up and looks at nothing.
    pub(super) fn share(&self, copy: Copy<T>) -> bool {
        // bare: `shared` says that it is there.
        self.copy.store(copy as *mut (), Relaxed);
        let more = |counts: u64| {
            check(counts);
            (counts >= HOLD).then_some(counts + HOLD + REFERENCE)
        };
        // shared: how to copy.
        // used: that the caller's handle was, if its hold is gone.
        self.counts.fetch_update(AcqRel, Relaxed, more).is_ok()
    }

    /// One more reference to the memory; the caller has one.
    pub(super) fn refer(&self) {
        // bare: there is one at least, the caller's.
        check(self.counts.fetch_add(REFERENCE, Relaxed));
    }

    /// Gives up a handle that has not had the value.
    ///
    /// # Safety
    /// It is the caller's.
    #[inline]
    pub(super) unsafe fn leave(this: NonNull<Self>) {
        // SAFETY: the caller has a reference.
        let cell = unsafe { this.as_ref() };
        // hint: only named; who gives the last hold up looks again.
        let mut counts = cell.counts.load(Relaxed);
        while is_shared(counts) {
            let left = counts - HOLD - REFERENCE;
            // free: we do not look any more.
            match cell.counts.compare_exchange_weak(counts, left, Release, Relaxed) {
                Ok(_) => return,
                Err(now) => counts = now,
            }
        }
        // Nobody else has a handle that has not had the value, and nobody makes one but to give it up unread.
        // filled: the value.
        let mut seen = cell.word.load(Acquire);
        while seen != FILLED {
            // alone: we do not look any more, and others have left.
            // filled: the value.
            match cell.word.compare_exchange_weak(seen, seen | GONE, Release, Acquire) {
                Ok(_) => return,
                Err(now) => seen = now,
            }
        }
        // SAFETY: the caller's, and it is filled.
        unsafe { Self::let_go(this, HOLD + REFERENCE) };
    }

    /// Gives up references, or of a filled cell a hold, with a reference or without. The last hold drops the value, the last
    /// reference frees the memory.
    ///
    /// # Safety
    /// They are the caller's.
    #[inline]
    pub(super) unsafe fn let_go(this: NonNull<Self>, what: u64) {
        // SAFETY: the caller has a reference, or was let go by one who has.
        let cell = unsafe { this.as_ref() };
        // part: others have read the value.
        // free: others do not look any more.
        let mut seen = cell.counts.load(Acquire);
        loop {
            if seen == what {
                // SAFETY: nobody else has a reference.
                return unsafe { (cell.free)(this) };
            }
            if what >= HOLD && seen - what < HOLD && mem::needs_drop::<T>() {
                // SAFETY: I1: it was filled, there is no other holder, and nobody becomes one.
                let value = cell.value.with_mut(|place| unsafe { (*place).take() });
                value.iter().for_each(|value| cell.goes_unheard(value, None));
                // It may hold the last handle of another one.
                later(move || drop(value));
                // free: we do not look any more.
                // free: nor do others.
                if cell.counts.fetch_sub(what, AcqRel) == what {
                    // SAFETY: as above.
                    unsafe { (cell.free)(this) };
                }
                return;
            }
            // part: we have read the value.
            // free: we do not look any more.
            match cell.counts.compare_exchange_weak(seen, seen - what, Release, Acquire) {
                Ok(_) => return,
                Err(now) => seen = now,
            }
        }
    }

    /// The value, for a holder that no longer is one, and still has its reference.
    ///
    /// # Safety
    /// It is filled, and the caller gives up its hold.
    pub(super) unsafe fn take(&self) -> Result<T, WaitError> {
        // part: others have read the value.
        // shared: how to copy.
        let mut seen = self.counts.load(Acquire);
        while !is_shared(seen) {
            // part: as above.
            match self.counts.compare_exchange_weak(seen, seen - HOLD, Acquire, Acquire) {
                // SAFETY: I1: it is filled, and there was no holder but this.
                Ok(_) => return unsafe { self.move_out() },
                Err(now) => seen = now,
            }
        }
        struct GivesUp<'a>(&'a AtomicU64);
        impl Drop for GivesUp<'_> {
            fn drop(&mut self) {
                // part: we have read the value. If the others have gone meanwhile it goes with the memory.
                // used: that this handle is.
                self.0.fetch_sub(HOLD, Release);
            }
        }
        // To copy it may panic.
        let _gives_up = GivesUp(&self.counts);
        // SAFETY: the caller's.
        unsafe { self.copied() }
    }

    /// The value, for a handle that is used up.
    ///
    /// # Safety
    /// It is filled, the caller gives up its hold and its reference, and nobody else uses the same handle.
    #[inline(always)]
    pub(super) unsafe fn take_last(this: NonNull<Self>) -> Result<T, WaitError> {
        struct LetGo<T: Send + 'static>(NonNull<Cell<T>>);
        impl<T: Send + 'static> Drop for LetGo<T> {
            #[inline(always)]
            fn drop(&mut self) {
                // SAFETY: the caller's. It is filled.
                unsafe { Cell::let_go(self.0, HOLD + REFERENCE) };
            }
        }
        // To copy it may panic.
        let _let_go = LetGo(this);
        // SAFETY: the caller has a reference.
        let cell = unsafe { this.as_ref() };
        // part: others have read the value.
        // shared: how to copy.
        if !is_shared(cell.counts.load(Acquire)) {
            // SAFETY: I1: no other holder, and nobody becomes one.
            return unsafe { cell.move_out() };
        }
        // SAFETY: the caller's.
        unsafe { cell.copied() }
    }

    /// Nobody looks at `value` any more, which is or was to be here. If that is an error nobody hears of it, unless somebody has.
    #[inline(always)]
    fn goes_unheard(&self, value: &Result<T, WaitError>, unit: Option<&str>) {
        if let Err(error) = value {
            self.unheard(error, unit);
        }
    }

    /// The same of the value that is here, if there is one.
    ///
    /// # Safety
    /// It is filled or never will be, and nobody else looks at it.
    #[inline]
    unsafe fn nobody_looks(&self, unit: Option<&str>) {
        self.value.with(|place| {
            // SAFETY: I1.
            let value = unsafe { &*place };
            value.iter().for_each(|value| self.goes_unheard(value, unit));
        });
    }

    #[cold]
    fn unheard(&self, error: &WaitError, unit: Option<&str>) {
        // bare: all handles have gone, or this is the one who fills; once.
        if !self.heard.swap(true, Relaxed) {
            self.shared.unheard(error, unit);
        }
    }

    /// # Safety
    /// It is filled, and there is no other holder.
    #[inline(always)]
    unsafe fn move_out(&self) -> Result<T, WaitError> {
        // SAFETY: I1.
        let value = self.value.with_mut(|place| unsafe { (*place).take() });
        value.unwrap_or(Err(WaitError::Taken))
    }

    /// # Safety
    /// It is filled, and the caller holds it.
    unsafe fn copied(&self) -> Result<T, WaitError> {
        // bare: it was acquired with the counts.
        let copy = self.copy.load(Relaxed);
        // SAFETY: null, or from such a function.
        let copy = unsafe { mem::transmute::<*mut (), Option<Copy<T>>>(copy) };
        self.value.with(|place| {
            // SAFETY: I1: it is filled, and nobody moves it out while we hold it.
            match (unsafe { &*place }, copy) {
                (Some(Ok(value)), Some(copy)) => Ok(copy(value)),
                (Some(Err(error)), _) => {
                    // bare: it comes before the hold goes, and is asked when all have gone.
                    self.heard.store(true, Relaxed);
                    Err(error.clone())
                }
                _ => Err(WaitError::Taken),
            }
        })
    }
}

/// Where those who wait for a cell are asked for.
#[derive(Clone, Copy)]
pub(super) struct Word(NonNull<AtomicUsize>);

impl Word {
    /// No cell's.
    pub(super) const fn none() -> Self {
        Self(NonNull::dangling())
    }

    /// Whether the value is there. Who takes it looks again.
    ///
    /// # Safety
    /// Somebody has a handle to the cell.
    #[inline(always)]
    pub(super) unsafe fn is_filled(self) -> bool {
        // SAFETY: the caller's.
        // bare: it carries nothing.
        unsafe { self.0.as_ref() }.load(Relaxed) == FILLED
    }

    /// As [`Cell::add`]. Who takes the value looks again.
    ///
    /// # Safety
    /// Somebody has a handle to the cell until the waiter is added. The waiter is the caller's, is in no list, and stays
    /// until it is woken.
    #[inline(always)]
    pub(super) unsafe fn add(self, waiter: NonNull<Waiter>) -> bool {
        // SAFETY: the caller's.
        let word = unsafe { self.0.as_ref() };
        // bare: it carries nothing.
        let mut seen = word.load(Relaxed);
        while seen != FILLED {
            // SAFETY: ours until the exchange succeeds.
            unsafe { waiter.as_ref().next.with_mut(|next| *next = seen) };
            let address = waiter.as_ptr().expose_provenance();
            // waiter: it and its link, for the one who fills. On failure only named.
            match word.compare_exchange_weak(seen, address, Release, Relaxed) {
                Ok(_) => return true,
                Err(now) => seen = now,
            }
        }
        false
    }
}

/// Those who waited, taken off a cell that was filled: newest first.
pub(super) struct Waiters(usize);

impl Waiters {
    /// Wakes all of them, the one that came first before the others.
    pub(super) fn wake(self) {
        if let Some(waiter) = NonNull::new(ptr::with_exposed_provenance_mut::<Waiter>(self.0)) {
            // SAFETY: a waiter stays until it is woken.
            let next = unsafe { waiter.as_ref() }.next.with(|next| unsafe { *next });
            if next == EMPTY {
                // SAFETY: once, as it was taken off once.
                return unsafe { (waiter.as_ref().wake)(waiter) };
            }
        }
        let (mut list, mut first) = (self.0, EMPTY);
        while list != EMPTY {
            // SAFETY: a waiter stays until it is woken.
            let waiter = unsafe { &*ptr::with_exposed_provenance::<Waiter>(list) };
            // SAFETY: it is ours.
            let next = waiter.next.with_mut(|next| unsafe { mem::replace(&mut *next, first) });
            first = list;
            list = next;
        }
        while let Some(waiter) = NonNull::new(ptr::with_exposed_provenance_mut::<Waiter>(first)) {
            // SAFETY: as above; not looked at once it is woken.
            first = unsafe { waiter.as_ref() }.next.with(|next| unsafe { *next });
            // SAFETY: once, as it was taken off once.
            unsafe { (waiter.as_ref().wake)(waiter) };
        }
    }
}

impl<T: Send + 'static> Drop for Cell<T> {
    fn drop(&mut self) {
        // To move a value that was written a moment ago, and in parts, has to wait for it.
        // SAFETY: nobody else is left.
        if self.value.with(|place| unsafe { &*place }.is_none()) {
            return;
        }
        // SAFETY: as above.
        let value = self.value.with_mut(|place| unsafe { (*place).take() });
        value.iter().for_each(|value| self.goes_unheard(value, None));
        if mem::needs_drop::<T>() && matches!(value, Some(Ok(_))) {
            // It may hold the last handle of another one.
            later(move || drop(value));
        }
    }
}

#[cfg(test)]
mod tests;
