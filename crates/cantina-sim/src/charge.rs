//! What the simulator bills for where no access shows it.

use crate::engine::{Access, Op, current};

/// Says that `bytes` bytes at `address` are read, where no atomic and no cell shows it.
pub fn touch_read(address: *const u8, bytes: usize) {
    current::step(Access::data(Op::Read, address, bytes));
}

/// Says that `bytes` bytes at `address` are written, where no atomic and no cell shows it.
pub fn touch_write(address: *const u8, bytes: usize) {
    current::step(Access::data(Op::Write, address, bytes));
}

/// Says that the caller computes for about `cycles` cycles: that much virtual time passes.
pub fn work(cycles: u64) {
    current::step(Access::much(Op::Work, cycles));
}
