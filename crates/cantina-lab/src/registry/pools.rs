//! The library's pools, as the registry has them.

use super::{Facts, Family, Order, ProducerOf, Visitor};
use crate::workload::Counters;
use cantina::cafe::{Cafe, MAX_HEIGHT};
use cantina::locked::Locked;
use cantina::rooms::{RoomQueue, RoomStack};
use cantina::salsa::{Bounded, Metrics, Mode, Salsa};
use cantina::todo_tree::{Shape, TodoTree};
use cantina_record::Kind;

/// Shows every pool to `visitor`.
pub(super) fn visit_all(visitor: &mut impl Visitor) {
    visitor.visit(LockedFamily);
    visitor.visit(CafeFamily::new("cafe"));
    visitor.visit(CafeFamily { wait_free: true, ..CafeFamily::new("cafe-wait-free") });
    visitor.visit(SalsaFamily::new("salsa", Kind::Ours, "chunks, stolen whole: no fence, no CAS"));
    visitor.visit(BoundedSalsaFamily {
        name: "salsa-bounded",
        capacity: 1024,
        chunk_size: None,
        patience: None,
    });
    visitor.visit(TodoTreeFamily::new("todo-tree", 1024));
    visitor.visit(RoomQueueFamily { name: "room-queue", capacity: 1024 });
    visitor.visit(RoomStackFamily { name: "room-stack", first_chunk: None });
    let about = "SALSA with a read-modify-write for each task got";
    let claims =
        SalsaFamily { mode: Some(Mode::Claim), ..SalsaFamily::contender("salsa-cas", about) };
    visitor.visit(claims);
    let about = "SALSA whose producers stay with one consumer";
    let stays =
        SalsaFamily { balancing: false, ..SalsaFamily::contender("salsa-unbalanced", about) };
    visitor.visit(stays);
}

/// Shows pools in unusual shapes to `visitor`.
pub(super) fn visit_variants(visitor: &mut impl Visitor) {
    for (name, chunk_size) in [("salsa-of-1", 1), ("salsa-of-2", 2), ("salsa-of-4", 4)] {
        visitor.visit(SalsaFamily::small(name, chunk_size));
    }
    let fenced = SalsaFamily { mode: Some(Mode::Fence), ..SalsaFamily::small("salsa-fenced", 3) };
    visitor.visit(fenced);
    let claims = SalsaFamily { mode: Some(Mode::Claim), ..SalsaFamily::small("salsa-claims", 3) };
    visitor.visit(claims);
    for (name, capacity) in [("salsa-bounded-by-1", 1), ("salsa-bounded-by-3", 3)] {
        visitor.visit(BoundedSalsaFamily {
            name,
            capacity,
            chunk_size: Some(2),
            patience: Some(0),
        });
    }
    visitor.visit(SalsaFamily { spares: Some(1), ..SalsaFamily::small("salsa-of-8", 8) });
    for (name, capacity) in [("room-queue-of-1", 1), ("room-queue-of-3", 3)] {
        visitor.visit(RoomQueueFamily { name, capacity });
    }
    visitor.visit(RoomStackFamily { name: "room-stack-of-1", first_chunk: Some(1) });
    let heights = [
        ("cafe-of-0", "cafe-wait-free-of-0", 0),
        ("cafe-of-1", "cafe-wait-free-of-1", 1),
        ("cafe-of-2", "cafe-wait-free-of-2", 2),
        ("cafe-of-4", "cafe-wait-free-of-4", 4),
        ("cafe-of-5", "cafe-wait-free-of-5", 5),
    ];
    for (name, wait_free, height) in heights {
        let family = CafeFamily { height: Some(height), ..CafeFamily::new(name) };
        visitor.visit(CafeFamily { name: wait_free, wait_free: true, ..family.clone() });
        visitor.visit(family);
    }
    // Small trees with all levels: leaves of one place each, two of them below a word.
    for (name, height, widths) in [("cafe-flat", 1, (1, 3)), ("cafe-deep", 2, (1, 2))] {
        let widths = Some(widths);
        visitor.visit(CafeFamily { height: Some(height), widths, ..CafeFamily::new(name) });
    }
    visit_small_to_do_trees(visitor);
}

