//! Waiting a little longer each time.

pub use crossbeam_utils::Backoff;
