//! A handle's participant, with the structure whose domain it is of.

use super::{Domain, Participant};
use crate::panics::{catch, go_on};
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

    /// Has a node back that the member of this number retired, which leaves. It is freed, if nothing else is said.
    ///
    /// # Safety
    /// Nobody names it, and it is given back once.
    unsafe fn have_back(&self, number: usize, node: NonNull<Self::Node>) {
        let _ = number;
        let mut free = self.domain().free();
        free(node);
    }

    /// The member of this number has left.
    fn has_left(&self, number: usize) {
        let _ = number;
    }
}

/// A [`Participant`] that keeps the structure alive, and leaves the domain when it is dropped.
pub struct Member<S: Reclaims<SLOTS>, const SLOTS: usize> {
    participant: ManuallyDrop<Participant<S::Node, SLOTS>>,
    structure: Arc<S>,
    /// What the structure knows it by.
    number: usize,
}

// SAFETY: of a domain which is a structure of its own.
unsafe impl<N, const SLOTS: usize> Reclaims<SLOTS> for Domain<N, SLOTS> {
    type Node = N;

    fn domain(&self) -> &Self {
        self
    }
}

impl<S: Reclaims<SLOTS>, const SLOTS: usize> Member<S, SLOTS> {
    /// One more participant of the domain of `structure`, which does not tell its members apart.
    pub fn join(structure: Arc<S>) -> Self {
        Self::join_as(structure, 0)
    }

    /// One more participant of the domain of `structure`, which knows it by `number`.
    pub fn join_as(structure: Arc<S>, number: usize) -> Self {
        // SAFETY: we keep the structure, and so its domain, until we have left.
        let participant = ManuallyDrop::new(unsafe { structure.domain().join() });
        Self { participant, structure, number }
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
        let (structure, number) = (&*self.structure, self.number);
        // SAFETY: what is given to it nobody names.
        let have_back = |node| unsafe { structure.have_back(number, node) };
        let mut panic = None;
        // SAFETY: the domain we joined.
        catch(&mut panic, || unsafe { participant.leave_into(structure.domain(), have_back) });
        structure.has_left(number);
        go_on(panic);
    }
}

impl<S: Reclaims<SLOTS>, const SLOTS: usize> fmt::Debug for Member<S, SLOTS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Member").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::{Domain, Member, Reclaims};
    use machine::Arc;
    use machine::lock::Mutex;
    use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
    use std::ptr::NonNull;

    /// What a shop was told of: a node that came back, or that somebody has left.
    #[derive(Debug, PartialEq)]
    enum Told {
        Back(usize, u8),
        Left(usize),
    }

    struct Shop {
        domain: Domain<u8, 1>,
        told: Mutex<Vec<Told>>,
    }

    // SAFETY: one of its fields.
    unsafe impl Reclaims<1> for Shop {
        type Node = u8;

        fn domain(&self) -> &Domain<u8, 1> {
            &self.domain
        }

        unsafe fn have_back(&self, number: usize, node: NonNull<u8>) {
            // SAFETY: from a box, and used no more.
            let node = *unsafe { Box::from_raw(node.as_ptr()) };
            self.told.lock().push(Told::Back(number, node));
            if node == 0 {
                resume_unwind(Box::new("have back"));
            }
        }

        fn has_left(&self, number: usize) {
            self.told.lock().push(Told::Left(number));
        }
    }

    #[test]
    fn a_structure_has_back_what_its_member_retired_and_hears_that_it_left_whoever_panics() {
        // SAFETY: it is not called.
        let domain = unsafe { Domain::new(100, |_| unreachable!("the shop has it back")) };
        let shop = Arc::new(Shop { domain, told: Mutex::default() });
        for nodes in [[1, 2], [0, 3]] {
            let mut member = Member::join_as(shop.clone(), 7);
            for node in nodes {
                // SAFETY: nobody ever knew it.
                unsafe { member.retire(NonNull::from(Box::leak(Box::new(node)))) };
            }
            let leaves = catch_unwind(AssertUnwindSafe(|| drop(member)));
            assert_eq!(leaves.is_err(), nodes[0] == 0);
        }
        // The next one gives back what is left.
        drop(Member::join_as(shop.clone(), 8));
        let told = std::mem::take(&mut *shop.told.lock());
        let back = |number, node| told.contains(&Told::Back(number, node));
        assert!(back(7, 1) && back(7, 2) && back(7, 0), "{told:?}");
        assert!(back(7, 3) || back(8, 3), "{told:?}");
        let left: Vec<_> = told.iter().filter(|told| matches!(told, Told::Left(_))).collect();
        assert_eq!(left, [&Told::Left(7), &Told::Left(7), &Told::Left(8)]);
        assert_eq!(told.len(), 7);
    }
}
