//! How many threads put, and how many get.

use std::fmt;

/// How many threads put, and how many get. Written `2P/1C`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// How many put; at least one.
    pub producers: usize,
    /// How many get; at least one.
    pub consumers: usize,
}

impl Shape {
    /// That many of each.
    pub const fn new(producers: usize, consumers: usize) -> Self {
        Self { producers, consumers }
    }

    /// All threads together.
    pub fn threads(self) -> usize {
        self.producers + self.consumers
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}P/{}C", self.producers, self.consumers)
    }
}
