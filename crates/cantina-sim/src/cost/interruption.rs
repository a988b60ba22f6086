//! What takes the processor away from whoever runs: timer ticks, the operating system, a hypervisor.

use serde::{Deserialize, Serialize};

/// Cycles from one to the next at most, and that one may last: minutes.
const MOST: u64 = 1 << 40;
/// Kinds that a machine may have.
const MOST_KINDS: usize = 16;

/// A kind of interruption. Every thread that runs has its own, independent of the others'.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Interruption {
    /// Cycles from one to the next, on average.
    pub every: u64,
    /// Cycles that one takes.
    pub lasts: u64,
}

/// Whether a machine can have them: what is wrong, in one line, if not.
pub(super) fn check(kinds: &[Interruption]) -> Result<(), String> {
    if kinds.len() > MOST_KINDS {
        return Err(format!("more than {MOST_KINDS} kinds of interruptions"));
    }
    if kinds.iter().any(|kind| kind.every.max(kind.lasts) > MOST) {
        return Err(format!("an interruption of more than {MOST} cycles"));
    }
    if kinds.iter().any(|kind| kind.every == 0) || !leave_time(kinds) {
        return Err("interruptions that leave less than a quarter of the time".to_owned());
    }
    Ok(())
}

/// Whether those that run have a quarter of the time for themselves.
fn leave_time(kinds: &[Interruption]) -> bool {
    let parts = kinds.iter().map(|kind| u128::from(kind.lasts) * 1_000 / u128::from(kind.every));
    parts.sum::<u128>() <= 750
}
