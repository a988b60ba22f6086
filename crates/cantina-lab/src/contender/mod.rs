//! The papers' comparison systems, on the traits of the pools.
//!
//! | name | what | tasks come out |
//! |---|---|---|
//! | `ms-queue` | [`MsQueue`]: the lock-free queue of Michael and Scott | first in, first out |
//! | `lbq` | [`Lbq`]: a linked queue with a lock for each end | first in, first out |
//! | `treiber` | [`Treiber`]: the lock-free stack of Treiber | last in, first out |
//! | `locked-stack` | [`LockedStack`]: a mutex and a vector | last in, first out |
//! | `ws-msq` | [`WsMsq`]: a Michael-Scott queue per consumer, and stealing | in any order |
//! | `ws-lifo` | [`WsLifo`]: a Treiber stack per consumer, and stealing | in any order |
//!
//! They are built to be good at what they do, so that a comparison means something: hazard pointers
//! in the place of a garbage collector, ends on cache lines of their own, no more fences and locks
//! than the algorithm asks for. `None` claims what it [claims](cantina::pool) of every pool. Handles
//! come and go, and tasks may borrow.
//!
//! The lock-free ones are made of a [lane]: a queue or a stack with hazard pointers.
//! [`Central`] is a pool of one, [`Stealing`](stealing::Stealing) of one per consumer.

mod central;
mod families;
pub mod lane;
pub mod lbq;
pub mod locked_stack;
pub mod ms_queue;
mod rest;
pub mod stealing;
pub mod treiber;

pub use central::{Central, End};
pub use families::visit_all;
pub use lbq::Lbq;
pub use locked_stack::LockedStack;
pub use ms_queue::MsQueue;
pub use stealing::{WsLifo, WsMsq};
pub use treiber::Treiber;
