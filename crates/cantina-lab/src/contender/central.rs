//! A pool that is one lane, at which everybody meets.
//!
//! What it promises is what its lane does: [`ms_queue`](super::ms_queue), [`treiber`](super::treiber).
//! A handle is a member of the lane's hazard pointers and nothing else, so all three kinds of handle
//! are one [`End`]. There is no limit to their number.

use super::lane::{BATCH, Lane, Member, Nodes, nodes};
use cantina::pool::{self, Full, TaskPool};
use cantina::reclaim;
use machine::Arc;
use std::fmt;

/// A pool of one lane; see the module.
pub struct Central<L: Lane> {
    shared: Arc<Shared<L>>,
}

/// A handle of a [`Central`] pool: puts, gets, or both.
pub struct End<L: Lane> {
    member: Member<L>,
    shared: Arc<Shared<L>>,
}

struct Shared<L: Lane> {
    lane: L,
    /// The nodes of the lane.
    nodes: Arc<Nodes<L>>,
}

impl<L: Lane> Central<L> {
    /// An empty pool.
    pub fn new() -> Self {
        Self::retiring(BATCH)
    }

    /// An empty pool whose handles look for nodes to free after `batch` retired ones.
    pub fn retiring(batch: usize) -> Self {
        let shared = Arc::new(Shared { lane: L::new(), nodes: nodes::<L>(batch) });
        shared.lane.describe();
        Self { shared }
    }

    fn end(&self) -> End<L> {
        End {
            member: reclaim::Member::join(self.shared.nodes.clone()),
            shared: self.shared.clone(),
        }
    }
}

impl<L: Lane> TaskPool<L::Task> for Central<L> {
    type Producer = End<L>;
    type Consumer = End<L>;
    type Worker = End<L>;

    fn producer(&self) -> End<L> {
        self.end()
    }

    fn consumer(&self) -> End<L> {
        self.end()
    }

    fn worker(&self) -> End<L> {
        self.end()
    }
}

impl<L: Lane> pool::Producer<L::Task> for End<L> {
    fn try_put(&mut self, task: L::Task) -> Result<(), Full<L::Task>> {
        // SAFETY: all ends have joined the domain of the pool, which has one lane.
        unsafe { self.shared.lane.put(&mut self.member, task) };
        Ok(())
    }
}

impl<L: Lane> pool::Consumer<L::Task> for End<L> {
    fn get(&mut self) -> Option<L::Task> {
        // SAFETY: as in `try_put`.
        unsafe { self.shared.lane.get(&mut self.member) }.ok()
    }
}

impl<L: Lane> Clone for Central<L> {
    fn clone(&self) -> Self {
        Self { shared: self.shared.clone() }
    }
}

impl<L: Lane> Default for Central<L> {
    fn default() -> Self {
        Self::new()
    }
}

impl<L: Lane> Clone for End<L> {
    fn clone(&self) -> Self {
        Self {
            member: reclaim::Member::join(self.member.structure().clone()),
            shared: self.shared.clone(),
        }
    }
}

impl<L: Lane> fmt::Debug for Central<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Central").finish_non_exhaustive()
    }
}

impl<L: Lane> fmt::Debug for End<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("End").finish_non_exhaustive()
    }
}
