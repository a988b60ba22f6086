//! A word that says which children have tasks.

use crate::cafe::metrics::Exchanges;
use machine::atomic::AtomicU32;
use machine::atomic::AtomicU64;
use machine::atomic::Ordering::{Relaxed, SeqCst};
use machine::fence_after_rmw;
use machine::trace::{self, Role};
use std::slice;

/// Who clears the bit of a child. It lies with the child.
pub(super) struct Clearers {
    /// How many are about to.
    pending: AtomicU32,
    /// How often somebody has: less often than there were puts below.
    cleared: AtomicU32,
}

/// How often a bit had been cleared when it was set, and nobody was about to clear it. While that is so it is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shown(u32);

impl Clearers {
    pub(super) fn new() -> Self {
        Self { pending: AtomicU32::new(0), cleared: AtomicU32::new(0) }
    }

    /// Says what it is, as a part of `tree`.
    pub(super) fn describe<W>(&self, tree: &W, pending: &'static str, cleared: &'static str) {
        trace::row(tree, slice::from_ref(&self.pending), pending, Role::Number);
        trace::row(tree, slice::from_ref(&self.cleared), cleared, Role::Number);
    }

    /// Makes it as new.
    pub(super) fn reset(&mut self) {
        // own: `&mut self`.
        self.pending.store(0, Relaxed);
        // own: as above.
        self.cleared.store(0, Relaxed);
    }

    /// How often the bit has been cleared, unless somebody is about to. What the caller has put is published.
    #[inline]
    pub(super) fn look(&self) -> Option<Shown> {
        // present: whoever comes later sees the task. Of those who have gone we see what they did.
        let pending = self.pending.load(SeqCst);
        // present: after that, or one could come and go between the two.
        (pending == 0).then(|| Shown(self.cleared.load(SeqCst)))
    }
}

/// One bit for each of up to `CHILDREN` children, and a version above them. A bit that is not set says that
/// there is nothing; one that is set, that there may be something.
pub(super) struct Presence<const CHILDREN: u32>(AtomicU64);

impl<const CHILDREN: u32> Presence<CHILDREN> {
    const VERSION: u64 = 1 << CHILDREN;

    pub(super) fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// Says what it is, as a part of `tree`.
    pub(super) fn describe<W>(&self, tree: &W, name: &'static str, children: u32) {
        let role = Role::Presence { bits: CHILDREN, children };
        trace::row(tree, slice::from_ref(&self.0), name, role);
    }

    /// Makes it as new.
    pub(super) fn reset(&mut self) {
        // own: `&mut self`.
        self.0.store(0, Relaxed);
    }

    /// The children that may have tasks.
    #[inline]
    pub(super) fn look(&self) -> u64 {
        // present: what was put before the bits were set.
        self.0.load(SeqCst) & (Self::VERSION - 1)
    }

    /// Says that `child`, whose `clearers` these are, has tasks: they are published already. It cannot
    /// fail, and each put changes the version at most once, so that no version comes again (I6).
    pub(super) fn show(
        &self,
        child: u32,
        clearers: &Clearers,
        cas: &mut Exchanges,
    ) -> Option<Shown> {
        let bit = 1 << child;
        // present: before the bit, or a clearer could come to its end between the two.
        let shown = clearers.look();
        let is_set = self.look() & bit != 0;
        if shown.is_some() {
            if !is_set {
                // present: whoever comes to clear the bit from now on sees the task before.
                self.0.fetch_or(bit, SeqCst);
                cas.add(1);
            }
            return shown;
        }
        // present: whoever looked before and wants to clear the bit now fails.
        let old = self.0.fetch_add(Self::VERSION, SeqCst);
        if old & bit == 0 {
            // present: after the new version, or a clearer in between would be missed.
            self.0.fetch_or(bit, SeqCst);
            cas.add(1);
        }
        cas.add(1);
        None
    }

    /// Takes the bits of `children` away, which will have no tasks any more: all their places are gone. A put that
    /// is late may set them once more; a later get clears them. The children that may have tasks.
    pub(super) fn take_away(&self, children: u64, cas: &mut Exchanges) -> u64 {
        debug_assert!(children < Self::VERSION);
        cas.add(1);
        // present: the others' bits, and the version, stay as they are.
        self.0.fetch_and(!children, SeqCst) & (Self::VERSION - 1) & !children
    }

    /// Says that `child` has none, if so. One attempt: a bit that is left over a later get clears.
    pub(super) fn clear(
        &self,
        child: u32,
        clearers: &Clearers,
        cas: &mut Exchanges,
        is_empty: impl FnOnce() -> bool,
    ) {
        let bit = 1 << child;
        // present: we are counted before we look.
        clearers.pending.fetch_add(1, SeqCst);
        // present: the count, then the looks.
        fence_after_rmw();
        // present: the word before the child.
        let seen = self.0.load(SeqCst);
        if seen & bit != 0 && is_empty() {
            // present: the child is empty. On failure somebody has put, or cleared another bit.
            if cas.note(self.0.compare_exchange(seen, seen & !bit, SeqCst, SeqCst).is_ok()) {
                // present: before we are counted no longer, for who knew that the bit was set.
                clearers.cleared.fetch_add(1, SeqCst);
                cas.add(1);
            }
        }
        // present: our change comes before we are counted no longer.
        clearers.pending.fetch_sub(1, SeqCst);
        cas.add(2);
    }
}

#[cfg(test)]
mod tests {
    use super::{Clearers, Exchanges, Presence};

    #[test]
    fn a_bit_is_set_and_cleared() {
        let (presence, clearers) = (Presence::<47>::new(), Clearers::new());
        let cas = &mut Exchanges::default();
        presence.show(46, &clearers, cas);
        presence.show(0, &clearers, cas);
        assert_eq!(presence.look(), 1 << 46 | 1);
        presence.clear(0, &clearers, cas, || false);
        presence.clear(46, &clearers, cas, || true);
        assert_eq!(presence.look(), 1);
        assert!(clearers.look().is_some(), "nobody is left");
    }

    #[test]
    fn a_put_thwarts_a_clearer_that_looked_before() {
        let (presence, clearers) = (Presence::<48>::new(), Clearers::new());
        let (mut cas, mut other) = (Exchanges::default(), Exchanges::default());
        presence.show(3, &clearers, &mut other);
        presence.clear(3, &clearers, &mut cas, || {
            // A put between its look and its exchange.
            assert_eq!(presence.show(3, &clearers, &mut other), None);
            true
        });
        assert_eq!(presence.look(), 1 << 3);
    }

    #[test]
    fn what_is_known_of_a_bit_holds_until_somebody_clears_it() {
        let (presence, clearers) = (Presence::<48>::new(), Clearers::new());
        let cas = &mut Exchanges::default();
        let shown = presence.show(3, &clearers, cas);
        assert!(shown.is_some());
        presence.clear(3, &clearers, cas, || false);
        assert_eq!(clearers.look(), shown);
        presence.clear(3, &clearers, cas, || {
            assert_eq!(clearers.look(), None);
            true
        });
        assert_ne!(clearers.look(), shown);
    }
}
