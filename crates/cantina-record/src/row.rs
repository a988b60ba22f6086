//! One measured cell of an experiment.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Whose pool it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// One of Cantina's pools.
    Ours,
    /// A comparison system of the papers, built in `cantina-lab`.
    Contender,
    /// Somebody else's crate.
    Peer,
}

/// What a row's field holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// A yes or a no.
    Flag(bool),
    /// A count.
    Whole(u64),
    /// A measured number.
    Number(f64),
    /// A name.
    Text(String),
}

/// One cell of an experiment: who ran, with what, and what came out. Flat in JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The experiment's name.
    pub experiment: String,
    /// `real`, or `sim:NAME`.
    pub machine: String,
    /// The pool's name.
    pub pool: String,
    /// Whose pool it is.
    pub kind: Kind,
    /// How many threads put.
    pub producers: u64,
    /// How many threads get.
    pub consumers: u64,
    /// The experiment's own parameters, and the measured values with their unit in the name.
    #[serde(flatten)]
    pub fields: BTreeMap<String, Value>,
}

impl Row {
    /// The same row with one more field.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.fields.insert(name.to_owned(), value.into());
        self
    }

    /// A field as a number, if it is one.
    pub fn number(&self, name: &str) -> Option<f64> {
        match self.fields.get(name)? {
            Value::Whole(count) => Some(*count as f64),
            Value::Number(number) => Some(*number),
            Value::Flag(_) | Value::Text(_) => None,
        }
    }
}

impl From<bool> for Value {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl From<u64> for Value {
    fn from(count: u64) -> Self {
        Self::Whole(count)
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}
