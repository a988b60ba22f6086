//! Operations that wait for their arguments.
//!
//! What waits for a value that another operation brings is told when that has run, failed or was cancelled. What waits
//! for a promise, for another runtime's value or for the inner value of a nested one may wait for ever, and so may the
//! end of an operation, whose value is older than what it waits for: this is kept in a list, so that a runtime that
//! stops can cancel it.

use super::argument::Argument;
use super::cell::{Waiter, Word};
use super::context::quietly;
use super::error::WaitError;
use super::shared::Shared;
use machine::atomic::AtomicUsize;
use machine::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::mem::offset_of;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::{self, NonNull};

/// In no list: nobody cancels it.
const ALONE: usize = 0;
/// In a list.
const LISTED: usize = 1;
/// Begun, or cancelled.
const DECIDED: usize = 2;

/// In `count`, until all eventuals have been told: more than there are.
const GUARD: usize = 1 << 30;

/// The part of an operation that waits, with room for `N` waiters.
#[repr(C)]
pub(super) struct Waits<const N: usize> {
    core: Core,
    waiters: [Waiter; N],
}

pub(super) struct Core {
    /// Eventuals that are not there yet; and `GUARD`, less those that were there meanwhile, until all have been told.
    count: AtomicUsize,
    state: AtomicUsize,
    table: &'static Table,
}

/// What an operation does. Each is called with the part of it that waits.
pub(super) struct Table {
    /// All arguments are there: the caller has the right to begin it.
    pub(super) ready: unsafe fn(NonNull<Core>),
    /// It fails; the caller has the right to say so, and its reference stays.
    pub(super) fail: unsafe fn(NonNull<Core>, WaitError),
    /// One more reference.
    pub(super) refer: unsafe fn(NonNull<Core>),
    /// One reference less.
    pub(super) let_go: unsafe fn(NonNull<Core>),
}

/// A waiter that there was no room for.
#[repr(C)]
struct Extra {
    waiter: Waiter,
    of: NonNull<Core>,
}

/// Tells the operation to which the waiter numbered `N` belongs.
///
/// # Safety
/// As of [`Waiter`].
unsafe fn wake<const N: usize>(waiter: NonNull<Waiter>) {
    let offset = offset_of!(Waits<1>, waiters) + N * size_of::<Waiter>();
    // SAFETY: it is that waiter of such a part, of which this is the beginning.
    unsafe { Core::one_less(waiter.byte_sub(offset).cast()) };
}

/// # Safety
/// As of [`Waiter`].
unsafe fn wake_extra(waiter: NonNull<Waiter>) {
    // SAFETY: from such a box, and used up.
    let extra = unsafe { Box::from_raw(waiter.cast::<Extra>().as_ptr()) };
    // SAFETY: it counts.
    unsafe { Core::one_less(extra.of) };
}

impl<const N: usize> Waits<N> {
    #[inline(always)]
    pub(super) fn new(table: &'static Table) -> Self {
        const WAKES: [unsafe fn(NonNull<Waiter>); 2] = [wake::<0>, wake::<1>];
        Self {
            core: Core { count: AtomicUsize::new(GUARD), state: AtomicUsize::new(ALONE), table },
            waiters: std::array::from_fn(|index| Waiter::new(WAKES[index])),
        }
    }

