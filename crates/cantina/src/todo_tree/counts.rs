//! What a node counts: tasks put and tasks taken below it.

use super::max_array::MaxArray;
use super::metrics::Exchanges;
use machine::atomic::AtomicU64;
use machine::atomic::Ordering::SeqCst;
use machine::fence_after_rmw;
use machine::trace::{self, Role};
use std::slice;

/// All counts are modulo this, also those of blocks. Only differences mean something, and those are small.
pub(super) const MODULUS: u64 = 1 << 48;

/// Two counts, each of which only grows.
pub(super) enum Node {
    Words {
        inserts: AtomicU64,
        removes: AtomicU64,
    },
    /// Read both at once, for either of them: what the paper pays.
    Array(MaxArray),
}

/// By how much one count is ahead of another.
#[inline]
pub(super) fn ahead(count: u64, of: u64) -> u64 {
    count.wrapping_sub(of) % MODULUS
}

/// Raises a count, unless it is as large already. Counts are compared as if they did not go round: right, as
/// long as nobody sleeps while 2^47 tasks are put.
#[inline]
fn raise(count: &AtomicU64, to: u64, cas: &mut Exchanges) {
    // count: as large already is as good as raised.
    let mut now = count.load(SeqCst);
    while now != to && ahead(to, now) < MODULUS / 2 {
        // count: whoever sees it sees what it counts. On failure it may be large enough.
        match count.compare_exchange(now, to, SeqCst, SeqCst) {
            Ok(_) => {
                cas.note(true);
                return;
            }
            Err(other) => now = other,
        }
        cas.note(false);
    }
}

impl Node {
    /// Both counts begin at `from`. `values` are those of the epochs of a max array, if it is to be one.
    pub(super) fn new(from: u64, values: Option<u64>) -> Self {
        let from = from % MODULUS;
        match values {
            Some(values) => Self::Array(MaxArray::starting_at(values, from, from)),
            None => Self::Words { inserts: AtomicU64::new(from), removes: AtomicU64::new(from) },
        }
    }

    /// Says what lies where in it, as a part of `tree` with so many children.
    pub(super) fn describe<W>(&self, tree: &W, children: usize) {
        if let Self::Words { inserts, removes } = self {
            let role = Role::Puts { children: children as u32 };
            trace::row(tree, slice::from_ref(inserts), "put", role);
            trace::row(tree, slice::from_ref(removes), "taken", Role::Number);
        }
    }

    #[inline]
    pub(super) fn inserts(&self) -> u64 {
        match self {
            // count: the puts that it counts, and all that came before them.
            Self::Words { inserts, .. } => inserts.load(SeqCst),
            Self::Array(pair) => pair.scan().0,
        }
    }

    #[inline]
    pub(super) fn removes(&self) -> u64 {
        match self {
            // count: the takes that it counts, and all that came before them.
            Self::Words { removes, .. } => removes.load(SeqCst),
            Self::Array(pair) => pair.scan().1,
        }
    }

    /// Both, removes first: none is counted whose insert is not.
    #[inline]
    pub(super) fn removes_and_inserts(&self) -> (u64, u64) {
        match self {
            Self::Words { .. } => (self.removes(), self.inserts()),
            Self::Array(pair) => {
                let (inserts, removes) = pair.scan();
                (removes, inserts)
            }
        }
    }

    /// Raises the count of the puts alone.
    #[inline]
    pub(super) fn raise_inserts(&self, to: u64, cas: &mut Exchanges) {
        match self {
            Self::Words { inserts, .. } => raise(inserts, to, cas),
            Self::Array(pair) => pair.raise_first(to),
        }
        before_the_next_level();
    }

    /// Raises both counts, that of the puts first (I3).
    #[inline]
    pub(super) fn raise(&self, to_inserts: u64, to_removes: u64, cas: &mut Exchanges) {
        match self {
            Self::Words { inserts, removes } => {
                raise(inserts, to_inserts % MODULUS, cas);
                raise(removes, to_removes % MODULUS, cas);
            }
            Self::Array(pair) => {
                pair.raise_first(to_inserts);
                pair.raise_second(to_removes);
            }
        }
        before_the_next_level();
    }
}

/// Between raising a level's counts and looking at them.
#[inline]
fn before_the_next_level() {
    // count: this level, then the looks of the next.
    fence_after_rmw();
}

#[cfg(test)]
mod tests {
    use super::{Exchanges, MODULUS, Node, ahead};

    #[test]
    fn a_count_only_grows_also_when_it_goes_round() {
        let cas = &mut Exchanges::default();
        let node = Node::new(MODULUS - 2, None);
        node.raise(MODULUS + 3, MODULUS - 1, cas);
        assert_eq!((node.inserts(), node.removes()), (3, MODULUS - 1));
        node.raise(MODULUS - 1, MODULUS - 2, cas);
        assert_eq!((node.inserts(), node.removes()), (3, MODULUS - 1));
        assert_eq!(ahead(node.inserts(), node.removes()), 4);
        node.raise(3, 3, cas);
        assert_eq!(ahead(node.inserts(), node.removes()), 0);
        assert_eq!((cas.made(), cas.failed()), (3, 0));
    }
}
