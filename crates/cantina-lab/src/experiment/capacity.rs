//! What their capacity does to bounded pools: all of them have room for as many tasks.
//!
//! Every registered family that can be had with another capacity takes part, one task at a time and in batches.

use super::{Contestant, drive, in_batches};
use crate::registry::{self, Family, Visitor};
use crate::workload::{Shape, Single};

/// The experiment's name in records and on the command line.
pub const NAME: &str = "capacity";

/// The field of a row that says how many tasks there is room for.
pub const FIELD: &str = "capacity";

/// Tasks that there is room for.
pub const CAPACITIES: [u64; 4] = [64, 1024, 4096, 65_536];
/// The same of a quick run.
pub const QUICK_CAPACITIES: [u64; 1] = [4096];

/// The shapes on the real machine.
pub const SHAPES: [Shape; 2] = [Shape::new(1, 1), Shape::new(4, 4)];
/// The same of a quick run.
pub const QUICK_SHAPES: [Shape; 1] = [Shape::new(4, 4)];

/// Every pool that is bounded, with each of these capacities that it can have.
pub fn contestants(capacities: &[u64]) -> Vec<Contestant> {
    struct Collect<'a>(&'a [u64], Vec<Contestant>);
    impl Visitor for Collect<'_> {
        fn visit<F: Family>(&mut self, family: F) {
            let bounded = |&tasks: &u64| Some((tasks, family.with_capacity(tasks as usize)?));
            let all: Vec<(u64, F)> = self.0.iter().filter_map(bounded).collect();
            // Rows of one name stand together.
            for (tasks, family) in &all {
                let single = Contestant::of(family, drive(Single(family.clone())));
                self.1.push(Contestant { parameter: Some((FIELD, *tasks)), ..single });
            }
            for (tasks, family) in &all {
                let parameter = Some((FIELD, *tasks));
                self.1.push(Contestant { parameter, ..in_batches(family) });
            }
        }
    }
    let mut collect = Collect(capacities, Vec::new());
    registry::visit_all(&mut collect);
    collect.1
}

#[cfg(test)]
mod tests {
    use super::{CAPACITIES, QUICK_CAPACITIES, contestants};
    use crate::workload::{Assignment, Payload, Shape};
    use machine::time::Duration;

    #[test]
    fn every_capacity_can_be_built_and_moves_every_task() {
        let (shape, patience) = (Shape::new(1, 2), Duration::from_secs(60));
        let assignment = Assignment { shape, tasks: 500, pin: false, patience, watched: false };
        for contestant in contestants(&CAPACITIES) {
            let run = (contestant.drive)(Payload::Word, &assignment);
            assert!(run.is_ok(), "{contestant:?} {:?}: {run:?}", contestant.parameter);
        }
    }

    #[test]
    fn who_is_bounded_takes_part_with_each_capacity_alone_and_in_batches() {
        let all = contestants(&CAPACITIES);
        let mut names: Vec<&str> = all.iter().map(|each| each.name.as_str()).collect();
        names.dedup();
        let bounded = ["salsa-bounded", "todo-tree", "room-queue"];
        assert_eq!(names, bounded.map(|name| [name.to_owned(), format!("{name}-batch")]).concat());
        for name in names {
            let own = all.iter().filter(|each| each.name == name).filter_map(|it| it.parameter);
            assert_eq!(own.map(|(_, tasks)| tasks).collect::<Vec<_>>(), CAPACITIES, "{name}");
        }
        assert!(QUICK_CAPACITIES.iter().all(|tasks| CAPACITIES.contains(tasks)));
    }
}
