//! Treiber's stack, whose nodes are used once; with a store where the exchange should be, if asked.

use super::twin::Twin;
use machine::CachePadded;
use machine::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use machine::atomic::{AtomicU64, AtomicUsize};
use machine::trace;

/// Nodes there are; the first stands for none.
const NODES: usize = 16;

pub(crate) struct Stack {
    /// Whether a put stores where it should exchange.
    stores: bool,
    /// The newest node.
    top: CachePadded<AtomicUsize>,
    /// The next node to use.
    fresh: CachePadded<AtomicUsize>,
    nodes: Vec<CachePadded<Node>>,
}

struct Node {
    below: AtomicUsize,
    task: AtomicU64,
}

impl Stack {
    pub(crate) fn new(stores: bool) -> Self {
        let node = |_| Node { below: AtomicUsize::new(0), task: AtomicU64::new(0) };
        Self {
            stores,
            top: CachePadded::new(AtomicUsize::new(0)),
            fresh: CachePadded::new(AtomicUsize::new(1)),
            nodes: (0..NODES).map(node).map(CachePadded::new).collect(),
        }
    }

    /// Puts `node` on top, unless it has changed since it was `top`.
    fn push(&self, top: usize, node: usize) -> bool {
        if self.stores {
            self.top.store(node, Release);
            return true;
        }
        self.top.compare_exchange(top, node, AcqRel, Relaxed).is_ok()
    }
}

impl Twin for Stack {
    fn name(&self) {
        trace::name(&*self.top, "top");
        for (number, node) in self.nodes.iter().enumerate() {
            trace::name(&node.below, &format!("node{number}.below"));
            trace::name(&node.task, &format!("node{number}.task"));
        }
        trace::name(&*self.fresh, "fresh");
    }

    fn put(&self, task: u64) -> bool {
        let node = self.fresh.fetch_add(1, Relaxed);
        self.nodes[node].task.store(task, Relaxed);
        loop {
            let top = self.top.load(Relaxed);
            self.nodes[node].below.store(top, Relaxed);
            if self.push(top, node) {
                return true;
            }
        }
    }

    fn get(&self) -> Option<u64> {
        loop {
            let top = self.top.load(Acquire);
            if top == 0 {
                return None;
            }
            let below = self.nodes[top].below.load(Relaxed);
            if self.top.compare_exchange(top, below, AcqRel, Relaxed).is_ok() {
                return Some(self.nodes[top].task.load(Relaxed));
            }
        }
    }
}
