//! Settings for a [`TreeContainer`].

use super::tree::TreeContainer;
use crate::cafe::builder::check_height;
use crate::cafe::wide::{FAN, SLOTS};
use crate::cafe::{DEFAULT_LEAF_TRIALS, default_height};
use crate::pool::BuildError;
use std::fmt;
use std::marker::PhantomData;

/// Settings for a [`TreeContainer`].
#[must_use = "a builder does nothing until it builds"]
pub struct TreeBuilder<T> {
    height: u32,
    leaf_trials: u32,
    seed: Option<u64>,
    task: PhantomData<fn() -> T>,
}

impl<T> TreeBuilder<T> {
    pub(super) fn new() -> Self {
        Self {
            height: default_height::<T>(),
            leaf_trials: DEFAULT_LEAF_TRIALS,
            seed: None,
            task: PhantomData,
        }
    }

    /// The height: a tree has 2^(height+1) - 1 places. 0 to 16; 12 unless told otherwise, and less for
    /// tasks of more than 128 bytes.
    pub fn height(mut self, height: u32) -> Self {
        self.height = height;
        self
    }

    /// How many random places of the last level a put tries: at least 1, 3 unless told otherwise. More
    /// of them fill the tree better before a put says that it is full.
    pub fn leaf_trials(mut self, trials: u32) -> Self {
        self.leaf_trials = trials;
        self
    }

    /// What random numbers begin with, so that a run can be repeated.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Builds the tree.
    ///
    /// # Errors
    /// [`BuildError`] when it is too high, or when no place of the last level would be tried.
    pub fn build(self) -> Result<TreeContainer<T>, BuildError> {
        let Self { height, leaf_trials, seed, .. } = self;
        check_height::<T>(height, (SLOTS, FAN))?;
        if leaf_trials == 0 {
            return Err(BuildError::new("leaf_trials", 0, "at least 1"));
        }
        let seed = seed.unwrap_or_else(machine::random::seed);
        Ok(TreeContainer::with(height, leaf_trials, seed))
    }
}

impl<T> Clone for TreeBuilder<T> {
    fn clone(&self) -> Self {
        Self { ..*self }
    }
}

impl<T> fmt::Debug for TreeBuilder<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TreeBuilder")
            .field("height", &self.height)
            .field("leaf_trials", &self.leaf_trials)
            .finish_non_exhaustive()
    }
}
