//! Settings for a [`DoAll`].

use super::DoAll;
use crate::pool::BuildError;
use machine::time::Duration;

/// Settings for a [`DoAll`].
///
/// ```
/// use cantina::todo_tree::DoAll;
/// use std::time::Duration;
///
/// let patient = DoAll::<u8>::builder().reclaim_after(Duration::from_secs(60));
/// let all = patient.build([1, 2, 3]).unwrap();
/// assert_eq!(all.remaining(), 3);
/// ```
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until it builds"]
pub struct Builder {
    reclaim_after: Option<Duration>,
    at_most_once: bool,
}

impl Builder {
    pub(super) fn new() -> Self {
        Self { reclaim_after: None, at_most_once: false }
    }

    /// Claims that are older may be taken over by workers that find nothing else to do. None is, unless asked for.
    /// A worker that is only slow then does what another does too. The age doubles each time a task is taken over, so that
    /// one that takes longer than `age` is done at last; one that was taken from three dead workers, one after the
    /// other, has waited for seven times `age`.
    pub fn reclaim_after(mut self, age: Duration) -> Self {
        self.reclaim_after = Some(age);
        self
    }

    /// Each task is begun at most once: claims are neither taken over nor given back.
    pub fn at_most_once(mut self) -> Self {
        self.at_most_once = true;
        self
    }

    /// All of `tasks`.
    ///
    /// # Errors
    /// [`BuildError`] when [`reclaim_after`](Self::reclaim_after) is no time at all, or is asked for together with
    /// [`at_most_once`](Self::at_most_once).
    pub fn build<T>(self, tasks: impl IntoIterator<Item = T>) -> Result<DoAll<T>, BuildError> {
        let nanos = match self.reclaim_after {
            Some(age) if age.is_zero() || self.at_most_once => {
                let given = format!("{age:?}");
                let allowed = "some time, and none where tasks are done at most once";
                return Err(BuildError::new("reclaim_after", given, allowed));
            }
            age => age.map(|age| u64::try_from(age.as_nanos()).unwrap_or(u64::MAX)),
        };
        Ok(DoAll::with(tasks.into_iter().collect(), nanos, self.at_most_once))
    }
}
