//! What a check found wrong, in words that name both sides.

use cantina_check::Operation;
use std::error::Error;
use std::fmt;

/// What was expected of a pool, and what was seen instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    expected: String,
    seen: String,
    /// It only says that another thread had failed before.
    aftermath: bool,
    scene: Box<[Recorded]>,
}

/// A call that was recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// The name of the thread that made it.
    pub by: String,
    /// The call, and when it was.
    pub operation: Operation,
}

/// A [`Finding`] with all that is needed to look for it again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The pool.
    pub pool: String,
    /// The check that failed.
    pub check: &'static str,
    /// The seed it failed with.
    pub seed: u64,
    /// What was wrong.
    pub finding: Finding,
}

impl Finding {
    /// Something was expected, something else was seen.
    pub fn new(expected: impl Into<String>, seen: impl Into<String>) -> Self {
        let (expected, seen) = (expected.into(), seen.into());
        Self { expected, seen, aftermath: false, scene: Box::default() }
    }

    /// The same, with the calls to look at.
    pub(super) fn with_scene(self, scene: Box<[Recorded]>) -> Self {
        Self { scene, ..self }
    }

    /// The calls to look at to see how it came about, where they were recorded: those that show it, and
    /// what the same threads did meanwhile.
    pub fn scene(&self) -> &[Recorded] {
        &self.scene
    }

    /// A thread gave up because another one had failed, whose finding is the one to show.
    pub(super) fn aftermath(doing: &str) -> Self {
        let finding = Self::new(format!("to go on {doing}"), "another thread had failed");
        Self { aftermath: true, ..finding }
    }

    /// Whether it is the [aftermath](Self::aftermath) of another.
    pub(super) fn is_aftermath(&self) -> bool {
        self.aftermath
    }

    /// The same, of someone, or from a time, that it names.
    pub(super) fn of(mut self, whom: impl fmt::Display) -> Self {
        self.expected = format!("{whom}: {}", self.expected);
        self
    }
}

/// `Ok` if the two are the same; else a finding about `what`.
pub(super) fn same<T: PartialEq + fmt::Debug>(
    what: impl fmt::Display,
    expected: T,
    seen: T,
) -> Result<(), Finding> {
    if expected == seen {
        return Ok(());
    }
    Err(Finding::new(format!("{what}: {expected:?}"), format!("{seen:?}")))
}

/// `Ok` if `holds`; else a finding.
pub(super) fn ensure(
    holds: bool,
    expected: impl fmt::Display,
    seen: impl fmt::Display,
) -> Result<(), Finding> {
    if holds { Ok(()) } else { Err(Finding::new(expected.to_string(), seen.to_string())) }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {}\nsaw      {}", self.expected, self.seen)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { pool, check, seed, finding } = self;
        write!(f, "{pool}::{check} with seed {seed}\n{finding}")
    }
}

impl Error for Finding {}
impl Error for Failure {}

#[cfg(test)]
mod tests {
    use super::{Failure, Finding, same};

    #[test]
    fn a_failure_names_the_pool_the_check_the_seed_and_both_sides() {
        let finding = Finding::new("task 7", "nothing").of("drain");
        let failure = Failure { pool: "locked".into(), check: "it_works", seed: 3, finding };
        let text = failure.to_string();
        assert_eq!(text, "locked::it_works with seed 3\nexpected drain: task 7\nsaw      nothing");
    }

    #[test]
    fn what_differs_is_shown() {
        assert_eq!(same("tasks", 1, 1), Ok(()));
        assert_eq!(same("tasks", 1, 2), Err(Finding::new("tasks: 1", "2")));
    }
}
