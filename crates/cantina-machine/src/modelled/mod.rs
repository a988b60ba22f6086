//! What machines have in common that are none: a clock and a topology of their own, with the names of the real ones.

mod clock;
mod detected;

pub use clock::{Clock, Instant};
pub use detected::{Detected, Topology};
