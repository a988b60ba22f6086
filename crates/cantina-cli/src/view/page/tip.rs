//! What a reader learns when pointing at a mark.

use crate::view::experiment::Measure;
use crate::view::grid::{Line, Reading};
use crate::view::number::{field, short};
use std::fmt::Write;

/// One value with everything that belongs to it, in one line.
pub(super) fn tip(measure: &Measure, line: &Line, column: &str, reading: &Reading) -> String {
    let mut tip = format!("{} {column}: {} {}", line.pool, reading.value_text(), measure.unit);
    if let Some((low, high)) = reading.spread {
        let _ = write!(tip, " ({} to {})", short(low), short(high));
    }
    let measured = |name: &str| {
        let spread = measure.spread.is_some_and(|(low, high)| name == low || name == high);
        name == measure.value || spread
    };
    for (name, value) in reading.row.fields.iter().filter(|(name, _)| !measured(name)) {
        let _ = write!(tip, "; {} {}", name.replace('_', " "), field(value));
    }
    tip
}
