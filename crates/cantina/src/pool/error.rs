//! Errors that give back what they were given.

use std::error::Error;
use std::fmt;

/// The pool has no room; the task comes back.
#[derive(Clone, Copy, PartialEq, Eq)]
#[must_use = "it has the task, which is dropped with it"]
pub struct Full<T>(pub T);

/// The pool had no room for all tasks.
#[must_use = "it has the tasks that were not put"]
pub struct PutAllError<T, I> {
    /// How many were put.
    pub put: usize,
    /// The one there was no room for.
    pub task: T,
    /// Those that come after it.
    pub rest: I,
}

/// The pool has as many consumers as it can.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TooMany {
    /// The pool's limit.
    pub limit: usize,
}

/// A pool cannot be built like that.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BuildError {
    /// The builder's method that was given nonsense.
    pub setting: &'static str,
    /// What it was given.
    pub given: String,
    /// What it takes.
    pub allowed: String,
}

impl<T> Full<T> {
    /// The task.
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<T, I: Iterator<Item = T>> PutAllError<T, I> {
    /// All tasks that were not put, in order.
    pub fn into_inner(self) -> impl Iterator<Item = T> {
        std::iter::once(self.task).chain(self.rest)
    }
}

impl TooMany {
    /// The error of a pool with that limit.
    pub fn new(limit: usize) -> Self {
        Self { limit }
    }
}

impl BuildError {
    /// The error of a setting that was given something it does not take.
    pub fn new(
        setting: &'static str,
        given: impl fmt::Display,
        allowed: impl fmt::Display,
    ) -> Self {
        Self { setting, given: given.to_string(), allowed: allowed.to_string() }
    }
}

impl<T> fmt::Debug for Full<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Full(..)")
    }
}

impl<T> fmt::Display for Full<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the pool is full")
    }
}

impl<T, I> fmt::Debug for PutAllError<T, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PutAllError").field("put", &self.put).finish_non_exhaustive()
    }
}

impl<T, I> fmt::Display for PutAllError<T, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the pool was full after {} tasks", self.put)
    }
}

impl fmt::Display for TooMany {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the pool already has {} consumers, and takes no more", self.limit)
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} cannot be {}: {}", self.setting, self.given, self.allowed)
    }
}

impl<T> Error for Full<T> {}
impl<T, I> Error for PutAllError<T, I> {}
impl Error for TooMany {}
impl Error for BuildError {}

#[cfg(test)]
mod tests {
    use super::{BuildError, Full, PutAllError, TooMany};
    use std::error::Error;

    /// Neither `Debug` nor anything else.
    struct Opaque(u8);

    #[test]
    fn errors_say_what_happened_whatever_the_task_is() {
        let errors: [Box<dyn Error>; 4] = [
            Box::new(Full(Opaque(0))),
            Box::new(PutAllError { put: 3, task: Opaque(0), rest: std::iter::empty::<Opaque>() }),
            Box::new(TooMany::new(64)),
            Box::new(BuildError::new("capacity", 0, "at least 1")),
        ];
        let texts = errors.map(|error| error.to_string());
        assert_eq!(
            texts,
            [
                "the pool is full",
                "the pool was full after 3 tasks",
                "the pool already has 64 consumers, and takes no more",
                "capacity cannot be 0: at least 1",
            ]
        );
    }

    #[test]
    fn errors_give_everything_back() {
        assert_eq!(Full(Opaque(5)).into_inner().0, 5);
        let error = PutAllError { put: 1, task: 2, rest: 3..5 };
        assert_eq!(error.into_inner().collect::<Vec<_>>(), [2, 3, 4]);
    }
}
