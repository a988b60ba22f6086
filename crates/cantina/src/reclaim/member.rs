//! A handle's participant, with the structure whose domain it is of.

use super::{Domain, Participant};
use machine::Arc;
use machine::atomic::AtomicPtr;
use std::fmt;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;

/// What has a [`Domain`] that its handles take part in.
///
/// # Safety
/// It is the same one each time.
pub unsafe trait Reclaims<const SLOTS: usize> {
    /// What is retired.
    type Node;

    /// The domain.
    fn domain(&self) -> &Domain<Self::Node, SLOTS>;
}

/// A [`Participant`] that keeps the structure alive, and leaves the domain when it is dropped.
pub struct Member<S: Reclaims<SLOTS>, const SLOTS: usize> {
    participant: ManuallyDrop<Participant<S::Node, SLOTS>>,
    structure: Arc<S>,
}

// SAFETY: of a domain which is a structure of its own.
unsafe impl<N, const SLOTS: usize> Reclaims<SLOTS> for Domain<N, SLOTS> {
    type Node = N;

    fn domain(&self) -> &Self {
        self
    }
}

impl<S: Reclaims<SLOTS>, const SLOTS: usize> Member<S, SLOTS> {
    /// One more participant of the domain of `structure`.
    pub fn join(structure: Arc<S>) -> Self {
        // SAFETY: we keep the structure, and so its domain, until we have left.
        let participant = ManuallyDrop::new(unsafe { structure.domain().join() });
        Self { participant, structure }
    }

    /// The structure.
    pub fn structure(&self) -> &Arc<S> {
        &self.structure
    }

    /// As [`Participant::protect`].
    #[inline]
    pub fn protect(&mut self, slot: usize, source: &AtomicPtr<S::Node>) -> *mut S::Node {
        self.participant.protect(slot, source)
    }

    /// As [`Participant::announce`].
    #[inline]
    pub fn announce(&mut self, slot: usize, node: *mut S::Node) {
        self.participant.announce(slot, node);
    }

    /// As [`Participant::clear`].
    #[inline]
    pub fn clear(&mut self, slot: usize) {
        self.participant.clear(slot);
    }

    /// Takes all announcements back.
    pub fn clear_all(&mut self) {
        (0..SLOTS).for_each(|slot| self.clear(slot));
    }

    /// As [`Participant::retire`].
    ///
    /// # Safety
    /// The node is retired once, after it has been unlinked from every source that is protected.
    pub unsafe fn retire(&mut self, node: NonNull<S::Node>) {
        // SAFETY: the domain we joined; the rest is the caller's.
        unsafe { self.participant.retire(self.structure.domain(), node) };
    }

    /// As [`Participant::retire_into`].
    ///
    /// # Safety
    /// As [`retire`](Self::retire).
    pub unsafe fn retire_into(
        &mut self,
        node: NonNull<S::Node>,
        batch: usize,
        mut keep: impl FnMut(&S, NonNull<S::Node>),
    ) {
        let structure = &*self.structure;
        let keep = |node| keep(structure, node);
        // SAFETY: as above.
        unsafe { self.participant.retire_into(structure.domain(), node, batch, keep) };
    }
}

impl<S: Reclaims<SLOTS>, const SLOTS: usize> Drop for Member<S, SLOTS> {
    fn drop(&mut self) {
        // SAFETY: taken once, here.
        let participant = unsafe { ManuallyDrop::take(&mut self.participant) };
        // SAFETY: the domain we joined.
        unsafe { participant.leave(self.structure.domain()) };
    }
}

impl<S: Reclaims<SLOTS>, const SLOTS: usize> fmt::Debug for Member<S, SLOTS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Member").finish_non_exhaustive()
    }
}
