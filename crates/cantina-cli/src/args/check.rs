//! `cantina check`.

use super::{name_of, up_to};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// The longest that checks may take: a day.
const MOST_SECONDS: u64 = 86_400;

/// `cantina check`.
#[derive(Args, Debug)]
pub(crate) struct CheckArgs {
    /// Only these pools and contenders [default: all]
    #[arg(value_name = "POOL")]
    pub(crate) pools: Vec<String>,
    /// For how long
    #[arg(long, value_name = "N", default_value_t = 10)]
    #[arg(value_parser = |text: &str| up_to(text, MOST_SECONDS))]
    pub(crate) seconds: u64,
    /// Only this check
    #[arg(long, value_name = "CHECK")]
    pub(crate) only: Option<String>,
    /// Only on this machine [default: both]
    #[arg(long, value_enum)]
    pub(crate) on: Option<On>,
    /// The first seed [default: a new one]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// How many seeds at most [default: as many as there is time for]
    #[arg(long, value_name = "N", value_parser = |text: &str| up_to(text, u64::MAX))]
    pub(crate) rounds: Option<u64>,
    /// Where every access of a simulated run goes in which something is found
    #[arg(long, value_name = "FILE")]
    pub(crate) log: Option<PathBuf>,
}

/// A machine that checks run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum On {
    /// Real threads.
    Real,
    /// Simulated schedules.
    Sim,
}

impl On {
    /// As the user types it.
    pub(crate) fn name(self) -> String {
        name_of(self)
    }
}