/// To-do trees that are small and have all there is to them: one block, several, nodes above them, several
/// nodes at the top, takes that are counted at once, owners, and the paper's.
fn visit_small_to_do_trees(visitor: &mut impl Visitor) {
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

/// Turns of waiting in a pool whose chunks were made small: enough for a thief to come to its end.
const SMALL_PATIENCE: u32 = 10;

/// Places of a leaf and children of a word, in trees that were made small.
const NARROW: (u32, u32) = (2, 2);

/// The height of the highest wide trees that are one leaf, unless leaves were made small.
const HIGHEST_LEAF: u32 = 4;

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

#[derive(Clone, Debug)]
struct CafeFamily {
    name: &'static str,
    height: Option<u32>,
    widths: Option<(u32, u32)>,
    wait_free: bool,
}

impl CafeFamily {
    fn new(name: &'static str) -> Self {
        Self { name, height: None, widths: None, wait_free: false }
    }
}

impl Family for CafeFamily {
    type Pool<T: Send + 'static> = Cafe<T>;

    fn facts(&self) -> Facts {
        // Trees of one leaf. Binary trees of one place are one only to whoever gets alone.
        let highest = if self.widths.is_none() { HIGHEST_LEAF } else { 0 };
        let is_queue = self.height.is_some_and(|height| height <= highest) && !self.wait_free;
        let about = if self.wait_free {
            "CAFÉ as its paper has it, repaired: a list of binary trees"
        } else {
            "a list of trees: the lower, the fairer"
        };
        Facts {
            name: self.name.to_owned(),
            kind: Kind::Ours,
            about,
            order: if is_queue { Order::Fifo } else { Order::Bag },
            capacity: None,
            non_blocking: true,
        }
    }

    fn in_trees_of(&self, height: u32) -> Self {
        Self { height: Some(height), widths: Some(NARROW), ..self.clone() }
    }

    fn build<T: Send + 'static>(&self) -> Cafe<T> {
        let mut builder = Cafe::builder().wait_free(self.wait_free);
        if let Some(height) = self.height {
            builder = builder.height(height);
        }
        if let Some((places, children)) = self.widths {
            builder = builder.widths(places, children);
        }
        builder.build().expect("a registered pool can be built")
    }

    fn with_height(&self, height: u32) -> Option<Self> {
        (height <= MAX_HEIGHT).then(|| Self { height: Some(height), ..self.clone() })
    }

    fn counters<T: Send + 'static>(&self, pool: &Cafe<T>) -> Option<Counters> {
        let metrics = pool.metrics();
        Some(Counters {
            gets: metrics.gets,
            cas: metrics.get_cas,
            steals: None,
            failed_cas: Some(metrics.failed_cas),
            fair_within: Some(pool.most_overtakers() as u64),
        })
    }
}

#[derive(Clone, Debug)]
struct SalsaFamily {
    name: &'static str,
    kind: Kind,
    about: &'static str,
    chunk_size: Option<usize>,
    mode: Option<Mode>,
    patience: Option<u32>,
    spares: Option<usize>,
    balancing: bool,
}

impl SalsaFamily {
    fn new(name: &'static str, kind: Kind, about: &'static str) -> Self {
        let (chunk_size, mode, patience, spares) = (None, None, None, None);
        Self { name, kind, about, chunk_size, mode, patience, spares, balancing: true }
    }

    fn contender(name: &'static str, about: &'static str) -> Self {
        Self::new(name, Kind::Contender, about)
    }

    /// Small chunks and no patience, so that much happens in a short run.
    fn small(name: &'static str, chunk_size: usize) -> Self {
        let about = "SALSA in small chunks";
        let family = Self::new(name, Kind::Ours, about);
        Self { chunk_size: Some(chunk_size), patience: Some(0), ..family }
    }
}

impl Family for SalsaFamily {
    type Pool<T: Send + 'static> = Salsa<T>;

    fn facts(&self) -> Facts {
        Facts {
            name: self.name.to_owned(),
            kind: self.kind,
            about: self.about,
            order: Order::Bag,
            capacity: None,
            non_blocking: true,
        }
    }

    fn in_chunks_of(&self, tasks: usize) -> Self {
        let patience = Some(self.patience.unwrap_or(SMALL_PATIENCE));
        Self { chunk_size: Some(tasks), patience, ..self.clone() }
    }

    fn build<T: Send + 'static>(&self) -> Salsa<T> {
        let mut builder = Salsa::builder().balancing(self.balancing);
        if let Some(tasks) = self.chunk_size {
            builder = builder.chunk_size(tasks);
        }
        if let Some(mode) = self.mode {
            builder = builder.mode(mode);
        }
        if let Some(turns) = self.patience {
            builder = builder.patience(turns);
        }
        if let Some(chunks) = self.spares {
            builder = builder.spares(chunks);
        }
        builder.build().expect("a registered pool can be built")
    }

    fn with_chunk_size(&self, tasks: usize) -> Option<Self> {
        Some(Self { chunk_size: Some(tasks), ..self.clone() })
    }

    fn counters<T: Send + 'static>(&self, pool: &Salsa<T>) -> Option<Counters> {
        Some(counters(&pool.metrics()))
    }
}

