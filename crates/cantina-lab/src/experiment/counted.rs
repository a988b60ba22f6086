//! What pools have counted, in a row.

use super::Spread;
use crate::workload::Counters;
use cantina_record::Row;

/// The field with the read-modify-writes per task got.
pub const CAS_PER_GET: &str = "cas_per_get";
/// The field with the steals of a run.
pub const STEALS: &str = "steals";
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
