//! What can be wrong with a record, said in one line each.

use crate::record::SCHEMA;
use crate::row::Value;
use std::error::Error;
use std::fmt;

/// Why a row, or a set of facts, may not stand in a record.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Flaw {
    /// A text that must say something says nothing.
    Blank {
        /// Which.
        name: String,
    },
    /// The row's machine is neither the real nor a simulated one.
    UnknownMachine {
        /// What it says instead.
        found: String,
    },
    /// A field takes the name of one of the columns every row has.
    FixedName {
        /// That name.
        name: String,
    },
    /// A name that is not made of lower-case letters, digits and `_`, beginning with a letter.
    BadName {
        /// That name.
        name: String,
    },
    /// NaN or an infinity: JSON has no such numbers, and a reader no use for them.
    NotFinite {
        /// The field that holds it.
        name: String,
    },
}

/// Why a record cannot be read or written.
#[derive(Debug)]
#[non_exhaustive]
pub enum RecordError {
    /// Not JSON, or not a record's JSON; says the line.
    Json(serde_json::Error),
    /// A record of another schema than [`SCHEMA`].
    Schema {
        /// What its `schema` says, as JSON.
        found: String,
    },
    /// The machine's facts have a flaw.
    Machine(Flaw),
    /// The commit is an empty text.
    BlankCommit,
    /// A row has a flaw.
    Row {
        /// Which row, counted from 1.
        number: usize,
        /// What is wrong with it.
        flaw: Flaw,
    },
}

pub(crate) fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

pub(crate) fn check_name(name: &str) -> Result<(), Flaw> {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    let begins = name.starts_with(|first: char| first.is_ascii_lowercase());
    if begins && name.bytes().all(plain) {
        Ok(())
    } else {
        Err(Flaw::BadName { name: name.to_owned() })
    }
}

pub(crate) fn check_value(name: &str, value: &Value) -> Result<(), Flaw> {
    match value {
        Value::Number(number) if !number.is_finite() => {
            Err(Flaw::NotFinite { name: name.to_owned() })
        }
        Value::Flag(_) | Value::Whole(_) | Value::Number(_) | Value::Text(_) => Ok(()),
    }
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Blank { name } => write!(f, "`{name}` is empty"),
            Self::UnknownMachine { found } => {
                write!(f, "`machine` is {found:?}; allowed: real, sim:NAME")
            }
            Self::FixedName { name } => {
                write!(f, "a field may not be called `{name}`: every row has a column of that name")
            }
            Self::BadName { name } => {
                write!(f, "the name {name:?}; allowed: a-z, 0-9 and _, beginning with a letter")
            }
            Self::NotFinite { name } => write!(f, "`{name}` is not a finite number"),
        }
    }
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json(error) => write!(f, "not a record: {error}"),
            Self::Schema { found } => {
                write!(f, "a record of schema {found}; this program knows schema {SCHEMA}")
            }
            Self::Machine(flaw) => write!(f, "the machine's facts: {flaw}"),
            Self::BlankCommit => f.write_str("`commit` is empty; without a commit it is `unknown`"),
            Self::Row { number, flaw } => write!(f, "row {number}: {flaw}"),
        }
    }
}

impl Error for Flaw {}

impl Error for RecordError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Json(error) => Some(error),
            Self::Machine(flaw) | Self::Row { flaw, .. } => Some(flaw),
            Self::Schema { .. } | Self::BlankCommit => None,
        }
    }
}

impl From<serde_json::Error> for RecordError {
    fn from(error: serde_json::Error) -> Self {
        Self::Json(error)
    }
}
