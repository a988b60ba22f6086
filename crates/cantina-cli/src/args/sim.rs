//! `cantina sim`.

use super::machine::ChosenMachine;
use super::shape::{shape, square};
use super::{
    MOST_REPETITIONS, Out, SimCommand, distinct, distinct_experiments, experiment, up_to, word,
};
use crate::view::Experiment;
use cantina_record::Shape;
use cantina_sim::cost::Machine;
use clap::Args;
use std::path::PathBuf;

/// The most tasks of a simulated producer: every access to every one of them is simulated.
const MOST_SIMULATED_TASKS: u64 = 1_000_000;
/// The steps that a cell may take, if nothing else is said.
const STEPS: u64 = 5_000_000_000;
/// The megabytes that a simulated program may use, if nothing else is said.
const MEMORY: usize = 512;
/// The most.
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
    /// Where record.json and report.html go [default: cantina-out, or cantina-out-2 and so on where there are some]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Whether what is in that directory may be replaced
    #[arg(long)]
    overwrite: bool,
    /// Producers and consumers, such as 1P/1C,16P/16C,1P/31C
    #[arg(long = "shape", value_name = "SHAPE,...", value_delimiter = ',', value_parser = shape)]
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
    /// How many steps a cell may take from all its seeds: 5 billion are some minutes. What has not converged is run again with twice as
    /// many tasks, three times at most and while it stays within as many steps: with these a cell takes less than twice as many
    #[arg(long, value_name = "N", default_value_t = STEPS)]
    #[arg(value_parser = |text: &str| up_to(text, u64::MAX))]
    most_steps: u64,
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
    pub(crate) out: Out,
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
    /// How many steps a cell may take.
    pub(crate) most_steps: u64,
}

impl From<SimOptions> for SimArgs {
    fn from(typed: SimOptions) -> Self {
        Self {
            experiments: distinct_experiments(typed.experiments),
            machine: typed.machine,
            quick: typed.quick,
            out: Out { folder: typed.out, overwrite: typed.overwrite },
            shapes: distinct(typed.shapes.into_iter().chain(typed.threads)),
            pools: distinct(typed.pools),
            seeds: typed.seeds,
            tasks: typed.tasks,
            memory_limit: typed.memory_limit,
            most_steps: typed.most_steps,
        }
    }
}

impl SimArgs {
    /// The machine to simulate: the papers', unless another was named.
    pub(crate) fn machine(&self) -> Machine {
        self.machine.as_ref().map_or_else(Machine::default, |chosen| chosen.machine.clone())
    }

    /// What these words mean, typed behind `cantina sim`.
    #[cfg(test)]
    pub(crate) fn of_words(words: &str) -> Self {
        let line = ["cantina", "sim"].into_iter().chain(words.split_whitespace());
        match <super::CommandLine as clap::Parser>::try_parse_from(line).unwrap().command {
            super::Command::Sim(options) => (*options).into(),
            other => panic!("{other:?}"),
        }
    }

    /// What to type for the same run again, without the directory.
    pub(crate) fn command_line(&self) -> String {
        let mut words = vec!["sim".to_owned()];
        words.extend(self.experiments.iter().map(|experiment| experiment.name.to_owned()));
        match &self.machine {
            Some(chosen) => words.push(format!("--machine {}", word(&chosen.typed))),
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
        if self.memory_limit != MEMORY << 20 {
            words.push(format!("--memory-limit {}", self.memory_limit >> 20));
        }
        if self.most_steps != STEPS {
            words.push(format!("--most-steps {}", self.most_steps));
        }
        words.join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::SimArgs;
    #[test]
    fn a_run_can_be_repeated_by_its_command_line() {
        for words in [
            "sim throughput --machine opteron-8x4",
            "sim ratios --machine 2x4 --quick --shape 1P/7C --pools salsa,locked --seeds 3 --tasks 50 \
             --memory-limit 64 --most-steps 7",
        ] {
            let typed = words.strip_prefix("sim ").unwrap();
            assert_eq!(SimArgs::of_words(typed).command_line(), words);
        }
    }
}
