//! As many threads, shared out differently between producers and consumers.
//!
//! The counterpart of figure 4b of the SALSA paper and figure 4 of the CAFÉ paper.

use crate::workload::Shape;

/// The experiment's name in records and on the command line.
pub const NAME: &str = "ratios";

/// How many threads there are on the real machine.
pub const THREADS: usize = 8;

/// Eighths of the threads that produce.
const EIGHTHS: [usize; 5] = [1, 2, 4, 6, 7];
const QUICK_EIGHTHS: [usize; 3] = [1, 4, 7];

/// The shapes of so many threads, from few producers to many; at least one of each.
pub fn shapes(threads: usize, quick: bool) -> Vec<Shape> {
    let threads = threads.max(2);
    let eighths = if quick { &QUICK_EIGHTHS[..] } else { &EIGHTHS };
    let producers = eighths.iter().map(|eighths| (threads * eighths / 8).clamp(1, threads - 1));
    let mut shapes: Vec<Shape> =
        producers.map(|count| Shape::new(count, threads - count)).collect();
    shapes.dedup();
    shapes
}

#[cfg(test)]
mod tests {
    use super::shapes;

    fn names(threads: usize, quick: bool) -> String {
        shapes(threads, quick).iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_threads_are_always_as_many() {
        assert_eq!(names(8, false), "1P/7C 2P/6C 4P/4C 6P/2C 7P/1C");
        assert_eq!(names(8, true), "1P/7C 4P/4C 7P/1C");
        assert_eq!(names(32, false), "4P/28C 8P/24C 16P/16C 24P/8C 28P/4C");
        assert_eq!(names(4, false), "1P/3C 2P/2C 3P/1C");
        assert_eq!(names(2, false), "1P/1C");
        assert_eq!(names(1, true), "1P/1C");
    }
}
