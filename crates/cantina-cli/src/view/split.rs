//! Which rows belong to one panel, and what the panel is called.

use super::experiment::{Axis, Experiment};
use cantina_record::{Row, Value};

/// What sets panels apart: the machine, the declared fields, and the shape where it is no column.
pub(super) struct Split {
    by_shape: bool,
    /// The declared fields, each with the value of the rows that do not have it: the only one there
    /// is, if it is the only one.
    fields: Vec<(&'static str, Option<Value>)>,
    /// Which parts of a key are not always the same.
    varying: Vec<bool>,
}

impl Split {
    /// What it takes to tell these rows apart.
    pub(super) fn new(experiment: &Experiment, rows: &[&Row]) -> Self {
        let only = |name: &'static str| {
            let mut values = rows.iter().filter_map(|row| row.fields.get(name));
            let first = values.next()?;
            values.all(|value| value == first).then(|| first.clone())
        };
        let fields = experiment.split.iter().map(|&name| (name, only(name))).collect();
        let by_shape = matches!(experiment.axis, Axis::Field { .. });
        let mut split = Self { by_shape, fields, varying: Vec::new() };
        let keys: Vec<Vec<String>> = rows.iter().map(|row| split.key(row)).collect();
        let Some(first) = keys.first() else { return split };
        split.varying =
            (0..first.len()).map(|at| keys.iter().any(|key| key[at] != first[at])).collect();
        // A simulated number is never to be taken for a measured one.
        split.varying[0] |= rows.iter().any(|row| row.machine != "real");
        split
    }

    /// The values that have to be the same, as they are shown in a title.
    pub(super) fn key(&self, row: &Row) -> Vec<String> {
        let machine = match row.machine.strip_prefix("sim:") {
            Some(name) => format!("simulated {name}"),
            None => "this machine".to_owned(),
        };
        let shape = self.by_shape.then(|| format!("{}P/{}C", row.producers, row.consumers));
        let fields = self.fields.iter().map(|(name, only)| {
            let label = name.replace('_', " ");
            match row.fields.get(*name).or(only.as_ref()) {
                Some(value) => format!("{label}: {value}"),
                None => format!("no {label}"),
            }
        });
        [machine].into_iter().chain(shape).chain(fields).collect()
    }

    /// Whether a row without values, which says why there are none, belongs to the panel of a key: where it does not have a
    /// field, to those of all its values.
    pub(super) fn admits(&self, key: &[String], row: &Row) -> bool {
        let own = self.key(row);
        let before = own.len() - self.fields.len();
        let is_open = |at: usize| at >= before && self.lacks(at - before, row);
        key.len() == own.len() && (0..own.len()).all(|at| is_open(at) || own[at] == key[at])
    }

    /// Whether a row could belong to several panels.
    pub(super) fn is_open(&self, row: &Row) -> bool {
        (0..self.fields.len()).any(|at| self.lacks(at, row))
    }

    fn lacks(&self, at: usize, row: &Row) -> bool {
        let (name, only) = &self.fields[at];
        only.is_none() && !row.fields.contains_key(*name)
    }

    /// The parts of the key that tell a row's panel from the others.
    pub(super) fn title(&self, row: &Row) -> String {
        let parts = self.key(row).into_iter().zip(&self.varying);
        let shown: Vec<String> =
            parts.filter(|(_, varies)| **varies).map(|(part, _)| part).collect();
        shown.join(", ")
    }
}
