//! `cantina sim`.

use super::machine::ChosenMachine;
use super::shape::square;
use super::{
    MOST_REPETITIONS, Shape, SimCommand, distinct, distinct_experiments, experiment, up_to,
};
use crate::view::Experiment;
use cantina_sim::cost::Machine;
use clap::Args;
use std::path::PathBuf;

/// The most tasks of a simulated producer: every access to every one of them is simulated.
const MOST_SIMULATED_TASKS: u64 = 1_000_000;
/// The most megabytes that a simulated program may use.
const MOST_MEMORY: usize = 65_536;

/// `cantina sim`, as typed.
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct SimOptions {
    /// What to do instead
    #[command(subcommand)]
    pub(crate) instead: Option<SimCommand>,
    /// What to run
    #[arg(value_name = "EXPERIMENT", value_parser = experiment, required = true)]
    experiments: Vec<&'static Experiment>,
    /// The machine: one that `cantina list` names, NODESxCORES such as 4x8, or a FILE.json that
    /// `cantina calibrate` wrote [default: opteron-8x4; validate calibrates]
    #[arg(long, value_name = "NAME")]
    machine: Option<ChosenMachine>,
    /// Fewer shapes, tasks and seeds
    #[arg(long)]
    quick: bool,
    /// Where record.json and report.html go
    #[arg(long, value_name = "DIR", default_value = "cantina-out")]
    out: PathBuf,
    /// Producers and consumers, such as 1P/1C,16P/16C,1P/31C
    #[arg(long = "shape", value_name = "SHAPE,...", value_delimiter = ',')]
    shapes: Vec<Shape>,
    /// As many producers as consumers: 1,16 is short for --shape 1P/1C,16P/16C
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = square)]
    threads: Vec<Shape>,
    /// Only these pools and contenders
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pools: Vec<String>,
    /// From how many seeds each cell is run
    #[arg(long, value_name = "N", value_parser = |text: &str| up_to(text, u64::from(MOST_REPETITIONS)))]
    seeds: Option<u64>,
    /// How many tasks each producer puts
    #[arg(long, value_name = "N", value_parser = |text: &str| up_to(text, MOST_SIMULATED_TASKS))]
    tasks: Option<u64>,
    /// How many megabytes a simulated program may use
    #[arg(long, value_name = "MB", default_value = "512")]
    #[arg(value_parser = |text: &str| megabytes(text))]
    memory_limit: usize,
}

/// A count of megabytes, in bytes.
fn megabytes(text: &str) -> Result<usize, String> {
    match text.parse::<usize>() {
        Ok(count) if (1..=MOST_MEMORY).contains(&count) => Ok(count << 20),
        Ok(_) | Err(_) => Err(format!("allowed: 1 to {MOST_MEMORY}")),
    }
}

/// `cantina sim`, checked.
#[derive(Debug)]
pub(crate) struct SimArgs {
    /// What to run: at least one, none twice.
    pub(crate) experiments: Vec<&'static Experiment>,
    /// The machine to simulate, if it is not left to the experiment.
    pub(crate) machine: Option<ChosenMachine>,
    /// Whether it should be over soon.
    pub(crate) quick: bool,
    /// Where the files go.
    pub(crate) out: PathBuf,
    /// None twice; none at all leaves the choice to the experiment.
    pub(crate) shapes: Vec<Shape>,
    /// None twice; none at all means all of them.
    pub(crate) pools: Vec<String>,
    /// From how many seeds each cell is run, if it is not left to the experiment.
    pub(crate) seeds: Option<u64>,
    /// How many tasks each producer puts, if it is not left to the experiment.
    pub(crate) tasks: Option<u64>,
    /// How many bytes a simulated program may use.
    pub(crate) memory_limit: usize,
}

impl From<SimOptions> for SimArgs {
    fn from(typed: SimOptions) -> Self {
        Self {
            experiments: distinct_experiments(typed.experiments),
            machine: typed.machine,
            quick: typed.quick,
            out: typed.out,
            shapes: distinct(typed.shapes.into_iter().chain(typed.threads)),
            pools: distinct(typed.pools),
            seeds: typed.seeds,
            tasks: typed.tasks,
            memory_limit: typed.memory_limit,
        }
    }
}

impl SimArgs {
    /// The machine to simulate: the papers', unless another was named.
    pub(crate) fn machine(&self) -> Machine {
        self.machine.as_ref().map_or_else(Machine::default, |chosen| chosen.machine.clone())
    }

    /// What to type for the same run again, without the directory.
    pub(crate) fn command_line(&self) -> String {
        let mut words = vec!["sim".to_owned()];
        words.extend(self.experiments.iter().map(|experiment| experiment.name.to_owned()));
        match &self.machine {
            Some(chosen) => words.push(format!("--machine {}", chosen.typed)),
            None => words.push(format!("--machine {}", self.machine())),
        }
        if self.quick {
            words.push("--quick".to_owned());
        }
        let shapes: Vec<String> = self.shapes.iter().map(Shape::to_string).collect();
        for (option, values) in [("--shape", &shapes), ("--pools", &self.pools)] {
            if !values.is_empty() {
                words.push(format!("{option} {}", values.join(",")));
            }
        }
        for (option, count) in [("--seeds", self.seeds), ("--tasks", self.tasks)] {
            words.extend(count.map(|count| format!("{option} {count}")));
        }
        words.join(" ")
    }
}
