//! How many threads put and get.

use super::up_to;
use std::fmt;
use std::str::FromStr;

/// The most producers, and the most consumers, that a shape may have.
const MOST_THREADS: u32 = 256;

/// How many threads put and how many get. Written `2P/1C`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    /// How many put, at least one.
    pub(crate) producers: u32,
    /// How many get, at least one.
    pub(crate) consumers: u32,
}

/// As many producers as consumers.
pub(super) fn square(threads: &str) -> Result<Shape, String> {
    match up_to(threads, MOST_THREADS) {
        Ok(threads) => Ok(Shape { producers: threads, consumers: threads }),
        Err(allowed) => Err(format!("{allowed} producers, and as many consumers")),
    }
}

impl FromStr for Shape {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parse = || {
            let text = text.to_ascii_uppercase();
            let (producers, consumers) = text.strip_suffix('C')?.split_once("P/")?;
            let count = |digits| up_to(digits, MOST_THREADS).ok();
            Some(Self { producers: count(producers)?, consumers: count(consumers)? })
        };
        parse().ok_or_else(|| {
            format!("allowed: 1P/1C to {MOST_THREADS}P/{MOST_THREADS}C, at least one of each")
        })
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}P/{}C", self.producers, self.consumers)
    }
}

#[cfg(test)]
mod tests {
    use super::Shape;

    #[test]
    fn shapes_have_at_least_one_thread_of_each_kind_and_not_too_many() {
        for text in
            ["", "2", "0P/1C", "1P/0C", "257P/1C", "1P/257C", "1C/1P", "-1P/1C", "1P/1C/1C", "1P1C"]
        {
            assert!(text.parse::<Shape>().is_err(), "{text}");
        }
        assert_eq!("256P/1c".parse(), Ok(Shape { producers: 256, consumers: 1 }));
    }
}
