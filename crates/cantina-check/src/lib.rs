//! Histories and verdicts: is this recorded history linearizable for a bag, a queue, a stack?
//!
//! Threads that share a pool each keep a [`Log`] of what they called and what came out, from when to
//! when. The logs make a [`History`], and [`check`] judges whether some order of the calls, each at
//! an instant between its start and its end, explains every answer. If none does, the
//! [`Violation`] holds the smallest part of the history that shows it, drawn with a lane per thread.
//!
//! ```
//! use cantina_check::{BUDGET, Clock, Log, Spec, check, merge};
//! # use std::sync::Mutex;
//! # use std::sync::atomic::{AtomicU64, Ordering::SeqCst, fence};
//!
//! /// The clock and the fence of the machine the threads run on.
//! struct Ticks(AtomicU64);
//! impl Clock for Ticks {
//!     fn now(&self) -> u64 { self.0.fetch_add(1, SeqCst) }
//!     fn fence(&self) { fence(SeqCst) }
//! }
//!
//! let (clock, pool) = (Ticks(AtomicU64::new(0)), Mutex::new(Vec::new()));
//! let (mut mine, mut theirs) = (Log::new(0, &clock), Log::new(1, &clock));
//! std::thread::scope(|scope| {
//!     scope.spawn(|| theirs.put(7, || { pool.lock().unwrap().push(7); Ok::<_, u64>(()) }));
//!     mine.get(|&task| task, || pool.lock().unwrap().pop());
//! });
//! let history = merge([mine, theirs]).unwrap();
//! assert!(check(&history, &Spec::bag(), BUDGET).is_linearizable());
//! ```
//!
//! # What is judged
//! [`Spec`] names the order in which tasks come out (any, oldest first, youngest first) and the bound
//! if there is one; the table in [`spec`] says which answers are right. Tasks are told apart by a
//! number, and each is put once. Operations that never came back, because their thread died, may or
//! may not have happened. Equal times overlap.
//!
//! # How sure, how fast
//! * **Bags and queues** without a bound: exact, `O(n log n)`, a million operations in a fraction of
//!   a second. **Stacks**: the same unless pending gets have to have taken something.
//! * **Bounds**, **atomic batches**, and what is left of stacks: a [`search`](mod@search) that is
//!   exact, and usually about linear, but may give up with [`Verdict::Unknown`] when its budget of
//!   steps is spent. Before it, fast checks find most of what can be wrong, and for queues a guess
//!   finds most of what is right.
//! * A **violation** is always one, and so is each witness: see what may be left out of a history in
//!   [`Violation`].
//!
//! # Owner queues
//! Queues that one at a time owns are judged by [`owner`], a small search of its own.
//!
//! # Histories as text
//! A history prints and [parses](text) one operation per line (`t0 1..5 put 7`), so a witness can be
//! kept as a test.
#![forbid(unsafe_code)]

mod bag_check;
mod bound_check;
mod gaps;
mod guess;
pub mod history;
mod judge;
mod lives;
pub mod owner;
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

/// A budget for [`check`] that lasts for seconds at most.
pub const BUDGET: u64 = 20_000_000;

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

#[cfg(test)]
extern crate self as cantina_check;
#[cfg(test)]
#[path = "../tests/generate/mod.rs"]
mod generate;
