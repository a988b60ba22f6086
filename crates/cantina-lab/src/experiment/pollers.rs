//! Whether consumers that find nothing slow down those that are busy.
//!
//! Workers put a few tasks and get as many, again and again. Beside them pollers ask an almost empty
//! pool for tasks and wait as politely as any consumer that finds nothing. In the rows a worker is
//! a producer and a consumer; pollers are counted on their own.

use super::{Contestant, drive_beside};
use crate::registry::{self, Family, Visitor};
use crate::workload::Shape;

/// The experiment's name in records and on the command line.
pub const NAME: &str = "pollers";

/// The field of a row that says how many pollers there were.
pub const FIELD: &str = "pollers";

/// Pollers on the real machine.
pub const POLLERS: [u64; 4] = [0, 1, 2, 4];
/// The same of a quick run.
pub const QUICK_POLLERS: [u64; 2] = [0, 2];

/// Workers on the real machine.
pub const WORKERS: [usize; 2] = [1, 2];
/// The same of a quick run.
pub const QUICK_WORKERS: [usize; 1] = [1];

/// So many workers, as a shape.
pub fn shape(workers: usize) -> Shape {
    Shape::new(workers, workers)
}

/// How many threads there are with the workers of `shape` and so many pollers.
pub fn threads(shape: Shape, pollers: u64) -> usize {
    shape.producers + pollers as usize
}

/// Every registered pool, with each of these numbers of pollers.
pub fn contestants(pollers: &[u64]) -> Vec<Contestant> {
    struct Collect<'a>(&'a [u64], Vec<Contestant>);
    impl Visitor for Collect<'_> {
        fn visit<F: Family>(&mut self, family: F) {
            for &count in self.0 {
                let drive = drive_beside(family.clone(), count as usize);
                let contestant = Contestant::of(&family, drive);
                self.1.push(Contestant { parameter: Some((FIELD, count)), ..contestant });
            }
        }
    }
    let mut collect = Collect(pollers, Vec::new());
    registry::visit_all(&mut collect);
    collect.1
}

#[cfg(test)]
mod tests {
    use super::{contestants, shape, threads};
    use crate::workload::{Assignment, Payload};
    use machine::time::Duration;

    #[test]
    fn every_pool_serves_its_workers_with_pollers_and_without() {
        let patience = Duration::from_secs(60);
        let all = contestants(&[0, 2]);
        for workers in [1, 3] {
            let shape = shape(workers);
            for watched in [true, false] {
                let assignment = Assignment { shape, tasks: 1_003, pin: true, patience, watched };
                for contestant in &all {
                    let what = (contestant.name.as_str(), contestant.parameter);
                    let reading = (contestant.drive)(Payload::Word, &assignment).unwrap();
                    assert_eq!(reading.window.is_some(), watched, "{what:?}");
                    let got = reading.window.map_or(0, |window| window.first + window.second);
                    assert!(got <= 1_003, "{what:?}: {got}");
                    assert!(reading.put_elapsed <= reading.elapsed, "{what:?}: {reading:?}");
                }
            }
        }
    }

    #[test]
    fn a_worker_is_one_thread() {
        assert_eq!([threads(shape(3), 0), threads(shape(3), 4)], [3, 7]);
    }
}
