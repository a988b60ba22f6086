//! What it costs when threads and memory are placed badly.
//!
//! The counterpart of figure 7 of the SALSA paper. On a simulated machine anything can be placed
//! anywhere, and links can be made slower; on the real one threads can be bound to cores or not,
//! and memory lies where the operating system puts it.

use super::throughput::{self, Plan};
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
    let rows = throughput::measure(plan, contestants, guard, watch)?;
    let label = |row: Row| {
        let bound = row.fields.get("pinned") == Some(&Value::Flag(true));
        row.with(FIELD, if bound { "bound to cores" } else { "not bound" })
    };
    Ok(rows.into_iter().map(label).collect())
}
