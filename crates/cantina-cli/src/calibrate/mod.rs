//! This machine, as one that can be simulated.
//!
//! The same small programs ([`probe`](cantina_lab::probe)) measure the real machine and the model of it.
//! Each cost of the model is what makes one of them take as long there as here; no pool takes part.

mod fit;
mod real;

pub(crate) use fit::fit;
pub(crate) use real::{Readings, measure};

use cantina_sim::cost::Machine;

/// The name of a machine that was measured.
pub(crate) const NAME: &str = "calibrated";

/// A machine, and how well it fits.
#[derive(Debug)]
pub(crate) struct Calibration {
    /// What was made of the readings.
    pub(crate) machine: Machine,
    /// What was compared.
    pub(crate) lines: Vec<Line>,
}

/// One thing, measured and simulated.
#[derive(Debug)]
pub(crate) struct Line {
    /// What it is.
    pub(crate) name: String,
    /// Nanoseconds on the real machine.
    pub(crate) measured: f64,
    /// And on the simulated one.
    pub(crate) simulated: f64,
    /// The cost that was fitted to it, if one was.
    pub(crate) fitted: Option<&'static str>,
}
