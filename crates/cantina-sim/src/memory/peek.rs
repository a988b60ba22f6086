//! Looking at plain data, for the log: what it is does not matter, only that it can be shown.

use crate::engine::current;
use crate::trace::What;
use std::arch::asm;
use std::mem::MaybeUninit;

/// The first bytes of what lies at `place`, at most eight, as a number. Bytes that were never written,
/// such as padding, are what they happen to be.
///
/// # Safety
/// It can be read.
pub(crate) unsafe fn peek<T>(place: *const T) -> u64 {
    // SAFETY: the caller's.
    unsafe { peek_at(place.cast(), size_of::<T>()) }
}

/// The same of what has so many bytes.
///
/// # Safety
/// They can be read.
unsafe fn peek_at(place: *const u8, bytes: usize) -> u64 {
    let mut word = MaybeUninit::<u64>::zeroed();
    let bytes = bytes.min(size_of::<u64>());
    // SAFETY: both are so large, and one is ours.
    unsafe { place.copy_to_nonoverlapping(word.as_mut_ptr().cast(), bytes) };
    let value: u64;
    // SAFETY: no instruction. What comes out of a register has been fixed, whatever went in.
    unsafe { asm!("/* {} */", inlateout(reg) word => value, options(nomem, nostack)) };
    value
}

/// Puts what lies at `place` into the log, if there is one.
///
/// # Safety
/// It can be read.
pub(crate) unsafe fn tell_data<T>(place: *const T) {
    // SAFETY: the caller's.
    unsafe { tell_data_at(place.cast(), size_of::<T>()) };
}

/// The same of what has so many bytes.
///
/// # Safety
/// They can be read.
unsafe fn tell_data_at(place: *const u8, bytes: usize) {
    // SAFETY: the caller's.
    let mut data = || What::Data { value: unsafe { peek_at(place, bytes) } };
    current::tell(place as usize, &mut data);
}

#[cfg(test)]
mod tests {
    use super::peek;
    use std::mem::MaybeUninit;

    #[test]
    fn short_and_long_data_fits() {
        // SAFETY: references.
        unsafe {
            assert_eq!(peek(&7_u64), 7);
            assert_eq!(peek(&0x1234_u16), 0x1234);
            assert_eq!(peek(&[5_u64, 6]), 5);
            assert_eq!(peek(&()), 0);
        }
    }

    #[test]
    fn what_was_never_written_is_something() {
        let nothing = MaybeUninit::<u64>::uninit();
        // SAFETY: a reference.
        let value = unsafe { peek(&nothing) };
        assert_eq!(value, value.clone());
    }
}
