//! Hazard pointers: nodes are freed when nobody can be looking at them any more.
//!
//! A structure has one [`Domain`]; there is no global one, so nodes may hold tasks that borrow, and
//! what a structure retired goes with it. Each handle of the structure has a [`Participant`]: places to
//! announce the nodes it looks at, and a list of nodes it has unlinked. When that list is long enough
//! the participant reads everybody's announcements and frees what nobody announced. A handle that keeps the structure has it as a
//! [`Member`].
//!
//! Who keeps a node announced from one call to the next, and wants to know whether the source names another one by now, compares: that
//! takes neither a store nor a fence, and [`Participant::protect`] is for the case that it does.
//!
//! # Progress
//! [`Participant::protect`] is lock-free: it looks again when the source has changed.
//! [`Participant::retire`] is wait-free but for allocation and for `free`; [`Domain::join`] is lock-free: a record that is new is
//! linked once more when another one was.
//!
//! # Invariants
//! * **I1** a node is retired once, after it has been unlinked from every source that `protect` is
//!   used on.
//! * **I2** a node that a source still named after its announcement is not freed while announced.
//! * **I3** `retired` of a record belongs to the participant that set `taken`.
//! * **I4** records are linked once and stay until the domain goes.
//!
//! # Orderings
//! | edge | release or fence side | acquire or fence side | carries |
//! |---|---|---|---|
//! | `announce` | [`Participant::protect`] | the scan in [`Participant::retire`] | the announcement, or the unlinking: the announcer sees the node gone, or the scan sees it announced |
//! | `look` | the caller's link to the node | [`Participant::protect`] | the node's contents |
//! | `done` | [`Participant::clear`], the next announcement | the scan | all that was read of the node, before it is freed |
//! | `record` | [`Domain::join`] | the scan, later joins | a new record |
//! | `seat` | the drop of a participant | [`Domain::join`] | the record's retired nodes |
//!
//! # Memory
//! A participant keeps fewer than [`batch`](Domain::new) nodes plus those that are announced. One
//! that leaves frees what it can and leaves the rest to the next that joins. A `free` that panics has freed its node; the others
//! are freed later, and when the domain goes all of them are. A participant that is
//! leaked, or whose thread has died, keeps its announcements and its list until the domain goes.

mod member;

pub use member::{Member, Reclaims};

use crate::panics;
use machine::CachePadded;
use machine::atomic::Ordering::{Acquire, Relaxed, Release};
use machine::atomic::{AtomicBool, AtomicPtr};
use machine::cell::UnsafeCell;
use machine::fence;
use machine::trace::{self, Role};
use std::fmt;
use std::ptr::{self, NonNull};

/// The nodes of one structure: who looks at which, and which wait to be freed.
pub struct Domain<N, const SLOTS: usize> {
    /// The newest record. See I4.
    records: AtomicPtr<Record<N, SLOTS>>,
    /// How many retired nodes make a scan worth its while.
    batch: usize,
    free: unsafe fn(NonNull<N>),
}

/// One handle's part in a [`Domain`]: `SLOTS` places to announce nodes, and the nodes it retired.
pub struct Participant<N, const SLOTS: usize> {
    record: NonNull<Record<N, SLOTS>>,
}

struct Record<N, const SLOTS: usize> {
    /// The nodes that this participant looks at.
    announced: CachePadded<[AtomicPtr<N>; SLOTS]>,
    /// Whether a participant has this record. See I3.
    taken: AtomicBool,
    /// Nodes that wait to be freed, away from what others read. See I3.
    retired: CachePadded<UnsafeCell<Vec<NonNull<N>>>>,
    /// The next older record; written before this one is linked, read afterwards. See I4.
    older: UnsafeCell<*mut Record<N, SLOTS>>,
}

// SAFETY: I3: the list belongs to one participant at a time; nodes are sent where they are freed.
unsafe impl<N: Send, const SLOTS: usize> Send for Participant<N, SLOTS> {}
// SAFETY: I3, I4: all that is shared of a record are its atomics.
unsafe impl<N: Send, const SLOTS: usize> Send for Domain<N, SLOTS> {}
// SAFETY: as above.
unsafe impl<N: Send, const SLOTS: usize> Sync for Domain<N, SLOTS> {}

