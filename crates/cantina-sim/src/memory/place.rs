//! Where a word lies, and how wide it is.
//!
//! Every word is kept in real memory of its own size, so that layouts are what they are on the real
//! machine. It is always accessed atomically: outside a run two OS threads may share it.

use std::sync::atomic::Ordering::{Acquire, Release, SeqCst};
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64};

/// A word in memory: 1, 2, 4 or 8 bytes, aligned to its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    start: *mut u8,
    bytes: u8,
}

impl Place {
    /// The word of `bytes` bytes at `start`.
    ///
    /// # Safety
    /// It is 1, 2, 4 or 8 bytes of initialized memory, aligned to its size, only ever accessed
    /// atomically, and stays where it is while the place is used.
    pub(crate) unsafe fn new(start: *mut u8, bytes: usize) -> Self {
        Self { start, bytes: bytes as u8 }
    }

    /// Where it starts.
    pub(crate) fn address(self) -> usize {
        self.start as usize
    }

    /// What it holds.
    pub(crate) fn read(self) -> u64 {
        // SAFETY: the promises made to `new`.
        unsafe {
            match self.bytes {
                1 => u64::from(AtomicU8::from_ptr(self.start).load(Acquire)),
                2 => u64::from(AtomicU16::from_ptr(self.start.cast()).load(Acquire)),
                4 => u64::from(AtomicU32::from_ptr(self.start.cast()).load(Acquire)),
                _ => AtomicU64::from_ptr(self.start.cast()).load(Acquire),
            }
        }
    }

    /// Makes it hold `bits`.
    pub(crate) fn write(self, bits: u64) {
        // SAFETY: the promises made to `new`.
        unsafe {
            match self.bytes {
                1 => AtomicU8::from_ptr(self.start).store(bits as u8, Release),
                2 => AtomicU16::from_ptr(self.start.cast()).store(bits as u16, Release),
                4 => AtomicU32::from_ptr(self.start.cast()).store(bits as u32, Release),
                _ => AtomicU64::from_ptr(self.start.cast()).store(bits, Release),
            }
        }
    }

    /// Writes `new` if it holds `old`; whether it did.
    pub(crate) fn exchange(self, old: u64, new: u64) -> bool {
        // SAFETY: the promises made to `new`.
        unsafe {
            match self.bytes {
                1 => AtomicU8::from_ptr(self.start)
                    .compare_exchange(old as u8, new as u8, SeqCst, SeqCst)
                    .is_ok(),
                2 => AtomicU16::from_ptr(self.start.cast())
                    .compare_exchange(old as u16, new as u16, SeqCst, SeqCst)
                    .is_ok(),
                4 => AtomicU32::from_ptr(self.start.cast())
                    .compare_exchange(old as u32, new as u32, SeqCst, SeqCst)
                    .is_ok(),
                _ => AtomicU64::from_ptr(self.start.cast())
                    .compare_exchange(old, new, SeqCst, SeqCst)
                    .is_ok(),
            }
        }
    }
}
