//! How fair pools are: who overtakes whom, and what that is worth.
//!
//! The counterpart of figure 6 of the CAFÉ paper. Consumers work on what they get, and one task in twenty is
//! long. Every put and every get is timed, and counted afterwards is for each task how many others that were
//! put later came out before it: see [`Overtaking`](crate::workload::Overtaking). The paper compares only tasks of
//! one producer, so as not to add contention; here all are compared, and no end writes what another one reads.

use super::{Contestant, tree_height};
use crate::workload::{Reading, Shape};
use cantina_record::Row;

/// The experiment's name in records and on the command line.
pub const NAME: &str = "fairness";

/// The field of a row that says how high the trees were, of those that have some.
pub const FIELD: &str = tree_height::FIELD;

/// The field with the most others that overtook a task.
pub const MOST: &str = "max_overtakers";
/// The field with what the pool promises of that.
pub const PROMISED: &str = "fair_within";
/// The fields with how many others a task overtook: the mean, and of 99 in a hundred at most.
pub const MEAN: &str = "rank_error_mean";
/// See [`MEAN`].
pub const P99: &str = "rank_error_p99";

/// Who stands beside the trees, without a height.
pub const BESIDE: [&str; 3] = ["salsa", "ms-queue", "ws-msq"];

/// Heights of trees.
pub const HEIGHTS: [u64; 9] = [0, 1, 2, 4, 6, 8, 10, 12, 14];
/// The same of a quick run.
pub const QUICK_HEIGHTS: [u64; 3] = [0, 4, 12];

/// The shapes on the real machine.
pub const SHAPES: [Shape; 1] = [Shape::new(4, 4)];
/// The same of a quick run.
pub const QUICK_SHAPES: [Shape; 1] = [Shape::new(2, 2)];

/// Every pool that has trees, in each of these heights, and some beside them.
pub fn contestants(heights: &[u64]) -> Vec<Contestant> {
    tree_height::in_heights(heights, &BESIDE, true)
}

/// `row` with how tasks overtook each other in all of these runs, if that was looked at.
#[must_use]
pub fn ordered<'a>(row: Row, runs: impl Iterator<Item = &'a Reading> + Clone) -> Row {
    let orders = runs.clone().filter_map(|run| run.order);
    let Some(most) = orders.clone().map(|order| order.most).max() else { return row };
    let tasks: u64 = orders.clone().map(|order| order.tasks).sum();
    let all: u64 = orders.clone().map(|order| order.all).sum();
    let p99 = orders.map(|order| order.p99).max().unwrap_or(0);
    let row = row.with(MOST, most).with(MEAN, all as f64 / tasks.max(1) as f64).with(P99, p99);
    let promised = runs.filter_map(|run| run.counters?.fair_within).max();
    match promised {
        Some(promised) => row.with(PROMISED, promised),
        None => row,
    }
}

#[cfg(test)]
mod tests {
    use super::{BESIDE, HEIGHTS, QUICK_HEIGHTS, contestants, ordered};
    use crate::workload::{Assignment, Overtaking, Payload, Shape};
    use cantina_record::{Kind, Row};
    use machine::time::Duration;

    fn row() -> Row {
        Row {
            experiment: "fairness".into(),
            machine: "real".into(),
            pool: "a".into(),
            kind: Kind::Ours,
            producers: 1,
            consumers: 1,
            fields: Default::default(),
        }
    }

    #[test]
    fn nobody_is_overtaken_by_more_than_is_promised() {
        let patience = Duration::from_secs(60);
        for shape in [Shape::new(1, 1), Shape::new(2, 2)] {
            let assignment =
                Assignment { shape, tasks: 2_000, pin: false, patience, watched: false };
            for contestant in contestants(&HEIGHTS) {
                let reading = (contestant.drive)(Payload::Word, &assignment).unwrap();
                let order = reading.order.expect("one task at a time");
                assert_eq!(order.tasks, 2_000);
                let row = ordered(row(), [reading].iter());
                let number = |name: &str| row.number(name);
                assert_eq!(number("max_overtakers"), Some(order.most as f64));
                assert!(number("rank_error_mean").is_some() && number("rank_error_p99").is_some());
                let promised = number("fair_within");
                assert_eq!(promised.is_some(), contestant.parameter.is_some(), "{contestant:?}");
                // In the wait-free form one more for each get that was under way.
                let allowed = promised.map(|most| most + shape.consumers as f64);
                let is_fair = allowed.is_none_or(|most| order.most as f64 <= most);
                assert!(is_fair, "{contestant:?} {:?}: {order:?}", contestant.parameter);
                let is_queue = contestant.name == "ms-queue"
                    || contestant.name == "cafe" && promised == Some(0.0);
                assert!(!is_queue || order.most == 0, "{contestant:?}: {order:?}");
                let is_leaf = contestant.parameter.is_some_and(|(_, height)| height <= 4);
                let expected =
                    contestant.name == "ms-queue" || contestant.name == "cafe" && is_leaf;
                assert_eq!(is_queue, expected, "{contestant:?}");
            }
        }
    }

    #[test]
    fn both_forms_take_part_in_every_height_and_others_once() {
        let all = contestants(&QUICK_HEIGHTS);
        let count = |name: &str| all.iter().filter(|each| each.name == name).count();
        assert_eq!(["cafe", "cafe-wait-free"].map(count), [3, 3]);
        assert_eq!(BESIDE.map(count), [1, 1, 1]);
        assert_eq!(all.len(), 9);
    }

    #[test]
    fn the_worst_of_all_runs_is_told() {
        let shape = Shape::new(1, 1);
        let patience = Duration::from_secs(60);
        let assignment = Assignment { shape, tasks: 10, pin: false, patience, watched: false };
        let all = contestants(&[0]);
        let reading = (all[0].drive)(Payload::Line, &assignment).unwrap();
        let order = |most, all| Some(Overtaking { tasks: 10, most, all, p99: most });
        let mut runs = [reading; 3];
        (runs[0].order, runs[1].order, runs[2].order) = (order(3, 10), order(7, 20), None);
        let row = ordered(row(), runs.iter());
        let fields = ["max_overtakers", "rank_error_mean", "rank_error_p99", "fair_within"];
        assert_eq!(fields.map(|name| row.number(name)), [7.0, 1.5, 7.0, 0.0].map(Some));
        runs.iter_mut().for_each(|run| run.order = None);
        assert_eq!(ordered(super::tests::row(), runs.iter()), super::tests::row());
    }
}
