//! A mutex, for what is rare or meant to be obviously right.

use shown::Shown;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{PoisonError, TryLockError};

/// A mutual-exclusion lock. A panic of its holder releases it and poisons nothing.
#[derive(Default)]
pub struct Mutex<T> {
    shown: Shown,
    lock: std::sync::Mutex<T>,
}

/// Access to what a [`Mutex`] guards; released on drop.
#[must_use = "the lock is released when the guard is dropped"]
pub struct MutexGuard<'a, T> {
    shown: &'a Shown,
    guard: std::sync::MutexGuard<'a, T>,
}

impl<T> Mutex<T> {
    /// An unlocked mutex around `value`.
    pub fn new(value: T) -> Self {
        Self { shown: Shown::new(), lock: std::sync::Mutex::new(value) }
    }

    /// Waits for the lock.
    #[inline]
    pub fn lock(&self) -> MutexGuard<'_, T> {
        self.locked(self.lock.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes the lock if it is free.
    #[inline]
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        match self.lock.try_lock() {
            Ok(guard) => Some(self.locked(guard)),
            Err(TryLockError::Poisoned(poison)) => Some(self.locked(poison.into_inner())),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// What it guarded.
    pub fn into_inner(self) -> T {
        self.lock.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    #[inline]
    fn locked<'a>(&'a self, guard: std::sync::MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        self.shown.locked();
        MutexGuard { shown: &self.shown, guard }
    }
}

impl<T> Drop for MutexGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        // The guard of std goes after this.
        self.shown.unlocking();
    }
}

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        &self.guard
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.guard
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

/// What a sanitizer sees of a lock: nothing that it needs, and nothing is there.
#[cfg(not(cantina_tsan))]
mod shown {
    #[derive(Default)]
    pub(super) struct Shown;

    impl Shown {
        pub(super) fn new() -> Self {
            Self
        }

        #[inline]
        pub(super) fn locked(&self) {}

        #[inline]
        pub(super) fn unlocking(&self) {}
    }
}

/// What the thread sanitizer sees of a lock. Who waited for std's took it inside std, where it cannot look; so who lets go says it
/// here once more, and who has it hears it here.
#[cfg(cantina_tsan)]
mod shown {
    use std::sync::atomic::AtomicBool;
    use std::sync::atomic::Ordering::{Acquire, Release};

    #[derive(Default)]
    pub(super) struct Shown(AtomicBool);

    impl Shown {
        pub(super) fn new() -> Self {
            Self::default()
        }

        pub(super) fn locked(&self) {
            // lock: all that was done under it.
            self.0.load(Acquire);
        }

        pub(super) fn unlocking(&self) {
            // lock: all that was done under it, for whoever has it next.
            self.0.store(true, Release);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Mutex;
    use std::sync::Arc;

    #[test]
    fn a_holder_that_panics_releases_it() {
        let lock = Arc::new(Mutex::new(1));
        let theirs = lock.clone();
        std::thread::spawn(move || {
            let _guard = theirs.lock();
            std::panic::resume_unwind(Box::new(()));
        })
        .join()
        .unwrap_err();
        assert_eq!(lock.try_lock().map(|guard| *guard), Some(1));
        *lock.lock() += 1;
        assert_eq!(Arc::into_inner(lock).unwrap().into_inner(), 2);
    }

    #[test]
    fn a_held_lock_is_not_taken() {
        let lock = Mutex::new(());
        let guard = lock.lock();
        assert!(lock.try_lock().is_none());
        drop(guard);
        assert!(lock.try_lock().is_some());
    }
}
