//! An adding end with nodes of its own.

use super::node::{Chain, Node};
use super::shared::Shared;
use super::{Owner, OwnerQueue};
use machine::Arc;
use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;

/// An adding end that takes its nodes from those that owners have emptied. For one thread at a time; clones are
/// for others.
///
/// ```
/// let queue = cantina::owner_queue::OwnerQueue::new();
/// let mut producer = queue.producer();
/// for item in 0..1_000 {
///     producer.enqueue(item).unwrap().run(drop);     // allocates no more than two chains of nodes
/// }
/// ```
pub struct Producer<T> {
    shared: Arc<Shared<T>>,
    /// Empty nodes, ours alone.
    nodes: Chain,
    one_at_a_time: PhantomData<Cell<()>>,
}

impl<T> Producer<T> {
    pub(super) fn new(shared: Arc<Shared<T>>) -> Self {
        Self { shared, nodes: Chain::NONE, one_at_a_time: PhantomData }
    }

    /// Adds `item`. `Some`: nobody owned the queue, now the caller does.
    #[must_use = "an owner works the queue off: dropped, it leaves the items to the next one"]
    pub fn enqueue(&mut self, item: T) -> Option<Owner<T>> {
        if self.nodes.len == 0 {
            self.nodes = self.shared.spare.take(self.shared.chain.saturating_mul(2));
        }
        // SAFETY: the chain is ours.
        let node = match unsafe { self.nodes.pop::<T>() } {
            None => Node::boxed(item),
            Some(node) => {
                // SAFETY: an empty node, ours.
                unsafe { Node::fill(node, item) };
                node
            }
        };
        self.shared.enqueue(node).then(|| Owner { shared: self.shared.clone() })
    }

    /// The queue it adds to.
    pub fn queue(&self) -> OwnerQueue<T> {
        OwnerQueue { shared: self.shared.clone() }
    }
}

impl<T> Clone for Producer<T> {
    fn clone(&self) -> Self {
        Self::new(self.shared.clone())
    }
}

impl<T> Drop for Producer<T> {
    fn drop(&mut self) {
        let nodes = std::mem::replace(&mut self.nodes, Chain::NONE);
        // SAFETY: the chain is ours.
        unsafe { self.shared.spare.give(nodes) };
    }
}

impl<T> fmt::Debug for Producer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Producer").field(&*self.shared).finish()
    }
}
