//! SALSA, and the paper's forms of it for comparison.

use crate::registry::{Facts, Family, Order, Visitor};
use crate::workload::Counters;
use cantina::salsa::{Bounded, Metrics, Mode, Salsa};
use cantina_record::Kind;
use machine::fence::Pair;

/// Turns of waiting in a pool whose chunks were made small: enough for a thief to come to its end.
const SMALL_PATIENCE: u32 = 10;

pub(super) fn visit_all(visitor: &mut impl Visitor) {
    visitor.visit(SalsaFamily::new("salsa", Kind::Ours, "chunks, stolen whole: no fence, no CAS"));
    visitor.visit(BoundedSalsaFamily {
        name: "salsa-bounded",
        capacity: 1024,
        chunk_size: None,
        patience: None,
    });
}

/// What the paper compares it with.
pub(super) fn visit_contenders(visitor: &mut impl Visitor) {
    let about = "SALSA with a read-modify-write for each task got";
    let claims =
        SalsaFamily { mode: Some(Mode::Claim), ..SalsaFamily::contender("salsa-cas", about) };
    visitor.visit(claims);
    let about = "SALSA whose producers stay with one consumer";
    let stays =
        SalsaFamily { balancing: false, ..SalsaFamily::contender("salsa-unbalanced", about) };
    visitor.visit(stays);
}

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
    // Told so, for a sanitizer that does not see the operating system's fence sets all others to another mode. It need not see it: that
    // fence carries nothing, and only keeps an owner and a thief from taking one task both.
    if Pair::asymmetric().is_some() {
        let mode = Some(Mode::Asymmetric);
        visitor.visit(SalsaFamily { mode, ..SalsaFamily::small("salsa-unfenced", 32) });
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