impl<N, const SLOTS: usize> Domain<N, SLOTS> {
    /// A domain whose participants scan when they have retired `batch` nodes, and free them by `free`.
    ///
    /// # Safety
    /// `free` may be called once for each retired node, on any thread that has a participant or drops
    /// the domain.
    pub unsafe fn new(batch: usize, free: unsafe fn(NonNull<N>)) -> Self {
        Self { records: AtomicPtr::new(ptr::null_mut()), batch: batch.max(1), free }
    }

    /// One more participant.
    ///
    /// # Safety
    /// The participant is dropped, or never used again, before the domain is dropped.
    pub unsafe fn join(&self) -> Participant<N, SLOTS> {
        let free_seat = self.records().find(|record| {
            // hint: a hint; the exchange decides.
            let looks_free = !record.taken.load(Relaxed);
            // seat: the list that the last participant left. On failure nothing is read.
            looks_free && record.taken.compare_exchange(false, true, Acquire, Relaxed).is_ok()
        });
        let record = free_seat.map_or_else(|| self.add_record(), NonNull::from);
        Participant { record }
    }

    fn add_record(&self) -> NonNull<Record<N, SLOTS>> {
        // hint: only named, not looked at; the exchange decides.
        let mut newest = self.records.load(Relaxed);
        let record = Box::new(Record {
            announced: CachePadded::new(std::array::from_fn(|_| AtomicPtr::new(ptr::null_mut()))),
            taken: AtomicBool::new(true),
            retired: CachePadded::new(UnsafeCell::new(Vec::new())),
            older: UnsafeCell::new(newest),
        });
        record.announced.iter().for_each(|slot| trace::part(slot, "hazard", Role::Guard));
        let record = Box::into_raw(record);
        // record: the record's contents, for whoever finds it. Exchanges before this one go on
        // carrying the older records' contents.
        while let Err(now) = self.records.compare_exchange(newest, record, Release, Relaxed) {
            newest = now;
            // SAFETY: not linked yet, so nobody else knows it.
            unsafe { (*record).older = UnsafeCell::new(now) };
        }
        // SAFETY: from a box.
        unsafe { NonNull::new_unchecked(record) }
    }

    fn records(&self) -> impl Iterator<Item = &Record<N, SLOTS>> {
        // record: the record's contents, and those of all older ones.
        let mut next = self.records.load(Acquire);
        std::iter::from_fn(move || {
            // SAFETY: I4.
            let record = unsafe { next.as_ref()? };
            // SAFETY: I4: written before it was linked, never again.
            next = record.older.with(|older| unsafe { *older });
            Some(record)
        })
    }

    /// Hands those of `retired` to `free` that nobody has announced.
    fn scan(&self, retired: &mut Vec<NonNull<N>>, mut free: impl FnMut(NonNull<N>)) {
        // announce: they were unlinked before; what is announced of them after this was too late.
        fence::full();
        // Bare: all nodes are sorted by the same code.
        let mut announced: Vec<*mut ()> = Vec::new();
        for record in self.records() {
            // done: what the last announcer read is read before it is freed.
            announced.extend(record.announced.iter().map(|slot| slot.load(Acquire).cast()));
        }
        announced.sort_unstable();
        let mut index = 0;
        while let Some(&node) = retired.get(index) {
            if announced.binary_search(&node.as_ptr().cast()).is_ok() {
                index += 1;
            } else {
                retired.swap_remove(index);
                // I1, I2: unlinked, and not announced in time; off the list, so once.
                free(node);
            }
        }
    }

    /// How [`scan`](Self::scan) frees, unless told otherwise.
    fn free(&self) -> impl FnMut(NonNull<N>) + use<N, SLOTS> {
        let free = self.free;
        // SAFETY: `scan` hands each node over once.
        move |node| unsafe { free(node) }
    }
}

