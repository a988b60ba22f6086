//! Settings for a [`Cafe`].

use super::form::Form;
use super::wide::{FAN, Frame, SLOTS};
use super::{Cafe, DEFAULT_LEAF_TRIALS, MAX_HEIGHT, binary, default_height, height_within, wide};
use crate::pool::BuildError;
use machine::Arc;
use machine::fence::Pair;
use std::fmt;
use std::marker::PhantomData;

/// Settings for a [`Cafe`].
#[must_use = "a builder does nothing until it builds"]
pub struct Builder<T> {
    size: Size,
    leaf_trials: u32,
    seed: Option<u64>,
    wait_free: bool,
    measures_overtaking: bool,
    widths: (u32, u32),
    fences: Option<Pair>,
    task: PhantomData<fn() -> T>,
}

impl<T> Builder<T> {
    pub(super) fn new() -> Self {
        Self {
            size: Size::Height(default_height::<T>()),
            leaf_trials: DEFAULT_LEAF_TRIALS,
            seed: None,
            wait_free: false,
            measures_overtaking: false,
            widths: (SLOTS, FAN),
            fences: None,
            task: PhantomData,
        }
    }

    /// The height of the trees, 0 to 16: a tree has 2^(height+1) - 1 places, and a wide one at
    /// most 72192. 12 unless told otherwise, and less for tasks of more than 128 bytes. 0 to 4 are first in, first
    /// out, of binary trees only 0; the higher, the faster and the less [fair](super#overtaking).
    pub fn height(mut self, height: u32) -> Self {
        self.size = Size::Height(height);
        self
    }

    /// The largest trees with which no task is [overtaken](super#overtaking) by more than `tasks`: for 0 those of
    /// height 4, or 0 if they are binary.
    pub fn fair_within(mut self, tasks: usize) -> Self {
        self.size = Size::FairWithin(tasks);
        self
    }

    /// How many random places of the last level a put tries in a binary tree: at least 1, 3 unless told
    /// otherwise. Wide trees know where there is room and try none in vain.
    pub fn leaf_trials(mut self, trials: u32) -> Self {
        self.leaf_trials = trials;
        self
    }

    /// Whether puts are to be [wait-free](super#progress), in the paper's binary trees. They are not, unless
    /// asked for: wide trees are faster, somewhat fairer, and their memory is bounded whoever stalls.
    pub fn wait_free(mut self, wait_free: bool) -> Self {
        self.wait_free = wait_free;
        self
    }

    /// Whether [`Metrics::overtaking`](super::Metrics::overtaking) tells how tasks overtake each other. It does not,
    /// unless asked for: all puts and gets then write two counters that they share, and each place has a word
    /// more. Progress, and what the pool promises, stay as they are.
    pub fn measure_overtaking(mut self, measure: bool) -> Self {
        self.measures_overtaking = measure;
        self
    }

    /// What the ends' random numbers begin with, so that a run can be repeated.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Places of a leaf, 1 to 32, and children of a word above, 2 to 47: so that a model is small and has
    /// all levels.
    #[doc(hidden)]
    pub fn widths(mut self, places: u32, children: u32) -> Self {
        self.widths = (places, children);
        self
    }

    /// How binary trees that are done with are fenced against who may look at them: as is best, unless told otherwise. So that
    /// every machine can run both kinds.
    #[doc(hidden)]
    pub fn fences(mut self, fences: Pair) -> Self {
        self.fences = Some(fences);
        self
    }

    /// Builds the pool.
    ///
    /// # Errors
    /// [`BuildError`] names the setting that was given something it does not take, and what it takes.
    pub fn build(self) -> Result<Cafe<T>, BuildError> {
        let (slots, fan) = self.widths;
        if !(1..=SLOTS).contains(&slots) || !(2..=47).contains(&fan) {
            let given = format!("{slots} and {fan}");
            return Err(BuildError::new("widths", given, "1 to 32 and 2 to 47"));
        }
        let height = match self.size {
            Size::Height(height) => height,
            Size::FairWithin(tasks) => height_within(tasks, self.wait_free, self.widths),
        };
        check_height::<T>(height, self.widths)?;
        if self.leaf_trials == 0 {
            return Err(BuildError::new("leaf_trials", 0, "at least 1"));
        }
        let seed = self.seed.unwrap_or_else(machine::random::seed);
        let form = if self.wait_free {
            let (trials, fences) = (self.leaf_trials, self.fences.unwrap_or_else(Pair::best));
            let list = binary::List::new(height, trials, seed, self.measures_overtaking, fences);
            let list = Arc::new(list);
            list.describe();
            Form::Binary(list)
        } else {
            let list = wide::List::new(height, self.widths, seed, self.measures_overtaking);
            let list = Arc::new(list);
            list.describe();
            Form::Wide(list)
        };
        Ok(Cafe { form, widths: self.widths })
    }
}

/// Bytes of a place beside its task, at most.
const OVERHEAD: usize = 64;

/// How large trees are to be.
#[derive(Clone, Copy, Debug)]
enum Size {
    Height(u32),
    FairWithin(usize),
}

/// By how many others at most a task is overtaken in a tree of that height, if there are such trees.
pub(super) fn overtakers(height: u32, wait_free: bool, (slots, fan): (u32, u32)) -> Option<usize> {
    let frame = Frame::new(height, slots, fan)?;
    Some(if wait_free { binary::places(height) - 1 } else { frame.most_overtakers() } as usize)
}

/// Whether there are trees of that height.
pub(super) fn check_height<T>(height: u32, (slots, fan): (u32, u32)) -> Result<(), BuildError> {
    if height > MAX_HEIGHT {
        return Err(BuildError::new("height", height, format_args!("0 to {MAX_HEIGHT}")));
    }
    if Frame::new(height, slots, fan).is_none() {
        return Err(BuildError::new("height", height, "less, with widths as small as that"));
    }
    let bytes = (2usize << height).checked_mul(size_of::<T>() + OVERHEAD);
    if bytes.is_none_or(|bytes| isize::try_from(bytes).is_err()) {
        let allowed = "as many places as fit into an address space";
        return Err(BuildError::new("height", height, allowed));
    }
    Ok(())
}

impl<T> Clone for Builder<T> {
    fn clone(&self) -> Self {
        Self { ..*self }
    }
}

impl<T> fmt::Debug for Builder<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("size", &self.size)
            .field("leaf_trials", &self.leaf_trials)
            .field("seed", &self.seed)
            .field("wait_free", &self.wait_free)
            .field("measures_overtaking", &self.measures_overtaking)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::{FAN, SLOTS, check_height};

    #[test]
    fn a_tree_fits_into_the_address_space_or_there_is_none() {
        let check = check_height::<[u8; 1 << 50]>;
        assert!(check(0, (SLOTS, FAN)).is_ok());
        assert_eq!(check(16, (SLOTS, FAN)).unwrap_err().setting, "height");
        assert!(check_height::<u64>(12, (1, 2)).is_err(), "too many words for a root");
    }
}
