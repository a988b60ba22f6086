//! How many threads put and get, as typed.

use super::up_to;
use cantina_record::Shape;

/// The most producers, and the most consumers, that a shape may have.
const MOST_THREADS: usize = 256;

/// As many producers as consumers.
pub(super) fn square(threads: &str) -> Result<Shape, String> {
    match up_to(threads, MOST_THREADS) {
        Ok(threads) => Ok(Shape::new(threads, threads)),
        Err(allowed) => Err(format!("{allowed} producers, and as many consumers")),
    }
}

/// `2P/1C`: at least one of each.
pub(super) fn shape(text: &str) -> Result<Shape, String> {
    let parse = || {
        let text = text.to_ascii_uppercase();
        let (producers, consumers) = text.strip_suffix('C')?.split_once("P/")?;
        let count = |digits| up_to(digits, MOST_THREADS).ok();
        Some(Shape::new(count(producers)?, count(consumers)?))
    };
    parse().ok_or_else(|| {
        format!("allowed: 1P/1C to {MOST_THREADS}P/{MOST_THREADS}C, at least one of each")
    })
}

#[cfg(test)]
mod tests {
    use super::{Shape, shape};

    #[test]
    fn shapes_have_at_least_one_thread_of_each_kind_and_not_too_many() {
        for text in
            ["", "2", "0P/1C", "1P/0C", "257P/1C", "1P/257C", "1C/1P", "-1P/1C", "1P/1C/1C", "1P1C"]
        {
            assert!(shape(text).is_err(), "{text}");
        }
        assert_eq!(shape("256P/1c"), Ok(Shape::new(256, 1)));
    }
}
