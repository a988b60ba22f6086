//! What the size of chunks does to pools that have them.
//!
//! The counterpart of figure 8 of the SALSA paper. Every registered family that can be had with
//! another chunk size takes part, one task at a time.

use super::{Contestant, drive};
use crate::registry::{self, Family, Visitor};
use crate::workload::{Shape, Single};

/// The experiment's name in records and on the command line.
pub const NAME: &str = "chunk-size";

/// The field of a row that says how many tasks a chunk holds.
pub const FIELD: &str = "chunk_size";

/// Tasks of a chunk.
pub const SIZES: [u64; 10] = [8, 16, 32, 64, 125, 250, 500, 1000, 2000, 4000];
/// The same of a quick run.
pub const QUICK_SIZES: [u64; 3] = [8, 125, 1000];

/// The shapes on the real machine.
pub const SHAPES: [Shape; 2] = [Shape::new(1, 1), Shape::new(4, 4)];
/// The same of a quick run.
pub const QUICK_SHAPES: [Shape; 1] = [Shape::new(2, 2)];

/// Every pool that has chunks, in each of these sizes that it can have.
pub fn contestants(sizes: &[u64]) -> Vec<Contestant> {
    struct Collect<'a>(&'a [u64], Vec<Contestant>);
    impl Visitor for Collect<'_> {
        fn visit<F: Family>(&mut self, family: F) {
            for &size in self.0 {
                let Some(family) = family.with_chunk_size(size as usize) else { continue };
                let contestant = Contestant::of(&family, drive(Single(family.clone())));
                self.1.push(Contestant { parameter: Some((FIELD, size)), ..contestant });
            }
        }
    }
    let mut collect = Collect(sizes, Vec::new());
    registry::visit_all(&mut collect);
    collect.1
}

#[cfg(test)]
mod tests {
    use super::{QUICK_SIZES, SIZES, contestants};
    use crate::workload::{Assignment, Payload, Shape};
    use machine::time::Duration;

    #[test]
    fn every_size_can_be_built_and_moves_every_task() {
        let shape = Shape::new(1, 2);
        let patience = Duration::from_secs(60);
        let assignment = Assignment { shape, tasks: 500, pin: false, patience, watched: false };
        for contestant in contestants(&SIZES) {
            let run = (contestant.drive)(Payload::Word, &assignment);
            assert!(run.is_ok(), "{contestant:?} {:?}: {run:?}", contestant.parameter);
        }
    }

    #[test]
    fn who_has_chunks_takes_part_in_each_size_that_fits() {
        let all = contestants(&SIZES);
        let sizes = |name: &str| {
            let own = all.iter().filter(|each| each.name == name);
            own.filter_map(|each| each.parameter).map(|(_, size)| size).collect::<Vec<_>>()
        };
        for name in ["salsa", "salsa-cas", "salsa-unbalanced"] {
            assert_eq!(sizes(name), SIZES, "{name}");
        }
        assert_eq!(sizes("salsa-bounded"), SIZES[..8], "up to its capacity");
        assert!(sizes("locked").is_empty());
        assert!(QUICK_SIZES.iter().all(|size| SIZES.contains(size)));
    }
}
