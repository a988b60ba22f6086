//! A shared value with a count beside it, as `Arc`, that can be taken for the address of what it begins with.

use machine::atomic::AtomicU64;
use machine::atomic::Ordering::{AcqRel, Relaxed};
use std::ops::Deref;
use std::process::abort;
use std::ptr::NonNull;

/// A counted reference.
pub(super) struct Counted<T>(NonNull<Block<T>>);

#[repr(C)]
struct Block<T> {
    value: T,
    /// References, and above them [handles](Counted::clone_handle).
    count: AtomicU64,
}

/// One handle, in the count.
const HANDLE: u64 = 1 << 32;
/// More references than anybody has.
const TOO_MANY: u64 = 1 << 31;

// SAFETY: a reference from any thread reads the value, and the last one drops it.
unsafe impl<T: Send + Sync> Send for Counted<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Sync for Counted<T> {}

/// Ends the program where the lower half of a count, of references, would run over into the upper one.
#[inline(always)]
pub(super) fn check(count: u64) {
    if count % HANDLE > TOO_MANY {
        abort();
    }
}

impl<T> Counted<T> {
    pub(super) fn new(value: T) -> Self {
        let block = Block { value, count: AtomicU64::new(1) };
        Self(NonNull::from(Box::leak(Box::new(block))))
    }

    /// Where the value lies; the reference goes on as that.
    pub(super) fn into_raw(this: Self) -> NonNull<T> {
        let raw = this.0.cast();
        std::mem::forget(this);
        raw
    }

    /// # Safety
    /// From [`into_raw`](Self::into_raw), once.
    pub(super) unsafe fn from_raw(raw: NonNull<T>) -> Self {
        Self(raw.cast())
    }

    /// A reference that is a handle as well: they are counted together, and by themselves.
    pub(super) fn handle(value: T) -> Self {
        let block = Block { value, count: AtomicU64::new(HANDLE + 1) };
        Self(NonNull::from(Box::leak(Box::new(block))))
    }

    /// One more handle; the caller has one.
    #[inline]
    pub(super) fn clone_handle(&self) -> Self {
        self.add(HANDLE + 1);
        Self(self.0)
    }

    /// One more handle, if there is one.
    pub(super) fn upgrade(&self) -> Option<Self> {
        let more = |count| {
            check(count);
            (count >= HANDLE).then_some(count + HANDLE + 1)
        };
        // bare: handles count each other, and there is one reference at least, this.
        let upgraded = self.block().count.fetch_update(Relaxed, Relaxed, more);
        upgraded.ok().map(|_| Self(self.0))
    }

    /// Gives up a handle, and the reference with it unless it was the last one: then that is still the caller's. Whether
    /// it was.
    ///
    /// # Safety
    /// The caller has that handle, and unless it was the last one does not use this any more, nor drop it.
    #[inline]
    pub(super) unsafe fn leave_handle(&self) -> bool {
        let count = &self.block().count;
        // hint: only named; the exchange decides.
        let mut seen = count.load(Relaxed);
        loop {
            let is_last = seen < 2 * HANDLE;
            let left = seen - HANDLE - u64::from(!is_last);
            // gone: this reference is not used any more. Others are left.
            // gone: as the other handles have left it, for the last one.
            match count.compare_exchange_weak(seen, left, AcqRel, Relaxed) {
                Ok(_) => return is_last,
                Err(now) => seen = now,
            }
        }
    }

    #[inline]
    fn add(&self, more: u64) {
        // bare: there is one at least, this.
        check(self.block().count.fetch_add(more, Relaxed));
    }

    #[inline(always)]
    fn block(&self) -> &Block<T> {
        // SAFETY: it stays while there is a reference.
        unsafe { self.0.as_ref() }
    }
}

impl<T> Deref for Counted<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.block().value
    }
}

impl<T> Clone for Counted<T> {
    #[inline]
    fn clone(&self) -> Self {
        self.add(1);
        Self(self.0)
    }
}

impl<T> Drop for Counted<T> {
    #[inline]
    fn drop(&mut self) {
        // gone: this reference is not used any more.
        // gone: nor are all the others.
        if self.block().count.fetch_sub(1, AcqRel) == 1 {
            // SAFETY: from a box, and this was the last reference.
            drop(unsafe { Box::from_raw(self.0.as_ptr()) });
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::{Counted, HANDLE, Relaxed, TOO_MANY};
    use std::process::Command;

    /// Whether `run` ends the program: in one of its own, which runs the calling test, `test`, by itself.
    pub(in crate::scheduler) fn aborts(test: &str, run: impl FnOnce()) -> bool {
        const INSIDE: &str = "CANTINA_ABORTS";
        if std::env::var_os(INSIDE).is_some() {
            run();
            return true;
        }
        let mut program = Command::new(std::env::current_exe().unwrap());
        let status = program.args(["--exact", test]).env(INSIDE, "1").output().unwrap().status;
        // Neither has the test passed, nor has it failed.
        !matches!(status.code(), Some(0 | 101))
    }

    #[test]
    fn references_are_not_counted_beyond_all_bounds() {
        let upgraded = || {
            let counted = Counted::handle(());
            // own: nobody else has it.
            counted.block().count.store(HANDLE + TOO_MANY + 1, Relaxed);
            std::mem::forget(counted.upgrade());
            // own: as above.
            counted.block().count.store(1, Relaxed);
        };
        let test = "scheduler::counted::tests::references_are_not_counted_beyond_all_bounds";
        assert!(aborts(test, upgraded));
    }
}
