//! What lies where, as the program says it: the names of `cantina-machine`'s `trace`, kept in the log.

pub use cantina_machine::trace::Role;

use super::What;
use crate::engine::current;
use crate::memory::peek::peek;
use std::fmt;

/// What the program says of a place. Sizes are in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Description {
    /// A structure lies there.
    Structure {
        /// What it is called.
        what: &'static str,
        /// How large it is.
        bytes: usize,
    },
    /// A node lies there.
    Node {
        /// What it is called.
        what: &'static str,
        /// How large it is.
        bytes: usize,
    },
    /// A part lies there.
    Part {
        /// What it is called.
        name: &'static str,
        /// What it is.
        role: Role,
        /// How large it is.
        bytes: usize,
        /// What it is now, as far as it fits into a word.
        value: u64,
    },
    /// Parts lie there, one behind the other.
    Row {
        /// What they are called, with a number behind it.
        name: &'static str,
        /// What they are.
        role: Role,
        /// How large each is.
        bytes: usize,
        /// How many there are.
        count: usize,
        /// Where that lies which they are parts of.
        whole: usize,
    },
    /// A container lies there, and holds these tasks, each as far as it fits into a word.
    Contents(Vec<u64>),
    /// What was there is gone.
    Gone {
        /// How large it was.
        bytes: usize,
    },
}

/// Says that `value` is a structure, called `what`, and stays where it is.
pub fn structure<T>(value: &T, what: &'static str) {
    describe(value, Description::Structure { what, bytes: size_of::<T>() });
}

/// Says that `value` is a node, called `what`, and stays where it is.
pub fn node<T>(value: &T, what: &'static str) {
    describe(value, Description::Node { what, bytes: size_of::<T>() });
}

/// Says that `value` is a part, called `name`, of the structure or node that it lies in, or of none.
pub fn part<T>(value: &T, name: &'static str, role: Role) {
    // SAFETY: a reference.
    let now = unsafe { peek(value) };
    describe(value, Description::Part { name, role, bytes: size_of::<T>(), value: now });
}

/// Says that `values` are parts, called `name` and numbered on, of the structure or node that `whole` is or
/// lies in, or of none.
pub fn row<W, T>(whole: &W, values: &[T], name: &'static str, role: Role) {
    if let Some(first) = values.first() {
        let (bytes, count) = (size_of::<T>(), values.len());
        let whole = (&raw const *whole) as usize;
        describe(first, Description::Row { name, role, bytes, count, whole });
    }
}

/// Says that `container`, which is part of a structure, now holds these tasks, the next one first.
pub fn contents<'a, C, T: 'a>(container: &C, tasks: impl Iterator<Item = &'a T>) {
    // SAFETY: a reference.
    let value = |task: &'a T| unsafe { peek(task) };
    let mut values = tasks.map(value);
    // Not collected before somebody asks: that takes memory, which is the simulator's only then.
    let mut contents = || What::Described(Description::Contents(values.by_ref().collect()));
    current::tell(address(container), &mut contents);
}

/// Says that what lies at `value` is gone: a node, a structure, the task of a part.
pub fn gone<T>(value: &T) {
    describe(value, Description::Gone { bytes: size_of::<T>() });
}

fn describe<T>(value: &T, description: Description) {
    tell(address(value), &description);
}

fn address<T>(value: &T) -> usize {
    (&raw const *value) as usize
}

fn tell(start: usize, description: &Description) {
    current::tell(start, &mut || What::Described(description.clone()));
}

impl fmt::Display for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Structure { what, .. } | Self::Node { what, .. } => write!(f, "is a {what}"),
            Self::Part { name, .. } => write!(f, "is the part {name}"),
            Self::Row { name, count, .. } => write!(f, "are {count} parts {name}"),
            Self::Contents(tasks) => write!(f, "holds {} tasks", tasks.len()),
            Self::Gone { .. } => f.write_str("is gone"),
        }
    }
}
