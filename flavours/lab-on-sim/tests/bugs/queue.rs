//! The queue of Michael and Scott as they have it: nodes are used again, and every link counts how
//! often it was changed. Or not, and that is a bug; there is room for another.

use super::twin::Twin;
use machine::CachePadded;
use machine::atomic::AtomicU64;
use machine::atomic::Ordering::{Acquire, Relaxed, Release};
use machine::lock::Mutex;
use machine::trace;

/// Nodes there are.
const NODES: u64 = 8;
/// No node.
const NONE: u64 = 0xff;

/// What can be wrong with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flaw {
    /// Links do not count: one that was changed and changed back looks as if it had not been.
    NoCounts,
    /// Whoever is beaten to a task says that there is none.
    BeatenSaysEmpty,
}

pub(crate) struct Queue {
    flaw: Option<Flaw>,
    /// The node before the first task. As all links: a count, and in the last 8 bits a node.
    head: CachePadded<AtomicU64>,
    /// The last node, or one before.
    tail: CachePadded<AtomicU64>,
    nodes: Vec<CachePadded<Node>>,
    /// Nodes to use, the last one first.
    spare: Mutex<Vec<u64>>,
}

struct Node {
    next: AtomicU64,
    task: AtomicU64,
}

impl Queue {
    pub(crate) fn new(flaw: Option<Flaw>) -> Self {
        let node = |_| Node { next: AtomicU64::new(NONE), task: AtomicU64::new(0) };
        Self {
            flaw,
            head: CachePadded::new(AtomicU64::new(0)),
            tail: CachePadded::new(AtomicU64::new(0)),
            nodes: (0..NODES).map(node).map(CachePadded::new).collect(),
            spare: Mutex::new((1..NODES).rev().collect()),
        }
    }

    /// The node that `link` names.
    fn at(&self, link: u64) -> &Node {
        &self.nodes[(link & NONE) as usize]
    }

    /// What becomes of the link `old` when it is to name `node`.
    fn link(&self, old: u64, node: u64) -> u64 {
        let count = if self.flaw == Some(Flaw::NoCounts) { 0 } else { (old >> 8) + 1 };
        count << 8 | node & NONE
    }

    /// Makes `word` name `node`, unless it has changed since it was `old`.
    fn swing(&self, word: &AtomicU64, old: u64, node: u64) -> bool {
        word.compare_exchange(old, self.link(old, node), Release, Relaxed).is_ok()
    }
}

impl Twin for Queue {
    fn name(&self) {
        trace::name(&*self.head, "head");
        trace::name(&*self.tail, "tail");
        for (number, node) in self.nodes.iter().enumerate() {
            trace::name(&node.next, &format!("node{number}.next"));
            trace::name(&node.task, &format!("node{number}.task"));
        }
        trace::name(&self.spare, "spare");
    }

    fn put(&self, task: u64) -> bool {
        let node = self.spare.lock().pop().expect("a node for every task");
        let mine = self.at(node);
        mine.task.store(task, Relaxed);
        mine.next.store(self.link(mine.next.load(Relaxed), NONE), Relaxed);
        loop {
            let tail = self.tail.load(Acquire);
            let last = self.at(tail);
            let next = last.next.load(Acquire);
            if tail != self.tail.load(Acquire) {
                continue;
            }
            if next & NONE != NONE {
                self.swing(&self.tail, tail, next);
            } else if self.swing(&last.next, next, node) {
                self.swing(&self.tail, tail, node);
                return true;
            }
        }
    }

    fn get(&self) -> Option<u64> {
        loop {
            let head = self.head.load(Acquire);
            let tail = self.tail.load(Acquire);
            let next = self.at(head).next.load(Acquire);
            if head != self.head.load(Acquire) {
                continue;
            }
            match (head & NONE == tail & NONE, next & NONE == NONE) {
                (true, true) => return None,
                (true, false) => _ = self.swing(&self.tail, tail, next),
                // The node was used again meanwhile.
                (false, true) => {}
                (false, false) => {
                    let task = self.at(next).task.load(Relaxed);
                    if self.swing(&self.head, head, next) {
                        self.spare.lock().push(head & NONE);
                        return Some(task);
                    }
                    if self.flaw == Some(Flaw::BeatenSaysEmpty) {
                        return None;
                    }
                }
            }
        }
    }
}
