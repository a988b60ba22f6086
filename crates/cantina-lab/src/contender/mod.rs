//! The papers' comparison systems, on the traits of the pools.
//!
//! | pool | in records | what | tasks come out |
//! |---|---|---|---|
//! | [`MsQueue`] | `ms-queue` | the lock-free queue of Michael and Scott | first in, first out |
//! | [`Lbq`] | `lbq` | a linked queue with a lock for each end | first in, first out |
//! | [`Treiber`] | `treiber` | the lock-free stack of Treiber | last in, first out |
//! | [`Figure4Stack`] | `figure4-stack` | the rooms paper's array that grows, in rooms, repaired | last in, first out |
//! | [`LockedStack`] | `locked-stack` | a mutex and a vector | last in, first out |
//! | [`WsMsq`] | `ws-msq` | a Michael-Scott queue per consumer, and stealing | in any order |
//! | [`WsLifo`] | `ws-lifo` | a Treiber stack per consumer, and stealing | in any order |
//! | [`Bags`] | `concurrent-bags` | a list of blocks per producer | in any order |
//! | [`EdPool`] | `ed-pool` | a tree of balancers where puts and gets meet, queues at its leaves | in any order |
//! | [`SalsaPaper`] | `salsa-paper` | SALSA as its paper has it, repaired | in any order |
//!
//! They are built to be good at what they do, so that a comparison means something: hazard pointers
//! in the place of a garbage collector, ends on cache lines of their own, no more fences and locks
//! than the algorithm asks for. `None` claims what it [claims](cantina::pool) of every pool. Handles
//! come and go, and tasks may borrow.
//!
//! The lock-free queues and stacks are made of a [lane]: one of them with hazard pointers.
//! [`Central`] is a pool of one, [`Stealing`](stealing::Stealing) of one per consumer.

pub mod bags;
mod central;
mod clones;
pub mod ed_pool;
mod families;
pub mod figure4_stack;
pub mod lane;
pub mod lbq;
pub mod locked_stack;
pub mod ms_queue;
pub mod salsa_paper;
pub mod stealing;
pub mod treiber;

pub use bags::Bags;
pub use central::{Central, End};
use clones::ends_are_clones;
pub use ed_pool::EdPool;
pub use families::{visit_all, visit_variants};
pub use figure4_stack::Figure4Stack;
pub use lbq::Lbq;
pub use locked_stack::LockedStack;
pub use ms_queue::MsQueue;
pub use salsa_paper::SalsaPaper;
pub use stealing::{WsLifo, WsMsq};
pub use treiber::Treiber;
