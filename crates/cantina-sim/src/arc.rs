//! Shared ownership, counted as on the real machine: with read-modify-writes.
//!
//! `std`'s `Arc` would count behind the simulator's back, and more than the time would be missing: on
//! a real processor the count's decrement makes the stores before it visible, so that whoever drops
//! the last reference finds what the others wrote.

use crate::engine::{Access, Op, current};
use std::borrow::Borrow;
use std::fmt;
use std::ops::Deref;

/// A reference-counted pointer. It has no weak side and does not coerce to trait objects, as
/// loom's.
#[derive(PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Arc<T>(std::sync::Arc<T>);

impl<T> Arc<T> {
    /// The first reference to `value`.
    pub fn new(value: T) -> Self {
        Self(std::sync::Arc::new(value))
    }

    /// Whether both refer to the same value.
    pub fn ptr_eq(this: &Self, other: &Self) -> bool {
        std::sync::Arc::ptr_eq(&this.0, &other.0)
    }

    /// Where the value lies.
    pub fn as_ptr(this: &Self) -> *const T {
        std::sync::Arc::as_ptr(&this.0)
    }

    /// How many references there are.
    pub fn strong_count(this: &Self) -> usize {
        this.step(Op::Load);
        std::sync::Arc::strong_count(&this.0)
    }

    /// The value, if this is the only reference to it.
    pub fn get_mut(this: &mut Self) -> Option<&mut T> {
        this.step(Op::Cas);
        std::sync::Arc::get_mut(&mut this.0)
    }

    /// The value, if this is the only reference to it.
    ///
    /// # Errors
    /// The reference, if there are others.
    pub fn try_unwrap(this: Self) -> Result<T, Self> {
        this.step(Op::Cas);
        std::sync::Arc::try_unwrap(this.release()).map_err(Self)
    }

    /// The value, if this is the last reference to it.
    pub fn into_inner(this: Self) -> Option<T> {
        this.step(Op::Rmw);
        std::sync::Arc::into_inner(this.release())
    }

    /// The reference as a pointer, which still counts.
    pub fn into_raw(this: Self) -> *const T {
        std::sync::Arc::into_raw(this.release())
    }

    /// The reference that the pointer counts for.
    ///
    /// # Safety
    /// It is from [`into_raw`](Self::into_raw), and this happens once for each.
    pub unsafe fn from_raw(value: *const T) -> Self {
        // SAFETY: the caller's.
        Self(unsafe { std::sync::Arc::from_raw(value) })
    }

    /// The inner reference, without the step of a drop.
    fn release(self) -> std::sync::Arc<T> {
        let this = std::mem::ManuallyDrop::new(self);
        // SAFETY: `this` is not used again, nor dropped.
        unsafe { std::ptr::read(&this.0) }
    }

    /// A step at the count, which lies before the value.
    fn step(&self, op: Op) {
        let value = std::sync::Arc::as_ptr(&self.0).cast::<u8>();
        current::step(Access::at(op, value.wrapping_sub(2 * size_of::<usize>())));
    }
}

impl<T> Clone for Arc<T> {
    fn clone(&self) -> Self {
        self.step(Op::Rmw);
        Self(self.0.clone())
    }
}

impl<T> Drop for Arc<T> {
    fn drop(&mut self) {
        self.step(Op::Rmw);
    }
}

impl<T> Deref for Arc<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> AsRef<T> for Arc<T> {
    fn as_ref(&self) -> &T {
        &self.0
    }
}

impl<T> Borrow<T> for Arc<T> {
    fn borrow(&self) -> &T {
        &self.0
    }
}

impl<T: Default> Default for Arc<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> From<T> for Arc<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: fmt::Debug> fmt::Debug for Arc<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T: fmt::Display> fmt::Display for Arc<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::Arc;

    #[test]
    fn references_are_counted() {
        let mut one = Arc::new(5);
        *Arc::get_mut(&mut one).unwrap() += 1;
        let two = one.clone();
        assert!(Arc::ptr_eq(&one, &two));
        assert_eq!(Arc::strong_count(&one), 2);
        let one = Arc::try_unwrap(one).unwrap_err();
        assert_eq!(Arc::into_inner(one), None);
        assert_eq!(Arc::strong_count(&two), 1);
        let raw = Arc::into_raw(two);
        // SAFETY: from `into_raw`, once.
        let two = unsafe { Arc::from_raw(raw) };
        assert_eq!(Arc::strong_count(&two), 1);
        assert_eq!(Arc::try_unwrap(two), Ok(6));
    }

    #[test]
    fn the_last_reference_drops_the_value() {
        let inner = Arc::new(());
        let outer = Arc::new(inner.clone());
        let other = outer.clone();
        drop(outer);
        assert_eq!(Arc::strong_count(&inner), 2);
        drop(other);
        assert_eq!(Arc::strong_count(&inner), 1);
    }
}
