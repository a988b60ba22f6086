//! The command line: what may be asked, and errors of one line that say so.

mod bench;
mod calibrate;
mod check;
mod machine;
mod shape;
mod sim;
mod trace;

pub(crate) use bench::{AllocatorChoice, BenchArgs, BenchOptions, Pin};
pub(crate) use calibrate::CalibrateArgs;
pub(crate) use check::{CheckArgs, On};
pub(crate) use sim::{SimArgs, SimOptions};
pub(crate) use trace::{MemoryChoice, ScheduleChoice, SimCommand, TraceArgs};

use crate::command;
use crate::failure::Failure;
use crate::screen;
use crate::typo::did_you_mean;
use crate::view::Experiment;
use clap::error::ErrorKind;
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// What the bench types to run this program again.
pub(crate) const WORKER: &str = "bench-worker";

/// The most repetitions of a cell.
const MOST_REPETITIONS: u32 = 1_000;

#[derive(Debug, Parser)]
#[command(name = "cantina", version, about = "Task pools, measured and compared")]
#[command(subcommand_required = true, arg_required_else_help = false)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run experiments on this machine, print tables, write a record and a page with plots.
    Bench(BenchOptions),
    /// Run experiments on a simulated machine with many processors; same tables, record and page.
    Sim(Box<SimOptions>),
    /// Try to break the pools: random programs on real threads and on simulated schedules, judged.
    Check(CheckArgs),
    /// Measure this machine, fit a simulated one to it, and write that down.
    Calibrate(CalibrateArgs),
    /// Make the page of a record again.
    Report(ReportArgs),
    /// Compare two records: what changed by more than the noise. Exit code 1 when something got worse, 2 when nothing could be compared.
    Compare(CompareArgs),
    /// List pools, contenders, peers, experiments and machines.
    List,
    /// The bench's other half: this program again, with another allocator. Nobody types it, and no message names it.
    #[command(skip)]
    BenchWorker,
}

/// `cantina report`.
#[derive(Args, Debug)]
pub(crate) struct ReportArgs {
    /// A record.json
    #[arg(value_name = "RECORD")]
    pub(crate) record: PathBuf,
    /// Where report.html goes [default: beside the record; the page beside a record.json is its own, and made anew]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Whether another report.html may be replaced
    #[arg(long)]
    pub(crate) overwrite: bool,
}

/// `cantina compare`.
#[derive(Args, Debug)]
pub(crate) struct CompareArgs {
    /// The record.json to compare with
    #[arg(value_name = "OLD")]
    pub(crate) old: PathBuf,
    /// The record.json to compare
    #[arg(value_name = "NEW")]
    pub(crate) new: PathBuf,
    /// How it is told: table leaves out what is the same
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(crate) format: Format,
}

/// How a comparison is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For reading.
    Table,
    /// A line for each value.
    Csv,
    /// An array with an object for each value.
    Json,
}

/// Where the files of a run go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Out {
    /// Which folder, if it was said.
    pub(crate) folder: Option<PathBuf>,
    /// Whether files of an earlier run may be replaced.
    pub(crate) overwrite: bool,
}

/// Reads the command line. `None` when only help was wanted, and given.
pub(crate) fn parse() -> Result<Option<Command>, Failure> {
    if std::env::args_os().skip(1).eq([WORKER]) {
        return Ok(Some(Command::BenchWorker));
    }
    match CommandLine::try_parse() {
        Ok(line) => Ok(Some(line.command)),
        // Nothing at all was typed.
        Err(error) if error.kind() == ErrorKind::MissingSubcommand => {
            screen::show(&CommandLine::command().render_help().to_string())?;
            Ok(None)
        }
        Err(error)
            if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) =>
        {
            screen::forgive(error.print())?;
            Ok(None)
        }
        Err(error) => {
            let line = condense(&error.render().to_string());
            let allowed = allowed(error.kind()).map(|names| format!("; allowed: {names}"));
            Err(Failure::BadInput(format!("{line}{}", allowed.unwrap_or_default())))
        }
    }
}

/// clap's error without the usage, on one line.
fn condense(rendered: &str) -> String {
    let lines = rendered.lines().map(str::trim).filter(|line| !line.is_empty());
    let told =
        lines.take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more"));
    let line = told.collect::<Vec<_>>().join(" ").replace(" tip: ", "; ");
    line.strip_prefix("error: ").unwrap_or(&line).to_owned()
}

