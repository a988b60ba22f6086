//! What the program can do, one command per file, and what they share: tables, record, page.

pub(crate) mod bench;
mod check;
mod list;
mod report;
mod sim;

use crate::allocator;
use crate::args::{BenchArgs, Command, SimArgs};
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
        Command::Sim(options) => run_sim(&SimArgs::from(*options)),
        Command::Check(args) => check::run(&args),
        Command::Report(args) => report::run(&args),
        Command::List => list::run(),
        Command::BenchWorker => {
            interrupt::install()?;
            bench::worker()
        }
    }
}

/// The experiments there are, the default one first.
pub(crate) fn experiments() -> &'static [Experiment] {
    bench::experiments()
}

fn run_bench(args: &BenchArgs) -> Result<(), Failure> {
    let plan = bench::plan(args).map_err(Failure::BadInput)?;
    interrupt::install()?;
    let folder = Folder::open(&args.out, &[RECORD, REPORT])?;
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
    let plan = sim::plan(args)?;
    interrupt::install()?;
    let folder = Folder::open(&args.out, &[RECORD, REPORT])?;
    publish(&sim::run(&plan)?, &folder)
}

/// Prints the tables, writes the record and the page.
fn publish(record: &Record, folder: &Folder) -> Result<(), Failure> {
    let json = record.to_json().map_err(|error| Failure::Failed(error.to_string()))?;
    show_tables(record)?;
    let page = view::page(record, experiments());
    let written = folder.write(&[(RECORD, &json), (REPORT, &page)])?;
    let written: Vec<String> = written.iter().map(|path| path.display().to_string()).collect();
    screen::show(&format!("Written: {}\n", written.join(", ")))
}

/// Prints the tables of every experiment that the record has rows of.
fn show_tables(record: &Record) -> Result<(), Failure> {
    let width = screen::width();
    let tables = experiments().iter().map(|each| view::tables(each, &record.rows, width));
    screen::show(&tables.collect::<String>())
}