    /// Begins the operation when all eventuals in `argument` are there, at once if they are. If `lists` it is cancelled
    /// when `shared` stops; otherwise only if it waits for something that may never come.
    ///
    /// # Safety
    /// `this` is part of an operation that has a reference until it is begun or cancelled, and does not wait. So is
    /// `argument`, or it stays.
    pub(super) unsafe fn begin<A: Argument>(
        this: NonNull<Self>,
        argument: *const A,
        shared: &Shared,
        lists: bool,
    ) {
        let core: NonNull<Core> = this.cast();
        let (mut asks, mut asked) = ([(Word::none(), false); N], 0);
        // SAFETY: the caller's.
        let is_direct = unsafe { &*argument }.directly(&mut |ask| {
            let place = asks.iter_mut().skip(asked).take(1);
            place.for_each(|place| *place = (ask.word, !ptr::eq(ask.shared, shared)));
            asked += 1;
        });
        if is_direct && asked <= N {
            // SAFETY: the caller's; the library's own arguments say what is in them, and nothing else.
            return unsafe { Self::begin_directly(this, asks, asked, shared, lists) };
        }
        // SAFETY: the caller's.
        let part = unsafe { core.as_ref() };
        // None of those that are there already begins it before the last is told.
        // own: nobody else knows it yet.
        part.count.store(GUARD, Relaxed);
        let (mut used, mut waits, mut lists) = (0, false, lists);
        let told = catch_unwind(AssertUnwindSafe(|| {
            // SAFETY: the caller's; nobody takes it before the guard is gone.
            unsafe { &*argument }.dependencies(&mut |dependency| {
                if dependency.is_there() {
                    return;
                }
                let waiter = if used < N {
                    let offset = offset_of!(Self, waiters) + used * size_of::<Waiter>();
                    // SAFETY: within the part.
                    unsafe { this.byte_add(offset).cast::<Waiter>() }
                } else {
                    let extra = Box::new(Extra { waiter: Waiter::new(wake_extra), of: core });
                    NonNull::from(Box::leak(extra)).cast()
                };
                // SAFETY: it stays: the operation has a reference until all have been woken.
                if unsafe { dependency.wait_with(waiter) } {
                    waits = true;
                    lists |= dependency.may_never_come(shared);
                    used += 1;
                    return;
                }
                if used >= N {
                    // SAFETY: from a box, and in no list.
                    drop(unsafe { Box::from_raw(waiter.cast::<Extra>().as_ptr()) });
                }
            });
        }));
        if let Err(panic) = told {
            let error = WaitError::panicked(&*panic);
            quietly(|| drop(panic));
            // bare: in no list, so it is ours to decide.
            part.state.store(DECIDED, Relaxed);
            // SAFETY: decided by us.
            unsafe { (part.table.fail)(core, error) };
        } else if !waits {
            // SAFETY: nobody else knows it.
            return unsafe { (part.table.ready)(core) };
        } else if lists {
            // SAFETY: it has a reference, and a guard.
            unsafe { Core::list(core, shared) };
        }
        // SAFETY: the guard, without those that wait.
        unsafe { Core::less(core, GUARD - used) };
    }

    /// As `begin`, for what says which eventuals are in it, and of each whether it may never come: nobody looks at it once
    /// the last has been told, and it needs a guard only where it is listed.
    ///
    /// # Safety
    /// As of `begin`, and the first `asked` of `asks` are those of the argument.
    #[inline(always)]
    unsafe fn begin_directly(
        this: NonNull<Self>,
        asks: [(Word, bool); N],
        asked: usize,
        shared: &Shared,
        mut lists: bool,
    ) {
        let core: NonNull<Core> = this.cast();
        // SAFETY: the caller's.
        let part = unsafe { core.as_ref() };
        let (mut missing, mut count) = ([false; N], 0);
        for index in 0..N {
            let (word, may_never_come) = asks[index];
            // SAFETY: the argument has a handle to it.
            missing[index] = index < asked && !unsafe { word.is_filled() };
            count += usize::from(missing[index]);
            lists |= missing[index] && may_never_come;
        }
        if count == 0 {
            // SAFETY: nobody else knows it.
            return unsafe { (part.table.ready)(core) };
        }
        // A worker lists it before anybody else knows it, if no list has had it: then only that worker cancels it, and not now.
        // own: nobody else knows it yet.
        let lists_first =
            lists && part.state.load(Relaxed) == ALONE && shared.own_worker().is_some();
        let guard = usize::from(lists && !lists_first);
        // own: as above.
        part.count.store(count + guard, Relaxed);
        if lists_first {
            // SAFETY: it has a reference, and nobody else knows it.
            unsafe { Core::list(core, shared) };
        }
        let mut came = 0;
        for index in 0..N {
            if missing[index] {
                let offset = offset_of!(Self, waiters) + index * size_of::<Waiter>();
                // SAFETY: within the part.
                let waiter = unsafe { this.byte_add(offset).cast::<Waiter>() };
                // SAFETY: it stays: the operation does not begin before as many as were missing have come, of which this
                // is one. So the argument still has its handle.
                came += usize::from(!unsafe { asks[index].0.add(waiter) });
            }
        }
        if came == count {
            // It waits for nothing. Who looks at the state would be told of an earlier time, when it was listed and waited
            // for something else; or of now, when it is listed already.
            // bare: whoever has it in a list finds it decided.
            part.state.store(DECIDED, Relaxed);
            // SAFETY: decided by us.
            return unsafe { (part.table.ready)(core) };
        }
        if guard > 0 {
            // SAFETY: it has a reference, and a guard.
            unsafe { Core::list(core, shared) };
        }
        if came + guard > 0 {
            // SAFETY: they were counted.
            unsafe { Core::less(core, came + guard) };
        }
    }
}

