//! Atomic words whose every access is a step of the simulation.
//!
//! One generic type serves for all of `std`'s; the aliases have its names.

use crate::engine::{Op, current};
use crate::memory::place::Place;
use std::cell::UnsafeCell;
use std::fmt;
use word::{Integer, Logical, Word};

pub use std::sync::atomic::Ordering;

/// An atomic `bool`.
pub type AtomicBool = Atomic<bool>;
/// An atomic `u8`.
pub type AtomicU8 = Atomic<u8>;
/// An atomic `u16`.
pub type AtomicU16 = Atomic<u16>;
/// An atomic `u32`.
pub type AtomicU32 = Atomic<u32>;
/// An atomic `u64`.
pub type AtomicU64 = Atomic<u64>;
/// An atomic `usize`.
pub type AtomicUsize = Atomic<usize>;
/// An atomic `i64`.
pub type AtomicI64 = Atomic<i64>;
/// An atomic `isize`.
pub type AtomicIsize = Atomic<isize>;
/// An atomic pointer.
pub type AtomicPtr<T> = Atomic<*mut T>;

/// A word that threads share.
#[repr(C)]
pub struct Atomic<T> {
    /// First, so that it lies where the word does.
    settle: Settle,
    word: UnsafeCell<T>,
}

/// Has no bytes. When it is dropped, stores to the word that lies here become visible: the memory
/// may belong to something else before they would.
struct Settle;

impl Drop for Settle {
    fn drop(&mut self) {
        let here = (&raw const *self) as usize;
        current::clear(here, here + 1);
    }
}

// SAFETY: what it holds is a plain word, and every access to it is atomic.
unsafe impl<T: Word> Send for Atomic<T> {}
// SAFETY: as above.
unsafe impl<T: Word> Sync for Atomic<T> {}

impl<T: Word> Atomic<T> {
    /// A word that holds `value`.
    pub const fn new(value: T) -> Self {
        Self { settle: Settle, word: UnsafeCell::new(value) }
    }

    /// Reads it.
    ///
    /// # Panics
    /// When `order` is `Release` or `AcqRel`.
    pub fn load(&self, order: Ordering) -> T {
        assert!(
            !matches!(order, Ordering::Release | Ordering::AcqRel),
            "there is no such thing as a release load"
        );
        T::from_bits(current::load(self.place()))
    }

    /// Writes `value`.
    ///
    /// # Panics
    /// When `order` is `Acquire` or `AcqRel`.
    pub fn store(&self, value: T, order: Ordering) {
        assert!(
            !matches!(order, Ordering::Acquire | Ordering::AcqRel),
            "there is no such thing as an acquire store"
        );
        let op = if order == Ordering::SeqCst { Op::SeqCstStore } else { Op::Store };
        current::store(op, self.place(), value.to_bits());
    }

    /// Writes `value`; what it was.
    pub fn swap(&self, value: T, order: Ordering) -> T {
        self.update(order, |_| value.to_bits())
    }

    /// Writes `new` if it is `old`; what it was.
    ///
    /// # Errors
    /// What it is, when that is not `old`.
    pub fn compare_exchange(
        &self,
        old: T,
        new: T,
        _success: Ordering,
        _failure: Ordering,
    ) -> Result<T, T> {
        self.exchange(old, new, false)
    }

    /// As [`compare_exchange`](Self::compare_exchange), but may fail for no reason: see
    /// [`Simulation::weak_failures`](crate::engine::Simulation::weak_failures).
    ///
    /// # Errors
    /// What it is, when it was not exchanged.
    pub fn compare_exchange_weak(
        &self,
        old: T,
        new: T,
        _success: Ordering,
        _failure: Ordering,
    ) -> Result<T, T> {
        self.exchange(old, new, current::fails_weakly())
    }

    /// Reads it and writes what `f` makes of it, as often as somebody comes between; what it was.
    ///
    /// # Errors
    /// What it is, when `f` makes nothing of that.
    pub fn fetch_update(
        &self,
        success: Ordering,
        failure: Ordering,
        mut f: impl FnMut(T) -> Option<T>,
    ) -> Result<T, T> {
        let mut seen = self.load(failure);
        while let Some(new) = f(seen) {
            match self.compare_exchange_weak(seen, new, success, failure) {
                Ok(old) => return Ok(old),
                Err(now) => seen = now,
            }
        }
        Err(seen)
    }

    fn exchange(&self, old: T, new: T, fails: bool) -> Result<T, T> {
        let (old, new) = (old.to_bits(), new.to_bits());
        let exchange = |bits| (bits == old && !fails).then_some(new);
        let exchanged = current::update(Op::Cas, self.place(), &exchange);
        exchanged.map(T::from_bits).map_err(T::from_bits)
    }

    fn update(&self, _order: Ordering, f: impl Fn(u64) -> u64) -> T {
        let updated = current::update(Op::Rmw, self.place(), &|bits| Some(f(bits)));
        T::from_bits(updated.unwrap_or_else(|bits| bits))
    }

    fn place(&self) -> Place {
        // SAFETY: it is a word of this size and alignment, private to this module, and `self` is
        // borrowed for as long as the place is used.
        unsafe { Place::new(self.word.get().cast(), size_of::<T>()) }
    }
}

impl<T: Logical> Atomic<T> {
    /// Writes the conjunction with `value`; what it was.
    pub fn fetch_and(&self, value: T, order: Ordering) -> T {
        self.update(order, |bits| bits & value.to_bits())
    }

    /// Writes the disjunction with `value`; what it was.
    pub fn fetch_or(&self, value: T, order: Ordering) -> T {
        self.update(order, |bits| bits | value.to_bits())
    }

    /// Writes the difference from `value`, bit by bit; what it was.
    pub fn fetch_xor(&self, value: T, order: Ordering) -> T {
        self.update(order, |bits| bits ^ value.to_bits())
    }
}

impl<T: Integer> Atomic<T> {
    /// Adds `value`, wrapping; what it was.
    pub fn fetch_add(&self, value: T, order: Ordering) -> T {
        self.update(order, |bits| bits.wrapping_add(value.to_bits()))
    }

    /// Subtracts `value`, wrapping; what it was.
    pub fn fetch_sub(&self, value: T, order: Ordering) -> T {
        self.update(order, |bits| bits.wrapping_sub(value.to_bits()))
    }

    /// Writes the larger of it and `value`; what it was.
    pub fn fetch_max(&self, value: T, order: Ordering) -> T {
        self.update(order, |bits| T::from_bits(bits).max(value).to_bits())
    }

    /// Writes the smaller of it and `value`; what it was.
    pub fn fetch_min(&self, value: T, order: Ordering) -> T {
        self.update(order, |bits| T::from_bits(bits).min(value).to_bits())
    }
}

impl<T: Word> Default for Atomic<T> {
    /// Zero, false or null.
    fn default() -> Self {
        Self::new(T::from_bits(0))
    }
}

impl<T: Word> From<T> for Atomic<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: Word + fmt::Debug> fmt::Debug for Atomic<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.load(Ordering::Relaxed).fmt(f)
    }
}

/// What fits into an atomic.
mod word;

#[cfg(test)]
mod tests;
