//! What a reader gets to see: tables on the terminal, a page with plots, a progress bar.

mod beside;
mod column;
mod experiment;
mod grid;
mod number;
mod page;
mod paper;
mod progress;
#[cfg(test)]
mod samples;
mod split;
mod table;
pub(crate) mod trace;

pub(crate) use experiment::{Axis, Better, Experiment, Measure, Paper, STEALS_BATCHES};
pub(crate) use number::short;
pub(crate) use page::page;
pub(crate) use progress::Progress;
pub(crate) use table::{SIMULATED, caveat, kind_name, tables};
