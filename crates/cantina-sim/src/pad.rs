//! A cache line of one's own.

pub use cantina_machine::CachePadded;
