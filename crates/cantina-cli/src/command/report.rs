//! `cantina report`: the page of a record, made again.

use super::{RECORD, REPORT, experiments, show_tables};
use crate::args::ReportArgs;
use crate::export::Folder;
use crate::failure::Failure;
use crate::interrupt;
use crate::screen;
use crate::view;
use cantina_lab::experiment::per_thousand;
use cantina_record::Record;
use std::fmt::Display;
use std::fs;
use std::path::Path;

/// The record in a file.
pub(super) fn read(path: &Path) -> Result<Record, Failure> {
    let shown = path.display();
    let refuse = |what: &dyn Display| {
        Failure::BadInput(format!("`{shown}`: {what}; allowed: a record.json that cantina wrote"))
    };
    let json = fs::read_to_string(path).map_err(|error| refuse(&error))?;
    let record = Record::from_json(&json).map_err(|error| refuse(&error))?;
    // An older record has only the steals of whole runs.
    let rows = record.rows.into_iter().map(per_thousand).collect();
    Ok(Record { rows, ..record })
}

/// Reads the record, prints its tables and writes its page.
pub(super) fn run(args: &ReportArgs) -> Result<(), Failure> {
    let record = read(&args.record)?;
    let beside = args.record.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = args.out.as_deref().or(beside).unwrap_or(Path::new("."));
    interrupt::install()?;
    // The page beside a record.json is made of it, and nothing is lost with an old one. Any other may be another record's.
    let is_own = args.out.is_none() && args.record.file_name() == Some(RECORD.as_ref());
    let folder = Folder::open(folder, &[REPORT], is_own || args.overwrite)?;
    show_tables(&record)?;
    let written = folder.write(&[(REPORT, &view::page(&record, experiments()))])?;
    screen::show(&format!("Written: {}\n", written[0].display()))
}
