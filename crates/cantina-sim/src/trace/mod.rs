//! Traces: the choices of a run, to print and to replay; and logs: what came of them.
//!
//! A [`Trace`] is short and replays. A [`Log`] is long and tells: every access with the value that was
//! read or written. See [`Simulation::log`](crate::engine::Simulation::log). An [`Excerpt`] is the part
//! of a log where threads meet, in lanes. A pool can say what its words are ([`structure`], [`node`],
//! [`part`], [`row`]): that goes into the log too.

mod describe;
mod excerpt;
mod log;

pub use describe::{Description, Role, contents, gone, node, part, row, structure};
pub use excerpt::Excerpt;
pub use log::{Event, Log, What, WordId};

use crate::engine::current;
use std::fmt;
use std::str::FromStr;

/// Puts `text` into the log, if there is one.
pub fn note(text: &str) {
    current::note(text);
}

/// Calls `value` by `name` in the log, if there is one, for as long as it lies where it does.
pub fn name<T>(value: &T, name: &str) {
    current::name((&raw const *value) as usize, size_of::<T>(), name);
}

/// Where a thread sits while it is alive. The scenario has slot 0; a slot is free again when its
/// thread has ended.
pub type Slot = u16;

/// One choice of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Choice {
    /// The thread in this slot takes a step.
    Run(Slot),
    /// The oldest store in the buffer of the thread in this slot becomes visible.
    Commit(Slot),
    /// The next deadline comes.
    Deadline,
}

/// The choices of a run, in order: those where there was more than one possibility.
///
/// Printed, it is a line of words: `3` is a step of the thread in slot 3, `c3` a store of its that
/// becomes visible, `t` a deadline, and `3*5` five times `3`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace(Vec<Choice>);

/// A text that is no trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidTrace(String);

impl Trace {
    /// The choices, in order.
    pub fn choices(&self) -> &[Choice] {
        &self.0
    }

    pub(crate) fn push(&mut self, choice: Choice) {
        self.0.push(choice);
    }
}

impl FromIterator<Choice> for Trace {
    fn from_iter<I: IntoIterator<Item = Choice>>(choices: I) -> Self {
        Self(choices.into_iter().collect())
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Run(slot) => write!(f, "{slot}"),
            Self::Commit(slot) => write!(f, "c{slot}"),
            Self::Deadline => f.write_str("t"),
        }
    }
}

impl FromStr for Choice {
    type Err = InvalidTrace;

    fn from_str(word: &str) -> Result<Self, InvalidTrace> {
        let slot = |digits: &str| digits.parse().map_err(|_| InvalidTrace(word.to_owned()));
        match word.strip_prefix('c') {
            _ if word == "t" => Ok(Self::Deadline),
            Some(digits) => slot(digits).map(Self::Commit),
            None => slot(word).map(Self::Run),
        }
    }
}

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, run) in self.0.chunk_by(|a, b| a == b).enumerate() {
            let space = if index == 0 { "" } else { " " };
            match run.len() {
                1 => write!(f, "{space}{}", run[0])?,
                times => write!(f, "{space}{}*{times}", run[0])?,
            }
        }
        Ok(())
    }
}

impl FromStr for Trace {
    type Err = InvalidTrace;

    fn from_str(text: &str) -> Result<Self, InvalidTrace> {
        let mut choices = Vec::new();
        for word in text.split_whitespace() {
            let (choice, times) = word.split_once('*').unwrap_or((word, "1"));
            let times = times.parse().map_err(|_| InvalidTrace(word.to_owned()))?;
            choices.extend(std::iter::repeat_n(choice.parse::<Choice>()?, times));
        }
        Ok(Self(choices))
    }
}

impl fmt::Display for InvalidTrace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not a choice of a schedule: {:?}", self.0)
    }
}

impl std::error::Error for InvalidTrace {}

#[cfg(test)]
mod tests {
    use super::{Choice, Trace};

    #[test]
    fn a_printed_trace_reads_back() {
        let runs = [0, 0, 0, 2].map(Choice::Run);
        let rest = [Choice::Commit(2), Choice::Commit(2), Choice::Deadline];
        let trace: Trace = runs.into_iter().chain(rest).collect();
        assert_eq!(trace.to_string(), "0*3 2 c2*2 t");
        assert_eq!(trace.to_string().parse(), Ok(trace));
        assert_eq!("".parse(), Ok(Trace::default()));
    }

    #[test]
    fn nonsense_is_refused() {
        let error = "0*3 x".parse::<Trace>().unwrap_err();
        assert_eq!(error.to_string(), "not a choice of a schedule: \"x\"");
        for text in ["0*y", "70000", "c", "tt", "-1"] {
            assert!(text.parse::<Trace>().is_err(), "{text}");
        }
    }
}
