//! Who has which task, in pools whose leases can be recovered: one word for each place.
//!
//! A place is free; its task is *published*; somebody *holds* it; somebody has a *copy* of it, and looks at the place no more; or it is
//! on its way *back*. Publications of a place are numbered on, so that no two words are alike. The owner word decides who
//! has a task, and the block's bit only says where to look:
//!
//! * A put says "published" before it sets the bit. A take says "held" while the bit is set, and then clears it. So a
//!   held task whose bit is set is about to be taken, and whoever sees that may clear the bit for its holder, which may
//!   be dead: a bit that nobody clears would keep the pool from ever being empty.
//! * A task that goes back is marked so under its holder's name until it is counted up to the top. Marked as published
//!   before, it would be lost with its holder: nobody looks for a task that is not counted.
//! * Who recovers first puts its own name in place of the dead one's. So it can be recovered in turn.
//! * A task that is moved out is held until it is, and then its place is free. If its holder dies in between, what it has in
//!   its hands is never used, and the task goes back as if it had not been touched.
//! * A copy is said to be made when the bit is cleared and the task is cloned. From then on the task may be had by whoever puts its own
//!   name there and puts it back, under the next number: so who comes late with its copy finds another word.

use super::block::each;
use super::metrics::Exchanges;
use super::tree::Tree;
use machine::atomic::AtomicU64;
use machine::atomic::Ordering::SeqCst;

/// How many consumers and workers a pool with recoverable leases can have, one after the other.
pub(super) const MAX_HOLDERS: u64 = (1 << HOLDER_BITS) - 1;

const KIND_BITS: u32 = 4;
const HOLDER_BITS: u32 = 20;

/// The number of the publication, above its holder, above what is going on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Owner(u64);

/// What is going on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Free,
    Published,
    Held,
    GoingBack,
    Copied,
}

impl Kind {
    const ALL: [Self; 5] = [Self::Free, Self::Published, Self::Held, Self::GoingBack, Self::Copied];
}

impl Owner {
    fn kind(self) -> Kind {
        Kind::ALL[(self.0 & ((1 << KIND_BITS) - 1)) as usize]
    }

    fn holder(self) -> u32 {
        (self.0 >> KIND_BITS & MAX_HOLDERS) as u32
    }

    /// The same publication.
    fn now(self, kind: Kind, holder: u32) -> Self {
        let number = self.0 >> (KIND_BITS + HOLDER_BITS) << (KIND_BITS + HOLDER_BITS);
        Self(number | u64::from(holder) << KIND_BITS | kind as u64)
    }

    /// The next publication. Numbers go round at 2^40: right, as long as nobody sleeps through as many of one place.
    fn next(self, kind: Kind, holder: u32) -> Self {
        Self(self.0.wrapping_add(1 << (KIND_BITS + HOLDER_BITS))).now(kind, holder)
    }
}

/// The owner words of all places; none in pools whose leases cannot be recovered.
pub(super) struct Owners(pub(super) Box<[AtomicU64]>);

impl Owners {
    fn look(&self, place: usize) -> Owner {
        // owner: the task, if it is published; that the bit of the one before is cleared.
        Owner(self.0[place].load(SeqCst))
    }

    /// Only for whoever has the place.
    fn set(&self, place: usize, owner: Owner) {
        // owner: the task, or that it is moved out.
        self.0[place].store(owner.0, SeqCst);
    }

    fn exchange(&self, place: usize, seen: Owner, new: Owner) -> bool {
        // owner: whoever has it next sees what was done. On failure nothing is read.
        self.0[place].compare_exchange(seen.0, new.0, SeqCst, SeqCst).is_ok()
    }

    pub(super) fn are_there(&self) -> bool {
        !self.0.is_empty()
    }
}

impl<T> Tree<T> {
    /// Says that tasks are there, which the caller is about to publish.
    pub(super) fn own_puts(&self, block: usize, slots: u32) {
        if self.owners.are_there() {
            for slot in each(slots) {
                let place = self.layout.place(block, slot);
                let owner = self.owners.look(place);
                self.owners.set(place, owner.next(Kind::Published, 0));
            }
        }
    }

    /// Takes the tasks in some `slots`. Those that are the caller's then. Where a holder was in the middle of that, its bit
    /// is cleared.
    pub(super) fn take_owned(&self, block: usize, slots: u32, holder: u32) -> u32 {
        each(slots)
            .filter(|&slot| self.take_one(block, slot, holder))
            .fold(0, |won, slot| won | 1 << slot)
    }

    fn take_one(&self, block: usize, slot: u32, holder: u32) -> bool {
        let (place, head, bit) = (self.layout.place(block, slot), &self.blocks[block], 1 << slot);
        // Before the owner: so a bit that is seen with a holder is that of the same publication.
        let seen = head.look();
        let owner = self.owners.look(place);
        match owner.kind() {
            Kind::Published | Kind::GoingBack => {
                // After the owner: so the bit is that of this publication, or of a later one, and then the exchange fails.
                let is_there = head.look().tasks() & bit != 0;
                let won =
                    is_there && self.owners.exchange(place, owner, owner.now(Kind::Held, holder));
                if won {
                    head.take(bit);
                }
                won
            }
            Kind::Held if seen.tasks() & bit != 0 => {
                head.clear_if(seen, bit);
                false
            }
            _ => false,
        }
    }

