//! Whoever takes part in an experiment.

use crate::registry::{self, Family, Visitor};
use crate::workload::{
    Assignment, BATCH, Batch, Fault, Line, Payload, Reading, Shape, Single, Subject, run,
};
use cantina_record::Kind;
use std::fmt;

/// Somebody to compare: a name, and a way to run.
pub struct Contestant {
    /// Its name in records and on the command line.
    pub name: String,
    /// Whose it is.
    pub kind: Kind,
    /// What it is and how it is used, in one line without a full stop.
    pub about: String,
    /// Its version, where that is not ours.
    pub version: Option<String>,
    /// In which shapes it can run.
    pub shapes: Shapes,
    /// Whether it allocates while tasks go through it, so that the allocator matters.
    pub allocates: bool,
    /// Runs it.
    pub drive: Drive,
}

/// Runs an assignment with tasks of that size. Called once per run: everything under it is
/// compiled for its subject.
pub type Drive = Box<dyn Fn(Payload, &Assignment) -> Result<Reading, Fault> + Send + Sync>;

/// In which shapes a contestant can run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shapes {
    /// In every one.
    Any,
    /// With one producer and one consumer.
    OneToOne,
    /// With one consumer.
    OneConsumer,
}

impl Shapes {
    /// Whether `shape` is one of them.
    pub fn admit(self, shape: Shape) -> bool {
        match self {
            Self::Any => true,
            Self::OneToOne => shape == Shape::new(1, 1),
            Self::OneConsumer => shape.consumers == 1,
        }
    }
}

/// Drives `subject`.
pub fn drive<S: Subject>(subject: S) -> Drive {
    Box::new(move |payload, assignment| match payload {
        Payload::Word => run::<u64, S>(&subject, assignment),
        Payload::Line => run::<Line, S>(&subject, assignment),
    })
}

/// Every registered pool twice: one task at a time, and in batches.
pub fn registered() -> Vec<Contestant> {
    struct Collect(Vec<Contestant>);
    impl Visitor for Collect {
        fn visit<F: Family>(&mut self, family: F) {
            let facts = family.facts();
            let contestant = |name: String, about: String, drive: Drive| Contestant {
                name,
                kind: facts.kind,
                about,
                version: None,
                shapes: Shapes::Any,
                allocates: facts.capacity.is_none(),
                drive,
            };
            self.0.push(contestant(
                facts.name.clone(),
                facts.about.to_owned(),
                drive(Single(family.clone())),
            ));
            self.0.push(contestant(
                format!("{}-batch", facts.name),
                format!("{}; in batches of {BATCH}", facts.about),
                drive(Batch(family)),
            ));
        }
    }
    let mut collect = Collect(Vec::new());
    registry::visit_all(&mut collect);
    collect.0
}

impl fmt::Debug for Contestant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Contestant").field("name", &self.name).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::{Shapes, registered};
    use crate::workload::Shape;

    #[test]
    fn every_pool_takes_part_by_itself_and_in_batches() {
        let names: Vec<String> = registered().into_iter().map(|each| each.name).collect();
        assert!(names.contains(&"locked".to_owned()), "{names:?}");
        assert!(names.contains(&"locked-batch".to_owned()), "{names:?}");
    }

    #[test]
    fn shapes_are_admitted_where_they_can_run() {
        let all = [Shape::new(1, 1), Shape::new(3, 1), Shape::new(1, 3)];
        assert_eq!(all.map(|shape| Shapes::Any.admit(shape)), [true; 3]);
        assert_eq!(all.map(|shape| Shapes::OneToOne.admit(shape)), [true, false, false]);
        assert_eq!(all.map(|shape| Shapes::OneConsumer.admit(shape)), [true, true, false]);
    }
}
