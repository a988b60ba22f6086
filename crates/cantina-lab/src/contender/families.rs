//! The contenders, as the registry has them.

use super::ed_pool::{self, EdPool};
use super::figure4_stack::FIRST;
use super::salsa_paper::{CHUNK, Setup};
use super::{Bags, Figure4Stack, Lbq, LockedStack, MsQueue, SalsaPaper, Treiber, WsLifo, WsMsq};
use crate::registry::{Batches, Facts, Family, Order, Visitor};
use cantina_record::Kind;

/// Shows every contender to `visitor`.
pub fn visit_all(visitor: &mut impl Visitor) {
    visitor.visit(MsQueueFamily);
    visitor.visit(LbqFamily);
    visitor.visit(TreiberFamily);
    visitor.visit(LockedStackFamily);
    visitor.visit(Figure4StackFamily { name: "figure4-stack", first: FIRST });
    visitor.visit(WsMsqFamily);
    visitor.visit(WsLifoFamily);
    visitor.visit(BagsFamily);
    visitor.visit(EdPoolFamily { name: "ed-pool", setup: ed_pool::Setup::default() });
    visitor.visit(SalsaPaperFamily { name: "salsa-paper", chunk: CHUNK });
}

/// Shows contenders in unusual shapes to `visitor`.
pub fn visit_variants(visitor: &mut impl Visitor) {
    visitor.visit(SalsaPaperFamily { name: "salsa-paper-of-2", chunk: 2 });
    visitor.visit(Figure4StackFamily { name: "figure4-stack-of-1", first: 1 });
    // One balancer and one slot: everybody meets.
    let setup = ed_pool::Setup { depth: 1, slots: 1, ..ed_pool::Setup::default() };
    visitor.visit(EdPoolFamily { name: "ed-pool-of-2", setup });
}

fn facts(name: &str, about: &'static str, order: Order, non_blocking: bool) -> Facts {
    let kind = Kind::Contender;
    Facts { name: name.to_owned(), kind, about, order, capacity: None, non_blocking }
}

#[derive(Clone, Copy, Debug)]
struct MsQueueFamily;

impl Family for MsQueueFamily {
    type Pool<T: Send + 'static> = MsQueue<T>;

    fn facts(&self) -> Facts {
        let about = "Michael and Scott's lock-free queue: first in, first out";
        facts("ms-queue", about, Order::Fifo, true)
    }

    fn build<T: Send + 'static>(&self) -> MsQueue<T> {
        MsQueue::new()
    }
}

#[derive(Clone, Copy, Debug)]
struct LbqFamily;

impl Family for LbqFamily {
    type Pool<T: Send + 'static> = Lbq<T>;

    fn facts(&self) -> Facts {
        let about = "the papers' locked queue, a lock for each end: first in, first out";
        facts("lbq", about, Order::Fifo, false)
    }

    fn build<T: Send + 'static>(&self) -> Lbq<T> {
        Lbq::new()
    }
}

#[derive(Clone, Copy, Debug)]
struct TreiberFamily;

impl Family for TreiberFamily {
    type Pool<T: Send + 'static> = Treiber<T>;

    fn facts(&self) -> Facts {
        let about = "Treiber's lock-free stack, with backoff: last in, first out";
        facts("treiber", about, Order::Lifo, true)
    }

    fn build<T: Send + 'static>(&self) -> Treiber<T> {
        Treiber::new()
    }
}

#[derive(Clone, Copy, Debug)]
struct LockedStackFamily;

impl Family for LockedStackFamily {
    type Pool<T: Send + 'static> = LockedStack<T>;

    fn facts(&self) -> Facts {
        let about = "a mutex and a vector: last in, first out";
        facts("locked-stack", about, Order::Lifo, false)
    }

    fn batches(&self) -> Batches {
        Batches::TOGETHER
    }

    fn build<T: Send + 'static>(&self) -> LockedStack<T> {
        LockedStack::new()
    }
}

#[derive(Clone, Copy, Debug)]
struct Figure4StackFamily {
    name: &'static str,
    /// Places of the first array.
    first: usize,
}

impl Family for Figure4StackFamily {
    type Pool<T: Send + 'static> = Figure4Stack<T>;

    fn facts(&self) -> Facts {
        let about = "the rooms paper's array that grows and is copied bit by bit, repaired";
        facts(self.name, about, Order::Lifo, false)
    }

    fn batches(&self) -> Batches {
        Batches { come_out_together: true, ..Batches::default() }
    }

    fn in_chunks_of(&self, tasks: usize) -> Self {
        Self { first: tasks.max(1), ..*self }
    }

    fn build<T: Send + 'static>(&self) -> Figure4Stack<T> {
        Figure4Stack::with(self.first)
    }
}

#[derive(Clone, Copy, Debug)]
struct WsMsqFamily;

impl Family for WsMsqFamily {
    type Pool<T: Send + 'static> = WsMsq<T>;

    fn facts(&self) -> Facts {
        let about = "a Michael-Scott queue per consumer, and stealing";
        facts("ws-msq", about, Order::Bag, true)
    }

    fn build<T: Send + 'static>(&self) -> WsMsq<T> {
        WsMsq::new()
    }
}

#[derive(Clone, Copy, Debug)]
struct WsLifoFamily;

impl Family for WsLifoFamily {
    type Pool<T: Send + 'static> = WsLifo<T>;

    fn facts(&self) -> Facts {
        let about = "a Treiber stack per consumer, and stealing";
        facts("ws-lifo", about, Order::Bag, true)
    }

    fn build<T: Send + 'static>(&self) -> WsLifo<T> {
        WsLifo::new()
    }
}

#[derive(Clone, Copy, Debug)]
struct BagsFamily;

impl Family for BagsFamily {
    type Pool<T: Send + 'static> = Bags<T>;

    fn facts(&self) -> Facts {
        let about = "concurrent bags: a list of blocks per producer, taken from by all";
        facts("concurrent-bags", about, Order::Bag, true)
    }

    fn build<T: Send + 'static>(&self) -> Bags<T> {
        Bags::new()
    }
}

#[derive(Clone, Copy, Debug)]
struct EdPoolFamily {
    name: &'static str,
    setup: ed_pool::Setup,
}

impl Family for EdPoolFamily {
    type Pool<T: Send + 'static> = EdPool<T>;

    fn facts(&self) -> Facts {
        let about = "an elimination-diffraction tree: puts and gets meet on their way to queues";
        facts(self.name, about, Order::Bag, true)
    }

    fn build<T: Send + 'static>(&self) -> EdPool<T> {
        EdPool::with(self.setup)
    }
}

#[derive(Clone, Copy, Debug)]
struct SalsaPaperFamily {
    name: &'static str,
    chunk: usize,
}

impl Family for SalsaPaperFamily {
    type Pool<T: Send + 'static> = SalsaPaper<T>;

    fn facts(&self) -> Facts {
        let about = "SALSA as its paper has it, with nodes and steal lists, repaired";
        facts(self.name, about, Order::Bag, true)
    }

    fn build<T: Send + 'static>(&self) -> SalsaPaper<T> {
        SalsaPaper::with(Setup { chunk: self.chunk, ..Setup::default() })
    }
}
