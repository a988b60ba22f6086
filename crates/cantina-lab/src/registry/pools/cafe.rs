//! CAFÉ.

use super::NARROW;
use crate::registry::{Facts, Family, Order, Visitor};
use crate::workload::Counters;
use cantina::cafe::{Cafe, MAX_HEIGHT};
use cantina_record::Kind;

/// The height of the highest wide trees that are one leaf, unless leaves were made small.
const HIGHEST_LEAF: u32 = 4;

pub(super) fn visit_all(visitor: &mut impl Visitor) {
    visitor.visit(CafeFamily::new("cafe"));
    visitor.visit(CafeFamily { wait_free: true, ..CafeFamily::new("cafe-wait-free") });
}

pub(super) fn visit_variants(visitor: &mut impl Visitor) {
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