impl<N, const SLOTS: usize> Participant<N, SLOTS> {
    fn record(&self) -> &Record<N, SLOTS> {
        // SAFETY: I4, and the domain outlives us: `join`.
        unsafe { self.record.as_ref() }
    }

    /// The node that `source` names, announced in `slot`: it may be looked at until the slot is
    /// cleared or used again. Null is not announced.
    ///
    /// # Panics
    /// When there is no such slot.
    pub fn protect(&mut self, slot: usize, source: &AtomicPtr<N>) -> *mut N {
        // hint: a hint; the second look decides.
        let mut node = source.load(Relaxed);
        loop {
            self.announce(slot, node);
            // look: the node as it was linked. The fence carries that for the first look, not for
            // a node that came back meanwhile.
            let now = source.load(Acquire);
            if now == node {
                return node;
            }
            node = now;
        }
    }

    /// Announces `node` in `slot`. It may only be looked at if it is known, by a look *after* this,
    /// not to have been retired before.
    ///
    /// # Panics
    /// When there is no such slot.
    pub fn announce(&mut self, slot: usize, node: *mut N) {
        // done: the node announced here before may be freed now.
        self.record().announced[slot].store(node, Release);
        // announce: the announcement, then the look at whether the node is still linked.
        fence::full();
    }

    /// Takes back the announcement in `slot`.
    ///
    /// # Panics
    /// When there is no such slot.
    pub fn clear(&mut self, slot: usize) {
        // done: the node announced here may be freed now.
        self.record().announced[slot].store(ptr::null_mut(), Release);
    }

    /// Frees `node` when nobody has announced it, at some later call or when `domain` goes.
    ///
    /// # Safety
    /// I1, and `domain` is the one that was joined.
    pub unsafe fn retire(&mut self, domain: &Domain<N, SLOTS>, node: NonNull<N>) {
        self.with_retired(|retired| {
            retired.push(node);
            if retired.len() >= domain.batch {
                domain.scan(retired, domain.free());
            }
        });
    }

    /// As [`retire`](Self::retire), but scans when `batch` nodes wait, and gives those that nobody has
    /// announced to `keep` instead of freeing them.
    ///
    /// # Safety
    /// As [`retire`](Self::retire).
    pub unsafe fn retire_into(
        &mut self,
        domain: &Domain<N, SLOTS>,
        node: NonNull<N>,
        batch: usize,
        keep: impl FnMut(NonNull<N>),
    ) {
        self.with_retired(|retired| {
            retired.push(node);
            if retired.len() >= batch {
                domain.scan(retired, keep);
            }
        });
    }

    /// Leaves `domain`, and frees what nobody has announced. To be called when the handle goes, also in a panic: then those of `free` go no
    /// further.
    ///
    /// # Safety
    /// `domain` is the one that was joined.
    pub unsafe fn leave(self, domain: &Domain<N, SLOTS>) {
        // SAFETY: the caller's.
        unsafe { self.leave_into(domain, domain.free()) };
    }

    /// As [`leave`](Self::leave), but gives those that nobody has announced to `keep` instead of freeing them.
    ///
    /// # Safety
    /// As [`leave`](Self::leave).
    pub unsafe fn leave_into(mut self, domain: &Domain<N, SLOTS>, keep: impl FnMut(NonNull<N>)) {
        (0..SLOTS).for_each(|slot| self.clear(slot));
        let mut panic = None;
        self.with_retired(|retired| {
            if !retired.is_empty() {
                panics::catch(&mut panic, || domain.scan(retired, keep));
            }
        });
        panics::go_on(panic);
    }

    fn with_retired<R>(&mut self, f: impl FnOnce(&mut Vec<NonNull<N>>) -> R) -> R {
        // SAFETY: I3: we have taken the record, and `&mut self`.
        self.record().retired.with_mut(|retired| f(unsafe { &mut *retired }))
    }
}

impl<N, const SLOTS: usize> Drop for Participant<N, SLOTS> {
    fn drop(&mut self) {
        (0..SLOTS).for_each(|slot| self.clear(slot));
        // seat: the list, for the next participant.
        self.record().taken.store(false, Release);
    }
}

