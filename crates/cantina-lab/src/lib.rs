//! Where the pools are compared: contenders, workloads, the conformance suite, the experiments.
//!
//! Everything here runs on both machines: `machine` and `cantina` are the real ones in this crate,
//! the simulated ones in `lab-on-sim`. Only plain data comes out: rows of `cantina-record`, verdicts
//! of `cantina-check`.
//!
//! A pool is [registered](registry) once; the suite and the experiments find it there.

pub mod conformance;
pub mod contender;
pub mod experiment;
pub mod probe;
pub mod registry;
pub mod workload;
