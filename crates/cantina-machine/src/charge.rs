//! What the simulator bills for. On the real machine memory and work cost what they cost, and these
//! are nothing.

/// Says that `bytes` bytes at `address` are read, where no atomic and no cell shows it.
#[inline(always)]
pub fn touch_read(address: *const u8, bytes: usize) {
    let _ = (address, bytes);
}

/// Says that `bytes` bytes at `address` are written, where no atomic and no cell shows it.
#[inline(always)]
pub fn touch_write(address: *const u8, bytes: usize) {
    let _ = (address, bytes);
}

/// Says that the caller has run `count` instructions, those of its accesses among them.
#[inline(always)]
pub fn instructions(count: u64) {
    let _ = count;
}

/// Says that the caller computes for about `cycles` cycles.
///
/// The simulator lets that much virtual time pass. To spend real time, compute.
#[inline(always)]
pub fn work(cycles: u64) {
    let _ = cycles;
}

/// Does `f`, which moves what lies in many cells, all of which were [touched](touch_read) before and [worked](work) for: the simulator does not bill
/// for them one by one. `f` does nothing else that is shared.
#[inline(always)]
pub fn in_bulk<R>(f: impl FnOnce() -> R) -> R {
    f()
}