impl<N, const SLOTS: usize> Drop for Domain<N, SLOTS> {
    fn drop(&mut self) {
        // own: `&mut self`: no participant is left.
        let mut next = self.records.load(Relaxed);
        let mut first_panic = None;
        while !next.is_null() {
            // SAFETY: I4: linked once, from a box.
            let record = unsafe { Box::from_raw(next) };
            next = record.older.into_inner();
            for node in record.retired.into_inner().into_inner() {
                // SAFETY: I1; nobody is left to announce it, and the list goes with the record.
                panics::catch(&mut first_panic, || unsafe { (self.free)(node) });
            }
        }
        panics::go_on(first_panic);
    }
}

impl<N, const SLOTS: usize> fmt::Debug for Domain<N, SLOTS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Domain").field("batch", &self.batch).finish_non_exhaustive()
    }
}

impl<N, const SLOTS: usize> fmt::Debug for Participant<N, SLOTS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Participant").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::{Domain, Member};
    use machine::Arc;
    use machine::atomic::{AtomicUsize, Ordering::Relaxed};
    use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
    use std::ptr::NonNull;

    struct Node<'a> {
        freed: &'a AtomicUsize,
        panics: bool,
    }

    /// # Safety
    /// It is from a box, and used no more.
    unsafe fn free(node: NonNull<Node<'_>>) {
        // SAFETY: the caller's.
        let node = unsafe { Box::from_raw(node.as_ptr()) };
        // bare: one thread.
        node.freed.fetch_add(1, Relaxed);
        if node.panics {
            resume_unwind(Box::new("free"));
        }
    }

    #[test]
    fn a_panic_while_a_node_is_freed_loses_no_other_node() {
        for panics in 0..6 {
            let freed = AtomicUsize::new(0);
            // SAFETY: `free` may be called by anybody.
            let domain: Domain<Node<'_>, 1> = unsafe { Domain::new(100, free) };
            for number in 0..6 {
                // SAFETY: it goes before the domain.
                let mut participant = unsafe { domain.join() };
                let node = Box::new(Node { freed: &freed, panics: number == panics });
                // SAFETY: nobody ever knew it.
                unsafe { participant.retire(&domain, NonNull::from(Box::leak(node))) };
                // Half of them have a list of their own.
                if number % 2 == 0 {
                    std::mem::forget(participant);
                }
            }
            assert!(catch_unwind(AssertUnwindSafe(|| drop(domain))).is_err());
            // bare: as above.
            assert_eq!(freed.load(Relaxed), 6);
        }
    }

    /// Two panics at once would end the program. Left to itself the handle tells of the one.
    #[test]
    fn a_panic_while_a_handle_leaves_goes_no_further_where_its_thread_unwinds() {
        for unwinds in [true, false] {
            let count = Box::into_raw(Box::new(AtomicUsize::new(0)));
            // SAFETY: it goes when all who know it have gone.
            let freed: &'static AtomicUsize = unsafe { &*count };
            // SAFETY: `free` may be called by anybody.
            let domain = Arc::new(unsafe { Domain::<Node<'static>, 1>::new(100, free) });
            let leaves = || {
                let mut member = Member::join(domain.clone());
                for number in 0..3 {
                    let node = Box::new(Node { freed, panics: number == 1 });
                    // SAFETY: nobody ever knew it.
                    unsafe { member.retire(NonNull::from(Box::leak(node))) };
                }
                if unwinds {
                    resume_unwind(Box::new("its own"));
                }
            };
            let heard = catch_unwind(AssertUnwindSafe(leaves)).unwrap_err();
            assert_eq!(heard.downcast_ref(), Some(if unwinds { &"its own" } else { &"free" }));
            // The next one frees what is left.
            drop(Member::join(domain));
            // bare: as above.
            assert_eq!(freed.load(Relaxed), 3);
            // SAFETY: they have.
            drop(unsafe { Box::from_raw(count) });
        }
    }
}
