//! The contenders, as the registry has them.

use super::{Lbq, LockedStack, MsQueue, Treiber, WsLifo, WsMsq};
use crate::registry::{Facts, Family, Order, Visitor};
use cantina_record::Kind;

/// Shows every contender to `visitor`.
pub fn visit_all(visitor: &mut impl Visitor) {
    visitor.visit(MsQueueFamily);
    visitor.visit(LbqFamily);
    visitor.visit(TreiberFamily);
    visitor.visit(LockedStackFamily);
    visitor.visit(WsMsqFamily);
    visitor.visit(WsLifoFamily);
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

    fn build<T: Send + 'static>(&self) -> LockedStack<T> {
        LockedStack::new()
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
