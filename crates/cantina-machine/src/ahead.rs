//! Asking for memory before it is needed. Only how long it takes depends on it.

/// The bytes of a cache line, or of the smallest there is.
pub const LINE: usize = 64;

/// Says that the line at `address` is about to be read. It may be anywhere, also where nothing is.
#[inline(always)]
pub fn to_read<T>(address: *const T) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a hint: it reads nothing, and never faults.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) };
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = address;
}

/// The most lines that are asked for at once: as many as half of a small first-level cache.
const MOST: usize = 256;

/// [`to_read`] of all lines of so many bytes at `address`, or of the first of very many: they come together, not one after the other.
#[inline]
pub fn all_to_read(address: *const u8, bytes: usize) {
    lines(address, bytes).for_each(to_read);
}

/// [`to_write`] of all lines of so many bytes at `address`, or of the first of very many.
#[inline]
pub fn all_to_write(address: *const u8, bytes: usize) {
    lines(address, bytes).for_each(to_write);
}

/// A byte of each line.
#[inline]
pub fn lines(address: *const u8, bytes: usize) -> impl Iterator<Item = *const u8> {
    let first = address.wrapping_sub(address.addr() % LINE);
    let before = if bytes == 0 { 0 } else { address.addr() % LINE };
    let count = (before + bytes).div_ceil(LINE).min(MOST);
    (0..count).map(move |line| first.wrapping_add(line * LINE))
}

/// Says that the line at `address` is about to be written: whoever else has it has to give it up. It may be anywhere.
#[inline(always)]
pub fn to_write<T>(address: *const T) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: a hint: it changes nothing, and never faults; processors that do not know it do nothing.
    unsafe {
        std::arch::asm!(
            "prefetchw [{}]",
            in(reg) address,
            options(nostack, preserves_flags, readonly)
        );
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = address;
}

#[cfg(test)]
mod tests {
    use super::{LINE, MOST, lines};
    use std::ptr::without_provenance;

    #[test]
    fn lines_are_those_that_the_bytes_lie_in() {
        let of = |address: usize, bytes| {
            let lines = lines(without_provenance(address), bytes);
            lines.map(|line| line.addr() / LINE).collect::<Vec<_>>()
        };
        assert_eq!(of(10 * LINE, 0), []);
        assert_eq!(of(10 * LINE + 8, 0), []);
        assert_eq!(of(10 * LINE, 1), [10]);
        assert_eq!(of(10 * LINE, 2 * LINE), [10, 11]);
        assert_eq!(of(10 * LINE + 8, 2 * LINE), [10, 11, 12]);
        assert_eq!(of(10 * LINE + LINE - 1, 2), [10, 11]);
        assert_eq!(of(0, usize::MAX / 2).len(), MOST);
    }
}
