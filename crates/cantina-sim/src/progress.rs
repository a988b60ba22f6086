//! Progress: who finishes, and how soon.
//!
//! A test marks the operations of what it checks with [`operation`] and sets bounds:
//! [`Simulation::lock_free_within`](crate::engine::Simulation::lock_free_within) and
//! [`Simulation::wait_free_within`](crate::engine::Simulation::wait_free_within).

use crate::engine::current;
use crate::engine::threads::Operation;

/// Ends an operation, also when it panics.
struct Ends(Option<Option<Operation>>);

impl Drop for Ends {
    fn drop(&mut self) {
        if let Some(outer) = self.0.take() {
            current::finish(outer);
        }
    }
}

/// Runs `f` as one operation called `name`. Outside a run it just runs it.
pub fn operation<R>(name: &str, f: impl FnOnce() -> R) -> R {
    let _ends = Ends(current::begin(name));
    f()
}
