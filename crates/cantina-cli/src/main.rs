//! The program `cantina`.
//!
//! Exit codes: 0 when all went well, 1 when what was run failed, 2 for bad input, 130 after Ctrl-C.

mod allocator;
mod args;
mod calibrate;
mod command;
mod export;
mod failure;
mod interrupt;
mod peer;
mod screen;
mod surroundings;
mod typo;
mod view;

use failure::Failure;
use std::io::Write;
use std::process::ExitCode;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure @ Failure::Interrupted) => {
            interrupt::tell();
            failure.exit_code()
        }
        Err(failure) => {
            // Where nobody listens the exit code still tells.
            let _ = writeln!(std::io::stderr(), "error: {failure}");
            failure.exit_code()
        }
    }
}

fn run() -> Result<(), Failure> {
    match args::parse()? {
        Some(command) => command::run(command),
        None => Ok(()),
    }
}
