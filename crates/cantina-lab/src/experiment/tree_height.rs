//! What the height of trees does to pools that have them.
//!
//! The counterpart of figure 5 of the CAFÉ paper: throughput, and read-modify-writes in vain. Every registered
//! family that can be had with another height takes part, one task at a time, and beside them the queue
//! that the paper compares with. Consumers begin when half of the tasks are there: the paper's lag behind producers, who
//! are in other trees than they as long as trees are not too large.

use super::{Contestant, drive_ahead, drive_stamped};
use crate::registry::{self, Family, Visitor};
use crate::workload::{Shape, Single};

/// The experiment's name in records and on the command line.
pub const NAME: &str = "tree-height";

/// The field of a row that says how high the trees were.
pub const FIELD: &str = "height";

/// Who stands beside them, without a height.
pub const BESIDE: &str = "ms-queue";

/// Heights of trees.
pub const HEIGHTS: [u64; 17] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16];
/// The same of a quick run.
pub const QUICK_HEIGHTS: [u64; 5] = [0, 2, 4, 8, 12];

/// The shapes on the real machine.
pub const SHAPES: [Shape; 2] = [Shape::new(1, 1), Shape::new(4, 4)];
/// The same of a quick run.
pub const QUICK_SHAPES: [Shape; 1] = [Shape::new(4, 4)];

/// Every pool that has trees, in each of these heights, and the queue beside them.
pub fn contestants(heights: &[u64]) -> Vec<Contestant> {
    in_heights(heights, &[BESIDE], false)
}

/// Every pool that has trees, in each of these heights, and those `beside` them, which have none. Puts and
/// gets are timed if they are to be `stamped`.
pub(super) fn in_heights(heights: &[u64], beside: &[&str], stamped: bool) -> Vec<Contestant> {
    struct Collect<'a> {
        heights: &'a [u64],
        beside: &'a [&'a str],
        stamped: bool,
        found: Vec<Contestant>,
    }
    impl Collect<'_> {
        fn add<F: Family>(&mut self, family: F, parameter: Option<(&'static str, u64)>) {
            let each = Single(family.clone());
            let drive = if self.stamped { drive_stamped(each) } else { drive_ahead(each) };
            self.found.push(Contestant { parameter, ..Contestant::of(&family, drive) });
        }
    }
    impl Visitor for Collect<'_> {
        fn visit<F: Family>(&mut self, family: F) {
            for &height in self.heights {
                let with_height = u32::try_from(height).ok().and_then(|it| family.with_height(it));
                let Some(family) = with_height else { continue };
                self.add(family, Some((FIELD, height)));
            }
            if self.beside.contains(&family.facts().name.as_str()) {
                self.add(family, None);
            }
        }
    }
    let mut collect = Collect { heights, beside, stamped, found: Vec::new() };
    registry::visit_all(&mut collect);
    collect.found
}

#[cfg(test)]
mod tests {
    use super::{BESIDE, HEIGHTS, QUICK_HEIGHTS, contestants};
    use crate::workload::{Assignment, Payload, Shape};
    use machine::time::Duration;

    #[test]
    fn every_height_moves_every_task_and_counts() {
        let shape = Shape::new(2, 2);
        let patience = Duration::from_secs(60);
        let assignment = Assignment { shape, tasks: 500, pin: false, patience, watched: false };
        for contestant in contestants(&HEIGHTS) {
            let run = (contestant.drive)(Payload::Word, &assignment);
            let counters = run.unwrap_or_else(|fault| panic!("{contestant:?}: {fault}")).counters;
            let failures = counters.and_then(|counters| counters.cas_failures_per_operation());
            assert_eq!(failures.is_some(), contestant.name != BESIDE, "{contestant:?}");
        }
    }

    #[test]
    fn both_forms_take_part_in_every_height_and_the_queue_once() {
        let all = contestants(&[0, 12, 16, 17, u64::MAX]);
        let heights = |name: &str| {
            let own = all.iter().filter(|each| each.name == name);
            own.map(|each| each.parameter.map(|(_, height)| height)).collect::<Vec<_>>()
        };
        for name in ["cafe", "cafe-wait-free"] {
            assert_eq!(heights(name), [0, 12, 16].map(Some), "{name}");
        }
        assert_eq!(heights(BESIDE), [None]);
        assert_eq!(all.len(), 7);
        assert!(QUICK_HEIGHTS.iter().all(|height| HEIGHTS.contains(height)));
    }
}
