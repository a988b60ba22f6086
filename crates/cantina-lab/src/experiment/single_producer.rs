//! One producer, and more and more consumers.
//!
//! The counterpart of figures 5 and 6 of the SALSA paper: who keeps up, with and without balancing,
//! and how many atomic read-modify-writes a task costs those who get it. A pool that does not count
//! them has no such field.

use crate::workload::Shape;

/// The experiment's name in records and on the command line.
pub const NAME: &str = "single-producer";

/// The most consumers on the real machine.
pub const MOST_CONSUMERS: usize = 16;
/// The same of a quick run.
pub const QUICK_MOST_CONSUMERS: usize = 4;

/// One producer and up to `most` consumers: powers of two, quickly of four, and `most`.
pub fn shapes(most: usize, quick: bool) -> Vec<Shape> {
    let step = if quick { 4 } else { 2 };
    let most = most.max(1);
    let powers = std::iter::successors(Some(1), |count: &usize| count.checked_mul(step));
    let counts = powers.take_while(|count| *count < most).chain([most]);
    counts.map(|consumers| Shape::new(1, consumers)).collect()
}

#[cfg(test)]
mod tests {
    use super::shapes;

    fn consumers(most: usize, quick: bool) -> Vec<usize> {
        shapes(most, quick).iter().map(|shape| shape.consumers).collect()
    }

    #[test]
    fn consumers_double_up_to_the_most() {
        assert_eq!(consumers(16, false), [1, 2, 4, 8, 16]);
        assert_eq!(consumers(31, false), [1, 2, 4, 8, 16, 31]);
        assert_eq!(consumers(31, true), [1, 4, 16, 31]);
        assert_eq!(consumers(1, false), [1]);
        assert_eq!(consumers(0, true), [1]);
    }
}
