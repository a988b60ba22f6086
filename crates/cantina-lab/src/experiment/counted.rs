//! What pools have counted, in a row.

use super::Spread;
use crate::workload::Counters;
use cantina_record::Row;

/// The field with the read-modify-writes per task got.
pub const CAS_PER_GET: &str = "cas_per_get";
/// The field with the steals of a run.
pub const STEALS: &str = "steals";
/// The field with the steals of a run for each thousand of its tasks: runs of one table differ in length.
pub const STEALS_PER_1000: &str = "steals_per_1000";
/// The field with the read-modify-writes that came too late, per put or get.
pub const CAS_FAILURES: &str = "cas_failures_per_op";

/// `row` with the medians of what was counted in its runs, if anything was.
#[must_use]
pub fn counted(row: Row, runs: impl Iterator<Item = Counters> + Clone) -> Row {
    let rates = Spread::of(runs.clone().filter_map(|counters| counters.cas_per_get()));
    let steals = runs.clone().filter_map(|counters| counters.steals);
    let failures = Spread::of(runs.filter_map(|counters| counters.cas_failures_per_operation()));
    let steals = Spread::of(steals.map(|count| count as f64));
    let medians = [(CAS_PER_GET, rates), (STEALS, steals), (CAS_FAILURES, failures)];
    medians.into_iter().fold(row, |row, (name, spread)| match spread {
        Some(spread) => row.with(name, spread.median),
        None => row,
    })
}

/// `row` with its steals for each thousand tasks, if it has some.
#[must_use]
pub fn per_thousand(row: Row) -> Row {
    match (row.number(STEALS), row.number("tasks")) {
        (Some(steals), Some(tasks)) if tasks > 0.0 => {
            row.with(STEALS_PER_1000, 1_000.0 * steals / tasks)
        }
        _ => row,
    }
}

#[cfg(test)]
mod tests {
    use super::{STEALS_PER_1000, per_thousand};
    use cantina_record::{Kind, Row};

    #[test]
    fn a_longer_run_has_as_many_steals_for_each_thousand_tasks() {
        let row = Row {
            experiment: "single-producer".into(),
            machine: "real".into(),
            pool: "a".into(),
            kind: Kind::Ours,
            producers: 1,
            consumers: 1,
            fields: Default::default(),
        };
        let of = |steals: u64, tasks: u64| {
            let row = row.clone().with("steals", steals).with("tasks", tasks);
            per_thousand(row).number(STEALS_PER_1000)
        };
        assert_eq!([of(30, 10_000), of(240, 80_000), of(5, 0)], [Some(3.0), Some(3.0), None]);
        assert_eq!(per_thousand(row.clone()), row);
    }
}
