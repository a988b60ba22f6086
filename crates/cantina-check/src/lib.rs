//! Histories and verdicts: is this recorded history linearizable for a bag, a queue, a stack?
#![forbid(unsafe_code)]

mod bag_check;
mod bound_check;
mod gaps;
pub mod history;
mod judge;
mod lives;
mod program;
mod queue_check;
pub mod recorder;
pub mod search;
mod shrink;
pub mod spec;
mod stack_check;
pub mod text;
mod timeline;
pub mod verdict;

pub use history::{Action, History, Item, Malformed, Operation};
pub use recorder::{Batch, Clock, Log, merge};
pub use spec::{Bound, Order, Spec};
pub use text::ParseError;
pub use verdict::{Reason, Verdict, Violation};

use judge::Ruling;

/// A budget of steps that is right for tests: seconds at most.
pub const BUDGET: u64 = 5_000_000;

/// Judges `history` as `spec`, within about `budget` steps of search. A violation may take as many
/// again to be made small.
pub fn check(history: &History, spec: &Spec, budget: u64) -> Verdict {
    match judge::judge(history, spec, &mut { budget }) {
        Ruling::Linearizable => Verdict::Linearizable,
        Ruling::Violation(finding) => {
            Verdict::Violation(Box::new(shrink::shrink(history, spec, finding, budget)))
        }
        Ruling::Unknown { steps } => Verdict::Unknown { steps },
    }
}
