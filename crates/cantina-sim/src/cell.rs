//! Shared data that is not atomic. To reach into a cell is a step.

use crate::engine::{Access, Op, current};
use crate::memory::peek::tell_data;

/// A cell whose contents are only reached inside a closure.
#[derive(Debug, Default)]
#[repr(transparent)]
pub struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

impl<T> UnsafeCell<T> {
    /// A cell that holds `value`.
    pub const fn new(value: T) -> Self {
        Self(std::cell::UnsafeCell::new(value))
    }

    /// Reads: the pointer is good until `f` returns, if nobody writes meanwhile.
    pub fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
        current::data(Access::data(Op::Read, self.0.get(), size_of::<T>()));
        f(self.0.get())
    }

    /// Writes: the pointer is good until `f` returns, if nobody else looks meanwhile.
    pub fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        current::data(Access::data(Op::Write, self.0.get(), size_of::<T>()));
        let result = f(self.0.get());
        // SAFETY: the cell is ours to write until we return.
        unsafe { tell_data(self.0.get()) };
        result
    }

    /// The value.
    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }
}
