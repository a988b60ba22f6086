//! Handles for those outside who have much to tell.

use super::{Inner, Unit, telling};
use crate::scheduler::error::Refused;
use crate::scheduler::message;
use crate::scheduler::slab::Slabs;
use std::cell::RefCell;
use std::fmt;

/// A handle to a [`Unit`] for one thread that is no worker and has much to tell; see [`Unit::sender`].
///
/// Its messages lie behind each other in memory, a page at a time, where those of a unit have a place of their own each.
/// Dropped, it leaves the rest of its page to the next sender of the unit.
///
/// ```
/// let runtime = cantina::scheduler::Runtime::new();
/// let sum = runtime.unit(0);
/// let tells = sum.sender();
/// let thread = std::thread::spawn(move || {
///     (1..=1000).for_each(|number| tells.tell(move |sum| *sum += number));
/// });
/// thread.join().unwrap();
/// assert_eq!(sum.send(|sum| *sum).wait(), Ok(500_500));
/// ```
pub struct Sender<S: Send + 'static> {
    unit: Unit<S>,
    slabs: RefCell<Slabs>,
}

impl<S: Send + 'static> Sender<S> {
    pub(super) fn new(unit: Unit<S>) -> Self {
        let slabs = RefCell::new(unit.inner.slabs.take());
        Self { unit, slabs }
    }

    /// As [`Unit::tell`].
    pub fn tell(&self, f: impl FnOnce(&mut S) + Send + 'static) {
        let inner = &self.unit.inner;
        if inner.whose.shared.refuses() {
            return inner.whose.shared.unheard.told_in_vain();
        }
        inner.wait_for_room();
        self.post(f);
    }

    /// As [`Unit::try_tell`].
    ///
    /// # Errors
    /// The operation, if there is no room, or if the runtime takes no more.
    pub fn try_tell<F: FnOnce(&mut S) + Send + 'static>(&self, f: F) -> Result<(), Refused<F>> {
        let f = self.unit.inner.admit(f)?;
        self.post(f);
        Ok(())
    }

    /// The unit.
    pub fn unit(&self) -> &Unit<S> {
        &self.unit
    }

    fn post(&self, f: impl FnOnce(&mut S) + Send + 'static) {
        let message = message::told_from(&self.slabs, telling(f));
        // SAFETY: a new message.
        unsafe { Inner::post(&self.unit.inner, message) };
    }
}

impl<S: Send + 'static> Drop for Sender<S> {
    fn drop(&mut self) {
        self.unit.inner.slabs.give(self.slabs.get_mut());
    }
}

impl<S: Send + 'static> fmt::Debug for Sender<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").field("unit", &self.unit).finish_non_exhaustive()
    }
}
