//! How many tasks go through a pool in a second.
//!
//! The counterpart of figure 4a of the SALSA paper and figure 2 of the CAFÉ paper.
//!
//! Column by column: first every contestant warms up, which also tells how many tasks make a run of
//! the wished length. Then round after round everybody runs once, each round beginning with the
//! next contestant, so that whatever drifts meets all of them alike. A repetition with a [`Guard`]
//! reading beside it that shows a busy machine is thrown away and repeated, as long as that does not
//! take too long; what is kept in spite of it is counted in the row. Before and after each it is read how far from each other the
//! cores are ([`regime`]); repetitions on other cores than most are repeated, too.

mod session;
#[cfg(test)]
mod tests;

use super::{Contestant, Guard, Stopped, Watch, regime};
use crate::workload::{Payload, Shape};
use cantina_record::Row;
use machine::time::Duration;
use session::Session;

/// The experiment's name in records and on the command line.
pub const NAME: &str = "throughput";

/// The shapes of a full run.
pub const SHAPES: [Shape; 7] = [
    Shape::new(1, 1),
    Shape::new(2, 2),
    Shape::new(4, 4),
    Shape::new(8, 8),
    Shape::new(16, 16),
    Shape::new(1, 3),
    Shape::new(3, 1),
];

/// The shapes of a quick run.
pub const QUICK_SHAPES: [Shape; 3] = [Shape::new(1, 1), Shape::new(2, 2), Shape::new(4, 4)];

/// What is measured, and how long.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The `experiment` of the rows.
    pub experiment: String,
    /// The `machine` of the rows.
    pub machine: String,
    /// What is measured, in order.
    pub columns: Vec<Column>,
    /// How often each cell is measured.
    pub repetitions: usize,
    /// How long a run should take.
    pub target: Duration,
    /// How many tasks a run has, if not as many as take that long.
    pub tasks: Option<u64>,
}

/// One column of the table: everybody who can runs in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// How many threads.
    pub shape: Shape,
    /// How large the tasks.
    pub payload: Payload,
    /// Whether threads are bound to cores.
    pub pin: bool,
}

/// Which threads are bound to cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pin {
    /// Those of one producer and one consumer. Where there are more threads than cores, binding
    /// them punishes some contestants more than others.
    Auto,
    /// All.
    Always,
    /// None.
    Never,
}

impl Plan {
    /// How many steps [`measure`] tells of: for each cell a warm-up and its repetitions.
    pub fn steps(&self, contestants: &[&Contestant]) -> usize {
        let cells = self.columns.iter().map(|column| {
            contestants.iter().filter(|each| each.shapes.admit(column.shape)).count()
        });
        cells.sum::<usize>() * (self.repetitions + 1)
    }
}

impl Pin {
    /// Whether the threads of `shape` are.
    pub fn applies(self, shape: Shape) -> bool {
        match self {
            Self::Auto => shape == Shape::new(1, 1),
            Self::Always => true,
            Self::Never => false,
        }
    }
}

/// Runs the experiment: a row for each contestant in each column it can run in.
///
/// # Errors
/// [`Stopped`] by the watcher, or by a contestant that lost, repeated or changed a task.
pub fn measure(
    plan: &Plan,
    contestants: &[&Contestant],
    guard: Option<Guard>,
    watch: Watch<'_>,
) -> Result<Vec<Row>, Stopped> {
    let rows = by_column(plan, contestants, guard, watch)?;
    Ok(rows.into_iter().map(|(_, row)| row).collect())
}

/// The same, each row with the column that it is of.
pub(super) fn by_column(
    plan: &Plan,
    contestants: &[&Contestant],
    guard: Option<Guard>,
    watch: Watch<'_>,
) -> Result<Vec<(Column, Row)>, Stopped> {
    let mut session = Session::new(plan, guard, plan.steps(contestants), watch);
    let mut columns = Vec::new();
    for &column in &plan.columns {
        columns.push((column, session.measure(column, contestants)?));
    }
    let mut of = Vec::new();
    let mut rows = Vec::new();
    for (column, cells) in &columns {
        for row in cells.iter().filter_map(|cell| session.row(*column, cell)) {
            of.push(*column);
            rows.push(row);
        }
    }
    Ok(of.into_iter().zip(regime::against_the_run(rows)).collect())
}
