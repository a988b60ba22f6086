//! What fits into an atomic: its bits as a `u64`, sign extension and all cut off on the way back.

/// A plain word of 1, 2, 4 or 8 bytes, aligned to its size.
pub trait Word: Copy + Sealed {
    /// Its bits.
    fn to_bits(self) -> u64;
    /// The word of these bits; higher ones than it has are ignored.
    fn from_bits(bits: u64) -> Self;
}

/// A word with logic bit by bit.
pub trait Logical: Word {}

/// A word with arithmetic and order.
pub trait Integer: Logical + Ord {}

/// Only the words below are words: the simulator writes their bits into memory.
pub trait Sealed {}

impl Sealed for bool {}
impl Sealed for u8 {}
impl Sealed for u16 {}
impl Sealed for u32 {}
impl Sealed for u64 {}
impl Sealed for usize {}
impl Sealed for i64 {}
impl Sealed for isize {}
impl<T> Sealed for *mut T {}

impl Logical for bool {}
impl Logical for u8 {}
impl Logical for u16 {}
impl Logical for u32 {}
impl Logical for u64 {}
impl Logical for usize {}
impl Logical for i64 {}
impl Logical for isize {}

impl Integer for u8 {}
impl Integer for u16 {}
impl Integer for u32 {}
impl Integer for u64 {}
impl Integer for usize {}
impl Integer for i64 {}
impl Integer for isize {}

impl Word for bool {
    fn to_bits(self) -> u64 {
        u64::from(self)
    }
    fn from_bits(bits: u64) -> Self {
        bits & 1 == 1
    }
}

impl Word for u8 {
    fn to_bits(self) -> u64 {
        u64::from(self)
    }
    fn from_bits(bits: u64) -> Self {
        bits as Self
    }
}

impl Word for u16 {
    fn to_bits(self) -> u64 {
        u64::from(self)
    }
    fn from_bits(bits: u64) -> Self {
        bits as Self
    }
}

impl Word for u32 {
    fn to_bits(self) -> u64 {
        u64::from(self)
    }
    fn from_bits(bits: u64) -> Self {
        bits as Self
    }
}

impl Word for u64 {
    fn to_bits(self) -> u64 {
        self
    }
    fn from_bits(bits: u64) -> Self {
        bits
    }
}

impl Word for usize {
    fn to_bits(self) -> u64 {
        self as u64
    }
    fn from_bits(bits: u64) -> Self {
        bits as Self
    }
}

impl Word for i64 {
    fn to_bits(self) -> u64 {
        self as u64
    }
    fn from_bits(bits: u64) -> Self {
        bits as Self
    }
}

impl Word for isize {
    fn to_bits(self) -> u64 {
        self as u64
    }
    fn from_bits(bits: u64) -> Self {
        bits as Self
    }
}

impl<T> Word for *mut T {
    fn to_bits(self) -> u64 {
        self.expose_provenance() as u64
    }
    fn from_bits(bits: u64) -> Self {
        std::ptr::with_exposed_provenance_mut(bits as usize)
    }
}
