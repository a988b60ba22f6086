//! CAFÉ: a pool whose fairness you choose.
//!
//! Tasks lie in a list of trees. Producers fill the last tree, consumers empty the first; within a tree
//! both go where there is room and where there is something, each somewhere else, and so hardly get into
//! each other's way. The list is first in, first out, and so is a small tree; a larger one is in no order: the
//! [height](Builder::height) of the trees says how fair the pool is, and how fast.
//!
//! ```
//! use cantina::cafe::Cafe;
//!
//! let pool = Cafe::builder().fair_within(100).build()?;
//! let (mut put, mut get) = (pool.producer(), pool.consumer());
//! std::thread::spawn(move || put.extend(1..=1_000)).join().unwrap();
//! // Nobody has overtaken the first task when 100 others have been got.
//! assert!((0..=100).any(|_| get.get() == Some(1)));
//! # Ok::<(), cantina::pool::BuildError>(())
//! ```
//!
//! There are two forms of it. The default has wide trees, which are closed when consumers pass them. With
//! [`Builder::wait_free`] it is the paper's list of binary trees. The paper's tree is also here for itself:
//! [`TreeContainer`].
//!
//! # Overtaking
//! A task `b` *overtakes* a task `a` if the put of `a` had returned before that of `b` began, and the get
//! of `b` had returned before that of `a` began, or `a` is never got. Then both were in the same tree, so it
//! depends on the tree that `a` was put to how many can overtake it, and no schedule adds to that:
//!
//! | height | places | a task is overtaken by at most | |
//! |---|---|---|---|
//! | **0 to 4** | 1, 3, 7, 15, 31 | **0** | one leaf: the pool is a linearizable queue |
//! | 5, 6 | 63, 127 | 32, 96 | the places of the tree less those of its last leaf |
//! | 7 to 15 | 2^(height+1) - 1 | 254 to 65534 | the places less one |
//! | 16 | 72192 | 72191 | the places less one |
//! | all, in binary trees | 2^(height+1) - 1 | 0, 2, 6, ... | the places less one, and one for each get under way |
//!
//! Places of a leaf are claimed one after the other and its lowest task is taken first, so within a leaf nobody
//! overtakes. That is lost from height 7 on, where a producer claims up to one in 64 places of the tree before it
//! has tasks for them: what it puts there later lies before what others have put meanwhile.
//! [`Cafe::most_overtakers`] says the number.
//!
//! Tasks of a [batch](Producer::put_all) are put, and those of [`get_many`](Consumer::get_many) are got, between the
//! beginning of the call and its end; those of one call come out in its order where nobody overtakes.
//!
//! Who orders gets by when they return must add those that were under way, at most one for each consumer;
//! who orders puts by when they begin must add the puts that were.
//!
//! In the wait-free form one more may overtake for each get that was under way when the put of `a` returned:
//! it may be past the tree of `a` already. So height 0 is a queue to whoever gets alone.
//!
//! How many it were can be [measured](Builder::measure_overtaking).
//!
//! # Progress
//! Puts and gets are lock-free, but for the allocation of trees. A put begins again only when it was slower than a whole tree: others filled
//! the rest of it, and consumers passed it.
//!
//! In the wait-free form puts are wait-free with probability 1, but for allocation, if the height is not 0.
//! A get walks through the trees, and each walk is wait-free. One that has found nothing, while others put or took
//! something or moved an end of the list, is begun again, also where there was always a task: gets are lock-free.
//!
//! # Memory
//! In the wait-free form: all trees from the first that anybody works on in a call. A thread that stalls
//! **inside** a call keeps all that are appended from then on; between calls it keeps none.
//!
//! In the default form: beside the trees that hold tasks there are the one that is being filled; one for
//! each end; for each consumer one, or up to eight small ones, that wait until nobody can look at them; and
//! spare ones: up to eight small trees, or up to 32 large ones, of four megabytes in all if that is more than
//! one. That is a bound whoever stalls, wherever. A tree has room for all its tasks from the start.
//!
//! A producer that would make another large tree where there are more than are kept as spare ones yields to
//! other threads before, once: consumers may give one back.
//!
//! # Limits
//! None: any number of ends.

mod binary;
mod builder;
mod ends;
mod form;
mod metrics;
mod overtaking;
mod wide;

pub use binary::{TreeBuilder, TreeContainer};
pub use builder::Builder;
pub use ends::{Consumer, Producer, Worker};
pub use metrics::Metrics;
pub use overtaking::Overtaking;

