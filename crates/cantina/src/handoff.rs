//! One task, once: a single giver, any number of takers, whichever comes first.
//!
//! # Progress
//! [`Giver::give`] and [`Taker::take`] are wait-free: one atomic operation each.
//!
//! # Linearization
//! `give` at its store. `take` at its compare-exchange, whether it wins or not.
//!
//! # Invariants
//! * **I1** `state` only moves from `EMPTY` to `FULL` to `TAKEN`.
//! * **I2** in `FULL` the task is initialized.
//! * **I3** before `FULL` the task is the giver's; afterwards it is the taker's who moved the state to
//!   `TAKEN`.
//!
//! # Orderings
//! | edge   | release side    | acquire side    | carries          |
//! |--------|-----------------|-----------------|------------------|
//! | `hand` | [`Giver::give`] | [`Taker::take`] | the task's bytes |
//!
//! # Memory
//! The last end frees the place, and drops a task that nobody took; what that panics with is heard, but not where the thread panics already.
//!
//! ```
//! let (giver, taker) = cantina::handoff::handoff();
//! let other = taker.clone();
//! let took = std::thread::spawn(move || other.take());
//! giver.give("wash up");
//! assert!(took.join().unwrap().is_some() != taker.take().is_some());
//! ```

use crate::panics::{catch, go_on};
use machine::Arc;
use machine::atomic::AtomicU8;
use machine::atomic::Ordering::{Acquire, Relaxed, Release};
use machine::cell::UnsafeCell;
use std::fmt;
use std::mem::MaybeUninit;

const EMPTY: u8 = 0;
const FULL: u8 = 1;
const TAKEN: u8 = 2;

/// The two ends of a new hand-off.
pub fn handoff<T>() -> (Giver<T>, Taker<T>) {
    let place = Arc::new(Place {
        state: AtomicU8::new(EMPTY),
        task: UnsafeCell::new(MaybeUninit::uninit()),
    });
    (Giver { place: place.clone() }, Taker { place })
}

/// The giving end. I1 rests on there being one, and on its being used once:
///
/// ```compile_fail,E0599
/// let (giver, _taker) = cantina::handoff::handoff::<u8>();
/// let second = giver.clone();
/// ```
///
/// ```compile_fail,E0382
/// let (giver, _taker) = cantina::handoff::handoff();
/// giver.give(1);
/// giver.give(2);
/// ```
#[must_use = "a giver dropped without `give` leaves its takers with nothing"]
pub struct Giver<T> {
    place: Arc<Place<T>>,
}

/// The taking end. Clone it freely: one of them gets the task.
pub struct Taker<T> {
    place: Arc<Place<T>>,
}

struct Place<T> {
    /// See I1.
    state: AtomicU8,
    /// See I2 and I3.
    task: UnsafeCell<MaybeUninit<T>>,
}

// SAFETY: I3: the task has one user at a time, so it moves between threads and is never shared.
unsafe impl<T: Send> Sync for Place<T> {}

impl<T> Giver<T> {
    /// Hands over `task`.
    pub fn give(self, task: T) {
        self.place.task.with_mut(|cell| {
            // SAFETY: the giver is unique and used up here, so the state is EMPTY (I1) and the task
            // ours (I3).
            unsafe { (*cell).write(task) };
        });
        // hand: the write above happens before the `take` that sees FULL.
        self.place.state.store(FULL, Release);
    }
}

impl<T> Taker<T> {
    /// Takes the task. `None`: it was not there yet, or somebody else had taken it.
    #[must_use = "a task that nobody keeps is dropped"]
    pub fn take(&self) -> Option<T> {
        self.place
            .state
            // hand: pairs with `give`. Relaxed on failure: nothing is read then.
            .compare_exchange(FULL, TAKEN, Acquire, Relaxed)
            .ok()?;
        // SAFETY: it was FULL, so initialized (I2), and we moved it to TAKEN, so ours (I3).
        Some(self.place.task.with_mut(|cell| unsafe { (*cell).assume_init_read() }))
    }
}

impl<T> Drop for Place<T> {
    fn drop(&mut self) {
        // own: `&mut self`; the last `Arc` has synchronized with every end.
        if self.state.load(Relaxed) == FULL {
            let mut panic = None;
            catch(&mut panic, || {
                // SAFETY: initialized (I2), and no taker is left to take it (I3).
                self.task.with_mut(|cell| unsafe { (*cell).assume_init_drop() });
            });
            go_on(panic);
        }
    }
}

impl<T> Clone for Taker<T> {
    fn clone(&self) -> Self {
        Self { place: self.place.clone() }
    }
}

impl<T> fmt::Debug for Place<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // stat: a snapshot for humans.
        f.write_str(match self.state.load(Relaxed) {
            EMPTY => "empty",
            FULL => "full",
            _ => "taken",
        })
    }
}

impl<T> fmt::Debug for Giver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Giver").field(&*self.place).finish()
    }
}

impl<T> fmt::Debug for Taker<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Taker").field(&*self.place).finish()
    }
}
