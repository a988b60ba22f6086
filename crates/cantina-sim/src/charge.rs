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

/// Says that the caller has run `count` instructions, those of its accesses among them: in a timed run that much virtual time
/// passes, at [`Costs::instruction`](crate::cost::Costs::instruction) each. It is no step.
pub fn instructions(count: u64) {
    current::compute(count);
}

/// Says that the caller computes for about `cycles` cycles: that much virtual time passes.
pub fn work(cycles: u64) {
    current::step(Access::much(Op::Work, cycles));
}

/// Does `f`, which moves what lies in many cells, all of which were [touched](touch_read) before and [worked](work) for: in a timed run that is not drawn
/// they are no steps. `f` does nothing else that is shared.
pub fn in_bulk<R>(f: impl FnOnce() -> R) -> R {
    let _bulk = current::in_bulk();
    f()
}
