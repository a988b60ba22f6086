//! Progress: who finishes, and how soon.
//!
//! [`steps`] says how many steps the calling thread has taken.
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

/// How many steps the calling thread has taken; none outside a run.
pub fn steps() -> u64 {
    current::own_steps()
}

/// Runs `f` as one operation called `name`. Outside a run it just runs it.
pub fn operation<R>(name: &str, f: impl FnOnce() -> R) -> R {
    let _ends = Ends(current::begin(name));
    f()
}

#[cfg(test)]
mod tests {
    use super::steps;
    use crate::atomic::{AtomicU64, Ordering::Relaxed};
    use crate::{engine, thread};

    #[test]
    fn each_thread_counts_its_own_steps() {
        assert_eq!(steps(), 0, "outside a run");
        let taken = engine::run(1, || {
            let word = AtomicU64::new(0);
            let count = |accesses: u64| {
                let before = steps();
                (0..accesses).for_each(|_| _ = word.fetch_add(1, Relaxed));
                steps() - before
            };
            let other = thread::spawn(|| AtomicU64::new(0).load(Relaxed));
            let own = [0, 1, 7].map(count);
            other.join().unwrap();
            own
        });
        assert_eq!(taken, [0, 1, 7]);
    }
}
