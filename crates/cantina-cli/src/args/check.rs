//! `cantina check`.

use super::{name_of, seed as parse_seed, up_to};
use cantina_sim::trace::{InvalidTrace, Trace};
use clap::{Args, ValueEnum};
use std::fs;
use std::path::PathBuf;

/// The most choices of a schedule, and bytes of its file: more than any run has.
const MOST_CHOICES: u64 = 4_000_000;
const MOST_BYTES: u64 = 1 << 24;
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
    #[arg(long, value_name = "N", value_parser = parse_seed)]
    pub(crate) seed: Option<u64>,
    /// How many seeds at most [default: as many as there is time for]
    #[arg(long, value_name = "N", value_parser = |text: &str| up_to(text, u64::MAX))]
    pub(crate) rounds: Option<u64>,
    /// The schedule of a simulated run, as a finding prints it, or @FILE: that run again. It belongs to one POOL, --only and --seed
    #[arg(long, value_name = "TEXT|@FILE", value_parser = schedule, requires_all = ["pools", "only", "seed"])]
    #[arg(conflicts_with_all = ["rounds", "seconds"], allow_hyphen_values = true)]
    pub(crate) schedule: Option<Trace>,
    /// Where every access of a simulated run goes in which something is found
    #[arg(long, value_name = "FILE")]
    pub(crate) log: Option<PathBuf>,
    /// Whether that file may be replaced
    #[arg(long, requires = "log")]
    pub(crate) overwrite: bool,
}

/// A machine that checks run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum On {
    /// Real threads.
    Real,
    /// Simulated schedules.
    Sim,
}

/// A schedule, or the one in a file.
fn schedule(typed: &str) -> Result<Trace, String> {
    let allowed = "allowed: what `cantina check` prints, or @FILE";
    let Some(path) = typed.strip_prefix('@') else {
        return trace(typed).map_err(|error| format!("{error}; {allowed}"));
    };
    let refuse = |what: String| format!("`{path}`: {what}; {allowed}");
    let length = fs::metadata(path).map_err(|error| refuse(error.to_string()))?.len();
    if length > MOST_BYTES {
        return Err(refuse(format!("{length} bytes are too many for a schedule")));
    }
    let text = fs::read_to_string(path).map_err(|error| refuse(error.to_string()))?;
    trace(&text).map_err(refuse)
}

fn trace(text: &str) -> Result<Trace, String> {
    let times = |word: &str| word.split_once('*').map_or(Some(1), |(_, times)| times.parse().ok());
    let choices = text.split_whitespace().filter_map(times).fold(0, u64::saturating_add);
    if choices > MOST_CHOICES {
        return Err(format!("{choices} choices are more than a run has"));
    }
    text.parse().map_err(|error: InvalidTrace| error.to_string())
}

impl On {
    /// As the user types it.
    pub(crate) fn name(self) -> String {
        name_of(self)
    }
}
