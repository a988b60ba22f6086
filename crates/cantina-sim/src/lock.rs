//! A mutex that knows its holder.

use crate::engine::threads::{ThreadId, Wait};
use crate::engine::{Access, Op, current};
use crate::memory::peek::tell_data;
use crate::memory::place::Place;
use crate::trace::What;
use std::cell::UnsafeCell;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};

const FREE: u64 = 0;
/// Held by somebody outside a run.
const OUTSIDE: u64 = 1;
/// Added to the number of the virtual thread that holds it.
const HELD: u64 = 2;

/// A mutual-exclusion lock. A panic of its holder releases it and poisons nothing.
///
/// Outside a run nobody waits for it: locking what is locked panics there.
pub struct Mutex<T> {
    /// `FREE`, `OUTSIDE` or `HELD` and a thread.
    holder: AtomicU64,
    /// Somebody may be asleep, waiting for it.
    contended: AtomicBool,
    /// How many look at it again and again, waiting for it.
    watchers: AtomicUsize,
    value: UnsafeCell<T>,
}

/// Access to what a [`Mutex`] guards; released on drop.
#[must_use = "the lock is released when the guard is dropped"]
pub struct MutexGuard<'a, T> {
    lock: &'a Mutex<T>,
    /// As with `std`, a guard is dropped where it was made.
    stays_here: std::marker::PhantomData<*const ()>,
}

// SAFETY: whoever has set `holder` has the value for itself.
unsafe impl<T: Send> Send for Mutex<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Mutex<T> {}
// SAFETY: a shared guard gives out shared references only.
unsafe impl<T: Sync> Sync for MutexGuard<'_, T> {}

impl<T> Mutex<T> {
    /// An unlocked mutex around `value`.
    pub const fn new(value: T) -> Self {
        Self {
            holder: AtomicU64::new(FREE),
            contended: AtomicBool::new(false),
            watchers: AtomicUsize::new(0),
            value: UnsafeCell::new(value),
        }
    }

    /// Waits for the lock.
    ///
    /// # Panics
    /// Outside a run, when it is held.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        let mut slept = false;
        if let Some(guard) = self.try_lock() {
            self.charge_watchers();
            return guard;
        }
        loop {
            let woken = slept.then(|| self.try_lock()).flatten();
            if let Some(guard) = woken.or_else(|| self.watch()) {
                self.charge_watchers();
                // Only one of those asleep was woken: whoever it is sees to the next.
                self.contended.fetch_or(slept, Relaxed);
                return guard;
            }
            slept = true;
            self.contended.store(true, Relaxed);
            let holder = self.holder.load(Relaxed).checked_sub(HELD);
            let holder = holder.map(|number| ThreadId(number as u32));
            current::block(Wait::Lock { on: self.address(), holder }, None);
        }
    }

    /// Takes the lock if it is free.
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        current::step(Access::at(Op::Lock, &raw const self.holder));
        let me = current::current().map_or(OUTSIDE, |(_, id)| HELD + u64::from(id.0));
        let taken = self.holder.compare_exchange(FREE, me, Acquire, Relaxed).is_ok();
        current::tell(self.address(), &mut || What::Locked { taken });
        taken.then(|| MutexGuard { lock: self, stays_here: std::marker::PhantomData })
    }

    /// What it guarded.
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }

    /// Whoever has it now loses its line to those that look at it.
    fn charge_watchers(&self) {
        let cycles = current::lock_watched();
        if cycles > 0 && self.watchers.load(Relaxed) > 0 {
            current::step(Access::much(Op::Work, cycles));
        }
    }

    /// Looks at it for a while, and takes it when it is free.
    fn watch(&self) -> Option<MutexGuard<'_, T>> {
        self.watchers.fetch_add(1, Relaxed);
        let mut taken = None;
        while taken.is_none() && self.spin() {
            taken = self.try_lock();
            // Among many that never sleep nobody gets on; with a measured cost there are two.
            if current::lock_watched() == 0 {
                break;
            }
        }
        self.watchers.fetch_sub(1, Relaxed);
        taken
    }

    /// Looks at it for a while; whether it is free.
    fn spin(&self) -> bool {
        // SAFETY: a word of 8 bytes that is only accessed atomically and lives as long as `self`.
        let word = unsafe { Place::new(self.holder.as_ptr().cast(), size_of::<u64>()) };
        (0..current::lock_spins()).any(|_| {
            current::give_way(Op::Spin, 1);
            current::load(word) == FREE
        })
    }

    /// Where it lies: what its waiters wait at.
    fn address(&self) -> usize {
        (&raw const self.holder) as usize
    }
}

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: the guard's holder has the value for itself.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above.
        unsafe { &mut *self.lock.value.get() }
    }
}

impl<T> Drop for MutexGuard<'_, T> {
    fn drop(&mut self) {
        current::step(Access::at(Op::Unlock, &raw const self.lock.holder));
        // SAFETY: the guard's holder has the value for itself.
        unsafe { tell_data(self.lock.value.get()) };
        self.lock.holder.store(FREE, Release);
        if self.lock.contended.swap(false, Relaxed) {
            current::unlock(self.lock.address());
        }
    }
}

impl<T: Default> Default for Mutex<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mutex").finish_non_exhaustive()
    }
}

impl<T: fmt::Debug> fmt::Debug for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
