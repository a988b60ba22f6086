//! What it costs when threads and memory are placed badly.
//!
//! The counterpart of figure 7 of the SALSA paper. On a simulated machine anything can be placed
//! anywhere, and links can be made slower; on the real one threads can be bound to cores or not,
//! and memory lies where the operating system puts it.

use super::throughput::{self, Column, Plan};
use super::{Contestant, Guard, Stopped, Watch};
use cantina_record::{Row, Value};

/// The experiment's name in records and on the command line.
pub const NAME: &str = "placement";

/// The field of a row that says how threads and memory were placed.
pub const FIELD: &str = "placement";

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
    let rows = throughput::by_column(plan, contestants, guard, watch)?;
    // Where the operating system binds no threads, what was to be bound is still another column.
    let label = |(column, row): (Column, Row)| {
        let bound = row.fields.get("pinned") == Some(&Value::Flag(true));
        row.with(
            FIELD,
            match (column.pin, bound) {
                (true, true) => "bound to cores",
                (true, false) => "bound to cores: refused",
                (false, _) => "not bound",
            },
        )
    };
    Ok(rows.into_iter().map(label).collect())
}