impl Core {
    /// Has it cancelled when `shared` stops, or at once if it has.
    ///
    /// # Safety
    /// It has a reference, and a guard in its count that is the caller's; or the caller is a worker, and nobody else knows it.
    unsafe fn list(this: NonNull<Self>, shared: &Shared) {
        // SAFETY: the caller's.
        let part = unsafe { this.as_ref() };
        // listed: the operation, for whoever cancels it.
        part.state.store(LISTED, Release);
        // SAFETY: as above.
        if let Err(wait) = shared.keep(unsafe { Wait::new(this) }) {
            wait.cancel();
        }
    }

    /// # Safety
    /// One that was counted.
    #[inline]
    unsafe fn one_less(this: NonNull<Self>) {
        // SAFETY: the caller's.
        unsafe { Self::less(this, 1) };
    }

    /// # Safety
    /// So many that were counted.
    #[inline]
    unsafe fn less(this: NonNull<Self>, less: usize) {
        // SAFETY: it has a reference until the count is 0.
        let part = unsafe { this.as_ref() };
        // Who is the last needs no exchange: nobody else changes it.
        // ready: what all the others carry.
        let is_last = part.count.load(Acquire) == less;
        // ready: what this argument carries, for the one who finds the last.
        // ready: what all the others carry.
        if !is_last && part.count.fetch_sub(less, AcqRel) != less {
            return;
        }
        if part.is_decided_by_us() {
            // SAFETY: decided by us.
            unsafe { (part.table.ready)(this) };
        } else {
            // SAFETY: it was failed, and its reference was left to us.
            unsafe { (part.table.let_go)(this) };
        }
    }

    fn is_decided_by_us(&self) -> bool {
        // bare: whether it is in a list was said before the guard went.
        if self.state.load(Relaxed) == ALONE {
            return true;
        }
        // bare: it decides, and carries nothing: the count does.
        self.state.swap(DECIDED, Relaxed) == LISTED
    }
}

/// An operation in a list, with a reference to it.
pub(super) struct Wait(NonNull<Core>);

// SAFETY: it leads to an operation, which is `Send`.
unsafe impl Send for Wait {}

impl Wait {
    /// # Safety
    /// Part of an operation that the caller has a reference to.
    unsafe fn new(core: NonNull<Core>) -> Self {
        // SAFETY: the caller's.
        unsafe { (core.as_ref().table.refer)(core) };
        Self(core)
    }

    fn core(&self) -> &Core {
        // SAFETY: it has a reference.
        unsafe { self.0.as_ref() }
    }

    fn is_decided(&self) -> bool {
        // hint: once decided it is not looked at any more.
        self.core().state.load(Relaxed) != LISTED
    }

    /// Cancels it, unless it was begun. Whether it did.
    fn cancel(self) -> bool {
        // listed: the operation as it waits now.
        let decides = self.core().state.compare_exchange(LISTED, DECIDED, Acquire, Relaxed).is_ok();
        if decides {
            // SAFETY: decided by us.
            quietly(|| unsafe { (self.core().table.fail)(self.0, WaitError::Cancelled) });
        }
        decides
    }
}

impl Drop for Wait {
    fn drop(&mut self) {
        // SAFETY: its reference.
        unsafe { (self.core().table.let_go)(self.0) };
    }
}

/// Operations that wait for what may never come, and some that have waited.
#[derive(Default)]
pub(super) struct Waiting {
    list: Vec<Wait>,
    /// How long the list is when it is looked through.
    most: usize,
}

impl Waiting {
    /// Adds one. The whole list if it is to be looked through, which is for the caller to
    /// [do](Self::look_through) when nobody else waits for it: to drop a wait may be to drop what is the user's.
    pub(super) fn add(&mut self, wait: Wait) -> Option<Vec<Wait>> {
        self.list.push(wait);
        (self.list.len() > self.most).then(|| std::mem::take(&mut self.list))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Drops those that wait no more.
    pub(super) fn look_through(list: &mut Vec<Wait>) {
        list.retain(|wait| !wait.is_decided());
    }

    /// Adds those of a list that was looked through.
    pub(super) fn put_back(&mut self, mut list: Vec<Wait>) {
        list.append(&mut self.list);
        self.list = list;
        self.most = (2 * self.list.len()).max(64);
    }

    /// Cancels all that wait. How many there were.
    pub(super) fn cancel(self) -> usize {
        self.list.into_iter().map(|wait| usize::from(wait.cancel())).sum()
    }
}
