//! Two numbers without a largest value.

use super::bounded::BoundedMaxArray;
use machine::atomic::Ordering::SeqCst;
use machine::atomic::{AtomicBool, AtomicPtr};
use machine::fence_after_rmw;
use std::fmt;
use std::ptr;

/// Two numbers that only grow; see the [module](super).
///
/// ```
/// use cantina::todo_tree::max_array::MaxArray;
///
/// let pair = MaxArray::new(8);
/// pair.raise_first(5);
/// pair.raise_second(1 << 40);
/// pair.raise_first(3);
/// assert_eq!(pair.scan(), (5, 1 << 40));
/// ```
pub struct MaxArray {
    now: AtomicPtr<Epoch>,
    /// Values of a number within an epoch.
    values: u64,
}

/// Numbers from which on an array counts.
struct Epoch {
    from: (u64, u64),
    array: BoundedMaxArray,
    frozen: AtomicBool,
    /// The one before. It may still be in somebody's hands.
    before: *mut Epoch,
}

/// Which number.
#[derive(Clone, Copy)]
enum Which {
    First,
    Second,
}

impl Epoch {
    fn new(from: (u64, u64), values: u64, before: *mut Epoch) -> *mut Self {
        let array = BoundedMaxArray::new(values, values);
        Box::into_raw(Box::new(Self { from, array, frozen: AtomicBool::new(false), before }))
    }

    fn is_frozen(&self) -> bool {
        // frozen: what was raised or scanned, then this look.
        fence_after_rmw();
        // frozen: if it is not, what came before counts.
        self.frozen.load(SeqCst)
    }

    /// Where both numbers have come to.
    fn scan(&self) -> (u64, u64) {
        let (first, second) = self.array.scan();
        (self.from.0 + first, self.from.1 + second)
    }
}

impl MaxArray {
    /// Two zeros, in epochs of so many values.
    ///
    /// # Panics
    /// When these are not 2 to 64.
    pub fn new(values: u64) -> Self {
        Self::starting_at(values, 0, 0)
    }

    /// The same with other numbers to begin with.
    ///
    /// # Panics
    /// When the values are not 2 to 64.
    pub fn starting_at(values: u64, first: u64, second: u64) -> Self {
        assert!(values > 1, "an epoch in which nothing can be raised");
        let epoch = Epoch::new((first, second), values, ptr::null_mut());
        Self { now: AtomicPtr::new(epoch), values }
    }

    /// Raises the first number to `value`, if it is smaller.
    pub fn raise_first(&self, value: u64) {
        self.raise(Which::First, value);
    }

    /// Raises the second number to `value`, if it is smaller.
    pub fn raise_second(&self, value: u64) {
        self.raise(Which::Second, value);
    }

    /// Both, as they were at one instant.
    pub fn scan(&self) -> (u64, u64) {
        loop {
            let epoch = self.epoch();
            let both = epoch.scan();
            if !epoch.is_frozen() {
                return both;
            }
            // What was read may be of a raise that came too late, and is not in the next epoch yet.
            self.go_on(epoch, epoch.from);
        }
    }

    fn raise(&self, which: Which, value: u64) {
        loop {
            let epoch = self.epoch();
            let from = match which {
                Which::First => epoch.from.0,
                Which::Second => epoch.from.1,
            };
            if value <= from {
                return;
            }
            if value - from < epoch.array.values().0 {
                match which {
                    Which::First => epoch.array.raise_first(value - from),
                    Which::Second => epoch.array.raise_second(value - from),
                }
                if !epoch.is_frozen() {
                    return;
                }
                // It may have come too late for the next epoch.
                self.go_on(epoch, epoch.from);
                continue;
            }
            // frozen: nothing that is raised from here on counts in this epoch (I3).
            epoch.frozen.store(true, SeqCst);
            let at_least = match which {
                Which::First => (value, epoch.from.1),
                Which::Second => (epoch.from.0, value),
            };
            if self.go_on(epoch, at_least) {
                return;
            }
        }
    }

    /// Begins the next epoch where a frozen one has come to, and at `at_least`. Whether it was this call that did.
    fn go_on(&self, frozen: &Epoch, at_least: (u64, u64)) -> bool {
        let reached = frozen.scan();
        let from = (reached.0.max(at_least.0), reached.1.max(at_least.1));
        let this = ptr::from_ref(frozen).cast_mut();
        let next = Epoch::new(from, self.values, this);
        // epoch: its numbers. On failure somebody else's has begun.
        let has_begun = self.now.compare_exchange(this, next, SeqCst, SeqCst).is_ok();
        if !has_begun {
            // SAFETY: from a box, and nobody else has seen it.
            drop(unsafe { Box::from_raw(next) });
        }
        has_begun
    }

    fn epoch(&self) -> &Epoch {
        // epoch: its numbers.
        let epoch = self.now.load(SeqCst);
        // SAFETY: epochs are freed when the array is dropped, before which `self` is gone.
        unsafe { &*epoch }
    }
}

impl Drop for MaxArray {
    fn drop(&mut self) {
        // epoch: all of them.
        let mut epoch = self.now.load(SeqCst);
        while !epoch.is_null() {
            // SAFETY: from a box, in the chain once, and nobody else is left.
            let it = unsafe { Box::from_raw(epoch) };
            epoch = it.before;
        }
    }
}

impl fmt::Debug for MaxArray {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("MaxArray").field(&self.epoch().scan()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::MaxArray;

    #[test]
    fn each_number_is_the_largest_it_was_raised_to() {
        for values in [2, 3, 4, 64] {
            let pair = MaxArray::starting_at(values, 7, 9);
            let mut largest = (7, 9);
            for turn in 0..300 {
                let (a, b) = (turn * 7 % 200, turn / 3);
                pair.raise_first(a);
                largest.0 = largest.0.max(a);
                assert_eq!(pair.scan(), largest);
                pair.raise_second(b);
                largest.1 = largest.1.max(b);
                assert_eq!(pair.scan(), largest);
            }
            assert_eq!(format!("{pair:?}"), format!("MaxArray(({}, {}))", largest.0, largest.1));
        }
    }

    #[test]
    fn a_raise_may_be_as_large_as_it_likes() {
        let pair = MaxArray::new(2);
        pair.raise_second(u64::MAX);
        pair.raise_first(1 << 50);
        assert_eq!(pair.scan(), (1 << 50, u64::MAX));
    }

    #[test]
    #[should_panic(expected = "nothing can be raised")]
    fn an_epoch_needs_two_values() {
        let _ = MaxArray::new(1);
    }
}
