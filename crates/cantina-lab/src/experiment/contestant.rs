//! Whoever takes part in an experiment.

use crate::registry::{self, Family, Visitor};
use crate::workload::{
    Assignment, BATCH, Backlogged, Batch, Fault, Line, Payload, Reading, Shape, Single, Subject,
    run, run_ahead, run_alone, run_backlogged, run_beside, run_stamped,
};
use cantina_record::{Kind, Row};
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
    /// The experiment's parameter that sets it apart from others of its name: a field of its rows.
    pub parameter: Option<(&'static str, u64)>,
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

    /// Why it cannot run in others.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Any => "any shape",
            Self::OneToOne => "one producer and one consumer only",
            Self::OneConsumer => "one consumer only",
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

/// Drives `subject` with producers that are ahead of its consumers.
pub fn drive_ahead<S: Subject>(subject: S) -> Drive {
    Box::new(move |payload, assignment| match payload {
        Payload::Word => run_ahead::<u64, S>(&subject, assignment),
        Payload::Line => run_ahead::<Line, S>(&subject, assignment),
    })
}

/// Drives `subject` and looks how tasks overtake each other. It hands them out one by one.
pub fn drive_stamped<S: Subject + Clone>(subject: S) -> Drive {
    Box::new(move |payload, assignment| match payload {
        Payload::Word => run_stamped::<u64, S>(&subject, assignment),
        Payload::Line => run_stamped::<Line, S>(&subject, assignment),
    })
}

/// Drives the pools of `family` with workers, and so many pollers beside them.
pub fn drive_beside<F: Family>(family: F, pollers: usize) -> Drive {
    Box::new(move |payload, assignment| match payload {
        Payload::Word => run_beside::<u64, F>(&family, assignment, pollers),
        Payload::Line => run_beside::<Line, F>(&family, assignment, pollers),
    })
}

/// Drives `subject` with one thread that puts and gets in turn, whatever the shape.
pub fn drive_alone<S: Subject>(subject: S) -> Drive {
    Box::new(move |payload, assignment| match payload {
        Payload::Word => run_alone::<u64, S>(&subject, assignment),
        Payload::Line => run_alone::<Line, S>(&subject, assignment),
    })
}

/// Drives `subject` with a producer and a consumer that keep a backlog, whatever the shape.
pub fn drive_backlogged<S: Subject>(subject: S) -> Drive {
    Box::new(move |payload, assignment| match payload {
        Payload::Word => run_backlogged::<u64, S>(&subject, assignment),
        Payload::Line => run_backlogged::<Line, S>(&subject, assignment),
    })
}

/// Every registered pool, driven by a producer and a consumer that keep a backlog.
pub fn registered_backlogged() -> Vec<Contestant> {
    struct Collect(Vec<Contestant>);
    impl Visitor for Collect {
        fn visit<F: Family>(&mut self, family: F) {
            let drive = drive_backlogged(Backlogged(family.clone()));
            let contestant = Contestant::of(&family, drive);
            self.0.push(Contestant { shapes: Shapes::OneToOne, ..contestant });
        }
    }
    let mut collect = Collect(Vec::new());
    registry::visit_all(&mut collect);
    collect.0
}

/// Every registered pool, driven by one thread.
pub fn registered_alone() -> Vec<Contestant> {
    struct Collect(Vec<Contestant>);
    impl Visitor for Collect {
        fn visit<F: Family>(&mut self, family: F) {
            let contestant = Contestant::of(&family, drive_alone(Single(family.clone())));
            self.0.push(Contestant { shapes: Shapes::OneToOne, ..contestant });
        }
    }
    let mut collect = Collect(Vec::new());
    registry::visit_all(&mut collect);
    collect.0
}

/// Every registered pool twice: one task at a time, and in batches.
pub fn registered() -> Vec<Contestant> {
    struct Collect(Vec<Contestant>);
    impl Visitor for Collect {
        fn visit<F: Family>(&mut self, family: F) {
            self.0.push(Contestant::of(&family, drive(Single(family.clone()))));
            self.0.push(in_batches(&family));
        }
    }
    let mut collect = Collect(Vec::new());
    registry::visit_all(&mut collect);
    collect.0
}

/// A pool of `family`, driven in batches.
pub(super) fn in_batches(family: &impl Family) -> Contestant {
    let batch = Contestant::of(family, drive(Batch(family.clone())));
    Contestant {
        name: format!("{}-batch", batch.name),
        about: format!("{}; in batches of {BATCH}", batch.about),
        ..batch
    }
}

impl Contestant {
    /// `row` with what sets this contestant apart.
    #[must_use]
    pub fn label(&self, row: Row) -> Row {
        match self.parameter {
            Some((name, value)) => row.with(name, value),
            None => row,
        }
    }

    /// A pool of `family` as it is, driven by `drive`.
    pub(super) fn of(family: &impl Family, drive: Drive) -> Self {
        let facts = family.facts();
        Self {
            name: facts.name,
            kind: facts.kind,
            about: facts.about.to_owned(),
            version: None,
            shapes: Shapes::Any,
            allocates: facts.capacity.is_none(),
            parameter: None,
            drive,
        }
    }
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
