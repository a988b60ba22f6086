//! A cache line of one's own.

pub use crossbeam_utils::CachePadded;
