//! Random numbers, one generator per handle. For choosing, not for secrets.

use crate::engine::current;

pub use cantina_machine::random::Random;

/// What [`seed`] is outside a run.
const OUTSIDE: u64 = 0x0b5e_55ed;

/// A seed unlike the others, drawn from the run's. Outside a run, always the same.
pub fn seed() -> u64 {
    current::seed().unwrap_or(OUTSIDE)
}
