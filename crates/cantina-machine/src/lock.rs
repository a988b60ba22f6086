//! A mutex, for what is rare or meant to be obviously right.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{PoisonError, TryLockError};

/// A mutual-exclusion lock. A panic of its holder releases it and poisons nothing.
#[derive(Default)]
pub struct Mutex<T>(std::sync::Mutex<T>);

/// Access to what a [`Mutex`] guards; released on drop.
#[must_use = "the lock is released when the guard is dropped"]
pub struct MutexGuard<'a, T>(std::sync::MutexGuard<'a, T>);

impl<T> Mutex<T> {
    /// An unlocked mutex around `value`.
    pub fn new(value: T) -> Self {
        Self(std::sync::Mutex::new(value))
    }

    /// Waits for the lock.
    #[inline]
    pub fn lock(&self) -> MutexGuard<'_, T> {
        MutexGuard(self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes the lock if it is free.
    #[inline]
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        match self.0.try_lock() {
            Ok(guard) => Some(MutexGuard(guard)),
            Err(TryLockError::Poisoned(poison)) => Some(MutexGuard(poison.into_inner())),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// What it guarded.
    pub fn into_inner(self) -> T {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
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
