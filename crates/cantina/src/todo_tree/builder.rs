//! Settings for a [`TodoTree`].

use super::block::SLOTS;
use super::counts::MODULUS;
use super::layout::{Layout, MAX_FAN, Widths};
use super::tree::Tree;
use super::{CAPACITY, Shape, TodoTree};
use crate::pool::BuildError;
use machine::Arc;
use std::fmt;
use std::marker::PhantomData;

/// Settings for a [`TodoTree`].
///
/// ```
/// use cantina::todo_tree::{Shape, TodoTree};
///
/// let pool = TodoTree::<u32>::builder().capacity(100).shape(Shape::Binary).build().unwrap();
/// assert_eq!(pool.capacity(), 100);
/// let error = TodoTree::<u32>::builder().capacity(0).build().unwrap_err();
/// assert_eq!(error.setting, "capacity");
/// ```
#[must_use = "a builder does nothing until it builds"]
pub struct Builder<T> {
    capacity: usize,
    shape: Shape,
    seed: Option<u64>,
    widths: Option<Widths>,
    counts_from: u64,
    array_values: Option<u64>,
    counts_at_once: bool,
    leases: bool,
    task: PhantomData<fn() -> T>,
}

impl<T> Builder<T> {
    pub(super) fn new() -> Self {
        Self {
            capacity: CAPACITY,
            shape: Shape::Wide,
            seed: None,
            widths: None,
            counts_from: 0,
            array_values: None,
            counts_at_once: false,
            leases: false,
            task: PhantomData,
        }
    }

    /// How many tasks there is room for: 1024 unless told otherwise, at least 1, and at most 2^28 in the wide
    /// shape, 2^22 in the binary one and 2^16 with max arrays. It is kept to exactly, also where it is no power of two.
    pub fn capacity(mut self, tasks: usize) -> Self {
        self.capacity = tasks;
        self
    }

    /// The shape: [`Shape::Wide`] unless told otherwise.
    pub fn shape(mut self, shape: Shape) -> Self {
        self.shape = shape;
        self
    }

    /// Whether the leases of a thread that has died can be [recovered](super::Consumer::recover). Not unless asked for: a
    /// task then costs two more stores and an exchange, tasks of a batch are taken one by one, and there can be 1,048,575
    /// consumers and workers, one after the other.
    pub fn leases(mut self, recoverable: bool) -> Self {
        self.leases = recoverable;
        self
    }

    /// What the ends' random numbers begin with, so that a run can be repeated.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Places of a block, 1 to 16, children of a node, 2 to 64, and the most nodes that stand side by side at
    /// the top: so that a model is small and has all levels.
    #[doc(hidden)]
    pub fn widths(mut self, places: u32, children: usize, top: usize) -> Self {
        self.widths = Some(Widths { slots: places, fan: children, top });
        self
    }

    /// Begins as if so many tasks had gone through each block, so that a test sees counts go round.
    #[doc(hidden)]
    pub fn counts_from(mut self, tasks: u64) -> Self {
        self.counts_from = tasks % MODULUS;
        self
    }

    /// Takes are counted at once, as in the wide shape above 16,384 places: so that a small tree does that, too (I6).
    #[doc(hidden)]
    pub fn counts_at_once(mut self) -> Self {
        self.counts_at_once = true;
        self
    }

    /// The values of an epoch of a max array, 2 to 64, so that a model has several of them.
    #[doc(hidden)]
    pub fn array_values(mut self, values: u64) -> Self {
        self.array_values = Some(values);
        self
    }

    /// Builds the pool.
    ///
    /// # Errors
    /// [`BuildError`] names the setting that was given something it does not take, and what it takes.
    ///
    /// ```
    /// use cantina::todo_tree::TodoTree;
    ///
    /// let error = TodoTree::<[u8; 1 << 40]>::builder().capacity(1 << 28).build().unwrap_err();
    /// assert_eq!((error.setting, &*error.allowed), ("capacity", "at most what fits into memory"));
    /// ```
    pub fn build(self) -> Result<TodoTree<T>, BuildError> {
        let widths = self.widths.unwrap_or(self.shape.widths(self.capacity));
        let Widths { slots, fan, top } = widths;
        if !(1..=SLOTS).contains(&slots) || !(2..=MAX_FAN).contains(&fan) || top == 0 {
            let given = format!("{slots}, {fan} and {top}");
            return Err(BuildError::new("widths", given, "1 to 16, 2 to 64 and at least 1"));
        }
        let most = match self.shape {
            Shape::Wide => 1 << 28,
            Shape::Binary => 1 << 22,
            Shape::MaxArrays => 1 << 16,
        };
        if !(1..=most).contains(&self.capacity) {
            return Err(BuildError::new("capacity", self.capacity, format_args!("1 to {most}")));
        }
        let mut layout = Layout::new(self.capacity, self.shape, widths);
        if layout.array_values.is_some() && self.array_values.is_some() {
            layout.array_values = self.array_values;
        }
        layout.counts_late &= !self.counts_at_once;
        let seed = self.seed.unwrap_or_else(machine::random::seed);
        let tree = Tree::new(layout, self.leases, seed, self.counts_from).map_err(|_| {
            BuildError::new("capacity", self.capacity, "at most what fits into memory")
        })?;
        let tree = Arc::new(tree);
        tree.describe();
        Ok(TodoTree { tree })
    }
}

impl<T> Clone for Builder<T> {
    fn clone(&self) -> Self {
        Self { ..*self }
    }
}

impl<T> fmt::Debug for Builder<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("capacity", &self.capacity)
            .field("shape", &self.shape)
            .field("leases", &self.leases)
            .field("seed", &self.seed)
            .finish_non_exhaustive()
    }
}
