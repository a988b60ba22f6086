//! `cantina sim trace`.

use super::machine::ChosenMachine;
use super::{name_of, seed as parse_seed, up_to, word};
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

/// The most threads: each has a lane of the page.
const MOST_THREADS: u32 = 32;
/// The most operations: a page of some 100,000 steps.
const MOST_OPERATIONS: u32 = 5_000;

/// Tasks of a chunk, unless another number is given: a strip that can be drawn, of more than one line.
const CHUNK: u32 = 8;
/// The largest chunk: a header counts in 16 bits.
const LARGEST_CHUNK: u32 = 65_535;

/// The height of a tree, unless another one is given: seven places.
const HEIGHT: u32 = 2;
/// The highest tree that can be drawn: 31 places.
const HIGHEST: u32 = 4;

/// The machine, unless another one is named.
const MACHINE: &str = "opteron-8x4";

/// What the simulator does besides experiments.
#[derive(Debug, Subcommand)]
pub(crate) enum SimCommand {
    /// Write a page that plays a simulated run step by step
    Trace(TraceArgs),
}

/// `cantina sim trace`.
#[derive(Args, Debug)]
pub(crate) struct TraceArgs {
    /// The pool or contender to watch: one that `cantina list` names, or rooms: three of them in one word (rooms), five that
    /// are counted (counted-rooms)
    #[arg(value_name = "POOL")]
    pub(crate) pool: String,
    /// How many threads work on it
    #[arg(long, value_name = "N", default_value_t = 4)]
    #[arg(value_parser = |text: &str| up_to(text, MOST_THREADS))]
    pub(crate) threads: u32,
    /// How many tasks are put and got, all threads together
    #[arg(long, value_name = "N", default_value_t = 30)]
    #[arg(value_parser = |text: &str| up_to(text, MOST_OPERATIONS))]
    pub(crate) ops: u32,
    /// Tasks of a chunk, in pools that have chunks
    #[arg(long, value_name = "N", default_value_t = CHUNK)]
    #[arg(value_parser = |text: &str| up_to(text, LARGEST_CHUNK))]
    pub(crate) chunk_size: u32,
    /// The height of the trees, in pools that have trees
    #[arg(long, value_name = "N", default_value_t = HEIGHT, value_parser = height)]
    pub(crate) height: u32,
    /// The page [default: trace.html, or the first of trace-2.html, trace-3.html and so on that is not there]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Whether that file may be replaced
    #[arg(long)]
    pub(crate) overwrite: bool,
    /// The machine: one that `cantina list` names, NODESxCORES such as 4x8, or a FILE.json that
    /// `cantina calibrate` has written
    #[arg(long, value_name = "NAME", default_value = MACHINE)]
    pub(crate) machine: ChosenMachine,
    /// What everything random is drawn from
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = parse_seed)]
    pub(crate) seed: u64,
    /// Who goes on
    #[arg(long, value_enum, default_value_t = ScheduleChoice::Cost)]
    pub(crate) schedule: ScheduleChoice,
    /// When others see a store; by cost there are always store buffers
    #[arg(long, value_enum, default_value_t = MemoryChoice::Tso)]
    pub(crate) memory: MemoryChoice,
}

/// How it is decided who goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScheduleChoice {
    /// Whoever is earliest, by what things cost on the machine.
    Cost,
    /// Anybody.
    Random,
}

/// What a thread sees of the stores of others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum MemoryChoice {
    /// They wait in store buffers, as on x86.
    Tso,
    /// All of them, at once.
    Sequential,
}

fn height(text: &str) -> Result<u32, String> {
    let number = text.parse().ok().filter(|height| *height <= HIGHEST);
    number.ok_or_else(|| format!("allowed: 0 to {HIGHEST}"))
}

impl TraceArgs {
    /// What to type for the same run again, without the file.
    pub(crate) fn command_line(&self) -> String {
        let Self { pool, threads, ops, machine, seed, schedule, memory, .. } = self;
        let Self { chunk_size, height, .. } = self;
        let mut line = format!("sim trace {pool} --threads {threads} --ops {ops} --seed {seed}");
        if *chunk_size != CHUNK {
            line += &format!(" --chunk-size {chunk_size}");
        }
        if *height != HEIGHT {
            line += &format!(" --height {height}");
        }
        // Without costs it still says how many processors and nodes there are.
        if machine.typed != MACHINE {
            line += &format!(" --machine {}", word(&machine.typed));
        }
        if *schedule == ScheduleChoice::Random {
            line += &format!(" --schedule random --memory {}", name_of(*memory));
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use super::SimCommand;
    use crate::args::{Command, CommandLine};
    use clap::Parser;

    fn again(words: &str) -> String {
        let line = ["cantina"].into_iter().chain(words.split_whitespace());
        let command = CommandLine::try_parse_from(line).unwrap().command;
        let Command::Sim(options) = command else { panic!("{command:?}") };
        let Some(SimCommand::Trace(args)) = options.instead else { panic!("{words}") };
        args.command_line()
    }

    #[test]
    fn a_run_can_be_repeated_by_its_command_line() {
        for words in [
            "sim trace salsa --threads 4 --ops 30 --seed 1",
            "sim trace cafe --threads 2 --ops 9 --seed 5 --chunk-size 4 --height 3 --machine 2x2",
            "sim trace salsa --threads 4 --ops 30 --seed 1 --schedule random --memory tso",
            "sim trace salsa --threads 4 --ops 30 --seed 1 --machine 2x2 --schedule random \
             --memory sequential",
        ] {
            assert_eq!(again(words), words);
        }
    }
}
