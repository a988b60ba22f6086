//! A lane: a lock-free structure that tasks go into at one place and come out of at one place.
//!
//! [`Central`](super::Central) is a pool of one lane, [`Stealing`](super::stealing::Stealing) has one
//! per consumer. All lanes of a pool share a domain of hazard pointers, and every handle is a
//! [`Member`] of it.

use cantina::reclaim::{self, Domain};
use machine::Arc;
use std::ptr::NonNull;

/// How many nodes a member looks at at once.
pub const SLOTS: usize = 2;

/// How many nodes a handle retires before it looks for those that can be freed.
pub const BATCH: usize = 64;

/// A lock-free queue or stack.
pub trait Lane: Send + Sync + Sized {
    /// What goes through it.
    type Task: Send;
    /// What holds a task on its way.
    type Node: Send;

    /// An empty lane.
    fn new() -> Self;

    /// Says to whoever draws it what lies where. Called when the lane has come to where it stays.
    fn describe(&self);

    /// Frees the memory of a node whose task is gone.
    ///
    /// # Safety
    /// The node came out of a lane, and nobody looks at it any more.
    unsafe fn free(node: NonNull<Self::Node>);

    /// Puts `task`.
    ///
    /// # Safety
    /// Every member that is used with this lane has joined the same domain.
    unsafe fn put(&self, member: &mut Member<Self>, task: Self::Task);

    /// Gets a task.
    ///
    /// # Errors
    /// It was empty.
    ///
    /// # Safety
    /// As [`put`](Self::put).
    unsafe fn get(&self, member: &mut Member<Self>) -> Result<Self::Task, Stamp>;
}

/// Says of an empty lane since when: two equal stamps of one lane mean that it was empty all the
/// while between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp(pub u64);

/// The nodes of a pool's lanes.
pub type Nodes<L> = Domain<<L as Lane>::Node, SLOTS>;

/// A handle's part in the hazard pointers of its pool.
pub type Member<L> = reclaim::Member<Nodes<L>, SLOTS>;

/// A domain whose members look for nodes to free after `batch` retired ones.
pub(super) fn nodes<L: Lane>(batch: usize) -> Arc<Nodes<L>> {
    // SAFETY: `free` asks for no more than the domain promises, and nodes are sent.
    Arc::new(unsafe { Domain::new(batch, L::free) })
}

#[cfg(test)]
mod tests {
    use super::{BATCH, Lane, Stamp, nodes};
    use crate::contender::ms_queue::Queue;
    use crate::contender::treiber::Stack;
    use cantina::reclaim;

    /// What an empty lane says, twice; then after something was in it, however much.
    fn stamps<L: Lane<Task = u8>>() -> [Stamp; 4] {
        let lane = L::new();
        let mut member = reclaim::Member::join(nodes::<L>(BATCH));
        [0, 0, 1, 3].map(|tasks| {
            for task in 0..tasks {
                // SAFETY: the only member.
                unsafe { lane.put(&mut member, task) };
            }
            for _ in 0..tasks {
                // SAFETY: as above.
                assert!(unsafe { lane.get(&mut member) }.is_ok());
            }
            // SAFETY: as above.
            unsafe { lane.get(&mut member) }.expect_err("all were got")
        })
    }

    #[test]
    fn a_lane_says_whether_it_was_empty_all_the_while() {
        for [first, again, after_one, after_three] in [stamps::<Queue<_>>(), stamps::<Stack<_>>()] {
            assert_eq!(first, again);
            assert_ne!(again, after_one);
            assert_ne!(after_one, after_three);
        }
    }
}
