//! Rows and records of Cantina's experiments, as plain data and as JSON.
//!
//! Both machines, the real and the simulated one, hand out [`Row`]s; a [`Record`] is what
//! `record.json` holds.

mod row;

pub use row::{Kind, Row, Value};
