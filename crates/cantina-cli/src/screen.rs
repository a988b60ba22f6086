//! Standard output and stderr, which may be closed before everything is said.

use crate::failure::Failure;
use console::Term;
use std::io::{self, ErrorKind, Write};

/// Prints a text. That nobody reads on (`| head`) is no failure.
pub(crate) fn show(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    forgive(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
}

/// Turns the outcome of writing to standard output into the command's.
pub(crate) fn forgive(outcome: io::Result<()>) -> Result<(), Failure> {
    match outcome {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::Failed(format!("cannot write to standard output: {error}")))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

/// A line on stderr. That nobody listens is no failure.
pub(crate) fn warn(line: &str) {
    let _ = writeln!(io::stderr(), "warning: {line}");
}

/// How many characters fit in a line, if it is a terminal.
pub(crate) fn width() -> Option<usize> {
    let term = Term::stdout();
    if !term.is_term() {
        return None;
    }
    term.size_checked().map(|(_, columns)| usize::from(columns))
}
