//! Rows and records of Cantina's experiments, as plain data and as JSON.
//!
//! Both machines, the real and the simulated one, hand out [`Row`]s; a [`Record`] is what
//! `record.json` holds: rows, the commit they were measured at, and [`Facts`] about the machine.
//!
//! ```
//! use cantina_record::{Facts, Kind, Record, Row};
//!
//! let row = Row {
//!     experiment: "throughput".into(),
//!     machine: "real".into(),
//!     pool: "locked".into(),
//!     kind: Kind::Ours,
//!     producers: 2,
//!     consumers: 2,
//!     fields: Default::default(),
//! };
//! let record = Record {
//!     machine: Facts::new().with("cores", 2),
//!     commit: "unknown".into(),
//!     rows: vec![row.with("mops_median", 61.5)],
//! };
//! let json = record.to_json()?;
//! assert_eq!(Record::from_json(&json)?, record);
//! # Ok::<(), cantina_record::RecordError>(())
//! ```

#![forbid(unsafe_code)]

mod facts;
mod flaw;
mod number;
mod record;
mod row;
mod shape;

pub use facts::Facts;
pub use flaw::{Flaw, RecordError};
pub use number::short;
pub use record::{Record, SCHEMA};
pub use row::{Kind, Row, Value};
pub use shape::Shape;
