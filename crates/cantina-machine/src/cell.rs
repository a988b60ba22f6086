//! Shared data that is not atomic.
//!
//! `std`'s cell with loom's calling convention: a model has to see where an access begins and where
//! it ends, and the simulator has to know how many bytes to charge for.

/// A cell whose contents are only reached inside a closure.
#[derive(Debug, Default)]
#[repr(transparent)]
pub struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

impl<T> UnsafeCell<T> {
    /// A cell that holds `value`.
    #[inline(always)]
    pub fn new(value: T) -> Self {
        Self(std::cell::UnsafeCell::new(value))
    }

    /// Reads: the pointer is good until `f` returns, if nobody writes meanwhile.
    #[inline(always)]
    pub fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
        f(self.0.get())
    }

    /// Writes: the pointer is good until `f` returns, if nobody else looks meanwhile.
    #[inline(always)]
    pub fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        f(self.0.get())
    }

    /// The value.
    #[inline(always)]
    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }
}
