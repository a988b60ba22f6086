//! What a reader needs to know of a machine to judge its numbers.

use crate::flaw::{Flaw, check_name, check_value};
use crate::row::Value;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// Named facts in the order they were given, which is the order they are read and written in.
///
/// Which facts there are is up to whoever measures: `cpu`, `cores`, `nodes`, `os`, `kernel`,
/// `fence`... One JSON object, flat.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts(Vec<(String, Value)>);

impl Facts {
    /// No facts yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same facts and one more. A fact of that name is replaced where it stands.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        let value = value.into();
        match self.0.iter_mut().find(|(known, _)| known == name) {
            Some((_, old)) => *old = value,
            None => self.0.push((name.to_owned(), value)),
        }
        self
    }

    /// One fact, if it is known.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.iter().find_map(|(known, value)| (known == name).then_some(value))
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Value)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// Whether they may stand in a record: names as a row's fields have them, finite numbers.
    pub fn check(&self) -> Result<(), Flaw> {
        self.iter().try_for_each(|(name, value)| {
            check_name(name)?;
            check_value(name, value)
        })
    }
}

impl Serialize for Facts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for Facts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(InOrder)
    }
}

/// Reads an object entry by entry, so that the order stays.
struct InOrder;

impl<'de> Visitor<'de> for InOrder {
    type Value = Facts;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of named facts")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Facts, A::Error> {
        let mut facts = Facts::new();
        while let Some((name, value)) = entries.next_entry::<String, Value>()? {
            if facts.get(&name).is_some() {
                return Err(A::Error::custom(format_args!("duplicate fact `{name}`")));
            }
            facts.0.push((name, value));
        }
        Ok(facts)
    }
}
