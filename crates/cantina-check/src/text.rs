//! Histories as text, one operation per line.
//!
//! ```text
//! # thread, start..end, call, answer
//! t0 1..5 put 7
//! t0 6..7 put 8 full
//! t1 2..4 get 7
//! t1 5..9 get empty
//! t2 3.. put 9            # pending: no end
//! t3 3.. get              # pending
//! t3 3.. get up to 4      # pending, each task by itself
//! t0 8..9 put [1 2 3]     # atomic
//! t0 8..9 put [4 5] full 6
//! t1 8..9 get [1 2]
//! t1 10.. get [up to 3]
//! ```
//!
//! What follows a `#` is a comment, and empty lines say nothing.

use crate::history::{Action, History, Item, Malformed, Operation};
use std::error::Error;
use std::fmt;
use std::str::FromStr;

/// Why a text is no history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParseError {
    /// A line that is no operation: its number, from 1, and the line.
    Line(usize, String),
    /// Operations that are no history.
    Malformed(Malformed),
}

impl FromStr for History {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let mut operations = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let said = line.split('#').next().unwrap_or_default().trim();
            if !said.is_empty() {
                let operation = operation(said)
                    .ok_or_else(|| ParseError::Line(index + 1, line.trim().to_owned()))?;
                operations.push(operation);
            }
        }
        Self::new(operations).map_err(ParseError::Malformed)
    }
}

fn operation(line: &str) -> Option<Operation> {
    let (thread, line) = line.split_once(char::is_whitespace)?;
    let (interval, line) = line.trim_start().split_once(char::is_whitespace)?;
    let (start, end) = interval.split_once("..")?;
    let end = if end.is_empty() { None } else { Some(end.parse().ok()?) };
    Some(Operation {
        thread: thread.strip_prefix('t')?.parse().ok()?,
        start: start.parse().ok()?,
        end,
        action: action(line)?,
    })
}

fn action(text: &str) -> Option<Action> {
    let spaced = text.replace('[', " [ ").replace(']', " ] ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let items = |words: &[&str]| -> Option<Box<[Item]>> {
        words.iter().map(|word| word.parse().ok()).collect()
    };
    Some(match words[..] {
        ["put", item] => Action::Put(item.parse().ok()?),
        ["put", item, "full"] => Action::Full(item.parse().ok()?),
        ["put", "[", ref batch @ .., "]"] => Action::PutAtOnce { items: items(batch)?, full: None },
        ["put", "[", ref batch @ .., "]", "full", item] => {
            Action::PutAtOnce { items: items(batch)?, full: Some(item.parse().ok()?) }
        }
        ["get"] => Action::Getting { max: 1 },
        ["get", "up", "to", max] => Action::Getting { max: max.parse().ok()? },
        ["get", "empty"] => Action::Empty,
        ["get", item] => Action::Get(item.parse().ok()?),
        ["get", "[", "up", "to", max, "]"] => Action::GettingAtOnce { max: max.parse().ok()? },
        ["get", "[", ref batch @ .., "]"] => Action::GetAtOnce(items(batch)?),
        _ => return None,
    })
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Put(item) => write!(f, "put {item}"),
            Self::Full(item) => write!(f, "put {item} full"),
            Self::Get(item) => write!(f, "get {item}"),
            Self::Empty => f.write_str("get empty"),
            Self::Getting { max: 1 } => f.write_str("get"),
            Self::Getting { max } => write!(f, "get up to {max}"),
            Self::PutAtOnce { items, full: None } => write!(f, "put [{}]", list(items)),
            Self::PutAtOnce { items, full: Some(full) } => {
                write!(f, "put [{}] full {full}", list(items))
            }
            Self::GetAtOnce(items) => write!(f, "get [{}]", list(items)),
            Self::GettingAtOnce { max } => write!(f, "get [up to {max}]"),
        }
    }
}

fn list(items: &[Item]) -> String {
    items.iter().map(Item::to_string).collect::<Vec<_>>().join(" ")
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "t{} {}..", self.thread, self.start)?;
        if let Some(end) = self.end {
            write!(f, "{end}")?;
        }
        write!(f, " {}", self.action)
    }
}

impl fmt::Display for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.operations().iter().try_for_each(|operation| writeln!(f, "{operation}"))
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(number, line) => {
                write!(f, "line {number} is no operation (such as `t0 1..5 put 7`): {line}")
            }
            Self::Malformed(malformed) => malformed.fmt(f),
        }
    }
}

impl Error for ParseError {}
