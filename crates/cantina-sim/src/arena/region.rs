//! Regions of address space, one for each run that goes on at a time.
//!
//! They are cut from one reservation that is made when the first is wanted and never given back, so
//! that whether an address is in one of them is one comparison. A region has a stretch for each node.
//! It counts the blocks that are in use; while there are any, its next run starts behind them in
//! every stretch.

use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicUsize};

/// Bytes of a stretch: address space, not memory.
const STRETCH: usize = 1 << 30;
/// Stretches of a region.
const STRETCHES: usize = 64;
/// Bytes of a region.
const SPAN: usize = STRETCH * STRETCHES;
/// How many regions there are.
const REGIONS: usize = 64;
/// With so much of its stretches in use a region is not taken again.
const FULL: usize = STRETCH / 2;
/// What is in use is a multiple of it.
const GRAIN: usize = 64;
/// From here on memory that is not used any more is given back to the system.
const LARGE: usize = 16 << 20;

/// Not asked for yet.
const UNKNOWN: usize = 0;
/// Not to be had.
const NONE: usize = usize::MAX;

/// The start of the reservation.
static BASE: AtomicUsize = AtomicUsize::new(UNKNOWN);
static STATES: [State; REGIONS] = [const { State::new() }; REGIONS];

struct State {
    taken: AtomicBool,
    /// Blocks in use.
    live: AtomicUsize,
    /// Bytes of each stretch, from its start, that may be in use.
    used: AtomicUsize,
}

impl State {
    const fn new() -> Self {
        Self { taken: AtomicBool::new(false), live: AtomicUsize::new(0), used: AtomicUsize::new(0) }
    }
}

/// A region in use by one run.
#[derive(Debug)]
pub(crate) struct Region {
    index: usize,
    start: usize,
    used: usize,
}

impl Region {
    /// A region that nobody uses; what is free of it starts at a multiple of `align`.
    pub(crate) fn take(align: usize) -> Option<Self> {
        let base = base()?;
        (0..REGIONS).find_map(|index| {
            let state = &STATES[index];
            let free = state.used.load(Relaxed) < FULL || state.live.load(Acquire) == 0;
            if !free || state.taken.swap(true, AcqRel) {
                return None;
            }
            let start = base + index * SPAN;
            if state.live.load(Acquire) == 0 && state.used.swap(0, Relaxed) > LARGE {
                give_back(start, SPAN);
            }
            let used = state.used.load(Relaxed).next_multiple_of(align);
            Some(Self { index, start, used })
        })
    }

    /// Where this run's part of a stretch starts and ends.
    pub(crate) fn stretch(&self, node: usize) -> (usize, usize) {
        let start = self.start + node * STRETCH;
        (start + self.used, start + STRETCH)
    }

    /// Which stretch `address` lies in, if it is in this run's part of it.
    pub(crate) fn node_of(&self, address: usize) -> Option<usize> {
        let offset = address.checked_sub(self.start).filter(|&offset| offset < SPAN)?;
        (offset % STRETCH >= self.used).then_some(offset / STRETCH)
    }

    /// Whether no block is in use.
    pub(crate) fn is_clear(&self) -> bool {
        STATES[self.index].live.load(Acquire) == 0
    }

    /// A block was given out.
    pub(crate) fn gave(&self) {
        STATES[self.index].live.fetch_add(1, Relaxed);
    }

    /// The run is over; no stretch was used beyond `bytes` bytes of this run's part.
    pub(crate) fn close(&self, bytes: usize) {
        let state = &STATES[self.index];
        state.used.store((self.used + bytes).next_multiple_of(GRAIN), Relaxed);
        state.taken.store(false, Release);
    }
}

/// Whether `address` is in a region.
pub(crate) fn contains(address: usize) -> bool {
    let base = BASE.load(Relaxed);
    base != UNKNOWN && base != NONE && (base..base + REGIONS * SPAN).contains(&address)
}

/// The node of a block at `address`, if it is in a region.
pub(crate) fn node_of(address: usize) -> Option<usize> {
    contains(address).then(|| (address - BASE.load(Relaxed)) % SPAN / STRETCH)
}

/// The block at `address` is no longer in use.
pub(crate) fn freed(address: usize) {
    if contains(address) {
        let index = (address - BASE.load(Relaxed)) / SPAN;
        STATES[index].live.fetch_sub(1, Release);
    }
}

fn base() -> Option<usize> {
    let base = match BASE.load(Acquire) {
        UNKNOWN => {
            let reserved = reserve(REGIONS * SPAN).unwrap_or(NONE);
            match BASE.compare_exchange(UNKNOWN, reserved, AcqRel, Acquire) {
                Ok(_) => reserved,
                // Somebody else was first. Ours stays reserved and is never used.
                Err(first) => first,
            }
        }
        base => base,
    };
    (base != NONE).then_some(base)
}

/// Reserves `bytes` bytes of address space that become memory when they are used.
#[cfg(any(target_os = "linux", target_os = "macos"))]
fn reserve(bytes: usize) -> Option<usize> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a new mapping touches nothing that exists.
    let start = unsafe { libc::mmap(std::ptr::null_mut(), bytes, protection, flags, -1, 0) };
    (start != libc::MAP_FAILED).then(|| start.expose_provenance())
}

/// Tells the system that what is in these bytes is not needed any more.
#[cfg(any(target_os = "linux", target_os = "macos"))]
fn give_back(start: usize, bytes: usize) {
    // SAFETY: it is part of the reservation, and no block in it is in use. Should the system refuse,
    // the memory stays ours.
    let _ = unsafe {
        libc::madvise(std::ptr::with_exposed_provenance_mut(start), bytes, libc::MADV_DONTNEED)
    };
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn reserve(_bytes: usize) -> Option<usize> {
    None
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn give_back(_start: usize, _bytes: usize) {}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::{
        Acquire, FULL, Region, STATES, STRETCH, contains, freed, give_back, node_of, reserve,
    };

    #[test]
    fn memory_that_was_given_back_is_as_new() {
        let start = reserve(1 << 20).unwrap();
        let first: *mut u8 = std::ptr::with_exposed_provenance_mut(start);
        // SAFETY: it is reserved, and nobody else knows it.
        unsafe { first.write(7) };
        give_back(start, 1 << 20);
        // SAFETY: as above.
        assert_eq!(unsafe { first.read() }, 0);
        assert!(!contains(start));
    }

    #[test]
    fn a_region_that_is_mostly_in_use_is_not_taken() {
        let Some(region) = Region::take(64) else { return };
        let (index, start) = (region.index, region.start);
        region.gave();
        region.close(FULL);
        let others: Vec<Region> = (0..8).filter_map(|_| Region::take(64)).collect();
        assert!(others.iter().all(|other| other.index != index));
        others.iter().for_each(|other| other.close(0));
        freed(start);
        assert_eq!(STATES[index].live.load(Acquire), 0);
    }

    #[test]
    fn a_region_knows_its_nodes() {
        let Some(region) = Region::take(64) else { return };
        let (start, end) = region.stretch(3);
        assert!(start < end && end - start <= STRETCH);
        assert_eq!((node_of(start), node_of(end - 1), node_of(end)), (Some(3), Some(3), Some(4)));
        assert_eq!(region.node_of(start), Some(3));
        region.close(0);
    }
}
