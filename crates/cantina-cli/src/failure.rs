//! How a command ends when it does not end well.

use std::fmt;
use std::process::ExitCode;

/// Why a command stopped. Each is one line, without a full stop.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// What was asked for cannot be done; the text says what can.
    BadInput(String),
    /// What was run went wrong.
    Failed(String),
    /// Ctrl-C.
    Interrupted,
}

impl Failure {
    /// The exit code after Ctrl-C, as a shell counts it: 128 and the number of SIGINT.
    pub(crate) const INTERRUPTED: u8 = 130;

    /// What the shell gets to see.
    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Self::BadInput(_) => ExitCode::from(2),
            Self::Failed(_) => ExitCode::FAILURE,
            Self::Interrupted => ExitCode::from(Self::INTERRUPTED),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BadInput(line) | Self::Failed(line) => f.write_str(&one_line(line)),
            Self::Interrupted => f.write_str("interrupted: nothing was written"),
        }
    }
}

/// A text on one line, whatever names and paths it quotes.
fn one_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.replace(char::is_control, "\u{fffd}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_one_line() {
        let failure = Failure::BadInput("no `a\nb\x1b[2J`\n  allowed: c".into());
        assert_eq!(failure.to_string(), "no `a b\u{fffd}[2J` allowed: c");
    }
}
