//! What it costs to share work on one stack.
//!
//! The counterpart of section 4 and figure 5 of the rooms paper: [trees](Forest) are worked off by more and more workers, who take
//! batches of nodes from one stack and put back what comes of them. The total work, which is the time times the workers,
//! is the same for any number of them where the stack costs nothing.
//!
//! In the rows a worker is a producer and a consumer.

mod stacks;

pub use stacks::{Holding, Store, contestants, drive_shared, each, hands};

use super::throughput::{self, Plan};
use super::{Contestant, Guard, Spread, Stopped, Watch};
use crate::workload::{Forest, Reading, Shape};
use cantina_record::Row;

/// The experiment's name in records and on the command line.
pub const NAME: &str = "rooms-stack";

/// The field of a row that says how long a node is worked on, in hundredths of the time that it takes to get it.
pub const FIELD: &str = "work_percent";
/// The field with the total work of a run, in seconds.
pub const WORK: &str = "work_s";
/// The fields with the same of a node, in nanoseconds: the median, the least and the most.
pub const WORK_OF_A_NODE: [&str; 3] =
    ["work_ns_per_node", "work_ns_per_node_min", "work_ns_per_node_max"];

/// The field with the time that a node was worked on, in nanoseconds: what the total work would be if the rest took none.
pub const SPENT: &str = "spent_ns_per_node";
/// The fields with what is left of the total work of a node without that: the median, the least and the most.
pub const OVERHEAD: [&str; 3] =
    ["overhead_ns_per_node", "overhead_ns_per_node_min", "overhead_ns_per_node_max"];

/// How long nodes are worked on.
pub const PERCENT: [u64; 3] = [40, 100, 600];
/// The same on the simulated machine: those, and as much as it takes there for a lock to be held all the time by some 20 workers, as it is with
/// the most work in the paper. On this machine 500 nodes are copied in the time of two read-modify-writes of a contended word.
pub const SIMULATED_PERCENT: [u64; 4] = [40, 100, 600, 12_000];
/// The same of a quick run.
pub const QUICK_PERCENT: [u64; 2] = [40, 600];

/// Nodes taken at once.
pub const BATCH: usize = 500;
/// The same of those whose name says so.
pub const SMALL_BATCH: usize = 64;

/// Workers on the real machine.
pub const WORKERS: [usize; 4] = [1, 2, 4, 8];
/// The same of a quick run.
pub const QUICK_WORKERS: [usize; 2] = [1, 2];

/// Nodes of a run on the real machine: those of the paper.
pub const NODES: u64 = 65_520_000;
/// The same of a quick run, of lower trees.
pub const QUICK_NODES: u64 = 1_008_000;

/// So many workers, as a shape.
pub fn shape(workers: usize) -> Shape {
    Shape::new(workers, workers)
}

/// How many nodes there are in trees of at most so many.
pub fn nodes(most: u64) -> u64 {
    Forest::of_at_most(most).nodes()
}

/// Runs the experiment on the machine at hand.
///
/// # Errors
/// As [`throughput::measure`].
pub fn measure(
    plan: &Plan,
    contestants: &[&Contestant],
    guard: Option<Guard>,
    watch: Watch<'_>,
) -> Result<Vec<Row>, Stopped> {
    let rows = throughput::measure(plan, contestants, guard, watch)?;
    Ok(rows.into_iter().map(total_work).collect())
}

/// `row` with how long these runs of so many nodes were worked on, if they were.
#[must_use]
pub fn spent<'a>(row: Row, runs: impl Iterator<Item = &'a Reading>, nodes: u64) -> Row {
    let of_a_node = |run: &Reading| Some(run.spent?.as_nanos() as f64 / nodes.max(1) as f64);
    match Spread::of(runs.filter_map(of_a_node)) {
        Some(spread) => row.with(SPENT, spread.median),
        None => row,
    }
}

/// `row`, which says how many million nodes are worked off in a second, with the total work, and what of it is not working on them if that is known.
#[must_use]
pub fn total_work(row: Row) -> Row {
    let workers = row.producers as f64;
    let rates = ["mops_median", "mops_max", "mops_min"];
    let work = rates.map(|rate| row.number(rate).map(|rate| workers * 1e3 / rate));
    let nodes = row.number("tasks");
    let row = match nodes.zip(work[0]) {
        Some((nodes, nanos)) => row.with(WORK, nodes * nanos / 1e9),
        None => row,
    };
    let spent = row.number(SPENT);
    let overhead = work.map(|nanos| nanos.zip(spent).map(|(nanos, spent)| nanos - spent));
    let fields = WORK_OF_A_NODE.into_iter().zip(work).chain(OVERHEAD.into_iter().zip(overhead));
    fields.fold(row, |row, (name, nanos)| match nanos {
        Some(nanos) => row.with(name, nanos),
        None => row,
    })
}

#[cfg(test)]
mod tests {
    use super::{FIELD, NAME, NODES, QUICK_NODES, contestants, nodes, shape, spent, total_work};
    use crate::workload::{Assignment, Forest, Payload, Reading};
    use cantina_record::{Kind, Row};
    use machine::time::Duration;

    #[test]
    fn the_numbers_of_nodes_are_those_of_trees() {
        assert_eq!(NODES, Forest::PAPER.nodes());
        assert_eq!([nodes(NODES), nodes(QUICK_NODES)], [NODES, QUICK_NODES]);
    }

    #[test]
    fn every_stack_is_worked_off_by_any_number_of_workers() {
        for workers in [1, 3] {
            let (shape, patience) = (shape(workers), Duration::from_secs(60));
            let assignment =
                Assignment { shape, tasks: nodes(9_000), pin: true, patience, watched: false };
            for contestant in contestants(&[40]) {
                assert_eq!(contestant.parameter, Some((FIELD, 40)));
                if !contestant.shapes.admit(shape) {
                    assert!(workers > 1, "{contestant:?}");
                    continue;
                }
                for payload in [Payload::Word, Payload::Line] {
                    let run = (contestant.drive)(payload, &assignment);
                    assert!(run.is_ok(), "{contestant:?}: {run:?}");
                }
            }
        }
    }

    #[test]
    fn the_total_work_is_the_time_of_all_workers() {
        let row = Row {
            experiment: NAME.to_owned(),
            machine: "real".to_owned(),
            pool: "room-stack".to_owned(),
            kind: Kind::Ours,
            producers: 4,
            consumers: 4,
            fields: Default::default(),
        };
        // A million nodes in a hundredth of a second, by four.
        let row = row.with("tasks", 1_000_000_u64).with("mops_median", 100.0);
        let row = total_work(row.with("mops_min", 50.0).with("mops_max", 200.0));
        let fields = ["work_s", "work_ns_per_node", "work_ns_per_node_min", "work_ns_per_node_max"];
        assert_eq!(fields.map(|name| row.number(name)), [0.04, 40.0, 20.0, 80.0].map(Some));
        assert_eq!(row.number("overhead_ns_per_node"), None);
        row.check().unwrap();
        // 25 nanoseconds of each were work.
        let reading = Reading {
            spent: Some(Duration::from_millis(25)),
            ..Reading::took(Duration::from_millis(10))
        };
        let row = total_work(spent(row, [reading].iter(), 1_000_000));
        let fields =
            ["overhead_ns_per_node", "overhead_ns_per_node_min", "overhead_ns_per_node_max"];
        assert_eq!(fields.map(|name| row.number(name)), [15.0, -5.0, 55.0].map(Some));
        row.check().unwrap();
    }
}
