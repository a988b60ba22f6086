//! Atomic words, as in `std`.
//!
//! What all three machines offer of them: `new`, `load`, `store`, `swap`, `compare_exchange`,
//! `compare_exchange_weak`, `fetch_update` and the `fetch_` arithmetic. loom's `new` is not `const`,
//! so there are no `static` atomics in code that runs on every machine.

pub use std::sync::atomic::{
    AtomicBool, AtomicI64, AtomicIsize, AtomicPtr, AtomicU8, AtomicU16, AtomicU32, AtomicU64,
    AtomicUsize, Ordering,
};
