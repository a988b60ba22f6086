//! The experiments: what is compared with what, how often, in which order, and what comes out.
//!
//! An experiment takes [`Contestant`]s and a plan, tells a watcher how far it is, and hands out rows
//! of `cantina-record`. It knows no screen, no files and no allocators.

pub mod capacity;
pub mod chunk_size;
mod contestant;
mod counted;
pub mod density;
pub mod fairness;
mod guard;
pub mod placement;
pub mod pollers;
pub mod ratios;
pub mod regime;
pub mod rooms_stack;
pub mod scheduling;
pub mod single_producer;
mod spread;
pub mod steps;
pub mod throughput;
mod together;
pub mod tree_height;
pub mod write_all;

use contestant::in_batches;
pub use contestant::{
    Contestant, Drive, Shapes, drive, drive_ahead, drive_alone, drive_backlogged, drive_beside,
    drive_stamped, registered, registered_alone, registered_backlogged,
};
pub use counted::{CAS_FAILURES, CAS_PER_GET, STEALS, STEALS_PER_1000, counted, per_thousand};
pub use guard::Guard;
pub use spread::Spread;

use crate::workload::{Fault, Payload, Shape};
use std::fmt;
use std::ops::ControlFlow;

/// What an experiment tells while it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// This is run next.
    Running(&'a str),
    /// One more step of the plan is done.
    Ran,
    /// Something the reader of the numbers should know.
    Note(&'a str),
}

/// Is told what happens, and says whether to go on.
pub type Watch<'a> = &'a mut dyn FnMut(Event<'_>) -> ControlFlow<()>;

/// Why an experiment ended before its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// The watcher said so.
    OnRequest,
    /// A pool did not do what pools do.
    ByFault {
        /// Which pool.
        pool: String,
        /// In which shape.
        shape: Shape,
        /// With which tasks.
        payload: Payload,
        /// What was wrong.
        fault: Fault,
    },
}

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OnRequest => f.write_str("stopped on request"),
            Self::ByFault { pool, shape, payload, fault } => {
                write!(f, "{pool} at {shape} with {}-byte tasks: {fault}", payload.bytes())
            }
        }
    }
}

impl std::error::Error for Stopped {}
