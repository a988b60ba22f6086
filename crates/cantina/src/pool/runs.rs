//! Tasks of an iterator: put several at once, or one by one.

use super::{Full, PutAllError};

/// For so many there is room before they come: an iterator may promise more than it gives.
const BELIEVED: usize = 1024;

/// Puts `tasks` one by one by `put`, until it has no room, and says how many they were.
#[inline]
pub(crate) fn put_one_by_one<T, I: Iterator<Item = T>>(
    mut tasks: I,
    mut put: impl FnMut(T) -> Result<(), Full<T>>,
) -> Result<usize, PutAllError<T, I>> {
    let mut count = 0;
    while let Some(task) = tasks.next() {
        if let Err(Full(task)) = put(task) {
            return Err(PutAllError { put: count, task, rest: tasks });
        }
        count += 1;
    }
    Ok(count)
}

/// Puts `tasks` in runs of up to `most` by `put`, which empties what it is given, and says how many they
/// were. `run` is empty, and kept for its memory.
///
/// # Panics
/// When the iterator does. Every task it gave before is put.
pub fn put_in_runs<T>(
    tasks: impl Iterator<Item = T>,
    most: usize,
    run: &mut Vec<T>,
    put: impl FnMut(&mut Vec<T>),
) -> usize {
    /// Puts what is left when it goes: at the end, and when the iterator panics.
    struct Run<'a, T, F: FnMut(&mut Vec<T>)> {
        tasks: &'a mut Vec<T>,
        put: F,
    }
    impl<T, F: FnMut(&mut Vec<T>)> Drop for Run<'_, T, F> {
        fn drop(&mut self) {
            if !self.tasks.is_empty() {
                (self.put)(self.tasks);
            }
        }
    }
    run.reserve(tasks.size_hint().0.clamp(1, most.min(BELIEVED)));
    let mut run = Run { tasks: run, put };
    let mut count = 0;
    for task in tasks {
        run.tasks.push(task);
        count += 1;
        if run.tasks.len() == most {
            (run.put)(run.tasks);
        }
    }
    count
}
