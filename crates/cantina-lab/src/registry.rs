//! Every pool, once: what the suite tests and the experiments compare.

use crate::contender;
use cantina::locked::Locked;
use cantina::pool::TaskPool;
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

/// A way of building one pool, for any task.
///
/// A value, not only a type: the same pool with another chunk size is another family.
pub trait Family: Clone + Send + Sync + 'static {
    /// The pool.
    type Pool<T: Send + 'static>: TaskPool<T, Producer: Send + 'static, Consumer: Send + 'static, Worker: Send + 'static>
        + 'static;

    /// What it promises.
    fn facts(&self) -> Facts;

    /// A new, empty pool.
    fn build<T: Send + 'static>(&self) -> Self::Pool<T>;
}

/// Something to do with each family.
pub trait Visitor {
    /// Does it with `family`.
    fn visit<F: Family>(&mut self, family: F);
}

/// Shows every registered pool and contender to `visitor`.
pub fn visit_all(visitor: &mut impl Visitor) {
    visitor.visit(LockedFamily);
    contender::visit_all(visitor);
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

#[derive(Clone, Copy, Debug)]
struct LockedFamily;

impl Family for LockedFamily {
    type Pool<T: Send + 'static> = Locked<T>;

    fn facts(&self) -> Facts {
        Facts {
            name: "locked".to_owned(),
            kind: Kind::Ours,
            about: "a mutex and a deque: first in, first out, obviously right",
            order: Order::Fifo,
            capacity: None,
            non_blocking: false,
        }
    }

    fn build<T: Send + 'static>(&self) -> Locked<T> {
        Locked::new()
    }
}
