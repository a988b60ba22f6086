//! What the simulator bills for where no access shows it.

use crate::engine::{Access, Op, current};

/// Says that `bytes` bytes at `address` are read, where no atomic and no cell shows it.
pub fn touch_read(address: *const u8, bytes: usize) {
    let _ = bytes;
    current::step(Access::at(Op::Read, address));
}

/// Says that `bytes` bytes at `address` are written, where no atomic and no cell shows it.
pub fn touch_write(address: *const u8, bytes: usize) {
    let _ = bytes;
    current::step(Access::at(Op::Write, address));
}

/// Says that the caller computes for about `cycles` cycles: that much virtual time passes.
pub fn work(cycles: u64) {
    let _ = cycles;
    current::step(Access::bare(Op::Work));
}