/// What may be typed, where clap does not say so itself.
fn allowed(error: ErrorKind) -> Option<String> {
    let program = CommandLine::command();
    let typed = |at: usize| std::env::args_os().nth(at).unwrap_or_default();
    match error {
        ErrorKind::InvalidSubcommand => {
            let names = program.get_subcommands().map(clap::Command::get_name);
            Some(names.collect::<Vec<_>>().join(", "))
        }
        ErrorKind::UnknownArgument => {
            let command = program.find_subcommand(typed(1)).unwrap_or(&program);
            let command = command.find_subcommand(typed(2)).unwrap_or(command);
            let names = command.get_arguments().map(|argument| match argument.get_long() {
                Some(long) => format!("--{long}"),
                None => argument.get_id().as_str().to_uppercase(),
            });
            Some(names.chain(["--help".to_owned()]).collect::<Vec<_>>().join(", "))
        }
        ErrorKind::InvalidUtf8 => Some("any bytes in paths, UTF-8 elsewhere".to_owned()),
        _ => None,
    }
}

/// A count from 1 to `most`.
fn up_to<N: FromStr + From<u8> + PartialOrd + fmt::Display>(
    text: &str,
    most: N,
) -> Result<N, String> {
    match text.parse::<N>() {
        Ok(count) if count >= N::from(1) && count <= most => Ok(count),
        Ok(_) | Err(_) => Err(format!("allowed: 1 to {most}")),
    }
}

/// What everything random is drawn from.
fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("allowed: 0 to {}", u64::MAX))
}

/// Any experiment.
fn experiment(name: &str) -> Result<&'static Experiment, String> {
    find(name, |_| true)
}

/// One that runs on the real machine.
fn benched_experiment(name: &str) -> Result<&'static Experiment, String> {
    find(name, |experiment| experiment.benched)
}

fn find(name: &str, fits: fn(&Experiment) -> bool) -> Result<&'static Experiment, String> {
    let all: Vec<_> = command::experiments().iter().filter(|each| fits(each)).collect();
    all.iter().find(|experiment| experiment.name == name).copied().ok_or_else(|| {
        let names: Vec<&str> = all.iter().map(|experiment| experiment.name).collect();
        let is_known = command::experiments().iter().any(|experiment| experiment.name == name);
        let what = match is_known {
            true => "an experiment of the simulated machine, for `cantina sim`".to_owned(),
            false => format!("no such experiment{}", did_you_mean(name, &names)),
        };
        format!("{what}; allowed: {}", names.join(", "))
    })
}

/// The experiments that were named, none twice.
fn distinct_experiments(named: Vec<&'static Experiment>) -> Vec<&'static Experiment> {
    let mut experiments: Vec<&'static Experiment> = Vec::new();
    for experiment in named {
        if experiments.iter().all(|known| known.name != experiment.name) {
            experiments.push(experiment);
        }
    }
    experiments
}

/// The first of each, in order.
fn distinct<T: PartialEq>(values: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut distinct = Vec::new();
    for value in values {
        if !distinct.contains(&value) {
            distinct.push(value);
        }
    }
    distinct
}

/// A word of a command line, as a shell takes it for one.
fn word(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,+@%".contains(c);
    match !text.is_empty() && text.chars().all(is_plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

/// A choice as the user types it.
fn name_of(choice: impl ValueEnum) -> String {
    choice.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}

#[cfg(test)]
mod tests {
    use super::{CommandLine, word};
    use clap::CommandFactory;

    #[test]
    fn a_word_of_a_command_line_stays_one() {
        for plain in ["opteron-8x4", "a/b_c.json", "4x8"] {
            assert_eq!(word(plain), plain);
        }
        let cases = [
            ("", "''"),
            ("my machine.json", "'my machine.json'"),
            ("it's.json", r"'it'\''s.json'"),
            ("$HOME/*.json", "'$HOME/*.json'"),
            ("~/m.json", "'~/m.json'"),
        ];
        for (typed, expected) in cases {
            assert_eq!(word(typed), expected);
        }
    }

    #[test]
    fn the_command_line_is_consistent() {
        CommandLine::command().debug_assert();
    }
}
