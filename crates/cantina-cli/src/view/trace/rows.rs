//! Parts that lie behind each other: slots of a chunk, indices of consumers, places of a table.
//!
//! There can be thousands that nobody ever touches, so one of them becomes a word with its first access.

use super::story::ObjectNumber;
use cantina_sim::trace::Role;
use std::collections::BTreeMap;

/// The rows that are there, by address.
#[derive(Default)]
pub(super) struct Rows(BTreeMap<usize, Row>);

/// Parts behind each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) role: Role,
    /// What they are parts of.
    pub(super) object: Option<ObjectNumber>,
    /// Bytes of each.
    pub(super) bytes: usize,
    pub(super) count: usize,
    /// The number of the first.
    pub(super) first: usize,
}

/// One of them.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Element {
    pub(super) row: Row,
    pub(super) number: usize,
    /// Where it lies.
    pub(super) start: usize,
}

impl Rows {
    /// A row lies at `start`; its parts are numbered on from those of the same name and object. Whether
    /// that is news.
    pub(super) fn put(&mut self, start: usize, mut row: Row) -> bool {
        row.bytes = row.bytes.max(1);
        let same = |other: &&Row| other.name == row.name && other.object == row.object;
        if self.0.get(&start).as_ref().is_some_and(same) {
            return false;
        }
        row.first = self.0.values().filter(same).map(|other| other.count).sum();
        self.0.insert(start, row);
        true
    }

    /// The rows of `object` are gone.
    pub(super) fn remove(&mut self, object: ObjectNumber) {
        self.0.retain(|_, row| row.object != Some(object));
    }

    /// The part at `address`.
    pub(super) fn at(&self, address: usize) -> Option<Element> {
        let (start, row) = self.0.range(..=address).next_back()?;
        let place = (address - start) / row.bytes;
        let start = start + place * row.bytes;
        (place < row.count).then_some(Element { row: *row, number: row.first + place, start })
    }
}

#[cfg(test)]
mod tests {
    use super::{Row, Rows};
    use cantina_sim::trace::Role;

    #[test]
    fn parts_are_numbered_on_over_the_rows_of_an_object() {
        let mut rows = Rows::default();
        let row = |object| {
            let (name, role) = ("slot", Role::Task);
            Row { name, role, object: Some(object), bytes: 8, count: 7, first: 0 }
        };
        assert!(rows.put(64, row(0)) && rows.put(128, row(0)) && rows.put(256, row(1)));
        assert!(!rows.put(128, row(0)), "said before");
        let number = |rows: &Rows, address| rows.at(address).map(|member| member.number);
        let numbers = [63, 64, 71, 112, 119, 120, 128, 256, 320].map(|at| number(&rows, at));
        let none = None;
        assert_eq!(
            numbers,
            [none, Some(0), Some(0), Some(6), Some(6), none, Some(7), Some(0), none]
        );
        assert_eq!(rows.at(77).unwrap().start, 72);
        rows.remove(0);
        assert_eq!([64, 128, 256].map(|at| number(&rows, at)), [None, None, Some(0)]);
    }

    #[test]
    fn parts_without_a_size_have_an_address() {
        let mut rows = Rows::default();
        let row =
            Row { name: "slot", role: Role::Task, object: None, bytes: 0, count: 2, first: 0 };
        rows.put(64, row);
        assert_eq!(rows.at(64).unwrap().number, 0);
    }
}