/// What of a pool's metrics the experiments tell.
fn counters(metrics: &Metrics) -> Counters {
    let Metrics { gets, cas, steals, .. } = *metrics;
    Counters { gets, cas, steals: Some(steals), failed_cas: None, fair_within: None }
}

#[derive(Clone, Debug)]
struct BoundedSalsaFamily {
    name: &'static str,
    capacity: usize,
    chunk_size: Option<usize>,
    patience: Option<u32>,
}

impl Family for BoundedSalsaFamily {
    type Pool<T: Send + 'static> = Bounded<T>;

    fn facts(&self) -> Facts {
        Facts {
            name: self.name.to_owned(),
            kind: Kind::Ours,
            about: "SALSA with a capacity, counted in lots",
            order: Order::Bag,
            capacity: Some(self.capacity),
            non_blocking: true,
        }
    }

    fn in_chunks_of(&self, tasks: usize) -> Self {
        let patience = Some(self.patience.unwrap_or(SMALL_PATIENCE));
        Self { chunk_size: Some(tasks), patience, ..self.clone() }
    }

    fn build<T: Send + 'static>(&self) -> Bounded<T> {
        let mut builder = Bounded::builder().capacity(self.capacity);
        if let Some(tasks) = self.chunk_size {
            builder = builder.chunk_size(tasks);
        }
        if let Some(turns) = self.patience {
            builder = builder.patience(turns);
        }
        builder.build().expect("a registered pool can be built")
    }

    fn with_chunk_size(&self, tasks: usize) -> Option<Self> {
        // Larger chunks would never be full.
        (tasks <= self.capacity).then(|| Self { chunk_size: Some(tasks), ..self.clone() })
    }

    fn with_capacity(&self, tasks: usize) -> Option<Self> {
        Some(Self { capacity: tasks, ..self.clone() })
    }

    fn counters<T: Send + 'static>(&self, pool: &Bounded<T>) -> Option<Counters> {
        Some(counters(&pool.metrics()))
    }
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

#[derive(Clone, Debug)]
struct RoomQueueFamily {
    name: &'static str,
    capacity: usize,
}

impl Family for RoomQueueFamily {
    type Pool<T: Send + 'static> = RoomQueue<T>;

    fn facts(&self) -> Facts {
        Facts {
            name: self.name.to_owned(),
            kind: Kind::Ours,
            about: "a bounded queue in rooms: who puts never meets who gets",
            order: Order::Fifo,
            capacity: Some(self.capacity),
            non_blocking: false,
        }
    }

    fn build<T: Send + 'static>(&self) -> RoomQueue<T> {
        let builder = RoomQueue::builder().capacity(self.capacity);
        builder.build().expect("a registered pool can be built")
    }

    fn with_capacity(&self, tasks: usize) -> Option<Self> {
        Some(Self { capacity: tasks, ..self.clone() })
    }

    fn put_batch<T: Send + 'static>(
        producer: &mut ProducerOf<Self, T>,
        tasks: impl Iterator<Item = T>,
        run: &mut Vec<T>,
    ) -> usize {
        run.extend(tasks);
        let put = producer.append(run);
        run.clear();
        put
    }
}

#[derive(Clone, Debug)]
struct RoomStackFamily {
    name: &'static str,
    first_chunk: Option<usize>,
}

impl Family for RoomStackFamily {
    type Pool<T: Send + 'static> = RoomStack<T>;

    fn facts(&self) -> Facts {
        Facts {
            name: self.name.to_owned(),
            kind: Kind::Ours,
            about: "a stack of chunks in rooms: who puts never meets who gets",
            order: Order::Lifo,
            capacity: None,
            non_blocking: false,
        }
    }

    fn in_chunks_of(&self, tasks: usize) -> Self {
        Self { first_chunk: Some(tasks.next_power_of_two()), ..self.clone() }
    }

    fn build<T: Send + 'static>(&self) -> RoomStack<T> {
        let mut builder = RoomStack::builder();
        if let Some(tasks) = self.first_chunk {
            builder = builder.first_chunk(tasks);
        }
        builder.build().expect("a registered pool can be built")
    }
}
