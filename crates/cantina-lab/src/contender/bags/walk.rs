//! Going through a list, from its head to its end.
//!
//! A walker is at a *spot*: a block that was the newest when it came, or the one behind that. When the
//! latter is used up the walker unlinks it, and the next one is behind. Both are announced, and stay so
//! between two gets.

use super::Shared;
use super::block::{Block, Marked};
use super::list::List;
use cantina::reclaim::Member;
use machine::Arc;
use std::ptr::NonNull;

/// How many blocks a walker looks at at once.
pub(super) const HAZARDS: usize = 2;

/// The announcement of the block that was the newest.
const NEWER: usize = 0;
/// The announcement of the block behind.
const OLDER: usize = 1;

/// Goes through one list at a time.
pub(super) struct Walker<T, const SLOTS: usize> {
    member: Member<Shared<T, SLOTS>, HAZARDS>,
    spot: Option<Spot<T, SLOTS>>,
}

/// Where a walker is in a list, and on which slots: those before are taken.
struct Spot<T, const SLOTS: usize> {
    newer: NonNull<Block<T, SLOTS>>,
    newer_slot: usize,
    older: Option<NonNull<Block<T, SLOTS>>>,
    older_slot: usize,
}

/// Where a walk came to.
pub(super) enum Way<T> {
    Found(T),
    /// The end of the list. So many of its first tasks are taken, and no more had been put when the
    /// walker last looked at the newest block.
    End(u64),
    /// What was the newest block is unlinked.
    Lost,
}

// SAFETY: the spot's blocks are announced by the member, which goes with it; tasks are sent.
unsafe impl<T: Send, const SLOTS: usize> Send for Walker<T, SLOTS> {}

impl<T, const SLOTS: usize> Spot<T, SLOTS> {
    fn newer(&self) -> &Block<T, SLOTS> {
        // SAFETY: announced, and then still the newest, so not retired before (I4).
        unsafe { self.newer.as_ref() }
    }

    fn older(&self) -> Option<&Block<T, SLOTS>> {
        // SAFETY: announced, and then still behind one that was linked, so not retired before (I3).
        self.older.map(|older| unsafe { older.as_ref() })
    }
}

impl<T, const SLOTS: usize> Walker<T, SLOTS> {
    pub(super) fn new(shared: Arc<Shared<T, SLOTS>>) -> Self {
        Self { spot: None, member: Member::join(shared) }
    }

    pub(super) fn shared(&self) -> &Arc<Shared<T, SLOTS>> {
        self.member.structure()
    }

    /// Goes through `list` from its head, of which the first `known` tasks are taken.
    ///
    /// # Errors
    /// The end: so many of its first tasks are taken, and since the call began there was a moment when
    /// no more had been put.
    pub(super) fn through(&mut self, list: &List<T, SLOTS>, known: u64) -> Result<T, u64> {
        loop {
            self.rest();
            // head: by the look that protects.
            let head = self.member.protect(NEWER, list.head());
            // SAFETY: it is never none.
            let newer = unsafe { NonNull::new_unchecked(head) };
            let mut spot = Spot { newer, newer_slot: 0, older: None, older_slot: 0 };
            let passed = known.saturating_sub(spot.newer().first());
            spot.newer_slot = passed.min(SLOTS as u64) as usize;
            self.spot = Some(spot);
            match self.go_on() {
                Way::Found(task) => return Ok(task),
                Way::End(count) => return Err(count),
                Way::Lost => {}
            }
        }
    }

    /// Goes on from its spot, if it has one, to the end of the list.
    pub(super) fn go_on(&mut self) -> Way<T> {
        let Some(spot) = &mut self.spot else { return Way::Lost };
        loop {
            let mut slot = spot.older_slot;
            if let Some(older) = spot.older() {
                let task = older.take(&mut slot);
                spot.older_slot = slot;
                if let Some(task) = task {
                    return Way::Found(task);
                }
                debug_assert_eq!(slot, SLOTS, "I2: blocks behind others are full");
                Self::unlink(spot, &mut self.member);
            }
            let mut slot = spot.newer_slot;
            let task = spot.newer().take(&mut slot);
            spot.newer_slot = slot;
            if let Some(task) = task {
                return Way::Found(task);
            }
            match Self::step(spot, &mut self.member) {
                Ok(true) => {}
                Ok(false) => return Way::End(spot.newer().first() + spot.newer_slot as u64),
                Err(Marked) => return Way::Lost,
            }
        }
    }

    /// Leaves the older block, which is used up, and unlinks it, unless somebody does.
    fn unlink(spot: &mut Spot<T, SLOTS>, member: &mut Member<Shared<T, SLOTS>, HAZARDS>) {
        let Some(older) = spot.older else { return };
        let behind = spot.older().map(Block::mark).unwrap_or_default();
        let unlinked = spot.newer().unlink(older, behind);
        spot.older = None;
        member.clear(OLDER);
        if unlinked {
            // SAFETY: we unlinked it, from the only link that led to it from a
            // block that is not marked (I3).
            unsafe { member.retire(older) };
        }
    }

    /// Goes to the block behind the newer one. Whether there is one.
    fn step(
        spot: &mut Spot<T, SLOTS>,
        member: &mut Member<Shared<T, SLOTS>, HAZARDS>,
    ) -> Result<bool, Marked> {
        let mut next = spot.newer().older()?;
        loop {
            if next.is_null() {
                return Ok(false);
            }
            member.announce(OLDER, next);
            // The look that protects: the newer block is not marked, so it is linked, and so was what is
            // behind it (I4).
            let now = spot.newer().older()?;
            if now == next {
                break;
            }
            next = now;
        }
        spot.older = NonNull::new(next);
        spot.older_slot = 0;
        debug_assert!(spot.older().is_some_and(|older| older.first() < spot.newer().first()));
        Ok(true)
    }

    /// Looks at nothing any more.
    pub(super) fn rest(&mut self) {
        self.spot = None;
        self.member.clear_all();
    }
}
