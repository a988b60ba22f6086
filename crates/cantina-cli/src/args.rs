//! The command line: what may be asked, and errors of one line that say so.

use crate::command;
use crate::failure::Failure;
use crate::screen;
use crate::view::Experiment;
use clap::error::ErrorKind;
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// The most producers, and the most consumers, that a shape may have.
const MOST_THREADS: u32 = 256;
/// The most tasks of a run. They may all be in the pool at once.
const MOST_TASKS: u64 = 100_000_000;
/// The most repetitions of a cell.
const MOST_REPETITIONS: u32 = 1_000;

/// The longest that checks may take: a day.
const MOST_SECONDS: u64 = 86_400;

/// The sizes of a task, in bytes, that there are.
const PAYLOADS: [u64; 2] = [8, 64];

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
    /// Try to break the pools: random programs on real threads and on simulated schedules, judged.
    Check(CheckArgs),
    /// Make the page of a record again.
    Report(ReportArgs),
    /// List pools, contenders, peers, experiments and machines.
    List,
    /// The bench's other half: this program again, with another allocator.
    #[command(hide = true)]
    BenchWorker,
}

/// `cantina bench`, as typed.
#[derive(Args, Debug)]
pub(crate) struct BenchOptions {
    /// What to run; `cantina list` names all [default: throughput]
    #[arg(value_name = "EXPERIMENT", value_parser = experiment)]
    experiments: Vec<&'static Experiment>,
    /// Fewer shapes, repetitions and peers: about a minute and a half
    #[arg(long)]
    quick: bool,
    /// Where record.json and report.html go
    #[arg(long, value_name = "DIR", default_value = "cantina-out")]
    out: PathBuf,
    /// Producers and consumers, such as 1P/1C,2P/2C,1P/3C
    #[arg(long = "shape", value_name = "SHAPE,...", value_delimiter = ',')]
    shapes: Vec<Shape>,
    /// As many producers as consumers: 1,2,4 is short for --shape 1P/1C,2P/2C,4P/4C
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = square)]
    threads: Vec<Shape>,
    /// Only these pools, contenders and peers
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pools: Vec<String>,
    /// How often each cell is measured
    #[arg(long, value_name = "N", value_parser = |text: &str| up_to(text, MOST_REPETITIONS))]
    repetitions: Option<u32>,
    /// How many tasks go through the pool in a run
    #[arg(long, value_name = "N", value_parser = |text: &str| up_to(text, MOST_TASKS))]
    tasks: Option<u64>,
    /// How many bytes a task has: 8, 64 or 8,64
    #[arg(long = "payload", value_name = "BYTES,...", value_delimiter = ',', value_parser = payload)]
    payloads: Vec<u64>,
    /// Threads stay on a core: auto where each has one of its own
    #[arg(long, value_enum, default_value_t = Pin::Auto)]
    pin: Pin,
    /// Which allocator the pools get
    #[arg(long, value_enum, default_value_t = AllocatorChoice::Both)]
    allocator: AllocatorChoice,
}

/// `cantina bench`, checked.
#[derive(Debug)]
pub(crate) struct BenchArgs {
    /// What to run: at least one, none twice.
    pub(crate) experiments: Vec<&'static Experiment>,
    /// Whether it should be over soon.
    pub(crate) quick: bool,
    /// Where the files go.
    pub(crate) out: PathBuf,
    /// None twice; none at all leaves the choice to the experiment.
    pub(crate) shapes: Vec<Shape>,
    /// None twice; none at all means all of them.
    pub(crate) pools: Vec<String>,
    /// How often each cell is measured, if it is not left to the experiment.
    pub(crate) repetitions: Option<u32>,
    /// How many tasks go through the pool in a run, if it is not left to the experiment.
    pub(crate) tasks: Option<u64>,
    /// How many bytes a task has. None twice; none at all leaves the choice to the experiment.
    pub(crate) payloads: Vec<u64>,
    /// Whether threads stay on a core.
    pub(crate) pin: Pin,
    /// Which allocator the pools get.
    pub(crate) allocator: AllocatorChoice,
}

