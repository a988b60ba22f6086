//! The columns of a panel: which there are, in which order, and which belong together.

use super::experiment::Axis;
use super::number::short;
use cantina_record::{Row, Value};
use std::cmp::Ordering;

/// A column of a table, a place on a plot's horizontal axis.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Column {
    /// What is written over or under it.
    pub(crate) label: String,
    /// Whether a plot's lines run on from the column before. Between 16P/16C and 1P/3C they do not.
    pub(crate) joined: bool,
    /// What it is the column of.
    pub(crate) key: Key,
}

/// What the rows of a column share.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Key {
    /// Producers and consumers.
    Shape(u64, u64),
    /// A numeric parameter.
    Number(f64),
    /// A parameter with names for values.
    Text(String),
    /// The row does not have the parameter.
    None,
}

/// The columns the rows need, ascending: parameters by value, shapes with as many producers as
/// consumers before the others, or by producers where all have as many threads.
pub(super) fn columns_of(axis: Axis, rows: &[&Row]) -> Vec<Column> {
    let mut keys: Vec<Key> = Vec::new();
    for row in rows {
        let key = sort_key(axis, row);
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    keys.sort_by(compare);
    // As many threads shared out differently: from few producers to many.
    let threads = |key: &Key| match *key {
        Key::Shape(producers, consumers) => Some(total(producers, consumers)),
        Key::Number(_) | Key::Text(_) | Key::None => None,
    };
    if keys
        .first()
        .and_then(threads)
        .is_some_and(|all| keys.iter().all(|key| threads(key) == Some(all)))
    {
        keys.sort_by_key(|key| if let Key::Shape(producers, _) = key { *producers } else { 0 });
    }
    let joined = |at: usize| at > 0 && keys[at].follows(&keys[at - 1]);
    let column = |(at, key): (usize, &Key)| Column {
        label: key.label(),
        joined: joined(at),
        key: key.clone(),
    };
    keys.iter().enumerate().map(column).collect()
}

/// The key of the column a row belongs to.
pub(super) fn sort_key(axis: Axis, row: &Row) -> Key {
    match axis {
        Axis::Shape => Key::Shape(row.producers, row.consumers),
        Axis::Workers => Key::Number(row.consumers as f64),
        Axis::Field { name, .. } => match row.fields.get(name) {
            Some(Value::Whole(count)) => Key::Number(*count as f64),
            Some(Value::Number(number)) => Key::Number(*number),
            Some(other) => Key::Text(other.to_string()),
            None => Key::None,
        },
    }
}

/// Texts stay in the order they come in.
fn compare(a: &Key, b: &Key) -> Ordering {
    match (a, b) {
        (&Key::Shape(p, c), &Key::Shape(q, d)) => {
            (p != c, total(p, c), p).cmp(&(q != d, total(q, d), q))
        }
        (Key::Number(x), Key::Number(y)) => x.total_cmp(y),
        _ => a.group().cmp(&b.group()),
    }
}

/// How many threads there are, whatever numbers a record holds.
fn total(producers: u64, consumers: u64) -> u128 {
    u128::from(producers) + u128::from(consumers)
}

impl Key {
    fn group(&self) -> u8 {
        match self {
            Self::None => 0,
            Self::Shape(..) => 1,
            Self::Number(_) => 2,
            Self::Text(_) => 3,
        }
    }

    fn label(&self) -> String {
        match self {
            Self::Shape(producers, consumers) => format!("{producers}P/{consumers}C"),
            // A count as it is; what lies between counts was computed.
            Self::Number(number) if number.fract() == 0.0 => number.to_string(),
            Self::Number(number) => short(*number),
            Self::Text(text) => text.clone(),
            Self::None => "none".to_owned(),
        }
    }

    /// Whether a reader may take the way from `before` to this for a trend.
    fn follows(&self, before: &Self) -> bool {
        match (before, self) {
            (&Self::Shape(p, c), &Self::Shape(q, d)) => {
                (p == c && q == d) || p == q || c == d || total(p, c) == total(q, d)
            }
            (Self::Number(_), Self::Number(_)) => true,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::samples::{HEIGHT, SPEED, bare};
    use cantina_record::Kind;

    fn columns(axis: Axis, rows: &[Row]) -> Vec<(String, bool)> {
        let rows: Vec<&Row> = rows.iter().collect();
        columns_of(axis, &rows).into_iter().map(|column| (column.label, column.joined)).collect()
    }

    fn shapes(shapes: &[(u64, u64)]) -> Vec<(String, bool)> {
        let rows: Vec<Row> =
            shapes.iter().map(|&shape| bare(&SPEED, Kind::Ours, "a", shape)).collect();
        columns(Axis::Shape, &rows)
    }

    fn expected(columns: &[(&str, bool)]) -> Vec<(String, bool)> {
        columns.iter().map(|&(label, joined)| (label.to_owned(), joined)).collect()
    }

    #[test]
    fn as_many_producers_as_consumers_come_first_and_are_joined() {
        assert_eq!(
            shapes(&[(3, 1), (16, 16), (1, 3), (1, 1), (2, 2), (1, 1)]),
            expected(&[
                ("1P/1C", false),
                ("2P/2C", true),
                ("16P/16C", true),
                ("1P/3C", false),
                ("3P/1C", true),
            ])
        );
    }

    #[test]
    fn one_producer_and_more_and_more_consumers_are_joined() {
        assert_eq!(
            shapes(&[(1, 4), (1, 1), (1, 2)]),
            expected(&[("1P/1C", false), ("1P/2C", true), ("1P/4C", true)])
        );
    }

    #[test]
    fn as_many_threads_shared_out_differently_go_from_few_producers_to_many() {
        assert_eq!(
            shapes(&[(4, 4), (7, 1), (1, 7)]),
            expected(&[("1P/7C", false), ("4P/4C", true), ("7P/1C", true)])
        );
    }

    #[test]
    fn the_largest_counts_a_record_can_hold_are_only_counts() {
        let most = u64::MAX;
        let labels = [format!("{most}P/{most}C"), format!("1P/{most}C")];
        assert_eq!(
            shapes(&[(1, most), (most, most)]),
            expected(&[(&labels[0], false), (&labels[1], true)])
        );
    }

    #[test]
    fn parameters_ascend_and_texts_stay_as_they_come() {
        let row = || bare(&HEIGHT, Kind::Ours, "a", (2, 2));
        let rows = [
            row().with("height", "tall"),
            row().with("height", 10),
            row().with("height", 2.5),
            row().with("height", 12_345),
            row().with("height", 1.0 / 3.0),
            row(),
            row().with("height", "flat"),
        ];
        assert_eq!(
            columns(HEIGHT.axis, &rows),
            expected(&[
                ("none", false),
                ("0.333", false),
                ("2.50", true),
                ("10", true),
                ("12345", true),
                ("tall", false),
                ("flat", false),
            ])
        );
    }
}
