//! What can be wrong with a run.

use std::any::Any;
use std::fmt;

/// Why a run gives no reading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Tasks did not come, though consumers waited: lost, or stuck before they could be put.
    Lost {
        /// How many there were to put.
        tasks: u64,
        /// How many of them did not come.
        missing: u64,
    },
    /// More tasks were got than put.
    Repeated {
        /// How many were put.
        tasks: u64,
    },
    /// As many tasks were got as put, but not those that were put.
    Changed {
        /// How many were put.
        tasks: u64,
    },
    /// A thread panicked.
    Panicked {
        /// What it said.
        message: String,
    },
}

impl Fault {
    /// A thread panicked with `panic`.
    pub(super) fn of_panic(panic: &(dyn Any + Send)) -> Self {
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
        Self::Panicked { message: text.unwrap_or_else(|| "it does not say why".to_owned()) }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lost { tasks, missing } => write!(f, "{missing} of {tasks} tasks never came"),
            Self::Repeated { tasks } => write!(f, "{tasks} tasks were put and more were got"),
            Self::Changed { tasks } => {
                write!(f, "{tasks} tasks were put and got, but those got are others")
            }
            Self::Panicked { message } => write!(f, "a thread panicked: {message}"),
        }
    }
}

impl std::error::Error for Fault {}
