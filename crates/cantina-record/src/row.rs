//! One measured cell of an experiment.

use crate::flaw::{Flaw, check_name, check_value, is_blank};
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// The columns every row has. Its own fields may not take these names.
const FIXED: [&str; 6] = ["experiment", "machine", "pool", "kind", "producers", "consumers"];

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
#[derive(Clone, Debug, PartialEq, Serialize)]
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
    #[serde(flatten, deserialize_with = "each_once")]
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

    /// A field as a text, if it is one.
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.fields.get(name)? {
            Value::Text(text) => Some(text),
            Value::Flag(_) | Value::Whole(_) | Value::Number(_) => None,
        }
    }

    /// Whether it may stand in a record: names that are there and do not collide, a machine that
    /// is `real` or `sim:NAME`, numbers that JSON can hold.
    pub fn check(&self) -> Result<(), Flaw> {
        for (name, text) in [("experiment", &self.experiment), ("pool", &self.pool)] {
            if is_blank(text) {
                return Err(Flaw::Blank { name: name.into() });
            }
        }
        let simulated = self.machine.strip_prefix("sim:").is_some_and(|name| !is_blank(name));
        if self.machine != "real" && !simulated {
            return Err(Flaw::UnknownMachine { found: self.machine.clone() });
        }
        for (name, value) in &self.fields {
            if FIXED.contains(&name.as_str()) {
                return Err(Flaw::FixedName { name: name.clone() });
            }
            check_name(name)?;
            check_value(name, value)?;
        }
        Ok(())
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(true) => f.write_str("yes"),
            Self::Flag(false) => f.write_str("no"),
            Self::Whole(count) => count.fmt(f),
            Self::Number(number) => number.fmt(f),
            Self::Text(text) => text.fmt(f),
        }
    }
}

/// Reads fields of which none occurs twice: nobody could say which of the two was measured.
fn each_once<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, Value>, D::Error> {
    deserializer.deserialize_map(EachOnce)
}

/// Reads an object entry by entry.
struct EachOnce;

impl<'de> Visitor<'de> for EachOnce {
    type Value = BTreeMap<String, Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of named fields")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        let mut fields = BTreeMap::new();
        while let Some((name, value)) = entries.next_entry::<String, Value>()? {
            if fields.contains_key(&name) {
                return Err(A::Error::custom(format_args!("duplicate field `{name}`")));
            }
            fields.insert(name, value);
        }
        Ok(fields)
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyValue)
    }
}

/// Reads a [`Value`] from whichever JSON scalar comes.
struct AnyValue;

impl Visitor<'_> for AnyValue {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, a text or a flag")
    }

    fn visit_bool<E: Error>(self, flag: bool) -> Result<Value, E> {
        Ok(Value::Flag(flag))
    }

    fn visit_u64<E: Error>(self, count: u64) -> Result<Value, E> {
        Ok(Value::Whole(count))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Value, E> {
        Ok(Value::Number(number as f64))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Value, E> {
        Ok(Value::Number(number))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Text(text.to_owned()))
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
