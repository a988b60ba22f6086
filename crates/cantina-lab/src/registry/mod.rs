//! Every pool, once: what the suite tests and the experiments compare.

mod instructions;
mod pools;

pub use instructions::Instructions;

use crate::contender;
use crate::workload::Counters;
use cantina::pool::{Producer, TaskPool};
use cantina_record::Kind;

/// In which order tasks come out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// In any.
    Bag,
    /// First in, first out.
    Fifo,
    /// Last in, first out.
    Lifo,
}

/// What a pool promises, as far as tests and tables need to know.
#[derive(Clone, Debug)]
pub struct Facts {
    /// Its name in records and on the command line.
    pub name: String,
    /// Whose it is.
    pub kind: Kind,
    /// What it is, in one line.
    pub about: &'static str,
    /// In which order tasks come out.
    pub order: Order,
    /// How many tasks it holds, where that is bounded.
    pub capacity: Option<usize>,
    /// Whether a thread that stalls inside an operation leaves the others free to go on.
    pub non_blocking: bool,
}

/// Whether batches are one operation each, where a pool promises that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Batches {
    /// What [`Family::put_batch`] puts goes in at one instant, in its order; if that is not all, it is full right then.
    pub go_in_together: bool,
    /// What `get_many` gets comes out at one instant, the next one first; if they are fewer than asked for, there are no others right then.
    pub come_out_together: bool,
}

/// The putting end of the pools of a family.
pub type ProducerOf<F, T> = <<F as Family>::Pool<T> as TaskPool<T>>::Producer;

impl Batches {
    /// All of it.
    pub const TOGETHER: Self = Self { go_in_together: true, come_out_together: true };
}

/// A way of building one pool, for any task.
///
/// A value, not only a type: the same pool with another chunk size is another family.
pub trait Family: Clone + Send + Sync + 'static {
    /// The pool.
    type Pool<T: Send + 'static>: TaskPool<T, Producer: Send + 'static, Consumer: Send + 'static, Worker: Send + 'static>
        + 'static;

    /// What it promises.
    fn facts(&self) -> Facts;

    /// What its batches promise: no more than their tasks, unless the pool says so.
    fn batches(&self) -> Batches {
        Batches::default()
    }

    /// The same with chunks of so many tasks, if it has chunks, and little patience: so that much happens
    /// in a short run.
    fn in_chunks_of(&self, tasks: usize) -> Self {
        let _ = tasks;
        self.clone()
    }

    /// The same with trees of that height, if it has trees, and narrow ones: so that small ones have levels.
    fn in_trees_of(&self, height: u32) -> Self {
        let _ = height;
        self.clone()
    }

    /// A new, empty pool.
    fn build<T: Send + 'static>(&self) -> Self::Pool<T>;

    /// Puts `tasks`, as many as there is room for, and says how many. `run` is empty, and kept for its memory.
    fn put_batch<T: Send + 'static>(
        producer: &mut ProducerOf<Self, T>,
        tasks: impl Iterator<Item = T>,
        run: &mut Vec<T>,
    ) -> usize {
        let _ = run;
        match producer.put_all(tasks) {
            Ok(put) => put,
            Err(full) => full.put,
        }
    }

    /// The same family with chunks of `tasks` tasks, where it has chunks and they can be of that size.
    fn with_chunk_size(&self, _tasks: usize) -> Option<Self> {
        None
    }

    /// The same family with room for `tasks` tasks, where it is bounded.
    fn with_capacity(&self, _tasks: usize) -> Option<Self> {
        None
    }

    /// The same family with trees of that height, where it has trees and they can be as high.
    fn with_height(&self, _height: u32) -> Option<Self> {
        None
    }

    /// What a pool of this family has counted, if it counts. Exact when all its ends are gone.
    fn counters<T: Send + 'static>(&self, _pool: &Self::Pool<T>) -> Option<Counters> {
        None
    }
}

/// Something to do with each family.
pub trait Visitor {
    /// Does it with `family`.
    fn visit<F: Family>(&mut self, family: F);
}

/// Shows every registered pool and contender to `visitor`.
pub fn visit_all(visitor: &mut impl Visitor) {
    pools::visit_all(visitor);
    contender::visit_all(visitor);
}

/// Shows pools in unusual shapes to `visitor`: worth testing, not worth comparing.
pub fn visit_variants(visitor: &mut impl Visitor) {
    pools::visit_variants(visitor);
    contender::visit_variants(visitor);
}

/// What each registered pool promises, in order.
pub fn facts() -> Vec<Facts> {
    struct Collect(Vec<Facts>);
    impl Visitor for Collect {
        fn visit<F: Family>(&mut self, family: F) {
            self.0.push(family.facts());
        }
    }
    let mut collect = Collect(Vec::new());
    visit_all(&mut collect);
    collect.0
}
