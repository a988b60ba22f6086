//! How far back each end may look: trees before that can be freed.

use machine::CachePadded;
use machine::atomic::Ordering::{Acquire, Relaxed, Release};
use machine::atomic::{AtomicBool, AtomicPtr, AtomicU64};
use machine::cell::UnsafeCell;
use machine::fence::{HeavyFailed, Pair};
use std::ptr::{self, NonNull};

/// Looks at nothing.
const IDLE: u64 = u64::MAX;

/// What all ends have announced.
pub(super) struct Lows {
    /// The newest record. Records are linked once and stay.
    records: AtomicPtr<Record>,
    fences: Pair,
}

/// The lowest tree that one end may look at.
struct Record {
    low: CachePadded<AtomicU64>,
    /// Whether an end has this record.
    taken: AtomicBool,
    /// The next older record; written before this one is linked.
    older: UnsafeCell<*mut Record>,
}

/// One end's record.
pub(super) struct Low {
    record: NonNull<Record>,
    /// What we have announced.
    low: u64,
    fences: Pair,
}

// SAFETY: all that is shared of a record are its atomics; the rest does not change once it is linked.
unsafe impl Send for Lows {}
// SAFETY: as above.
unsafe impl Sync for Lows {}
// SAFETY: as above.
unsafe impl Send for Low {}

impl Lows {
    pub(super) fn new(fences: Pair) -> Self {
        Self { records: AtomicPtr::new(ptr::null_mut()), fences }
    }

    /// One more end.
    ///
    /// # Safety
    /// It goes before the lows do.
    pub(super) unsafe fn join(&self) -> Low {
        let free = self.records().find(|record| {
            // hint: a hint; the exchange decides.
            let looks_free = !record.taken.load(Relaxed);
            // seat: the record as the last end left it. On failure nothing is read.
            looks_free && record.taken.compare_exchange(false, true, Acquire, Relaxed).is_ok()
        });
        let record = free.map_or_else(|| self.add_record(), NonNull::from);
        Low { record, low: IDLE, fences: self.fences }
    }

    fn add_record(&self) -> NonNull<Record> {
        // hint: only named; the exchange decides.
        let mut newest = self.records.load(Relaxed);
        let record = Box::into_raw(Box::new(Record {
            low: CachePadded::new(AtomicU64::new(IDLE)),
            taken: AtomicBool::new(true),
            older: UnsafeCell::new(newest),
        }));
        // record: the record's contents. On failure nothing is read.
        while let Err(now) = self.records.compare_exchange(newest, record, Release, Relaxed) {
            newest = now;
            // SAFETY: not linked yet, so nobody else knows it.
            unsafe { (*record).older = UnsafeCell::new(now) };
        }
        // SAFETY: from a box.
        unsafe { NonNull::new_unchecked(record) }
    }

    fn records(&self) -> impl Iterator<Item = &Record> {
        // record: its contents, and those of all older ones.
        let mut next = self.records.load(Acquire);
        std::iter::from_fn(move || {
            // SAFETY: linked once, and stays.
            let record = unsafe { next.as_ref()? };
            // SAFETY: written before it was linked, never again.
            next = record.older.with(|older| unsafe { *older });
            Some(record)
        })
    }

    /// The lowest tree that anybody may look at who has looked where to begin before this.
    pub(super) fn lowest(&self) -> Result<u64, HeavyFailed> {
        // low: where the head was, then what is announced.
        self.fences.heavy()?;
        // done: what an end looked at before it announced this.
        Ok(self.records().map(|record| record.low.load(Acquire)).min().unwrap_or(IDLE))
    }
}

impl Low {
    fn record(&self) -> &Record {
        // SAFETY: linked once, and stays; the lows outlive us: `join`.
        unsafe { self.record.as_ref() }
    }

    /// Announces that we may look at `tree` and those behind it, unless we have announced as much. Whether
    /// that is new: then it holds for what is found by a look *after* this.
    pub(super) fn lower_to(&mut self, tree: u64) -> bool {
        let is_new = tree < self.low;
        if is_new {
            self.low = tree;
            // done: as below.
            self.record().low.store(tree, Release);
            // low: the announcement, then the look.
            self.fences.light();
        }
        is_new
    }

    /// Looks at nothing any more.
    pub(super) fn end(&mut self) {
        self.low = IDLE;
        // done: what we looked at may be freed now.
        self.record().low.store(IDLE, Release);
    }
}

impl Drop for Low {
    fn drop(&mut self) {
        self.end();
        // seat: the record, for the next end.
        self.record().taken.store(false, Release);
    }
}

impl Drop for Lows {
    fn drop(&mut self) {
        // own: `&mut self`: no end is left.
        let mut next = self.records.load(Relaxed);
        while !next.is_null() {
            // SAFETY: linked once, from a box.
            next = unsafe { Box::from_raw(next) }.older.into_inner();
        }
    }
}
