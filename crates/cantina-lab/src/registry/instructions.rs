//! How many instructions a put and a get are: counted, not timed.
//!
//! A simulated machine sees the accesses of a pool, not what is computed between them. In timed runs whoever drives a pool
//! [says](machine::instructions) how many instructions each call was: those of this table, of one thread that puts and gets in turn,
//! the loop that calls it included. An attempt in vain is paid by its accesses alone.
//!
//! What the C library does is not among them: memory has a price of its own. The instructions of accesses are: the probes
//! say theirs, too, so that what an access costs by itself is what it takes beyond them.
//!
//! `ci/deep.sh instructions` counts again, and fails where a row is wrong by more than a fifth.

use super::Family;

/// Instructions for each task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Instructions {
    /// Of putting it.
    pub put: u64,
    /// Of getting it.
    pub get: u64,
}

const fn each(put: u64, get: u64) -> Instructions {
    Instructions { put, get }
}

/// By name: one by one, the same where there is a backlog, and in batches. x86-64, a release build.
const TABLE: &[(&str, Instructions, Instructions, Instructions)] = &[
    ("locked", each(52, 76), each(52, 76), each(33, 31)),
    ("cafe", each(110, 221), each(111, 96), each(33, 23)),
    ("cafe-wait-free", each(1_868, 1_363), each(1_702, 875), each(1_734, 1_048)),
    ("salsa", each(29, 33), each(29, 29), each(19, 27)),
    ("salsa-bounded", each(39, 45), each(39, 41), each(32, 27)),
    ("todo-tree", each(71, 95), each(96, 91), each(43, 53)),
    ("room-queue", each(101, 95), each(101, 95), each(18, 8)),
    ("room-stack", each(110, 129), each(110, 129), each(19, 8)),
    ("salsa-cas", each(31, 54), each(31, 49), each(19, 38)),
    ("salsa-unbalanced", each(29, 33), each(29, 29), each(19, 27)),
    ("ms-queue", each(65, 98), each(65, 98), each(48, 112)),
    ("lbq", each(62, 58), each(62, 58), each(42, 30)),
    ("treiber", each(42, 97), each(42, 97), each(28, 110)),
    ("locked-stack", each(49, 73), each(49, 73), each(13, 8)),
    ("figure4-stack", each(227, 204), each(242, 205), each(221, 25)),
    ("ws-msq", each(84, 132), each(84, 132), each(77, 146)),
    ("ws-lifo", each(63, 130), each(63, 130), each(54, 144)),
    ("concurrent-bags", each(50, 83), each(50, 76), each(42, 97)),
    ("ed-pool", each(379, 421), each(379, 421), each(392, 454)),
    ("salsa-paper", each(35, 53), each(35, 53), each(24, 68)),
];

impl Instructions {
    /// Of the pools of `family`, one task at a time. None where they were not counted.
    pub fn of(family: &impl Family) -> Self {
        Self::named(&family.facts().name).0
    }

    /// The same of pools that have a [backlog](crate::workload::run_backlogged).
    pub fn of_backlogs(family: &impl Family) -> Self {
        Self::named(&family.facts().name).1
    }

    /// Of batches.
    pub fn of_batches(family: &impl Family) -> Self {
        Self::named(&family.facts().name).2
    }

    fn named(name: &str) -> (Self, Self, Self) {
        let row = TABLE.iter().find(|&&(counted, ..)| counted == name);
        row.map_or_else(Default::default, |&(_, single, backlog, batch)| (single, backlog, batch))
    }
}

#[cfg(test)]
mod tests {
    use super::{Instructions, TABLE};
    use crate::registry;

    #[test]
    fn every_registered_pool_was_counted() {
        let registered = registry::facts();
        let mut registered: Vec<&str> = registered.iter().map(|facts| &*facts.name).collect();
        let mut counted: Vec<&str> = TABLE.iter().map(|&(name, ..)| name).collect();
        // In any order, each once.
        registered.sort_unstable();
        counted.sort_unstable();
        assert_eq!(counted, registered);
        let is_counted = |each: Instructions| each.put > 0 && each.get > 0;
        assert!(TABLE.iter().all(|&(_, single, backlog, batch)| {
            [single, backlog, batch].into_iter().all(is_counted)
        }));
    }
}
