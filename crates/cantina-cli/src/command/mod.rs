//! What the program can do, one command per file, and what they share: tables, record, page.

mod allowed;
pub(crate) mod bench;
mod calibrate;
mod check;
mod compare;
mod declared;
mod list;
mod report;
mod sim;
mod trace;

use crate::allocator;
use crate::args::{BenchArgs, Command, SimArgs, SimCommand};
use crate::export::Folder;
use crate::failure::Failure;
use crate::interrupt;
use crate::screen;
use crate::surroundings;
use crate::view::{self, Experiment};
use cantina_record::Record;

/// The files of a run.
const RECORD: &str = "record.json";
const REPORT: &str = "report.html";

/// Does what was asked for.
pub(crate) fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::Bench(options) => run_bench(&BenchArgs::from(options)),
        Command::Sim(options) => match options.instead {
            Some(SimCommand::Trace(args)) => trace::run(&args),
            None => run_sim(&SimArgs::from(*options)),
        },
        Command::Calibrate(args) => calibrate::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::List => list::run(),
        Command::BenchWorker => {
            interrupt::install_silently()?;
            bench::worker()
        }
    }
}

/// The experiments there are, the default one first.
pub(crate) fn experiments() -> &'static [Experiment] {
    &declared::EXPERIMENTS
}

fn run_bench(args: &BenchArgs) -> Result<(), Failure> {
    let plan = bench::plan(args).map_err(Failure::BadInput)?;
    interrupt::install()?;
    let folder = Folder::of_run(&args.out, &[RECORD, REPORT])?;
    if cfg!(debug_assertions) {
        screen::warn("a debug build: its numbers say nothing, run it with --release");
    }
    let rows = bench::measure(&plan)?;
    let record = Record {
        machine: surroundings::facts()
            .with("allocators", allocator::describe())
            .with("command", args.command_line()),
        commit: surroundings::commit().to_owned(),
        rows,
    };
    publish(&record, &folder)
}

fn run_sim(args: &SimArgs) -> Result<(), Failure> {
    if args.experiments.iter().any(|experiment| experiment.name == sim::validate::NAME) {
        return run_validate(args);
    }
    let plan = sim::plan(args)?;
    interrupt::install()?;
    let folder = Folder::of_run(&args.out, &[RECORD, REPORT])?;
    publish(&sim::run(&plan)?, &folder)
}

/// Publishes what was found, whatever it is, and fails if the machines do not agree.
fn run_validate(args: &SimArgs) -> Result<(), Failure> {
    let plan = sim::validate::plan(args)?;
    interrupt::install()?;
    let folder = Folder::of_run(&args.out, &[RECORD, REPORT])?;
    if cfg!(debug_assertions) {
        screen::warn("a debug build: its numbers say nothing, run it with --release");
    }
    let (record, verdict) = sim::validate::run(&plan)?;
    publish(&record, &folder)?;
    screen::show(&verdict.to_string())?;
    verdict.judge()
}

/// Writes the record and the page, and prints the tables: that nobody can read them loses nothing.
fn publish(record: &Record, folder: &Folder) -> Result<(), Failure> {
    let json = record.to_json().map_err(|error| Failure::Failed(error.to_string()))?;
    let page = view::page(record, experiments());
    let written = folder.write(&[(RECORD, &json), (REPORT, &page)])?;
    show_tables(record)?;
    let written: Vec<String> = written.iter().map(|path| path.display().to_string()).collect();
    screen::show(&format!("Written: {}\n", written.join(", ")))
}

/// Prints the tables of every experiment that the record has rows of.
fn show_tables(record: &Record) -> Result<(), Failure> {
    let width = screen::width();
    let tables = experiments().iter().map(|each| view::tables(each, &record.rows, width));
    screen::show(&(tables.collect::<String>() + &view::caveat(&record.rows)))
}
