//! Atomics behave as `std`'s.

use super::{AtomicBool, AtomicI64, AtomicPtr, AtomicU8, AtomicU16, AtomicU32, AtomicUsize};
use crate::engine::run;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};

/// Inside a run and outside, `f` holds.
fn both(f: impl Fn()) {
    f();
    run(1, f);
}

#[test]
fn arithmetic_wraps_at_the_size_of_the_word() {
    both(|| {
        let word = AtomicU8::new(250);
        assert_eq!(word.fetch_add(10, Relaxed), 250);
        assert_eq!(word.fetch_sub(5, Relaxed), 4);
        assert_eq!(word.load(Relaxed), 255);
        let word = AtomicU16::new(u16::MAX);
        word.fetch_add(1, Relaxed);
        assert_eq!(word.load(Relaxed), 0);
        let word = AtomicU32::new(0);
        word.fetch_sub(1, Relaxed);
        assert_eq!(word.load(Relaxed), u32::MAX);
    });
}

#[test]
fn signed_words_compare_as_signed() {
    both(|| {
        let word = AtomicI64::new(-3);
        assert_eq!(word.fetch_max(-7, Relaxed), -3);
        assert_eq!(word.fetch_min(-7, Relaxed), -3);
        assert_eq!(word.fetch_add(10, Relaxed), -7);
        assert_eq!(word.load(Relaxed), 3);
    });
}

#[test]
fn logic_works_on_bits_and_on_bools() {
    both(|| {
        let word = AtomicUsize::new(0b1100);
        word.fetch_and(0b0110, AcqRel);
        word.fetch_or(0b0001, AcqRel);
        word.fetch_xor(0b1111, AcqRel);
        assert_eq!(word.load(Acquire), 0b1010);
        let flag = AtomicBool::new(true);
        assert!(flag.fetch_xor(true, SeqCst));
        assert!(!flag.fetch_or(true, SeqCst));
        assert!(flag.swap(false, SeqCst));
        assert!(!flag.load(SeqCst));
    });
}

#[test]
fn exchanges_tell_what_was_there() {
    both(|| {
        let word = AtomicUsize::new(1);
        assert_eq!(word.compare_exchange(2, 3, SeqCst, Relaxed), Err(1));
        assert_eq!(word.compare_exchange(1, 3, SeqCst, Relaxed), Ok(1));
        assert_eq!(word.fetch_update(SeqCst, Relaxed, |n| Some(n * 2)), Ok(3));
        assert_eq!(word.fetch_update(SeqCst, Relaxed, |_| None), Err(6));
        word.store(7, Release);
        assert_eq!(format!("{word:?} {:?}", AtomicUsize::default()), "7 0");
    });
}

#[test]
fn pointers_come_back_whole() {
    both(|| {
        let mut value = 5;
        let pointer = AtomicPtr::new(&raw mut value);
        // SAFETY: `value` is alive and nobody else looks.
        unsafe { *pointer.load(Relaxed) += 1 };
        assert_eq!(pointer.swap(std::ptr::null_mut(), Relaxed), &raw mut value);
        assert!(pointer.load(Relaxed).is_null());
        assert_eq!(value, 6);
    });
}

#[test]
fn words_are_as_large_as_on_the_real_machine() {
    assert_eq!(size_of::<AtomicU8>(), 1);
    assert_eq!(size_of::<AtomicBool>(), 1);
    assert_eq!(size_of::<AtomicU32>(), 4);
    assert_eq!(size_of::<AtomicPtr<u8>>(), 8);
    assert_eq!(align_of::<AtomicI64>(), 8);
}
