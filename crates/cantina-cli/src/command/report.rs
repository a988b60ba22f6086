//! `cantina report`: the page of a record, made again.

use super::{REPORT, experiments, show_tables};
use crate::args::ReportArgs;
use crate::export::Folder;
use crate::failure::Failure;
use crate::interrupt;
use crate::screen;
use crate::view;
use cantina_record::Record;
use std::fmt::Display;
use std::fs;
use std::path::Path;

/// Reads the record, prints its tables and writes its page.
pub(super) fn run(args: &ReportArgs) -> Result<(), Failure> {
    let shown = args.record.display();
    let refuse = |what: &dyn Display| {
        Failure::BadInput(format!("`{shown}`: {what}; allowed: a record.json that cantina wrote"))
    };
    let json = fs::read_to_string(&args.record).map_err(|error| refuse(&error))?;
    let record = Record::from_json(&json).map_err(|error| refuse(&error))?;
    let beside = args.record.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = args.out.as_deref().or(beside).unwrap_or(Path::new("."));
    interrupt::install()?;
    let folder = Folder::open(folder, &[REPORT])?;
    show_tables(&record)?;
    let written = folder.write(&[(REPORT, &view::page(&record, experiments()))])?;
    screen::show(&format!("Written: {}\n", written[0].display()))
}
