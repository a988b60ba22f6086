//! To-do trees.

use super::NARROW;
use crate::registry::{Facts, Family, Order, Visitor};
use crate::workload::Counters;
use cantina::todo_tree::{Shape, TodoTree};
use cantina_record::Kind;

pub(super) fn visit_all(visitor: &mut impl Visitor) {
    visitor.visit(TodoTreeFamily::new("todo-tree", 1024));
}

/// To-do trees that are small and have all there is to them: one block, several, nodes above them, several
/// nodes at the top, takes that are counted at once, owners, and the paper's.
pub(super) fn visit_variants(visitor: &mut impl Visitor) {
    visitor.visit(TodoTreeFamily::new("todo-tree-of-1", 1));
    let tree = |name, capacity, widths| {
        let widths = Some(widths);
        TodoTreeFamily { widths, ..TodoTreeFamily::new(name, capacity) }
    };
    visitor.visit(tree("todo-tree-flat", 5, (2, 2, 4)));
    visitor.visit(tree("todo-tree-deep", 7, (2, 2, 1)));
    visitor.visit(tree("todo-tree-tops", 6, (1, 2, 3)));
    let at_once = tree("todo-tree-at-once", 7, (2, 2, 1));
    visitor.visit(TodoTreeFamily { counts_at_once: true, ..at_once });
    let leases = true;
    visitor.visit(TodoTreeFamily { leases, ..tree("todo-tree-leased", 7, (2, 2, 1)) });
    let shape = Shape::Binary;
    let leased = TodoTreeFamily::new("todo-tree-binary-leased", 5);
    visitor.visit(TodoTreeFamily { shape, leases, ..leased });
    visitor.visit(TodoTreeFamily { shape, ..TodoTreeFamily::new("todo-tree-binary-of-2", 2) });
    visitor.visit(TodoTreeFamily { shape, ..TodoTreeFamily::new("todo-tree-binary", 21) });
    // Epochs that end soon, and few steps to each count.
    let (shape, array_values) = (Shape::MaxArrays, Some(4));
    let arrays = TodoTreeFamily::new("todo-tree-max-arrays", 2);
    visitor.visit(TodoTreeFamily { shape, array_values, ..arrays });
}

#[derive(Clone, Debug)]
struct TodoTreeFamily {
    name: &'static str,
    capacity: usize,
    shape: Shape,
    widths: Option<(u32, usize, usize)>,
    counts_at_once: bool,
    array_values: Option<u64>,
    leases: bool,
}

impl TodoTreeFamily {
    fn new(name: &'static str, capacity: usize) -> Self {
        Self {
            name,
            capacity,
            shape: Shape::Wide,
            widths: None,
            counts_at_once: false,
            array_values: None,
            leases: false,
        }
    }
}

impl Family for TodoTreeFamily {
    type Pool<T: Send + 'static> = TodoTree<T>;

    fn in_trees_of(&self, height: u32) -> Self {
        let (places, children) = NARROW;
        let capacity = (places * children.pow(height)) as usize;
        let widths = (self.shape == Shape::Wide).then_some((places, children as usize, 1));
        Self { capacity, widths, ..self.clone() }
    }

    fn facts(&self) -> Facts {
        Facts {
            name: self.name.to_owned(),
            kind: Kind::Ours,
            about: "a tree of counted blocks, with a capacity: nobody who stops holds up the others",
            order: Order::Bag,
            capacity: Some(self.capacity),
            non_blocking: true,
        }
    }

    fn build<T: Send + 'static>(&self) -> TodoTree<T> {
        let builder = TodoTree::builder().capacity(self.capacity).shape(self.shape);
        let mut builder = builder.leases(self.leases);
        if let Some((places, children, top)) = self.widths {
            builder = builder.widths(places, children, top);
        }
        if self.counts_at_once {
            builder = builder.counts_at_once();
        }
        if let Some(values) = self.array_values {
            builder = builder.array_values(values);
        }
        builder.build().expect("a registered pool can be built")
    }

    fn with_capacity(&self, tasks: usize) -> Option<Self> {
        Some(Self { capacity: tasks, ..self.clone() })
    }

    fn counters<T: Send + 'static>(&self, pool: &TodoTree<T>) -> Option<Counters> {
        let metrics = pool.metrics();
        Some(Counters {
            gets: metrics.gets,
            cas: metrics.get_cas,
            steals: None,
            failed_cas: Some(metrics.failed_cas),
            fair_within: None,
        })
    }
}
