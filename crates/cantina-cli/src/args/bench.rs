//! `cantina bench`.

use super::shape::{shape, square};
use super::{
    MOST_REPETITIONS, Out, benched_experiment, distinct, distinct_experiments, name_of, up_to,
};
use crate::command;
use crate::view::Experiment;
use cantina_record::Shape;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// The most tasks of a run. They may all be in the pool at once.
const MOST_TASKS: u64 = 100_000_000;
/// The sizes of a task, in bytes, that there are.
const PAYLOADS: [u64; 2] = [8, 64];

/// `cantina bench`, as typed.
#[derive(Args, Debug)]
#[command(
    after_help = "Rows are of a regime: how far from each other the first two cores are that the program may use, near up to 45 ns for a \
    word from one to the other, or far. Where there are more than two, it says nothing of the others."
)]
pub(crate) struct BenchOptions {
    /// What to run; `cantina list` names all [default: throughput]
    #[arg(value_name = "EXPERIMENT", value_parser = benched_experiment)]
    experiments: Vec<&'static Experiment>,
    /// Fewer shapes, repetitions and peers: about two minutes
    #[arg(long)]
    quick: bool,
    /// Where record.json and report.html go [default: cantina-out, or cantina-out-2 and so on where there are some]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Whether what is in that directory may be replaced
    #[arg(long)]
    overwrite: bool,
    /// Producers and consumers, such as 1P/1C,2P/2C,1P/3C
    #[arg(long = "shape", value_name = "SHAPE,...", value_delimiter = ',', value_parser = shape)]
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
    pub(crate) out: Out,
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

fn payload(bytes: &str) -> Result<u64, String> {
    let bytes = bytes.parse().ok().filter(|bytes| PAYLOADS.contains(bytes));
    bytes.ok_or_else(|| format!("allowed: {}", PAYLOADS.map(|bytes| bytes.to_string()).join(", ")))
}

impl From<BenchOptions> for BenchArgs {
    fn from(typed: BenchOptions) -> Self {
        let mut experiments = distinct_experiments(typed.experiments);
        if experiments.is_empty() {
            experiments.extend(command::experiments().first());
        }
        Self {
            experiments,
            quick: typed.quick,
            out: Out { folder: typed.out, overwrite: typed.overwrite },
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Command, CommandLine};
    use clap::Parser;

    fn bench(words: &[&str]) -> BenchArgs {
        let line = ["cantina", "bench"].iter().chain(words);
        match CommandLine::try_parse_from(line).unwrap().command {
            Command::Bench(options) => options.into(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn without_a_name_the_first_experiment_is_run() {
        let args = bench(&[]);
        assert_eq!(args.command_line(), "bench throughput");
        assert_eq!(args.out, Out { folder: None, overwrite: false });
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
}
