//! What `record.json` holds.
//!
//! The same record always gives the same bytes: keys in a fixed order, the machine's facts one
//! per line in the order they were given, the rows one per line, so that a diff of two records
//! shows which cells differ.

use crate::facts::Facts;
use crate::flaw::RecordError;
use crate::row::Row;
use serde::Deserialize;

/// The schema this crate reads and writes; `schema/record-1.json` is its JSON schema.
pub const SCHEMA: u64 = 1;

/// The rows of one or more experiments, and where they come from.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Record {
    /// The machine that ran them, or that simulated them.
    pub machine: Facts,
    /// The commit of the code; `unknown` where there is none, with `-dirty` behind it where the
    /// code differs from it.
    pub commit: String,
    /// The measured cells.
    pub rows: Vec<Row>,
}

/// The one field a record of any schema has.
#[derive(Deserialize)]
struct Header {
    schema: serde_json::Value,
}

impl Record {
    /// The JSON schema of `record.json`, as a text.
    pub const JSON_SCHEMA: &str = include_str!("../schema/record-1.json");

    /// Whether it may be written: see [`Row::check`] and [`Facts::check`].
    pub fn check(&self) -> Result<(), RecordError> {
        self.machine.check().map_err(RecordError::Machine)?;
        if self.commit.trim().is_empty() {
            return Err(RecordError::BlankCommit);
        }
        for (index, row) in self.rows.iter().enumerate() {
            row.check().map_err(|flaw| RecordError::Row { number: index + 1, flaw })?;
        }
        Ok(())
    }

    /// As JSON, with a newline at the end. A record with a flaw is refused, never bent into
    /// shape: a `NaN` would turn into `null` silently.
    pub fn to_json(&self) -> Result<String, RecordError> {
        self.check()?;
        let facts = entries(self.machine.iter().map(|(name, value)| {
            Ok(format!("{}: {}", serde_json::to_string(name)?, serde_json::to_string(value)?))
        }))?;
        let rows = entries(self.rows.iter().map(serde_json::to_string))?;
        let commit = serde_json::to_string(&self.commit)?;
        Ok(format!(
            "{{\n  \"schema\": {SCHEMA},\n  \"machine\": {{{facts}}},\n  \"commit\": {commit},\n  \
             \"rows\": [{rows}]\n}}\n"
        ))
    }

    /// Reads what [`to_json`](Self::to_json) wrote, or anybody else's record of this schema.
    pub fn from_json(json: &str) -> Result<Self, RecordError> {
        let Header { schema } = serde_json::from_str(json)?;
        if schema != SCHEMA {
            return Err(RecordError::Schema { found: schema.to_string() });
        }
        let record: Self = serde_json::from_str(json)?;
        record.check()?;
        Ok(record)
    }
}

/// The inside of an object or array: an entry per line, or nothing.
fn entries(
    lines: impl Iterator<Item = Result<String, serde_json::Error>>,
) -> Result<String, serde_json::Error> {
    let lines: Vec<String> = lines.collect::<Result<_, _>>()?;
    if lines.is_empty() {
        return Ok(String::new());
    }
    Ok(format!("\n    {}\n  ", lines.join(",\n    ")))
}
