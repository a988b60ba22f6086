//! A drawing of a history: a lane per thread, time from left to right.
//!
//! ```text
//! time  1      2      3      5
//! t0    [put 7       ]
//! t1           [get 7       ]
//! t2                  [get ...
//! ```
//!
//! Times that occur get a column each, in their order; how far they lie apart is not drawn. Long ones
//! are counted from the first. Two operations overlap if they share a column. Operations of one thread that overlap (a batch, task
//! by task) go below each other. A pending operation has no right end.

use crate::history::Operation;
use std::fmt;

/// Draws `operations`.
pub(crate) fn draw(operations: &[Operation], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let drawing = Drawing::new(operations);
    if drawing.origin > 0 {
        writeln!(f, "times from {} on", drawing.origin)?;
    }
    let mut threads: Vec<usize> = operations.iter().map(|operation| operation.thread).collect();
    threads.sort_unstable();
    threads.dedup();
    let names = threads.iter().map(|&thread| lane_name(thread).len());
    let name_width = names.chain([HEADER.len()]).max().unwrap_or(0);
    let times =
        (0..drawing.times.len()).map(|column| (drawing.lefts[column], drawing.time(column)));
    write_lane(f, HEADER, name_width, &times.collect::<Vec<_>>())?;
    for thread in threads {
        let own = operations.iter().filter(|operation| operation.thread == thread);
        for (row, lane) in drawing.lanes(own).iter().enumerate() {
            let name = if row == 0 { lane_name(thread) } else { String::new() };
            write_lane(f, &name, name_width, lane)?;
        }
    }
    Ok(())
}

const HEADER: &str = "time";

/// Times from here on are long.
const LONG: u64 = 10_000;

fn lane_name(thread: usize) -> String {
    format!("t{thread}")
}

fn write_lane(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    name_width: usize,
    boxes: &[(usize, String)],
) -> fmt::Result {
    write!(f, "{name:name_width$}  ")?;
    let mut column = 0;
    for (left, text) in boxes {
        write!(f, "{:pad$}{text}", "", pad = left - column)?;
        column = left + text.len();
    }
    writeln!(f)
}

/// The columns.
struct Drawing {
    /// The times that occur,
    times: Vec<u64>,
    /// written as differences to this one.
    origin: u64,
    /// Where the column of each begins, and where the last one ends.
    lefts: Vec<usize>,
}

impl Drawing {
    fn new(operations: &[Operation]) -> Self {
        let mut times: Vec<u64> = operations
            .iter()
            .flat_map(|operation| std::iter::once(operation.start).chain(operation.end))
            .collect();
        times.sort_unstable();
        times.dedup();
        let origin = times.first().copied().filter(|&first| first >= LONG).unwrap_or(0);
        let mut drawing = Self { lefts: Vec::new(), times, origin };
        // From left to right each column gets the width that the times and the boxes that end in it
        // ask for; the box of a pending operation ends in the last one.
        let mut ending: Vec<Vec<&Operation>> = vec![Vec::new(); drawing.times.len()];
        operations
            .iter()
            .for_each(|operation| ending[drawing.last_column(operation)].push(operation));
        let mut left = 0;
        for (column, ending) in ending.iter().enumerate() {
            drawing.lefts.push(left);
            let time = left + drawing.time(column).len();
            let right = |operation: &&Operation| {
                drawing.lefts[drawing.column(operation.start)] + label(operation).len()
            };
            left = ending.iter().map(right).chain([time]).max().unwrap_or(time) + 1;
        }
        drawing.lefts.push(left);
        drawing
    }

    fn time(&self, column: usize) -> String {
        (self.times[column] - self.origin).to_string()
    }

    fn column(&self, time: u64) -> usize {
        self.times.partition_point(|&other| other < time)
    }

    fn last_column(&self, operation: &Operation) -> usize {
        operation.end.map_or(self.times.len() - 1, |end| self.column(end))
    }

    /// The boxes of one thread: in each lane they do not overlap.
    fn lanes<'a>(
        &self,
        operations: impl Iterator<Item = &'a Operation>,
    ) -> Vec<Vec<(usize, String)>> {
        let mut lanes: Vec<(usize, Vec<(usize, String)>)> = Vec::new();
        for operation in operations {
            let left = self.lefts[self.column(operation.start)];
            let right = self.lefts[self.last_column(operation) + 1];
            let mut text = label(operation);
            if operation.end.is_some() {
                text.insert_str(text.len() - 1, &" ".repeat(right - 1 - left - text.len()));
            }
            match lanes.iter_mut().find(|(free_from, _)| *free_from <= left) {
                Some((free_from, lane)) => {
                    *free_from = right;
                    lane.push((left, text));
                }
                None => lanes.push((right, vec![(left, text)])),
            }
        }
        lanes.into_iter().map(|(_, lane)| lane).collect()
    }
}

fn label(operation: &Operation) -> String {
    match operation.end {
        Some(_) => format!("[{}]", operation.action),
        None => format!("[{} ...", operation.action),
    }
}