    /// Moves out a task that is held, and gives the place back.
    ///
    /// # Safety
    /// The caller holds the task, or has taken it where there are no owners, and does this once.
    pub(super) unsafe fn finish(&self, block: usize, slot: u32) -> T {
        // SAFETY: the caller's.
        let task = unsafe { self.finish_without_place(block, slot) };
        self.blocks[block].release(1 << slot, 1);
        task
    }

    /// The same, and the place is the caller's to give back.
    ///
    /// # Safety
    /// As with [`finish`](Self::finish).
    pub(super) unsafe fn finish_without_place(&self, block: usize, slot: u32) -> T {
        // SAFETY: the caller's.
        let task = unsafe { self.read(block, slot) };
        if self.owners.are_there() {
            let place = self.layout.place(block, slot);
            self.owners.set(place, self.owners.look(place).now(Kind::Free, 0));
        }
        task
    }

    /// Puts a task back that is held.
    pub(super) fn give_back(&self, block: usize, slot: u32) {
        let place = self.layout.place(block, slot);
        let back = self.owners.are_there().then(|| {
            let owner = self.owners.look(place);
            let back = owner.next(Kind::GoingBack, owner.holder());
            self.owners.set(place, back);
            back
        });
        self.blocks[block].publish(1 << slot, 1);
        self.mark_up(block, &mut Exchanges::default());
        if let Some(back) = back {
            // It may be taken again already.
            self.owners.exchange(place, back, back.now(Kind::Published, 0));
        }
        self.counters.note_return();
    }

    /// Puts everything back that `dead` has; how many tasks.
    ///
    /// # Safety
    /// Whoever holds tasks as `dead` has stopped for ever.
    pub(super) unsafe fn recover(&self, dead: u32, holder: u32) -> usize {
        let places = 0..self.owners.0.len();
        // SAFETY: the caller's.
        places.filter(|&place| unsafe { self.recover_one(place, dead, holder) }).count()
    }

    /// Says that the task in a place, which the caller holds, is copied. What its owner word says from now on.
    pub(super) fn copied(&self, place: usize) -> u64 {
        let owner = self.owners.look(place);
        let copied = owner.now(Kind::Copied, owner.holder());
        self.owners.set(place, copied);
        copied.0
    }

    /// Whether the task in a place was still the caller's, of which it has a copy. It holds it then.
    pub(super) fn hold_again(&self, place: usize, copied: u64) -> bool {
        let copied = Owner(copied);
        self.owners.exchange(place, copied, copied.now(Kind::Held, copied.holder()))
    }

    /// Puts everything back that `slow` has copies of; how many tasks.
    pub(super) fn reclaim(&self, slow: u32, holder: u32) -> usize {
        let places = 0..self.owners.0.len();
        places.filter(|&place| self.reclaim_one(place, slow, holder)).count()
    }

    fn reclaim_one(&self, place: usize, slow: u32, holder: u32) -> bool {
        let owner = self.owners.look(place);
        let is_copied = owner.kind() == Kind::Copied && owner.holder() == slow;
        // It may be completed, dropped or reclaimed just now.
        if !is_copied || !self.owners.exchange(place, owner, owner.now(Kind::Held, holder)) {
            return false;
        }
        let (block, slot) = self.layout.block_of(place);
        self.give_back(block, slot);
        true
    }

    /// # Safety
    /// As with [`recover`](Self::recover).
    unsafe fn recover_one(&self, place: usize, dead: u32, holder: u32) -> bool {
        let (block, slot) = self.layout.block_of(place);
        let (head, bit) = (&self.blocks[block], 1 << slot);
        let owner = self.owners.look(place);
        let kind = owner.kind();
        let ours = owner.now(kind, holder);
        // Somebody else may recover, too, or take what goes back.
        if kind == Kind::Copied {
            return self.reclaim_one(place, dead, holder);
        }
        let is_dead = owner.holder() == dead && matches!(kind, Kind::Held | Kind::GoingBack);
        if !is_dead || !self.owners.exchange(place, owner, ours) {
            return false;
        }
        if kind == Kind::Held {
            head.take(bit);
            self.give_back(block, slot);
            return true;
        }
        loop {
            let seen = head.look();
            // Somebody has published it, or taken it since, and cleared its bit.
            if seen.tasks() & bit != 0 || self.owners.look(place) != ours {
                break;
            }
            if head.publish_if(seen, bit) {
                break;
            }
        }
        self.mark_up(block, &mut Exchanges::default());
        self.owners.exchange(place, ours, ours.now(Kind::Published, 0));
        self.counters.note_return();
        true
    }
}

#[cfg(test)]
mod tests {
    use super::{Kind, MAX_HOLDERS, Owner};

    #[test]
    fn a_word_says_what_is_going_on_by_whom_and_for_which_time() {
        let free = Owner(0);
        assert_eq!((free.kind(), free.holder()), (Kind::Free, 0));
        let most = MAX_HOLDERS as u32;
        for kind in Kind::ALL {
            let owner = free.next(kind, most);
            assert_eq!((owner.kind(), owner.holder()), (kind, most));
            assert_eq!(owner.now(Kind::Free, 0).next(kind, 0), free.next(kind, 1).next(kind, 0));
            assert_ne!(owner, owner.next(kind, most));
        }
        let last = Owner(u64::MAX).now(Kind::Held, 7);
        assert_eq!(last.next(Kind::Held, 7), free.now(Kind::Held, 7), "they go round");
    }
}