use crate::pool::{self, BuildError, TooMany};
use builder::{check_height, overtakers};
use form::Form;
use std::fmt;
use wide::places;

/// The greatest height of a tree.
pub const MAX_HEIGHT: u32 = 16;

/// The height of a tree of small tasks, unless told otherwise.
const DEFAULT_HEIGHT: u32 = 12;
/// The most bytes of the tasks of a tree of the default height.
const DEFAULT_BYTES: usize = 1 << 20;
/// Places of the last level that a put tries, unless told otherwise.
const DEFAULT_LEAF_TRIALS: u32 = 3;

/// An unbounded pool of tasks in trees; see the [module](self).
pub struct Cafe<T> {
    form: Form<T>,
    /// What decides which heights there are.
    widths: (u32, u32),
}

impl<T> Cafe<T> {
    /// An empty pool of trees of height 12, or less for large tasks.
    pub fn new() -> Self {
        Self::builder().build().expect("the defaults are allowed")
    }

    /// Settings to build one from.
    pub fn builder() -> Builder<T> {
        Builder::new()
    }

    /// One more putting end.
    pub fn producer(&self) -> Producer<T> {
        Producer::new(&self.form)
    }

    /// One more getting end.
    pub fn consumer(&self) -> Consumer<T> {
        Consumer::new(&self.form)
    }

    /// One more getting end; there is no limit.
    ///
    /// # Errors
    /// Never.
    pub fn try_consumer(&self) -> Result<Consumer<T>, TooMany> {
        Ok(self.consumer())
    }

    /// One more end for a thread in both roles.
    pub fn worker(&self) -> Worker<T> {
        Worker::new(&self.form)
    }

    /// One more end for a thread in both roles; there is no limit.
    ///
    /// # Errors
    /// Never.
    pub fn try_worker(&self) -> Result<Worker<T>, TooMany> {
        Ok(self.worker())
    }

    /// The height of the trees that are appended from now on.
    pub fn height(&self) -> u32 {
        self.form.height()
    }

    /// Trees that are appended from now on have this height. Tasks that are put to those that are there
    /// keep to [what they promise](self#overtaking).
    ///
    /// # Errors
    /// [`BuildError`] when there are no such trees: see [`Builder::height`].
    pub fn set_height(&self, height: u32) -> Result<(), BuildError> {
        check_height::<T>(height, self.widths)?;
        self.form.set_height(height);
        Ok(())
    }

    /// Trees that are appended from now on are the largest with which no task is
    /// [overtaken](self#overtaking) by more than `tasks`.
    ///
    /// # Errors
    /// [`BuildError`] when tasks are so large that there are no such trees.
    pub fn fair_within(&self, tasks: usize) -> Result<(), BuildError> {
        self.set_height(height_within(tasks, self.form.is_wait_free(), self.widths))
    }

    /// By how many others at most a task is [overtaken](self#overtaking) that is put to a tree which is appended
    /// from now on.
    pub fn most_overtakers(&self) -> usize {
        let most = overtakers(self.height(), self.form.is_wait_free(), self.widths);
        most.expect("there are such trees")
    }

    /// What it has done so far.
    pub fn metrics(&self) -> Metrics {
        self.form.metrics()
    }

    /// How many tasks it held a moment ago.
    pub fn len_hint(&self) -> usize {
        self.form.len_hint()
    }
}

/// The default height of trees of such tasks.
fn default_height<T>() -> u32 {
    let fits =
        |height: &u32| (places(*height) as usize).saturating_mul(size_of::<T>()) <= DEFAULT_BYTES;
    (0..=DEFAULT_HEIGHT).rev().find(fits).unwrap_or(0)
}

/// The greatest height of trees in which no task is overtaken by more than `tasks`.
fn height_within(tasks: usize, wait_free: bool, widths: (u32, u32)) -> u32 {
    let fits = |height: &u32| overtakers(*height, wait_free, widths).is_some_and(|it| it <= tasks);
    (0..=MAX_HEIGHT).rev().find(fits).unwrap_or(0)
}

pool::forward_to_own_methods!(Cafe {});

impl<T> Clone for Cafe<T> {
    fn clone(&self) -> Self {
        Self { form: self.form.clone(), widths: self.widths }
    }
}

impl<T> Default for Cafe<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> fmt::Debug for Cafe<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Cafe").field(&self.form).finish()
    }
}