/// `cantina report`.
#[derive(Args, Debug)]
pub(crate) struct ReportArgs {
    /// A record.json
    #[arg(value_name = "RECORD")]
    pub(crate) record: PathBuf,
    /// Where report.html goes [default: beside the record]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

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
}

/// A machine that checks run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum On {
    /// Real threads.
    Real,
    /// Simulated schedules.
    Sim,
}

/// Whether threads stay on a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Pin {
    /// Where there are cores enough for it.
    Auto,
    /// In every run.
    Always,
    /// In none.
    Never,
}

/// Which allocator the pools get.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AllocatorChoice {
    /// The system's.
    System,
    /// mimalloc.
    Mimalloc,
    /// One after the other.
    Both,
}

/// How many threads put and how many get. Written `2P/1C`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    /// How many put, at least one.
    pub(crate) producers: u32,
    /// How many get, at least one.
    pub(crate) consumers: u32,
}

/// Reads the command line. `None` when only help was wanted, and given.
pub(crate) fn parse() -> Result<Option<Command>, Failure> {
    match CommandLine::try_parse() {
        Ok(line) => Ok(Some(line.command)),
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
    let typed = std::env::args().nth(1).unwrap_or_default();
    match error {
        ErrorKind::InvalidSubcommand => {
            let shown = program.get_subcommands().filter(|command| !command.is_hide_set());
            Some(shown.map(clap::Command::get_name).collect::<Vec<_>>().join(", "))
        }
        ErrorKind::UnknownArgument => {
            let command = program.find_subcommand(&typed).unwrap_or(&program);
            let names = command.get_arguments().map(|argument| match argument.get_long() {
                Some(long) => format!("--{long}"),
                None => argument.get_id().as_str().to_uppercase(),
            });
            Some(names.chain(["--help".to_owned()]).collect::<Vec<_>>().join(", "))
        }
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

fn experiment(name: &str) -> Result<&'static Experiment, String> {
    let all = command::experiments();
    all.iter().find(|experiment| experiment.name == name).ok_or_else(|| {
        let names: Vec<&str> = all.iter().map(|experiment| experiment.name).collect();
        format!("no such experiment; allowed: {}", names.join(", "))
    })
}

fn payload(bytes: &str) -> Result<u64, String> {
    let bytes = bytes.parse().ok().filter(|bytes| PAYLOADS.contains(bytes));
    bytes.ok_or_else(|| format!("allowed: {}", PAYLOADS.map(|bytes| bytes.to_string()).join(", ")))
}

fn square(threads: &str) -> Result<Shape, String> {
    match up_to(threads, MOST_THREADS) {
        Ok(threads) => Ok(Shape { producers: threads, consumers: threads }),
        Err(allowed) => Err(format!("{allowed} producers, and as many consumers")),
    }
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

impl From<BenchOptions> for BenchArgs {
    fn from(typed: BenchOptions) -> Self {
        let mut experiments: Vec<&'static Experiment> = Vec::new();
        for experiment in typed.experiments {
            if experiments.iter().all(|known| known.name != experiment.name) {
                experiments.push(experiment);
            }
        }
        if experiments.is_empty() {
            experiments.extend(command::experiments().first());
        }
        Self {
            experiments,
            quick: typed.quick,
            out: typed.out,
            shapes: distinct(typed.shapes.into_iter().chain(typed.threads)),
            pools: distinct(typed.pools),
            repetitions: typed.repetitions,
            tasks: typed.tasks,
            payloads: distinct(typed.payloads),
            pin: typed.pin,
            allocator: typed.allocator,
        }
    }
}

impl BenchArgs {
    /// What to type for the same run again, without the directory.
    pub(crate) fn command_line(&self) -> String {
        let mut words = vec!["bench".to_owned()];
        words.extend(self.experiments.iter().map(|experiment| experiment.name.to_owned()));
        if self.quick {
            words.push("--quick".to_owned());
        }
        let shapes: Vec<String> = self.shapes.iter().map(Shape::to_string).collect();
        let payloads: Vec<String> = self.payloads.iter().map(u64::to_string).collect();
        let lists = [("--shape", &shapes), ("--pools", &self.pools), ("--payload", &payloads)];
        for (option, values) in lists {
            if !values.is_empty() {
                words.push(format!("{option} {}", values.join(",")));
            }
        }
        let counts = [("--repetitions", self.repetitions.map(u64::from)), ("--tasks", self.tasks)];
        for (option, count) in counts {
            words.extend(count.map(|count| format!("{option} {count}")));
        }
        if self.pin != Pin::Auto {
            words.push(format!("--pin {}", name_of(self.pin)));
        }
        if self.allocator != AllocatorChoice::Both {
            words.push(format!("--allocator {}", name_of(self.allocator)));
        }
        words.join(" ")
    }
}

/// A choice as the user types it.
fn name_of(choice: impl ValueEnum) -> String {
    choice.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}

impl On {
    /// As the user types it.
    pub(crate) fn name(self) -> String {
        name_of(self)
    }
}

impl FromStr for Shape {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parse = || {
            let text = text.to_ascii_uppercase();
            let (producers, consumers) = text.strip_suffix('C')?.split_once("P/")?;
            let count = |digits| up_to(digits, MOST_THREADS).ok();
            Some(Self { producers: count(producers)?, consumers: count(consumers)? })
        };
        parse().ok_or_else(|| {
            format!("allowed: 1P/1C to {MOST_THREADS}P/{MOST_THREADS}C, at least one of each")
        })
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}P/{}C", self.producers, self.consumers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bench(words: &[&str]) -> BenchArgs {
        let line = ["cantina", "bench"].iter().chain(words);
        match CommandLine::try_parse_from(line).unwrap().command {
            Command::Bench(options) => options.into(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_command_line_is_consistent() {
        CommandLine::command().debug_assert();
    }

    #[test]
    fn without_a_name_the_first_experiment_is_run() {
        let args = bench(&[]);
        assert_eq!(args.command_line(), "bench throughput");
        assert_eq!(args.out, PathBuf::from("cantina-out"));
        assert_eq!((args.pin, args.allocator), (Pin::Auto, AllocatorChoice::Both));
    }

    #[test]
    fn what_is_named_twice_is_run_once() {
        let args =
            bench(&["throughput", "throughput", "--shape", "1P/1C,2p/3c", "--threads", "1,4"]);
        let shapes: Vec<String> = args.shapes.iter().map(Shape::to_string).collect();
        assert_eq!(shapes, ["1P/1C", "2P/3C", "4P/4C"]);
        assert_eq!(args.experiments.len(), 1);
    }

    #[test]
    fn a_run_can_be_repeated_by_its_command_line() {
        let words = "throughput --quick --shape 1P/1C,16P/2C --pools locked,rtrb --payload 64 \
                     --repetitions 3 --tasks 1000 --pin never --allocator system";
        let args = bench(&words.split_whitespace().collect::<Vec<_>>());
        assert_eq!(args.command_line(), format!("bench {words}"));
    }

    #[test]
    fn shapes_have_at_least_one_thread_of_each_kind_and_not_too_many() {
        for text in
            ["", "2", "0P/1C", "1P/0C", "257P/1C", "1P/257C", "1C/1P", "-1P/1C", "1P/1C/1C", "1P1C"]
        {
            assert!(text.parse::<Shape>().is_err(), "{text}");
        }
        assert_eq!("256P/1c".parse(), Ok(Shape { producers: 256, consumers: 1 }));
    }
}
